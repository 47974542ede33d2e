// Layout of the file, in order: magic "GGUF", u32 version, u64 tensors, u64 keys; each key as string, u32 type, value;
// each tensor as string, u32 number of dimensions, u64 each dimension, u32 type, u64 offset. A string is a u64 length
// and its bytes; an array a u32 type, a u64 length and its items. Source: ggml-org/ggml docs/gguf.md.
#include "readers/gguf_file.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace mha {
namespace {

// ggml-org/llama.cpp gguf-py/gguf/constants.py, GGMLQuantizationType and GGML_QUANT_SIZES, with QK_K = 256. Numbers
// that are missing belong to types that ggml removed.
constexpr auto kTensorTypes = std::to_array<GgufTensorType>({
    {0, "f32", 1, 4},         {1, "f16", 1, 2},         {2, "q4_0", 32, 18},      {3, "q4_1", 32, 20},
    {6, "q5_0", 32, 22},      {7, "q5_1", 32, 24},      {8, "q8_0", 32, 34},      {9, "q8_1", 32, 40},
    {10, "q2_K", 256, 84},    {11, "q3_K", 256, 110},   {12, "q4_K", 256, 144},   {13, "q5_K", 256, 176},
    {14, "q6_K", 256, 210},   {15, "q8_K", 256, 292},   {16, "iq2_xxs", 256, 66}, {17, "iq2_xs", 256, 74},
    {18, "iq3_xxs", 256, 98}, {19, "iq1_s", 256, 50},   {20, "iq4_nl", 32, 18},   {21, "iq3_s", 256, 110},
    {22, "iq2_s", 256, 82},   {23, "iq4_xs", 256, 136}, {24, "i8", 1, 1},         {25, "i16", 1, 2},
    {26, "i32", 1, 4},        {27, "i64", 1, 8},        {28, "f64", 1, 8},        {29, "iq1_m", 256, 56},
    {30, "bf16", 1, 2},       {34, "tq1_0", 256, 54},   {35, "tq2_0", 256, 66},   {39, "mxfp4", 32, 17},
    {40, "nvfp4", 64, 36},    {41, "q1_0", 128, 18},    {42, "q2_0", 64, 18},
});

struct TypeRow {
  std::string_view name;
  std::uint64_t bytes;  // least number of bytes in the file
};
constexpr std::array<TypeRow, kGgufTypes> kTypes{{
    {"uint8", 1},
    {"int8", 1},
    {"uint16", 2},
    {"int16", 2},
    {"uint32", 4},
    {"int32", 4},
    {"float32", 4},
    {"bool", 1},
    {"string", 8},
    {"array", 12},
    {"uint64", 8},
    {"int64", 8},
    {"float64", 8},
}};

const TypeRow& row_of(GgufType type) {
  return kTypes.at(static_cast<std::size_t>(type));
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

// Text as a message may show it.
std::string shown(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, 64)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 0xFU];
    }
  }
  return text.size() > 64 ? out + "..." : out;
}

// Keys and tensor names: printable ASCII, so that messages can quote them.
bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// Where the bytes come from. `read` moves at most `size` bytes and returns how many; less only at the end.
class ByteSource {
 public:
  explicit ByteSource(std::span<const std::byte> memory) : memory_(memory), size_(memory.size()) {}
  ByteSource(std::FILE* stream, std::optional<std::uint64_t> size) : stream_(stream), size_(size), buffer_(kBuffer) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }  // none: a pipe
  [[nodiscard]] int failure() const { return failure_; }

  std::uint64_t read(char* out, std::uint64_t size) {
    std::uint64_t done = 0;
    while (done < size) {
      if (used_ == memory_.size() && !refill()) break;
      const std::uint64_t n = std::min<std::uint64_t>(size - done, memory_.size() - used_);
      if (out != nullptr) std::memcpy(out + done, memory_.data() + used_, n);
      used_ += n;
      done += n;
    }
    at_ += done;
    return done;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 16;

  bool refill() {
    if (stream_ == nullptr) return false;
    const std::size_t n = std::fread(buffer_.data(), 1, buffer_.size(), stream_);
    if (n == 0 && std::ferror(stream_) != 0) failure_ = errno;
    memory_ = std::span(buffer_).first(n);
    used_ = 0;
    return n > 0;
  }

  std::span<const std::byte> memory_;  // what can be read without refilling
  std::size_t used_ = 0;
  std::FILE* stream_ = nullptr;
  std::optional<std::uint64_t> size_;
  std::vector<std::byte> buffer_;
  std::uint64_t at_ = 0;
  int failure_ = 0;
};

// Reads the header. Every step returns false once a problem was reported: a binary file that is wrong in one place
// cannot be trusted behind it.
class Header {
 public:
  Header(ByteSource bytes, const std::string& file) : bytes_(std::move(bytes)) { out_.file = file; }

  Expected<GgufFile> read() {
    if (!(start() && metadata() && tensors())) return problems_;
    return std::move(out_);
  }

 private:
  bool fail(std::uint64_t at, std::string code, const std::string& what, std::string hint) {
    problems_.push_back(Diagnostic{Severity::error, std::move(code), Location{out_.file, 0, 0, key_},
                                   "at byte " + number(at) + ": " + what, std::move(hint)});
    return false;
  }

  // True when `size` more bytes can be there: inside the file and inside the limit.
  bool room(std::uint64_t at, std::uint64_t size, const std::string& what) {
    const std::uint64_t here = bytes_.at();
    if (bytes_.size() && size > *bytes_.size() - std::min(here, *bytes_.size())) {
      return fail(at, "truncated-file",
                  what + " needs " + number(size) + " more bytes, and the file ends at byte " + number(*bytes_.size()),
                  "the file was cut short or is damaged; fetch it again");
    }
    if (size > kMaxGgufHeader - std::min(here, kMaxGgufHeader)) {
      return fail(at, "header-too-large", what + " lies beyond the first " + number(kMaxGgufHeader) + " bytes",
                  "metadata and tensor descriptions of a model take a few MiB; this file is damaged or no model");
    }
    return true;
  }

  bool take(char* out, std::uint64_t size, const std::string& what) {
    const std::uint64_t at = bytes_.at();
    if (!room(at, size, what)) return false;
    if (bytes_.read(out, size) == size) return true;
    if (bytes_.failure() != 0) {
      return fail(at, "unreadable-file", what + " cannot be read: system error " + std::to_string(bytes_.failure()),
                  "check the disk");
    }
    return fail(at, "truncated-file", "the file ends inside " + what, "the file was cut short; fetch it again");
  }

  template <class T>
  bool take_number(T& out, const std::string& what) {
    std::array<unsigned char, sizeof(T)> raw{};
    if (!take(reinterpret_cast<char*>(raw.data()), raw.size(), what)) return false;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) value |= std::uint64_t{raw[i]} << (8 * i);
    out = static_cast<T>(value);
    return true;
  }

  // A string of at most `limit` bytes; walked over when longer than `keep`.
  bool take_string(std::string& out, std::uint64_t& length, std::uint64_t limit, std::uint64_t keep,
                   const std::string& what) {
    const std::uint64_t at = bytes_.at();
    if (!take_number(length, "the length of " + what)) return false;
    if (length > limit) {
      return fail(at, "string-too-long", what + " is said to have " + number(length) + " bytes",
                  "at most " + number(limit) + " bytes are sensible here; the file is damaged");
    }
    if (!room(at, length, what)) return false;
    out.clear();
    if (length > keep) return take(nullptr, length, what);
    out.resize(length);
    return take(out.data(), length, what);
  }

  bool start() {
    if (bytes_.size() && *bytes_.size() == 0) {
      return fail(0, "empty-file", "the file is empty", "give a GGUF file, which starts with the letters GGUF");
    }
    std::array<char, 4> magic{};
    if (!take(magic.data(), magic.size(), "the magic number")) return false;
    const std::string_view letters(magic.data(), magic.size());
    if (letters != "GGUF") {
      const bool old = letters == "lmgg" || letters == "fmgg" || letters == "tjgg" || letters == "algg";
      return fail(
          0, "not-gguf",
          "the file starts with '" + shown(letters) + "'" + (old ? ", an older ggml format" : "") + ", not with 'GGUF'",
          old ? "convert the model again: current tools write GGUF"
              : "give a GGUF file, a config.json or a model description in YAML");
    }
    if (!take_number(out_.version, "the version")) return false;
    if (out_.version != 2 && out_.version != 3) {
      // A small number in the upper half of the word is a small number written the other way round.
      if (out_.version == 0x02000000U || out_.version == 0x03000000U) {
        return fail(4, "big-endian", "this is a big-endian GGUF file", "give the little-endian file of the model");
      }
      return fail(4, "unsupported-version", "version " + std::to_string(out_.version) + " of GGUF is not supported",
                  out_.version == 1 ? "versions 2 and 3 are read: convert the model again, or rewrite the file with a "
                                      "current tool"
                                    : "versions 2 and 3 are read");
    }
    return take_number(n_tensors_, "the number of tensors") && take_number(n_keys_, "the number of metadata keys");
  }

  // Refuses a count that cannot be true before anything is done for it.
  bool plausible(std::uint64_t at, std::uint64_t count, std::uint64_t limit, std::uint64_t least,
                 const std::string& what) {
    if (count > limit) {
      return fail(at, "out-of-range", number(count) + " " + what, "at most " + number(limit) + " are read");
    }
    return room(at, count * least, number(count) + " " + what);
  }

  bool metadata() {
    // A key of one letter with a one-byte value: 8 + 1 + 4 + 1 bytes.
    if (!plausible(16, n_keys_, kMaxGgufKeys, 14, "metadata keys")) return false;
    for (std::uint64_t i = 0; i < n_keys_; ++i) {
      key_.clear();
      const std::uint64_t at = bytes_.at();
      std::string key;
      std::uint64_t length = 0;
      if (!take_string(key, length, kMaxGgufKeyBytes, kMaxGgufKeyBytes, "metadata key " + number(i))) return false;
      if (!is_plain(key)) {
        return fail(at, "bad-key", "metadata key " + number(i) + " is '" + shown(key) + "'",
                    "keys are printable ASCII, such as general.architecture");
      }
      key_ = key.size() > 128 ? key.substr(0, 128) + "..." : key;
      GgufValue value;
      value.at = at;
      if (!take_value(value)) return false;
      if (!out_.metadata.emplace(std::move(key), std::move(value)).second) {
        return fail(at, "duplicate-key", "the key is there twice", "a key may be given once; the file is damaged");
      }
    }
    key_.clear();
    return true;
  }

  bool take_type(GgufType& out, const std::string& what) {
    const std::uint64_t at = bytes_.at();
    std::uint32_t type = 0;
    if (!take_number(type, what)) return false;
    if (type >= kGgufTypes) {
      return fail(at, "unknown-type", what + " is " + std::to_string(type),
                  "types are numbered 0 (uint8) to 12 (float64)");
    }
    out = static_cast<GgufType>(type);
    return true;
  }

  bool take_value(GgufValue& value) {
    if (!take_type(value.type, "the value's type")) return false;
    if (value.type == GgufType::string) {
      std::uint64_t length = 0;
      if (!take_string(value.text, length, kMaxGgufString, kKeptGgufString, "the string")) return false;
      value.kept = length <= kKeptGgufString;
      if (!value.kept) value.n_items = length;
      return true;
    }
    if (value.type != GgufType::array) return take_scalar(value);
    value.is_array = true;
    const std::uint64_t at = bytes_.at();
    if (!take_type(value.type, "the type of the array's items")) return false;
    if (value.type == GgufType::array) {
      return fail(at, "nested-array", "this is an array of arrays", "no key of a model holds one");
    }
    if (!take_number(value.n_items, "the length of the array")) return false;
    // First against 2^61, so that the product with at most 8 bytes cannot overflow.
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 8;
    const std::uint64_t bytes = std::min(value.n_items, most) * row_of(value.type).bytes;
    if (!room(at, bytes, "an array of " + number(value.n_items) + " items")) return false;
    if (value.type == GgufType::string) return skip_strings(value);
    value.kept = (is_integer(value.type) || value.type == GgufType::boolean) && value.n_items <= kept_left_ &&
                 !key_.starts_with("tokenizer.");
    if (!value.kept) return take(nullptr, bytes, "the array");
    kept_left_ -= value.n_items;
    value.integers.reserve(value.n_items);
    for (std::uint64_t i = 0; i < value.n_items; ++i) {
      if (!take_scalar(value)) return false;
    }
    return true;
  }

  bool skip_strings(GgufValue& value) {
    value.kept = false;
    for (std::uint64_t i = 0; i < value.n_items; ++i) {
      // The words for a message are only made when there is one: a vocabulary has hundreds of thousands of strings.
      const std::uint64_t at = bytes_.at();
      std::uint64_t length = 0;
      if (!take_number(length, kItem)) return false;
      if (length > kMaxGgufString) {
        return fail(at, "string-too-long",
                    "string " + number(i) + " of the array is said to have " + number(length) + " bytes",
                    "at most " + number(kMaxGgufString) + " bytes are sensible here; the file is damaged");
      }
      if (!take(nullptr, length, kItem)) return false;
    }
    return true;
  }

  template <class T>
  bool take_integer(GgufValue& value) {
    T out{};
    if (!take_number(out, kItem)) return false;
    value.integers.emplace_back(out);
    return true;
  }

  // One value of value.type, appended.
  bool take_scalar(GgufValue& value) {
    switch (value.type) {
      case GgufType::uint8:
        return take_integer<std::uint8_t>(value);
      case GgufType::int8:
        return take_integer<std::int8_t>(value);
      case GgufType::uint16:
        return take_integer<std::uint16_t>(value);
      case GgufType::int16:
        return take_integer<std::int16_t>(value);
      case GgufType::uint32:
        return take_integer<std::uint32_t>(value);
      case GgufType::int32:
        return take_integer<std::int32_t>(value);
      case GgufType::uint64:
        return take_integer<std::uint64_t>(value);
      case GgufType::int64:
        return take_integer<std::int64_t>(value);
      case GgufType::boolean: {
        const std::uint64_t at = bytes_.at();
        if (!take_integer<std::uint8_t>(value)) return false;
        if (value.integers.back() <= 1) return true;
        return fail(at, "bad-bool", "a bool is " + to_decimal(value.integers.back()), "a bool is stored as 0 or 1");
      }
      case GgufType::float32: {
        std::uint32_t raw = 0;
        if (!take_number(raw, kItem)) return false;
        value.number = std::bit_cast<float>(raw);
        return true;
      }
      case GgufType::float64: {
        std::uint64_t raw = 0;
        if (!take_number(raw, kItem)) return false;
        value.number = std::bit_cast<double>(raw);
        return true;
      }
      case GgufType::string:
      case GgufType::array:
        break;  // taken before
    }
    return false;
  }

  bool tensors() {
    if (!alignment()) return false;
    // A name of one letter and no dimensions: 8 + 1 + 4 + 4 + 8 bytes.
    if (!plausible(8, n_tensors_, kMaxGgufTensors, 25, "tensors")) return false;
    for (std::uint64_t i = 0; i < n_tensors_; ++i) {
      key_.clear();
      GgufTensor tensor;
      tensor.at = bytes_.at();
      std::uint64_t length = 0;
      if (!take_string(tensor.name, length, kMaxGgufNameBytes, kMaxGgufNameBytes, "the name of tensor " + number(i))) {
        return false;
      }
      if (!is_plain(tensor.name)) {
        return fail(tensor.at, "bad-key", "tensor " + number(i) + " is named '" + shown(tensor.name) + "'",
                    "names are printable ASCII, such as blk.0.attn_q.weight");
      }
      key_ = tensor.name;
      if (!take_tensor(tensor)) return false;
      out_.tensors.push_back(std::move(tensor));
    }
    key_.clear();
    std::sort(out_.tensors.begin(), out_.tensors.end(),
              [](const GgufTensor& a, const GgufTensor& b) { return std::tie(a.name, a.at) < std::tie(b.name, b.at); });
    const auto twice = std::adjacent_find(out_.tensors.begin(), out_.tensors.end(),
                                          [](const GgufTensor& a, const GgufTensor& b) { return a.name == b.name; });
    if (twice == out_.tensors.end()) return true;
    key_ = twice->name;
    return fail(std::next(twice)->at, "duplicate-tensor", "the tensor is there twice",
                "a tensor may be given once; the file is damaged");
  }

  bool alignment() {
    const GgufValue* value = out_.find("general.alignment");
    if (value == nullptr) return true;
    key_ = "general.alignment";
    if (value->is_array || value->integers.size() != 1) {
      return fail(value->at, "wrong-type", "the alignment is a " + std::string(name_of(value->type)),
                  "it is a uint32, such as 32");
    }
    const i128 given = value->integers.front();
    if (given < 1 || given > (1 << 20) || (given & (given - 1)) != 0) {
      return fail(value->at, "out-of-range", "the alignment is " + to_decimal(given),
                  "it is a power of two, such as 32");
    }
    alignment_ = static_cast<std::uint64_t>(given);
    return true;
  }

  bool take_tensor(GgufTensor& tensor) {
    const std::uint64_t at = bytes_.at();
    if (!take_number(tensor.n_dims, "the number of dimensions")) return false;
    if (tensor.n_dims > kMaxGgufDims) {
      return fail(at, "out-of-range", "the tensor has " + std::to_string(tensor.n_dims) + " dimensions",
                  "a tensor has at most 4");
    }
    // Elements and bytes stay below 2^63, as ggml counts them.
    constexpr i128 kMost = std::numeric_limits<std::int64_t>::max();
    i128 elements = 1;
    for (std::uint32_t d = 0; d < tensor.n_dims; ++d) {
      const std::uint64_t here = bytes_.at();
      if (!take_number(tensor.dims.at(d), "dimension " + std::to_string(d))) return false;
      const i128 dim = tensor.dims.at(d);
      if (dim < 1 || elements > kMost / dim) {
        return fail(here, "out-of-range", "dimension " + std::to_string(d) + " is " + to_decimal(dim),
                    "a dimension is at least 1, and a tensor has fewer than 2^63 elements");
      }
      elements *= dim;
    }
    tensor.elements = elements;
    const std::uint64_t type_at = bytes_.at();
    if (!take_number(tensor.type, "the tensor's type")) return false;
    const GgufTensorType* type = find_gguf_tensor_type(tensor.type);
    if (type == nullptr) {
      note_type(type_at, tensor.type);
    } else if (tensor.dims.front() % type->block != 0) {
      return fail(type_at, "bad-row",
                  "rows of " + number(tensor.dims.front()) + " elements cannot be " + std::string(type->name),
                  std::string(type->name) + " stores blocks of " + number(type->block) + " elements");
    } else if (elements / static_cast<i128>(type->block) > kMost / static_cast<i128>(type->bytes)) {
      return fail(type_at, "out-of-range", "the tensor would take more than 2^63 bytes", "the file is damaged");
    }
    const std::uint64_t offset_at = bytes_.at();
    if (!take_number(tensor.offset, "the tensor's offset")) return false;
    if (tensor.offset % alignment_ != 0) {
      return fail(offset_at, "bad-offset", "the tensor's data begin at offset " + number(tensor.offset),
                  "offsets are multiples of " + number(alignment_));
    }
    return true;
  }

  void note_type(std::uint64_t at, std::uint32_t type) {
    for (const Diagnostic& note : out_.notes) {
      if (note.code == "unknown-tensor-type") return;  // one is enough to say so
    }
    out_.notes.push_back(
        Diagnostic{Severity::note, "unknown-tensor-type", Location{out_.file, 0, 0, key_},
                   "at byte " + number(at) + ": tensor type " + std::to_string(type) + " is not known here",
                   "its elements are counted, its bytes are not"});
  }

  inline static const std::string kItem = "a value";

  ByteSource bytes_;
  GgufFile out_;
  Diagnostics problems_;
  std::string key_;  // what is being read, for messages
  std::uint64_t n_tensors_ = 0;
  std::uint64_t n_keys_ = 0;
  std::uint64_t kept_left_ = kKeptGgufItems;
  std::uint64_t alignment_ = 32;
};

Diagnostic unreadable(const std::string& path, std::string code, std::string what, std::string hint) {
  return Diagnostic{Severity::error, std::move(code), Location{path, 0, 0, {}}, std::move(what), std::move(hint)};
}

}  // namespace

std::string_view name_of(GgufType type) {
  return row_of(type).name;
}

bool is_integer(GgufType type) {
  return type <= GgufType::int32 || type == GgufType::uint64 || type == GgufType::int64;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
  const auto found = std::lower_bound(tensors.begin(), tensors.end(), name,
                                      [](const GgufTensor& a, std::string_view b) { return a.name < b; });
  return found != tensors.end() && found->name == name ? &*found : nullptr;
}

std::span<const GgufTensorType> gguf_tensor_types() {
  return kTensorTypes;
}

const GgufTensorType* find_gguf_tensor_type(std::uint32_t id) {
  for (const GgufTensorType& type : kTensorTypes) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

Expected<GgufFile> read_gguf_header(std::span<const std::byte> bytes, const std::string& file) {
  return Header(ByteSource(bytes), file).read();
}

Expected<GgufFile> read_gguf_header(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return unreadable(path, "not-a-file", "this is a folder, not a file", "name a .gguf file in it");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!stream) {
    const int error = errno;
    const bool missing = error == ENOENT;
    return unreadable(path, missing ? "file-not-found" : "unreadable-file",
                      missing ? "cannot read the file: there is no such file"
                      : error == EACCES || error == EPERM
                          ? "cannot read the file: permission is denied"
                          : "cannot read the file: system error " + std::to_string(error),
                      "check the path and its permissions");
  }
  std::optional<std::uint64_t> size;
  if (std::filesystem::is_regular_file(path, ignored)) {
    const std::uintmax_t given = std::filesystem::file_size(path, ignored);
    if (!ignored) size = given;
  }
  return Header(ByteSource(stream.get(), size), path).read();
}

}  // namespace mha
