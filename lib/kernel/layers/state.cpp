// Caches that forget: what a sequence leaves behind for its next step.
#include <algorithm>

#include "kernel/layer_oracle.hpp"

namespace mha::layers {

std::int64_t Cached::added() const {
  return settled_ + static_cast<std::int64_t>(step_.size()) / width_;
}

std::int64_t Cached::oldest() const {
  return capacity_ == kUnbounded ? 0 : std::max<std::int64_t>(0, settled_ - capacity_);
}

const double* Cached::row(std::int64_t i) const {
  if (i < oldest() || i >= added()) return nullptr;
  if (i >= settled_) return step_.data() + (i - settled_) * width_;
  if (capacity_ == kUnbounded) return ring_.data() + i * width_;
  return ring_.data() + i % capacity_ * width_;
}

void Cached::settle() {
  for (auto row = step_.begin(); row != step_.end(); row += width_, ++settled_) {
    if (capacity_ == kUnbounded || settled_ < capacity_)
      ring_.insert(ring_.end(), row, row + width_);
    else if (capacity_ > 0)
      std::copy_n(row, width_, ring_.begin() + settled_ % capacity_ * width_);
  }
  step_.clear();
}

void LayerState::settle() {
  for (MixerState& mixer : mixers)
    for (auto& item : mixer.cached) item.second.settle();
}

std::map<CacheRole, std::int64_t> LayerState::elements() const {
  std::map<CacheRole, std::int64_t> sums;
  for (const MixerState& mixer : mixers) {
    for (const auto& item : mixer.cached) sums[item.second.role()] += item.second.elements();
    for (const auto& item : mixer.fixed) sums[item.second.role] += static_cast<std::int64_t>(item.second.value.size());
  }
  return sums;
}

}  // namespace mha::layers
