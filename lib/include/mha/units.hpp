// Units as types. A Quantity<Tag> is an exact integer of one unit; adding bytes to FLOPs does not compile.
// Not for rates and times: those are plain doubles whose names end in `_per_s` or `_s`.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace mha {

// 128 bits, because prefill FLOPs of released models at 10M tokens pass 2^64. Request limits (limits.hpp) keep every
// product below 2^127, so sums and products here cannot overflow.
__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(i128 value) : value_(value) {}

  [[nodiscard]] constexpr i128 value() const { return value_; }
  [[nodiscard]] constexpr double as_double() const { return static_cast<double>(value_); }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, i128 n) { return Quantity(a.value_ * n); }
  friend constexpr Quantity operator*(i128 n, Quantity a) { return Quantity(a.value_ * n); }
  constexpr Quantity& operator+=(Quantity b) {
    value_ += b.value_;
    return *this;
  }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Quantity a, Quantity b) {
    return a.value_ < b.value_   ? std::strong_ordering::less
           : a.value_ > b.value_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }

 private:
  i128 value_ = 0;
};

using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;
using MultiplyAdds = Quantity<struct MultiplyAddsTag>;
using Params = Quantity<struct ParamsTag>;      // weights, biases and norm scales
using Elements = Quantity<struct ElementsTag>;  // cached scalars, before a format turns them into bytes

// A multiply-add is two floating-point operations. This is the only place that says so.
[[nodiscard]] constexpr Flops flops_of(MultiplyAdds m) {
  return Flops(m.value() * 2);
}

// Exact decimal digits, no separators: "327680".
[[nodiscard]] std::string to_decimal(i128 value);

}  // namespace mha
