// The one parser and the one printer of human quantities.
//
//   count   1.3B  350M  128_000  1e9  70.6b       decimal suffixes K M B/G T P
//   length  32k = 32,768   128_000   1M = 1,048,576   lengths count tokens: K and M are powers of two
//   bytes   80GiB  24GB  512KiB  1024             iB is binary, B is decimal; never mixed silently
//   rate    3.35TB  989T (per second)             a double
//
// Exact: "1.3B" is 1,300,000,000; a value that is not a whole number ("1.5", "0.3k" as a length) is refused. Locale-free.
#pragma once

#include <string>
#include <string_view>

#include "mha/diagnostics.hpp"
#include "mha/units.hpp"

namespace mha {

// `what` in the diagnostics says what is wrong with `text`; `where` is left for the caller to fill in.
[[nodiscard]] Expected<std::int64_t> parse_count(std::string_view text, std::int64_t min, std::int64_t max);
[[nodiscard]] Expected<std::int64_t> parse_length(std::string_view text, std::int64_t min, std::int64_t max);
[[nodiscard]] Expected<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Expected<double> parse_rate(std::string_view text);  // "3.35TB", "989T", "0.5e12": > 0, finite
[[nodiscard]] Expected<double> parse_real(std::string_view text);  // plain decimal number, finite, may be negative
[[nodiscard]] Expected<bool> parse_bool(std::string_view text);    // true / false only

[[nodiscard]] std::string print_grouped(i128 value);  // 6,738,415,616
[[nodiscard]] std::string print_count(i128 value);    // 6.74B   (3 significant digits, decimal suffix)
[[nodiscard]] std::string print_bytes(Bytes value);   // 2.50 GiB (binary, 3 significant digits; below 1 KiB "512 B")
[[nodiscard]] std::string print_flops(Flops value);   // 1.08 PFLOP (decimal, 3 significant digits)
[[nodiscard]] std::string print_length(std::int64_t tokens);  // 32k when a multiple of 1024, not of 1000; or 128,000
[[nodiscard]] std::string print_seconds(double seconds);      // 12.3 ms (3 significant digits)
[[nodiscard]] std::string print_fixed(double value, int decimals);  // locale-free

}  // namespace mha
