// The weights of one part: drawn once, then marked wherever they are used.
#include <algorithm>
#include <cmath>

#include "kernel/layer_oracle.hpp"

namespace mha::layers {

// splitmix64 (Steele, Lea and Flood): the same numbers on every machine. In [-1, 1].
double Weights::uniform() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31U))) * 0x1p-63;
}

Weight& Weights::add(std::string name, std::int64_t rows, std::int64_t cols, bool routed) {
  const auto elements = static_cast<std::size_t>(rows * cols);
  items_.push_back({std::move(name), rows, cols, routed, std::vector<double>(elements), std::vector<char>(elements)});
  by_name_[items_.back().name] = items_.size() - 1;
  return items_.back();
}

void Weights::matrix(std::string name, std::int64_t rows, std::int64_t cols, bool bias, bool routed) {
  if (bias) vector(name + ".bias", cols, 0, routed);
  const double scale = std::sqrt(3.0 / static_cast<double>(rows));  // products keep the variance of their input
  for (double& value : add(std::move(name), rows, cols, routed).value) value = scale * uniform();
}

void Weights::vector(std::string name, std::int64_t elements, double centre, bool routed) {
  if (elements == 0) return;
  for (double& value : add(std::move(name), 1, elements, routed).value) value = centre + 0.5 * uniform();
}

Weight* Weights::find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &items_[found->second];
}

std::int64_t Weights::stored() const {
  std::int64_t sum = 0;
  for (const Weight& w : items_) sum += static_cast<std::int64_t>(w.value.size());
  return sum;
}

std::int64_t Weights::read(bool routed) const {
  std::int64_t sum = 0;
  for (const Weight& w : items_)
    if (w.routed == routed) sum += std::count(w.read.begin(), w.read.end(), 1);
  return sum;
}

void Weights::forget(bool routed) {
  for (Weight& w : items_)
    if (w.routed == routed) std::fill(w.read.begin(), w.read.end(), 0);
}

}  // namespace mha::layers
