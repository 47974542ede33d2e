// Quantities to text: exact integer arithmetic where the value is exact, std::to_chars where it is not. No locale.
#include <array>
#include <charconv>
#include <cmath>

#include "mha/quantity.hpp"

namespace mha {
namespace {

u128 magnitude(i128 value) {
  return value < 0 ? -static_cast<u128>(value) : static_cast<u128>(value);
}

// Three significant digits of value / base^k with the k that keeps it below `base`; halves are rounded away from zero.
// Whole values below `base` are written exactly.
template <std::size_t N>
std::string print_scaled(i128 value, u128 base, const std::array<std::string_view, N>& units, std::string_view gap) {
  const u128 size = magnitude(value);
  u128 unit = 1;
  std::size_t k = 0;
  const auto rounded = [&](u128 scale) { return (size / unit) * scale + ((size % unit) * scale + unit / 2) / unit; };
  while (k + 1 < N && rounded(1) >= base) {
    unit *= base;
    ++k;
  }
  std::string digits;
  if (k == 0) {
    digits = to_decimal(static_cast<i128>(size));
  } else {
    // A unit too few decimals is tried last: 9.996 has three digits as 10.0.
    int decimals = 2;
    u128 scale = 100;
    while (decimals > 0 && rounded(scale) >= 1000) {
      --decimals;
      scale /= 10;
    }
    digits = to_decimal(static_cast<i128>(rounded(scale)));
    const auto places = static_cast<std::size_t>(decimals);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    if (places > 0) digits.insert(digits.size() - places, ".");
  }
  std::string out = value < 0 ? "-" : "";
  out += digits;
  if (!units[k].empty()) out += std::string(gap) + std::string(units[k]);
  return out;
}

}  // namespace

std::string print_grouped(i128 value) {
  std::string out = to_decimal(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = out.size(); at > first + 3;) {
    at -= 3;
    out.insert(at, 1, ',');
  }
  return out;
}

std::string print_count(i128 value) {
  static constexpr std::array<std::string_view, 6> kUnits = {"", "K", "M", "B", "T", "P"};
  return print_scaled(value, 1000, kUnits, "");
}

std::string print_bytes(Bytes value) {
  static constexpr std::array<std::string_view, 9> kUnits = {"B",   "KiB", "MiB", "GiB", "TiB",
                                                             "PiB", "EiB", "ZiB", "YiB"};
  return print_scaled(value.value(), 1024, kUnits, " ");
}

std::string print_flops(Flops value) {
  static constexpr std::array<std::string_view, 11> kUnits = {"FLOP",  "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP",
                                                              "EFLOP", "ZFLOP", "YFLOP", "RFLOP", "QFLOP"};
  return print_scaled(value.value(), 1000, kUnits, " ");
}

std::string print_length(std::int64_t tokens) {
  // 128,000 is 125 * 1024, yet means thousands to whoever wrote it.
  if (tokens == 0 || tokens % 1024 != 0 || tokens % 1000 == 0) return print_grouped(tokens);
  if (tokens % (std::int64_t{1} << 20) == 0) return to_decimal(tokens >> 20) + "M";
  return to_decimal(tokens / 1024) + "k";
}

std::string print_seconds(double seconds) {
  if (!std::isfinite(seconds)) return std::isnan(seconds) ? "nan" : seconds > 0 ? "inf" : "-inf";
  if (seconds == 0) return "0 s";
  // Rounded to three digits first: 0.9996 ms is 1.00 ms, and 999.6 us is 1.00 ms.
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(seconds), std::chars_format::scientific, 2);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));  // d.dde[+-]xx
  const std::string_view power = text.substr(5);
  int exponent = 0;
  std::from_chars(power.data() + (power[0] == '+' ? 1 : 0), power.data() + power.size(), exponent);
  const std::string sign = seconds < 0 ? "-" : "";
  if (exponent > 14 || exponent < -9) return sign + std::string(text) + " s";

  static constexpr std::array<std::string_view, 4> kUnits = {" s", " ms", " us", " ns"};
  std::size_t unit = 0;
  while (exponent < 0) {
    exponent += 3;
    ++unit;
  }
  std::string digits = {text[0], text[2], text[3]};
  const auto whole = static_cast<std::size_t>(exponent) + 1;  // digits before the point
  if (whole > digits.size()) digits.append(whole - digits.size(), '0');
  if (whole < digits.size()) digits.insert(whole, ".");
  return sign + digits + std::string(kUnits[unit]);
}

std::string print_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::array<char, 512> buffer{};  // 309 digits, a point, a sign and at most 100 decimals
  const int places = decimals < 0 ? 0 : decimals > 100 ? 100 : decimals;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, places);
  std::string out(buffer.data(), end.ptr);
  if (out[0] == '-' && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);  // no "-0.00"
  return out;
}

}  // namespace mha
