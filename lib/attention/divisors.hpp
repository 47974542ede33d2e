// Divisors, ascending: the legal n_kv_heads of n_heads, and the legal n_heads of a coupled d_model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace mha {

[[nodiscard]] inline std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    found.push_back(i);
    if (i != n / i) found.push_back(n / i);
  }
  std::sort(found.begin(), found.end());
  return found;
}

[[nodiscard]] inline std::string divisor_list(std::int64_t n) {
  std::string text;
  for (const std::int64_t d : divisors(n)) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return text;
}

}  // namespace mha
