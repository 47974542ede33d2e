// What the verbs about whole models share: their flags, and the way from an invocation to a model and a checked query.
#pragma once

#include <string>
#include <vector>

#include "mha/audit.hpp"
#include "mha/model_readers.hpp"

#include "output.hpp"
#include "verb.hpp"

namespace mha::cli {

// Flags of every verb about models; `more` are the verb's own, put first.
[[nodiscard]] std::vector<VerbOption> model_options(std::vector<VerbOption> more = {});

[[nodiscard]] Architecture load_model(const std::string& path_or_name, const RuleStore& rules);

// The query of the flags, checked against the model. A context that is not given is the model's own.
[[nodiscard]] ModelQuery read_query(const Invocation& invocation, const Architecture& architecture,
                                    const RuleStore& rules);

// Runtimes of --runtime (all of rules/runtimes for the word "all", a usual few by default), presets and conversions.
[[nodiscard]] AuditRules read_audit_rules(const Invocation& invocation, const RuleStore& rules);

// True when `argument` is a catalogue name or a file that holds a model rather than a request.
[[nodiscard]] bool names_model(const std::string& argument, const RuleStore& rules);

// The command that gives the same bytes again.
[[nodiscard]] std::string model_command(const std::string& verb, const Invocation& invocation);

}  // namespace mha::cli
