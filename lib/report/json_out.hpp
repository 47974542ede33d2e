// JSON text: a thin face over RapidJSON's writer that fixes how numbers and strings are written. Integers are exact at 128
// bits, doubles are the shortest text that reads back as the same double, text is valid UTF-8 whatever came in.
#pragma once

#include <optional>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <string>
#include <string_view>

#include "mha/units.hpp"

namespace mha::report {

class Json {
 public:
  Json() { writer_.SetIndent(' ', 2); }

  template <class Body>
  void object(Body body) {
    writer_.StartObject();
    body();
    writer_.EndObject();
  }
  template <class Body>
  void object(std::string_view name, Body body) {
    key(name);
    object(body);
  }
  template <class Body>
  void array(std::string_view name, Body body) {
    key(name);
    writer_.StartArray();
    body();
    writer_.EndArray();
  }
  // An array with one object an item.
  template <class Items, class Body>
  void objects(std::string_view name, const Items& items, Body body) {
    array(name, [&] {
      for (const auto& item : items) object([&] { body(item); });
    });
  }

  void text(std::string_view name, std::string_view value);
  void integer(std::string_view name, i128 value);
  template <class Tag>
  void integer(std::string_view name, Quantity<Tag> value) {
    integer(name, value.value());
  }
  void real(std::string_view name, double value);  // null when not finite
  void boolean(std::string_view name, bool value);
  void null(std::string_view name);
  void integer_or_null(std::string_view name, const std::optional<std::int64_t>& value);

  void item(std::string_view value);  // elements of an array
  void item(i128 value);

  [[nodiscard]] std::string finish() const { return std::string(buffer_.GetString(), buffer_.GetSize()) + "\n"; }

 private:
  void key(std::string_view name);
  void string(std::string_view value);

  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace mha::report
