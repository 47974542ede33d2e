// What several verbs share: their common flags, and the way from an invocation to rules and a candidate.
#pragma once

#include "mha/recommend.hpp"

#include "output.hpp"
#include "verb.hpp"

namespace mha::cli {

inline constexpr VerbOption kOutOption = {"out", "FORMAT:PATH",
                                          "where the answer goes, repeatable; '-' is standard output", true};
inline constexpr VerbOption kRulesOption = {
    "rules", "DIR", "folder of rules that adds to the built-in ones or replaces them by name", false};

// The request is complete and the rules it needs are read; every problem of either is reported at once.
[[nodiscard]] RuleSet load_rules(const Invocation& invocation);

// The pinned layout, or the recommended one.
[[nodiscard]] Candidate candidate_of(const Request& request, const RuleSet& rules);

// Opens the outputs of a verb that writes plain text or JSON.
[[nodiscard]] Outputs open_answer(const Invocation& invocation);

// Writes `bytes_of(format)` to every output, then puts the files in place.
template <class Writer>
void write_answer(Outputs& outputs, const Writer& bytes_of) {
  for (Output& output : outputs.all()) output.write(bytes_of(output.format()));
  outputs.commit();
}

}  // namespace mha::cli
