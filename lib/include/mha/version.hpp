#pragma once

#include <string_view>

namespace mha {
inline constexpr std::string_view kToolName = "mha-configurator";
inline constexpr std::string_view kVersion = "0.1.0";
inline constexpr int kJsonSchemaVersion = 1;
}  // namespace mha
