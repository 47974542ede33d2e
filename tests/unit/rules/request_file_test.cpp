#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "mha/rules_loader.hpp"

#include "temp_folder.hpp"

using namespace mha;

namespace {

Diagnostics read(std::string_view text, Request& request) {
  return read_request_text(text, "request.yaml", request);
}

Diagnostic only(std::string_view text, std::string_view code, std::string_view key, int line, int column) {
  Request request;
  const Diagnostics problems = read(text, request);
  REQUIRE_MESSAGE(problems.size() == 1, text);
  const Diagnostic& problem = problems[0];
  CHECK_MESSAGE(problem.code == code, to_string(problem));
  CHECK(problem.where.file == "request.yaml");
  CHECK_MESSAGE(problem.where.key == key, to_string(problem));
  CHECK_MESSAGE(problem.where.line == line, to_string(problem));
  CHECK_MESSAGE(problem.where.column == column, to_string(problem));
  CHECK_FALSE(problem.what.empty());
  CHECK_FALSE(problem.hint.empty());
  return problem;
}

}  // namespace

TEST_CASE("a request file sets what it names and nothing else") {
  Request request;
  const Diagnostics problems =
      read("params: 1.3B\nseq_len: 32k\ntarget: h100-sxm\nqk_norm: true\nbatch: 16\n", request);
  REQUIRE(problems.empty());
  CHECK(request.params == 1'300'000'000);
  CHECK(request.seq_len == 32'768);
  CHECK(request.target == "h100-sxm");
  CHECK(request.qk_norm);
  CHECK(request.batch == 16);
  CHECK(request.priority == "balanced");
  CHECK_FALSE(request.d_model.has_value());
}

TEST_CASE("lists are written as lists or as one text") {
  const auto field = std::find_if(request_fields().begin(), request_fields().end(), [](const RequestField& f) {
    return f.kind == ValueKind::list && f.key.find("variant") != std::string_view::npos;
  });
  REQUIRE(field != request_fields().end());
  const std::string key(field->key);
  Request as_list;
  REQUIRE(read(key + ": [gqa, mla]\n", as_list).empty());
  Request as_text;
  REQUIRE(read(key + ": gqa,mla\n", as_text).empty());
  CHECK(as_list.variants == std::vector<std::string>{"gqa", "mla"});
  CHECK(as_text.variants == as_list.variants);
  only(key + ": []\n", "missing-value", key, 1, static_cast<int>(key.size()) + 3);
}

TEST_CASE("each item of a list of limits is one limit") {
  const auto field = std::find_if(request_fields().begin(), request_fields().end(),
                                  [](const RequestField& f) { return f.kind == ValueKind::assertion; });
  REQUIRE(field != request_fields().end());
  const std::string key(field->key);
  Request request;
  REQUIRE(read(key + ":\n  - kv_bytes_per_token <= 64KiB\n  - kv_bytes_per_token > 0\n", request).empty());
  REQUIRE(request.limits.size() == 2);
  CHECK(request.limits[0].exact == 65'536);
  Request bad;
  const Diagnostics problems = read(key + ":\n  - kv_bytes_per_token <= 64KiB\n  - nonsense\n", bad);
  REQUIRE_FALSE(problems.empty());
  CHECK(problems[0].where.line == 3);
  CHECK(problems[0].where.column == 5);
}

TEST_CASE("a bad value is reported where it stands") {
  const Diagnostic problem = only("params: 1.3B\nseq_len: -1\n", "out-of-range", "seq_len", 2, 10);
  CHECK(to_string(problem) ==
        "error: request.yaml:2:10: seq_len: -1 is not a length in tokens [out-of-range]\n"
        "  hint: give a whole number from 1 to 1073741824, such as 32k");
  CHECK(only("params: 1e30\n", "out-of-range", "params", 1, 9).what.find("1,000,000,000,000,000") != std::string::npos);
  only("params: 010\n", "bad-number", "params", 1, 9);
  only("params: 0x10\n", "bad-suffix", "params", 1, 9);
  only("qk_norm: yes\n", "bad-boolean", "qk_norm", 1, 10);
  only("seq_len:\nparams: 1B\n", "missing-value", "seq_len", 1, 1);
}

TEST_CASE("values of the wrong shape are refused") {
  only("params: [1B]\n", "wrong-kind", "params", 1, 9);
  only("params: {a: 1}\n", "wrong-kind", "params", 1, 9);
  Request request;
  CHECK(read("- params\n", request)[0].code == "wrong-kind");
  CHECK(read("params\n", request)[0].code == "wrong-kind");
}

TEST_CASE("unknown and duplicate keys of a request are refused") {
  CHECK(only("\nseqlen: 32k\n", "unknown-key", "seqlen", 2, 1).hint == "did you mean 'seq_len'?");
  CHECK(only("seq-len: 32k\n", "unknown-key", "seq-len", 1, 1).hint == "did you mean 'seq_len'?");
  CHECK(only("params: 1B\nparams: 2B\n", "duplicate-key", "params", 2, 1).what ==
        "this key stands on line 1 already, and again on line 2");
}

TEST_CASE("all problems of a request come at once") {
  Request request;
  CHECK(read("params: many\nseq_len: -1\nfoo: 1\n", request).size() == 3);
}

TEST_CASE("a request file that cannot be read is one clear problem") {
  const TempFolder folder;
  Request request;
  CHECK(read_request_file(folder.path("none.yaml"), request)[0].code == "file-not-found");
  CHECK(read_request_file(folder.path(), request)[0].code == "not-a-file");
  CHECK(read_request_file(folder.write("a.yaml", ""), request)[0].code == "empty-file");
  CHECK(read_request_file(folder.write("b.yaml", "params: [\n"), request)[0].code == "yaml-syntax");
  const std::string good = folder.write("c.yaml", "params: 1.3B # a comment\n");
  CHECK(read_request_file(good, request).empty());
  CHECK(request.params == 1'300'000'000);
}
