// Writes GGUF headers for tests: metadata and tensor descriptions without the tensors. It also writes files that no
// sane tool would, so every number can be forced.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/gguf_file.hpp"

namespace mha::testing {

class GgufBuilder {
 public:
  explicit GgufBuilder(std::string architecture, std::uint32_t version = 3)
      : architecture_(std::move(architecture)), version_(version) {
    if (!architecture_.empty()) text("general.architecture", architecture_);
  }

  // Keys that start with '.' get the architecture in front.
  GgufBuilder& count(std::string_view key, std::uint64_t value, GgufType type = GgufType::uint32) {
    begin(key, type);
    number(meta_, value, width(type));
    return *this;
  }
  GgufBuilder& flag(std::string_view key, bool value) { return count(key, value ? 1 : 0, GgufType::boolean); }
  GgufBuilder& real(std::string_view key, float value) {
    return count(key, std::bit_cast<std::uint32_t>(value), GgufType::float32);
  }
  GgufBuilder& text(std::string_view key, std::string_view value) {
    begin(key, GgufType::string);
    string(meta_, value);
    return *this;
  }
  template <class T>
  requires std::integral<T> GgufBuilder& counts(std::string_view key, const std::vector<T>& values,
                                                GgufType type = GgufType::int32) {
    begin_array(key, type, values.size());
    for (const T value : values) number(meta_, static_cast<std::uint64_t>(value), width(type));
    return *this;
  }
  GgufBuilder& flags(std::string_view key, const std::vector<bool>& values) {
    begin_array(key, GgufType::boolean, values.size());
    for (const bool value : values) number(meta_, value ? 1 : 0, 1);
    return *this;
  }
  GgufBuilder& texts(std::string_view key, std::uint64_t n, std::string_view each) {
    begin_array(key, GgufType::string, n);
    for (std::uint64_t i = 0; i < n; ++i) string(meta_, each);
    return *this;
  }
  // An array's head with any length, without its items.
  GgufBuilder& begin_array(std::string_view key, GgufType type, std::uint64_t n) {
    begin(key, GgufType::array);
    number(meta_, static_cast<std::uint32_t>(type), 4);
    number(meta_, n, 8);
    return *this;
  }
  GgufBuilder& begin(std::string_view key, std::uint32_t type) {
    string(meta_, key.starts_with('.') ? architecture_ + std::string(key) : std::string(key));
    number(meta_, type, 4);
    ++n_keys_;
    return *this;
  }
  GgufBuilder& begin(std::string_view key, GgufType type) { return begin(key, static_cast<std::uint32_t>(type)); }

  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type = 1,
                      std::uint64_t offset = 0) {
    string(tensors_, name);
    number(tensors_, dims.size(), 4);
    for (const std::uint64_t dim : dims) number(tensors_, dim, 8);
    number(tensors_, type, 4);
    number(tensors_, offset, 8);
    ++n_tensors_;
    return *this;
  }
  // The same tensor in each of the layers from `first` on: "blk.N." and `name`.
  GgufBuilder& layer_tensor(std::string_view name, std::uint64_t n_layers, const std::vector<std::uint64_t>& dims,
                            std::uint64_t first = 0, std::uint32_t type = 1) {
    for (std::uint64_t i = first; i < n_layers; ++i)
      tensor("blk." + std::to_string(i) + "." + std::string(name), dims, type);
    return *this;
  }

  GgufBuilder& raw(std::string_view bytes) {
    meta_ += bytes;
    return *this;
  }
  GgufBuilder& magic(std::string_view letters) {
    magic_ = letters;
    return *this;
  }
  GgufBuilder& claim_keys(std::uint64_t n) {
    n_keys_ = n;
    return *this;
  }
  GgufBuilder& claim_tensors(std::uint64_t n) {
    n_tensors_ = n;
    return *this;
  }

  [[nodiscard]] std::string bytes() const {
    std::string out = magic_;
    number(out, version_, 4);
    number(out, n_tensors_, 8);
    number(out, n_keys_, 8);
    return out + meta_ + tensors_;
  }

  static void number(std::string& out, std::uint64_t value, std::size_t n_bytes) {
    for (std::size_t i = 0; i < n_bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
  static void string(std::string& out, std::string_view text) {
    number(out, text.size(), 8);
    out += text;
  }

 private:
  static std::size_t width(GgufType type) {
    switch (type) {
      case GgufType::uint8:
      case GgufType::int8:
      case GgufType::boolean:
        return 1;
      case GgufType::uint16:
      case GgufType::int16:
        return 2;
      case GgufType::uint64:
      case GgufType::int64:
      case GgufType::float64:
        return 8;
      default:
        return 4;
    }
  }

  std::string architecture_, magic_ = "GGUF";
  std::uint32_t version_;
  std::uint64_t n_keys_ = 0;
  std::uint64_t n_tensors_ = 0;
  std::string meta_, tensors_;
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace mha::testing
