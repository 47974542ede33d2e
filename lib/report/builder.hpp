// Recommendation -> Document: the design report. The order of its sections is the table in builder.cpp; what each says is
// in sections/<name>.cpp.
#pragma once

#include "mha/report.hpp"

#include "report/document.hpp"

namespace mha::report {

[[nodiscard]] Document build_report(const Recommendation& recommendation, const WriterOptions& options);

}  // namespace mha::report
