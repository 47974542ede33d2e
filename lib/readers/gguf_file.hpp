// The header of a GGUF file, version 2 or 3, little-endian: its metadata and the description of its tensors, never the
// tensors themselves. What the values mean is gguf_reader.cpp's business.
//
// Files come from strangers: nothing is allocated before it was compared with the bytes that are left, at most 64 MiB
// are read, and a vocabulary is walked over without being kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mha/diagnostics.hpp"
#include "mha/units.hpp"

namespace mha {

inline constexpr std::uint64_t kMaxGgufHeader = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxGgufKeys = 4096;
inline constexpr std::uint64_t kMaxGgufTensors = std::uint64_t{1} << 17;
inline constexpr std::uint64_t kMaxGgufKeyBytes = 65535;  // the specification's
inline constexpr std::uint64_t kMaxGgufNameBytes = 256;   // of a tensor; ggml's own limit is 64, builds raise it
inline constexpr std::uint64_t kMaxGgufString = std::uint64_t{32} << 20;
inline constexpr std::uint64_t kKeptGgufString = 4096;                   // longer ones are templates and tokenizers
inline constexpr std::uint64_t kKeptGgufItems = std::uint64_t{1} << 20;  // of all arrays of one file
inline constexpr std::size_t kMaxGgufDims = 4;

enum class GgufType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64,
};
inline constexpr std::uint32_t kGgufTypes = 13;
[[nodiscard]] std::string_view name_of(GgufType type);
[[nodiscard]] bool is_integer(GgufType type);

struct GgufValue {
  GgufType type = GgufType::uint8;  // of an array: of its items
  bool is_array = false;
  bool kept = true;            // false: walked over; only the number of items, or of bytes, is known
  std::uint64_t n_items = 1;   // of an array; of a string that was not kept: bytes
  std::uint64_t at = 0;        // byte of the file where the key begins
  std::vector<i128> integers;  // of integers and booleans: one, or those of the array
  double number = 0;           // of a float
  std::string text;            // of a string
};

struct GgufTensor {
  std::string name;
  std::uint32_t n_dims = 0;
  std::array<std::uint64_t, kMaxGgufDims> dims{1, 1, 1, 1};  // dims[0]: the length of a row
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  // from the start of the tensor data
  std::uint64_t at = 0;      // byte of the file where its description begins
  i128 elements = 0;
};

struct GgufFile {
  std::string file;
  std::uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;
  Diagnostics notes;  // tensor types that are not in the table

  [[nodiscard]] const GgufValue* find(std::string_view key) const;
  [[nodiscard]] const GgufTensor* tensor(std::string_view name) const;
};

[[nodiscard]] Expected<GgufFile> read_gguf_header(const std::string& path);
[[nodiscard]] Expected<GgufFile> read_gguf_header(std::span<const std::byte> bytes, const std::string& file);

// How ggml stores a tensor's rows: blocks of `block` elements in `bytes` bytes.
struct GgufTensorType {
  std::uint32_t id = 0;
  std::string_view name;
  std::uint64_t block = 1;
  std::uint64_t bytes = 0;
};
[[nodiscard]] std::span<const GgufTensorType> gguf_tensor_types();
[[nodiscard]] const GgufTensorType* find_gguf_tensor_type(std::uint32_t id);  // nullptr: not in the table

}  // namespace mha
