// Text to quantities. Whole numbers are read digit by digit into integers, never through floating point: a value is the
// significant digits times 10^a times 2^b, and is refused when that is not whole.
#include "mha/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "core/text.hpp"

namespace mha {
namespace {

struct Suffix {
  std::string_view text;  // lower case
  int ten = 0;            // power of ten
  int two = 0;            // power of two
};

constexpr std::array kCountSuffixes = {Suffix{"", 0, 0},  Suffix{"k", 3, 0},  Suffix{"m", 6, 0}, Suffix{"b", 9, 0},
                                       Suffix{"g", 9, 0}, Suffix{"t", 12, 0}, Suffix{"p", 15, 0}};
constexpr std::array kLengthSuffixes = {Suffix{"", 0, 0}, Suffix{"k", 0, 10}, Suffix{"ki", 0, 10}, Suffix{"m", 0, 20},
                                        Suffix{"mi", 0, 20}};
constexpr std::array kByteSuffixes = {Suffix{"", 0, 0},     Suffix{"b", 0, 0},    Suffix{"kb", 3, 0},
                                      Suffix{"mb", 6, 0},   Suffix{"gb", 9, 0},   Suffix{"tb", 12, 0},
                                      Suffix{"pb", 15, 0},  Suffix{"kib", 0, 10}, Suffix{"mib", 0, 20},
                                      Suffix{"gib", 0, 30}, Suffix{"tib", 0, 40}, Suffix{"pib", 0, 50}};
constexpr std::array kRateSuffixes = {Suffix{"", 0, 0},   Suffix{"b", 0, 0},   Suffix{"k", 3, 0},  Suffix{"kb", 3, 0},
                                      Suffix{"m", 6, 0},  Suffix{"mb", 6, 0},  Suffix{"g", 9, 0},  Suffix{"gb", 9, 0},
                                      Suffix{"t", 12, 0}, Suffix{"tb", 12, 0}, Suffix{"p", 15, 0}, Suffix{"pb", 15, 0}};

template <std::size_t N>
const Suffix* find_suffix(const std::array<Suffix, N>& table, std::string_view text) {
  const std::string name = lower(text);
  const auto it = std::find_if(table.begin(), table.end(), [&](const Suffix& s) { return s.text == name; });
  return it == table.end() ? nullptr : &*it;
}

// ---- Lexing
// ----------------------------------------------------------------------------------------------------------

struct Decimal {  // -12.50e3MiB
  bool negative = false;
  std::string digits;  // significant ones, without leading and trailing zeros; empty for 0: "125"
  int exponent = 0;    // of ten, for the last digit: 2
  std::string_view suffix;
};

Diagnostic problem(std::string code, std::string what, std::string hint) {
  return Diagnostic{Severity::error, std::move(code), {}, std::move(what), std::move(hint)};
}

// Digits with single underscores between them. False when there is none or an underscore is at an end or doubled.
bool take_digits(std::string_view text, std::size_t& at, std::string& digits) {
  const std::size_t start = at;
  while (at < text.size() && (is_digit(text[at]) || text[at] == '_')) {
    if (text[at] == '_' && (at == start || text[at - 1] == '_' || at + 1 == text.size() || !is_digit(text[at + 1]))) {
      return false;
    }
    if (text[at] != '_') digits += text[at];
    ++at;
  }
  return at > start;
}

// `noun` is what the value should have been ("a count"), `advice` the hint.
Expected<Decimal> lex(std::string_view text, const std::string& noun, const std::string& advice) {
  const auto refuse = [&](const std::string& why) {
    const std::string what = text.empty() ? "an empty value is not " + noun : shown(text) + " is not " + noun;
    return problem("bad-number", what + (why.empty() ? "" : ": " + why), advice);
  };
  Decimal out;
  std::size_t at = 0;
  if (!text.empty() && text[0] == '-') {
    out.negative = true;
    ++at;
  }
  const std::size_t whole_at = at;
  if (text.empty() || at == text.size() || !(is_digit(text[at]) || text[at] == '_')) return refuse("");
  if (!take_digits(text, at, out.digits)) return refuse("an underscore stands between two digits only");
  if (out.digits.size() > 1 && text[whole_at] == '0') return refuse("a leading zero leaves open which base is meant");
  int fraction = 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t before = out.digits.size();
    ++at;
    if (!take_digits(text, at, out.digits)) return refuse("digits must follow the decimal point");
    fraction = static_cast<int>(std::min<std::size_t>(out.digits.size() - before, 1'000'000));
  }
  int exponent = 0;
  if (at < text.size() && lower(text[at]) == 'e') {
    ++at;
    const bool minus = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t start = at;
    for (; at < text.size() && is_digit(text[at]); ++at)
      exponent = std::min(exponent * 10 + (text[at] - '0'), 1'000'000);
    if (at == start) return refuse("digits must follow the e of an exponent");
    if (minus) exponent = -exponent;
  }
  if (at + 1 < text.size() && text[at] == ' ') ++at;  // "80 GiB", as the printer writes it
  out.suffix = text.substr(at);

  out.exponent = exponent - fraction;
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
  while (!out.digits.empty() && out.digits.back() == '0') {
    out.digits.pop_back();
    ++out.exponent;
  }
  return out;
}

// ---- Exact evaluation
// ------------------------------------------------------------------------------------------------

constexpr int kMaxDigits = 27;  // 10^27 is above every limit and below 2^90, which leaves room for each step below
enum class Whole { yes, no, huge };

// digits * 10^exponent * 2^two, when it is a whole number below 10^27.
Whole evaluate(const Decimal& decimal, int ten, int two, i128& value) {
  constexpr i128 kHuge = i128{1'000'000'000'000'000} * 1'000'000'000'000;
  value = 0;
  if (decimal.digits.empty()) return Whole::yes;
  int tens = decimal.exponent + ten;
  const auto n_digits = static_cast<int>(std::min<std::size_t>(decimal.digits.size(), 1'000'000));
  if (n_digits + tens > kMaxDigits) return Whole::huge;
  if (n_digits > kMaxDigits || tens < -2 * kMaxDigits) return Whole::no;
  for (const char c : decimal.digits) value = value * 10 + (c - '0');
  for (; tens > 0; --tens) value *= 10;  // at most 27 digits in all
  for (; tens < 0; ++tens, --two) {      // a division by ten is one by five, and one power of two less
    if (value % 5 != 0) return Whole::no;
    value /= 5;
  }
  for (; two < 0; ++two) {
    if (value % 2 != 0) return Whole::no;
    value /= 2;
  }
  for (; two > 0; --two) {
    value *= 2;
    if (value > kHuge) return Whole::huge;
  }
  return Whole::yes;
}

struct WholeKind {
  std::string noun;         // "a length in tokens"
  std::string suffix_hint;  // "k is 1,024 and M is 1,048,576 tokens"
  std::string advice;       // "give a whole number from 1 to 1073741824, such as 32k"
};

template <std::size_t N>
Expected<i128> parse_whole(std::string_view text, const std::array<Suffix, N>& suffixes, const WholeKind& kind,
                           i128 min, i128 max) {
  const Expected<Decimal> lexed = lex(text, kind.noun, kind.advice);
  if (!lexed) return lexed.error();
  const Suffix* suffix = find_suffix(suffixes, lexed->suffix);
  if (suffix == nullptr) {
    return problem("bad-suffix",
                   shown(text) + " is not " + kind.noun + ": " + shown(lexed->suffix) + " is not a suffix of one",
                   kind.suffix_hint);
  }
  i128 value = 0;
  const Whole whole = evaluate(*lexed, suffix->ten, suffix->two, value);
  if (lexed->negative && min >= 0 && !lexed->digits.empty()) {
    return problem("out-of-range", shown(text) + " is not " + kind.noun, kind.advice);
  }
  if (whole == Whole::no) {
    return problem("not-whole", shown(text) + " is not " + kind.noun + ": it is not a whole number", kind.advice);
  }
  if (lexed->negative) value = -value;
  if ((whole == Whole::huge && !lexed->negative) || (whole == Whole::yes && value > max)) {
    return problem("out-of-range", shown(text) + " is above the limit, " + print_grouped(max), kind.advice);
  }
  if (whole == Whole::huge || value < min) {
    return problem("out-of-range", shown(text) + " is below the least, " + print_grouped(min), kind.advice);
  }
  return value;
}

std::string range_advice(std::int64_t min, std::int64_t max, std::string_view example, std::int64_t example_value) {
  if (min == max) return "it can only be " + to_decimal(min);
  std::string out = "give a whole number from " + to_decimal(min) + " to " + to_decimal(max);
  if (min <= example_value && example_value <= max) out += ", such as " + std::string(example);
  return out;
}

// A double, correctly rounded, from digits that `lex` has accepted.
std::optional<double> to_double(const Decimal& decimal, int ten) {
  if (decimal.digits.empty()) return 0.0;
  const std::string text =
      (decimal.negative ? "-" : "") + decimal.digits + "e" + std::to_string(decimal.exponent + ten);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

// ---- Parsers
// ---------------------------------------------------------------------------------------------------------

Expected<std::int64_t> parse_count(std::string_view text, std::int64_t min, std::int64_t max) {
  const bool large = min <= 1'300'000'000 && 1'300'000'000 <= max;
  const WholeKind kind{"a count", "suffixes of a count are decimal: K, M, B (or G), T, P, as in 1.3B",
                       large ? range_advice(min, max, "1.3B", 1'300'000'000) : range_advice(min, max, "32", 32)};
  const Expected<i128> value = parse_whole(text, kCountSuffixes, kind, min, max);
  if (!value) return value.error();
  return static_cast<std::int64_t>(*value);
}

Expected<std::int64_t> parse_length(std::string_view text, std::int64_t min, std::int64_t max) {
  const WholeKind kind{"a length in tokens", "suffixes of a length are k (1,024) and M (1,048,576), as in 32k",
                       range_advice(min, max, "32k", 32'768)};
  const Expected<i128> value = parse_whole(text, kLengthSuffixes, kind, min, max);
  if (!value) return value.error();
  return static_cast<std::int64_t>(*value);
}

Expected<Bytes> parse_bytes(std::string_view text) {
  constexpr i128 kMostBytes =
      i128{1'000'000'000'000} * 1'000'000'000'000;  // 1e24; the core's products stay far below 2^127
  const WholeKind kind{"a number of bytes",
                       "write the unit as B, KB, MB, GB, TB, PB (powers of 1000) or KiB, MiB, GiB, TiB, PiB",
                       "give a whole number of bytes, such as 80GiB, 24GB or 1024"};
  const Expected<Decimal> lexed = lex(text, kind.noun, kind.advice);
  if (!lexed) return lexed.error();
  const std::string_view unit = lexed->suffix;
  if (unit.size() == 1 && std::string_view("kmgtp").find(lower(unit[0])) != std::string_view::npos) {
    return problem("ambiguous-unit", shown(text) + " leaves open whether a power of 1000 or of 1024 is meant",
                   "write " + std::string(text) + "B or " + std::string(text) + "iB");
  }
  if (unit.size() == 2 && unit[1] == 'b' && unit[0] != lower(unit[0])) {
    return problem("ambiguous-unit", shown(text) + " reads as bits", "write a capital B for bytes");
  }
  const Expected<i128> value = parse_whole(text, kByteSuffixes, kind, 0, kMostBytes);
  if (!value) return value.error();
  return Bytes(*value);
}

Expected<double> parse_rate(std::string_view text) {
  const std::string noun = "a rate";
  const std::string advice = "give a positive number with K, M, G, T or P (powers of 1000), such as 3.35TB or 989T";
  const Expected<Decimal> lexed = lex(text, noun, advice);
  if (!lexed) return lexed.error();
  const Suffix* suffix = find_suffix(kRateSuffixes, lexed->suffix);
  if (suffix == nullptr) {
    return problem("bad-suffix", shown(text) + " is not a rate: " + shown(lexed->suffix) + " is not a suffix of one",
                   advice);
  }
  const std::optional<double> value = to_double(*lexed, suffix->ten);
  if (!value) return problem("out-of-range", shown(text) + " does not fit a floating-point number", advice);
  if (*value <= 0) return problem("out-of-range", shown(text) + " is not above zero", advice);
  return *value;
}

Expected<double> parse_real(std::string_view text) {
  const std::string advice = "give a plain decimal number, such as 0.015 or 1e-3";
  const Expected<Decimal> lexed = lex(text, "a number", advice);
  if (!lexed) return lexed.error();
  if (!lexed->suffix.empty()) {
    return problem("bad-suffix", shown(text) + " is not a number: " + shown(lexed->suffix) + " follows it", advice);
  }
  const std::optional<double> value = to_double(*lexed, 0);
  if (!value) return problem("out-of-range", shown(text) + " does not fit a floating-point number", advice);
  return *value;
}

Expected<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  const std::string subject = text.empty() ? "an empty value" : shown(text);
  return problem("bad-boolean", subject + " is neither true nor false", "write true or false");
}

}  // namespace mha
