// Recommendation -> bytes. Writers are pure functions; nothing here opens a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/explain.hpp"
#include "mha/recommend.hpp"

namespace mha {

struct WriterOptions {
  std::string svg_name;  // file name of the SVG beside the Markdown; empty: no link
  bool colour = false;   // terminal writer only
};

struct Writer {
  std::string_view id;         // "md"
  std::string_view extension;  // ".md"
  std::string_view help;
  bool wants_validation = false;  // the Markdown report always carries a validation that ran
  std::string (*write)(const Recommendation& recommendation, const WriterOptions& options) = nullptr;
};

[[nodiscard]] const std::vector<Writer>& writers();  // txt, md, json, svg
[[nodiscard]] const Writer* find_writer(std::string_view id);

// The other verbs' answers. format: "txt" or "json".
[[nodiscard]] std::string write_explain(const Candidate& candidate, const std::vector<ExplainRow>& rows,
                                        std::string_view format);
[[nodiscard]] std::string write_validation(const Validation& validation, std::string_view format);
[[nodiscard]] std::string write_checks(const Candidate& candidate, const std::vector<AssertionResult>& results,
                                       std::string_view format);

}  // namespace mha
