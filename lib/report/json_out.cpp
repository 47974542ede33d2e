#include "report/json_out.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace mha::report {
namespace {

// Length of the well-formed sequence at `at` (Unicode table 3-7), 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(at);
  const unsigned second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(at + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool overlong = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second > 0x9f;
    return tail(at + 1) && tail(at + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool overlong = first == 0xf0 && second < 0x90;
    const bool too_large = first == 0xf4 && second > 0x8f;
    return tail(at + 1) && tail(at + 2) && tail(at + 3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

void Json::key(std::string_view name) {
  writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}

void Json::string(std::string_view value) {
  const std::string safe = valid_utf8(value);
  writer_.String(safe.data(), static_cast<rapidjson::SizeType>(safe.size()));
}

void Json::text(std::string_view name, std::string_view value) {
  key(name);
  string(value);
}

void Json::integer(std::string_view name, i128 value) {
  key(name);
  item(value);
}

void Json::real(std::string_view name, double value) {
  if (!std::isfinite(value)) return null(name);
  key(name);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  writer_.RawValue(digits.data(), static_cast<std::size_t>(end.ptr - digits.data()), rapidjson::kNumberType);
}

void Json::boolean(std::string_view name, bool value) {
  key(name);
  writer_.Bool(value);
}

void Json::null(std::string_view name) {
  key(name);
  writer_.Null();
}

void Json::integer_or_null(std::string_view name, const std::optional<std::int64_t>& value) {
  if (value) {
    integer(name, i128{*value});
  } else {
    null(name);
  }
}

void Json::item(std::string_view value) {
  string(value);
}

void Json::item(i128 value) {
  const std::string digits = to_decimal(value);
  writer_.RawValue(digits.data(), digits.size(), rapidjson::kNumberType);
}

}  // namespace mha::report
