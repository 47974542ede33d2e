// The answers of audit, compare and solve as bytes. format: "txt", "md" or "json".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/audit.hpp"

namespace mha {

[[nodiscard]] std::string write_audit(const Audit& audit, const std::string& command, std::string_view format);
[[nodiscard]] std::string write_model_explain(const Audit& audit, const std::vector<ExplainRow>& rows,
                                              std::string_view format);
[[nodiscard]] std::string write_compare(const std::vector<Audit>& audits, std::string_view format);
[[nodiscard]] std::string write_solutions(const Audit& audit, const std::vector<Solution>& solutions,
                                          const std::string& runtime, std::string_view format);

}  // namespace mha
