// Weights by name, the cache, and tallies: the parts of the oracle that compute nothing.
#include <algorithm>

#include "kernel/oracle.hpp"

namespace mha::oracle {

const Matrix& Weights::matrix(std::string_view name) const {
  return *std::find_if(matrices.begin(), matrices.end(), [name](const Matrix& m) { return m.name == name; });
}

const NormScale& Weights::norm(std::string_view name) const {
  return *std::find_if(norms.begin(), norms.end(), [name](const NormScale& n) { return n.name == name; });
}

std::int64_t total(const Tally& tally) {
  std::int64_t sum = 0;
  for (const auto& item : tally) sum += item.second;
  return sum;
}

void Rows::append(const Rows& rows) {
  n += rows.n;
  value.insert(value.end(), rows.value.begin(), rows.value.end());
  error.insert(error.end(), rows.error.begin(), rows.error.end());
}

void Cache::append(std::string_view name, const Rows& rows) {
  entries_.try_emplace(name, 0, rows.width).first->second.append(rows);
}

Tally Cache::resident() const {
  Tally elements;
  for (const auto& item : entries_) elements[item.first] = static_cast<std::int64_t>(item.second.value.size());
  return elements;
}

Rows rows_of(const Rows& x, std::int64_t first, std::int64_t n) {
  Rows result(n, x.width);
  const auto from = static_cast<std::ptrdiff_t>(first * x.width);
  const auto to = from + static_cast<std::ptrdiff_t>(n * x.width);
  std::copy(x.value.begin() + from, x.value.begin() + to, result.value.begin());
  std::copy(x.error.begin() + from, x.error.begin() + to, result.error.begin());
  return result;
}

}  // namespace mha::oracle
