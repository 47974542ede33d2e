// The parser of GGUF headers against hostile files. Expected byte offsets are counted by hand from the layout: 4 magic,
// 4 version, 8 tensors, 8 keys, so metadata begin at byte 24.
#include "readers/gguf_file.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "support/gguf_builder.hpp"

using namespace mha;
using mha::testing::as_bytes;
using mha::testing::GgufBuilder;

namespace {

Expected<GgufFile> parse(const std::string& bytes) {
  return read_gguf_header(as_bytes(bytes), "model.gguf");
}

// The one problem of a file, as "code|key|what".
std::string problem(const std::string& bytes) {
  const auto file = parse(bytes);
  if (file) return "no problem";
  REQUIRE(file.error().size() == 1);
  const Diagnostic& found = file.error().front();
  CHECK(found.where.file == "model.gguf");
  CHECK(found.what.starts_with("at byte "));
  CHECK_FALSE(found.hint.empty());
  return found.code + "|" + found.where.key + "|" + found.what;
}

std::string small() {
  return GgufBuilder("llama")
      .count(".block_count", 2)
      .counts<int>(".attention.head_count_kv", {1, 2})
      .texts("tokenizer.ggml.tokens", 3, "ab")
      .tensor("token_embd.weight", {8, 3})
      .bytes();
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& bytes)
      : path((std::filesystem::temp_directory_path() /
              ("mha_gguf_" + std::to_string(::getpid()) + "_" + std::to_string(++n_files) + ".gguf"))
                 .string()) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path.c_str()); }
  std::string path;
  inline static int n_files = 0;
};

}  // namespace

TEST_SUITE("gguf file") {
  TEST_CASE("all thirteen value types are read") {
    GgufBuilder builder("llama", 2);
    builder.count("a.u8", 200, GgufType::uint8)
        .count("a.i8", static_cast<std::uint64_t>(-3), GgufType::int8)
        .count("a.u16", 60000, GgufType::uint16)
        .count("a.i16", static_cast<std::uint64_t>(-3000), GgufType::int16)
        .count("a.u32", 4000000000U, GgufType::uint32)
        .count("a.i32", static_cast<std::uint64_t>(-2000000000), GgufType::int32)
        .count("a.u64", ~std::uint64_t{0}, GgufType::uint64)
        .count("a.i64", std::uint64_t{1} << 63, GgufType::int64)
        .real("a.f32", 0.5F)
        .count("a.f64", std::bit_cast<std::uint64_t>(0.25), GgufType::float64)
        .flag("a.bool", true)
        .text("a.text", "words")
        .counts<int>("a.array", {-1, 0, 7});
    const auto file = parse(builder.bytes());
    REQUIRE(file);
    CHECK(file->version == 2);
    const auto integer = [&](std::string_view key) { return to_decimal(file->find(key)->integers.at(0)); };
    CHECK(integer("a.u8") == "200");
    CHECK(integer("a.i8") == "-3");
    CHECK(integer("a.u16") == "60000");
    CHECK(integer("a.i16") == "-3000");
    CHECK(integer("a.u32") == "4000000000");
    CHECK(integer("a.i32") == "-2000000000");
    CHECK(integer("a.u64") == "18446744073709551615");
    CHECK(integer("a.i64") == "-9223372036854775808");
    CHECK(file->find("a.f32")->number == 0.5);
    CHECK(file->find("a.f64")->number == 0.25);
    CHECK(integer("a.bool") == "1");
    CHECK(file->find("a.text")->text == "words");
    REQUIRE(file->find("a.array")->integers.size() == 3);
    CHECK(file->find("a.array")->integers[0] == -1);
    CHECK(file->find("a.none") == nullptr);
  }

  TEST_CASE("tensors are described, with sizes of ggml's types") {
    const auto file = parse(GgufBuilder("llama")
                                .tensor("output.weight", {4096, 128256}, 14)
                                .tensor("blk.0.ffn_gate_exps.weight", {2880, 2880, 32}, 39, 64)
                                .tensor("scalar", {}, 0)
                                .bytes());
    REQUIRE(file);
    REQUIRE(file->tensors.size() == 3);
    REQUIRE(file->tensor("output.weight") != nullptr);
    CHECK(to_decimal(file->tensor("output.weight")->elements) == "525336576");  // 4096 * 128256
    CHECK(file->tensor("blk.0.ffn_gate_exps.weight")->dims[2] == 32);
    CHECK(file->tensor("blk.0.ffn_gate_exps.weight")->offset == 64);
    CHECK(file->tensor("scalar")->elements == 1);
    CHECK(file->tensor("output.bias") == nullptr);
    // Bits a weight that ggml publishes: q4_0 4.5, q8_0 8.5, q4_K 4.5, q6_K 6.5625, iq4_xs 4.25, mxfp4 4.25, tq1_0
    // 1.6875.
    const auto bits = [](std::uint32_t id) {
      const GgufTensorType* type = find_gguf_tensor_type(id);
      return 8.0 * static_cast<double>(type->bytes) / static_cast<double>(type->block);
    };
    CHECK(bits(2) == 4.5);
    CHECK(bits(8) == 8.5);
    CHECK(bits(12) == 4.5);
    CHECK(bits(14) == 6.5625);
    CHECK(bits(23) == 4.25);
    CHECK(bits(39) == 4.25);
    CHECK(bits(34) == 1.6875);
    CHECK(find_gguf_tensor_type(4) == nullptr);  // removed from ggml
  }

  TEST_CASE("a vocabulary is counted and not kept") {
    const auto file = parse(GgufBuilder("llama")
                                .texts("tokenizer.ggml.tokens", 150000, "token")
                                .counts<int>("tokenizer.ggml.token_type", std::vector<int>(150000, 1))
                                .text("tokenizer.chat_template", std::string(100000, 'x'))
                                .bytes());
    REQUIRE(file);
    CHECK(file->find("tokenizer.ggml.tokens")->n_items == 150000);
    CHECK_FALSE(file->find("tokenizer.ggml.tokens")->kept);
    CHECK(file->find("tokenizer.ggml.token_type")->integers.empty());
    CHECK(file->find("tokenizer.chat_template")->text.empty());
    CHECK(file->find("tokenizer.chat_template")->n_items == 100000);
  }

  TEST_CASE("an unknown tensor type is said by number") {
    const auto file = parse(GgufBuilder("llama").tensor("a", {7}, 31).tensor("b", {7}, 33).bytes());
    REQUIRE(file);
    REQUIRE(file->notes.size() == 1);
    CHECK(file->notes[0].what.find("tensor type 31 ") != std::string::npos);
    CHECK(file->notes[0].severity == Severity::note);
  }

  TEST_CASE("a file cut at any byte is refused") {
    const std::string whole = small();
    REQUIRE(parse(whole));
    for (std::size_t n = 0; n < whole.size(); ++n) {
      CAPTURE(n);
      const auto file = parse(whole.substr(0, n));
      REQUIRE_FALSE(file);
      CHECK(file.error().front().code == (n == 0 ? "empty-file" : "truncated-file"));
    }
  }

  TEST_CASE("what is not GGUF 2 or 3 is named") {
    CHECK(problem(GgufBuilder("llama").magic("PK\x03\x04").bytes()) ==
          "not-gguf||at byte 0: the file starts with 'PK\\x03\\x04', not with 'GGUF'");
    CHECK(problem(GgufBuilder("llama").magic("tjgg").bytes()).find("an older ggml format") != std::string::npos);
    CHECK(problem(GgufBuilder("llama", 1).bytes()) ==
          "unsupported-version||at byte 4: version 1 of GGUF is not supported");
    CHECK(problem(GgufBuilder("llama", 99).bytes()).starts_with("unsupported-version|"));
    CHECK(problem(GgufBuilder("llama", 0x03000000).bytes()).starts_with("big-endian|"));
    CHECK(problem("") == "empty-file||at byte 0: the file is empty");
    CHECK(problem("GGU").starts_with("truncated-file|"));
  }

  TEST_CASE("counts are compared with what is left") {
    const std::uint64_t huge = std::uint64_t{1} << 63;
    CHECK(problem(GgufBuilder("llama").claim_keys(huge).bytes()).starts_with("out-of-range||at byte 16: "));
    CHECK(problem(GgufBuilder("llama").claim_keys(4000).bytes()).starts_with("truncated-file||at byte 16: "));
    CHECK(problem(GgufBuilder("llama").claim_tensors(huge).bytes()).starts_with("out-of-range||at byte 8: "));
    CHECK(problem(GgufBuilder("llama").claim_tensors(100).bytes()).starts_with("truncated-file||at byte 8: "));
    for (const std::uint64_t n : {std::uint64_t{1} << 40, huge, ~std::uint64_t{0}}) {
      CAPTURE(n);
      CHECK(problem(GgufBuilder("").begin_array("tokenizer.ggml.tokens", GgufType::string, n).bytes())
                .starts_with("truncated-file|tokenizer.ggml.tokens|"));
      CHECK(
          problem(GgufBuilder("").begin_array("a.b", GgufType::uint64, n).bytes()).starts_with("truncated-file|a.b|"));
      CHECK(problem(GgufBuilder("").begin_array("a.b", GgufType::uint8, n).bytes()).starts_with("truncated-file|a.b|"));
    }
  }

  TEST_CASE("strings are limited") {
    std::string length;
    GgufBuilder::number(length, 1000, 8);
    CHECK(
        problem(GgufBuilder("").begin("a.b", GgufType::string).raw(length).bytes()).starts_with("truncated-file|a.b|"));
    length.clear();
    GgufBuilder::number(length, std::uint64_t{1} << 62, 8);
    CHECK(problem(GgufBuilder("").begin("a.b", GgufType::string).raw(length).bytes())
              .starts_with("string-too-long|a.b|"));
    CHECK(problem(GgufBuilder("").begin_array("a.b", GgufType::string, 1).raw(length).bytes())
              .starts_with("string-too-long|a.b|"));
    CHECK(problem(GgufBuilder("").raw(length).claim_keys(1).raw("abcdefgh").bytes()).starts_with("string-too-long|"));
    CHECK(problem(GgufBuilder("").count(std::string(70000, 'k'), 1).bytes()).starts_with("string-too-long|"));
    CHECK(problem(GgufBuilder("").tensor(std::string(300, 't'), {1}).bytes()).starts_with("string-too-long|"));
  }

  TEST_CASE("keys and names are plain") {
    // 24: the first key's length.
    CHECK(problem(GgufBuilder("").count("a\xC3(b", 1).bytes()) == "bad-key||at byte 24: metadata key 0 is 'a\\xc3(b'");
    CHECK(problem(GgufBuilder("").count("", 1).bytes()).starts_with("bad-key|"));
    CHECK(problem(GgufBuilder("").count("a\nb", 1).bytes()).starts_with("bad-key|"));
    CHECK(problem(GgufBuilder("").tensor("\xFF", {1}).bytes()).starts_with("bad-key|"));
    CHECK(problem(GgufBuilder("").tensor("", {1}).bytes()).starts_with("bad-key|"));
  }

  TEST_CASE("values are what their type says") {
    CHECK(problem(GgufBuilder("").begin("a.b", 13).raw("xxxxxxxx").bytes()) ==
          // key of 3 bytes: 24 + 8 + 3
          "unknown-type|a.b|at byte 35: the value's type is 13");
    CHECK(problem(GgufBuilder("").begin_array("a.b", static_cast<GgufType>(77), 0).bytes())
              .starts_with("unknown-type|a.b|"));
    CHECK(problem(GgufBuilder("").begin_array("a.b", GgufType::array, 1).raw("xxxxxxxxxxxxxxxx").bytes())
              .starts_with("nested-array|a.b|at byte 39: "));
    CHECK(problem(GgufBuilder("").count("a.b", 2, GgufType::boolean).bytes()).starts_with("bad-bool|a.b|"));
    CHECK(problem(GgufBuilder("").count("a.b", 1).count("a.c", 1).count("a.b", 1).bytes())
              .starts_with("duplicate-key|a.b|"));
  }

  TEST_CASE("tensors are plausible") {
    const std::uint64_t big = std::uint64_t{1} << 32;
    CHECK(problem(GgufBuilder("").tensor("t", {1, 1, 1, 1, 1, 1, 1, 1, 1}).bytes()).starts_with("out-of-range|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {big, big}).bytes()).starts_with("out-of-range|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {~std::uint64_t{0}}).bytes()).starts_with("out-of-range|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {8, 0}).bytes()).starts_with("out-of-range|t|"));
    // 2^62 elements are fewer than 2^63; their bytes as f32 are not.
    CHECK(problem(GgufBuilder("").tensor("t", {std::uint64_t{1} << 62}, 0).bytes()).starts_with("out-of-range|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {100}, 12).bytes()).starts_with("bad-row|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {32}, 1, 7).bytes()).starts_with("bad-offset|t|"));
    CHECK(problem(GgufBuilder("").tensor("t", {1}).tensor("t", {1}).bytes()).starts_with("duplicate-tensor|t|"));
    CHECK(
        problem(GgufBuilder("").count("general.alignment", 0).bytes()).starts_with("out-of-range|general.alignment|"));
    CHECK(
        problem(GgufBuilder("").count("general.alignment", 48).bytes()).starts_with("out-of-range|general.alignment|"));
    CHECK(
        problem(GgufBuilder("").text("general.alignment", "32").bytes()).starts_with("wrong-type|general.alignment|"));
  }

  TEST_CASE("a file is read as its bytes are") {
    const TemporaryFile file(small() + std::string(200000, '\0'));  // tensor data follow
    const auto read = read_gguf_header(file.path);
    REQUIRE(read);
    CHECK(read->metadata.size() == 4);
    CHECK(read->tensors.size() == 1);
    CHECK(read->find("tokenizer.ggml.tokens")->n_items == 3);
  }

  TEST_CASE("a long header crosses the buffer") {
    const TemporaryFile file(
        GgufBuilder("llama").texts("tokenizer.ggml.tokens", 60000, "some token").count("a.b", 5).bytes());
    const auto read = read_gguf_header(file.path);
    REQUIRE(read);
    CHECK(read->find("a.b")->integers.at(0) == 5);
  }

  TEST_CASE("a header beyond 64 MiB is refused") {
    GgufBuilder builder("llama");
    const std::string block(std::size_t{30} << 20, 'x');
    builder.text("a.a", block).text("a.b", block).text("a.c", block);
    CHECK(problem(builder.bytes()).starts_with("header-too-large|a.c|"));
  }

  TEST_CASE("paths that are no readable files are named") {
    const auto code = [](const std::string& path) {
      const auto read = read_gguf_header(path);
      REQUIRE_FALSE(read);
      CHECK(read.error().front().where.file == path);
      return read.error().front().code;
    };
    CHECK(code("/") == "not-a-file");
    CHECK(code("/no/such/file.gguf") == "file-not-found");
    CHECK(code("/dev/null") == "truncated-file");
    CHECK(code("/dev/zero") == "not-gguf");
    const TemporaryFile file(small());
    REQUIRE(::chmod(file.path.c_str(), 0) == 0);
    if (::geteuid() != 0) CHECK(code(file.path) == "unreadable-file");  // root may read everything
    const TemporaryFile empty("");
    CHECK(code(empty.path) == "empty-file");
  }
}
