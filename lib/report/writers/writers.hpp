// The writers' functions, for the table in writers.cpp.
#pragma once

#include "mha/report.hpp"

#include "report/document.hpp"

namespace mha::report {

[[nodiscard]] std::string write_markdown(const Recommendation& recommendation, const WriterOptions& options);
[[nodiscard]] std::string write_terminal(const Recommendation& recommendation, const WriterOptions& options);
[[nodiscard]] std::string write_json(const Recommendation& recommendation, const WriterOptions& options);
[[nodiscard]] std::string write_svg(const Recommendation& recommendation, const WriterOptions& options);

// Document -> bytes, apart from what the document says.
[[nodiscard]] std::string markdown(const Document& document);
[[nodiscard]] std::string terminal(const Document& document, bool colour);

}  // namespace mha::report
