// request.yaml and standard input.
#include <doctest/doctest.h>

#include "tool.hpp"

using namespace cli_test;

namespace {

const std::string kFile =
    "params: 1.3B\n"
    "seq_len: 32k\n"
    "target: h100-sxm\n"
    "batch: 16\n"
    "variants: [gqa, mqa]\n"
    "decoupled: true\n"
    "limit:\n"
    "  - kv_bytes_per_token <= 64KiB\n"
    "  - n_kv_heads >= 2\n";

std::vector<std::string> flags_of_file(const std::string& format) {
  return {"recommend", "--params",
          "1.3B",      "--seq-len",
          "32k",       "--target",
          "h100-sxm",  "--batch",
          "16",        "--variants",
          "gqa,mqa",   "--decoupled",
          "--limit",   "kv_bytes_per_token <= 64KiB",
          "--limit",   "n_kv_heads >= 2",
          "--out",     format + ":-"};
}

}  // namespace

TEST_CASE("a request file gives the same bytes as the flags it stands for") {
  const Tool tool;
  tool.write("request.yaml", kFile);
  for (const std::string& format : std::vector<std::string>{"txt", "md", "json", "svg"}) {
    CAPTURE(format);
    const Ran from_file = tool("recommend request.yaml --out " + format + ":-");
    const Ran from_flags = tool.run(flags_of_file(format));
    const Ran from_stdin = tool.run({"recommend", "-", "--out", format + ":-"}, kFile);
    CAPTURE(from_file.err);
    CAPTURE(from_flags.err);
    CHECK(from_file.exit_code == 0);
    CHECK(from_flags.exit_code == 0);
    CHECK(from_stdin.exit_code == 0);
    CHECK(!from_file.out.empty());
    CHECK(from_file.out == from_flags.out);
    CHECK(from_file.out == from_stdin.out);
    CHECK(from_file.err == from_flags.err);
  }
}

TEST_CASE("flags override the file wherever they stand") {
  const Tool tool;
  tool.write("request.yaml", "params: 1.3B\nseq_len: 4k\ntarget: h100-sxm\nbatch: 16\n");
  const Ran plain = tool("recommend " + kRequest + " --out json:-");
  CHECK(tool("recommend request.yaml --seq-len 32k --out json:-").out == plain.out);
  CHECK(tool("recommend --seq-len 32k --out json:- request.yaml").out == plain.out);
  CHECK(tool("recommend request.yaml --out json:-").out != plain.out);
}

TEST_CASE("a switch does not swallow the file behind it") {
  const Tool tool;
  tool.write("request.yaml", "params: 1.3B\nseq_len: 32k\ntarget: h100-sxm\nbatch: 16\n");
  const Ran after = tool("recommend --validate request.yaml --out json:-");
  const Ran before = tool("recommend request.yaml --validate --out json:-");
  CAPTURE(after.err);
  CHECK(after.exit_code == 0);
  CHECK(after.out == before.out);
}

TEST_CASE("problems of a request file are told with file, line and key") {
  struct Case {
    std::string content;
    std::vector<std::string> said;
  };
  const std::vector<Case> cases = {
      {"params: 1.3B\nseq_len: 32k\nparams: 2B\ntarget: h100-sxm\n",
       {"request.yaml:3", "request.yaml", "params", "duplicate-key"}},
      {"params: 1.3B\nseq_len: -1\ntarget: h100-sxm\n", {"request.yaml:2:10", "seq_len", "-1"}},
      {"parms: 1.3B\n", {"request.yaml:1:1", "parms", "did you mean 'params'"}},
      {"params: [1, 2]\n", {"request.yaml:1", "params", "single value"}},
      {"params: 1.3B\nn_heads: 010x\n", {"request.yaml:2", "n_heads"}},
      {"params: {\n", {"request.yaml:"}},
      {"", {"request.yaml"}},
      {std::string("\x7f"
                   "ELF\x02\x01\x01\0\0\0\xff\xfe",
                   12),
       {"request.yaml"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.content);
    const Tool tool;
    tool.write("request.yaml", c.content);
    const Ran ran = tool("recommend request.yaml --out md:report.md");
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 3);
    CHECK(ran.out.empty());
    for (const std::string& part : c.said) {
      CAPTURE(part);
      CHECK(contains(ran.err, part));
    }
    CHECK(tool.files() == std::vector<std::string>{"request.yaml"});
  }
}

TEST_CASE("a folder or a huge file is not read as a request") {
  const Tool tool;
  CHECK(tool("recommend .").exit_code == 3);
  CHECK(tool("recommend " MHA_TOOL).exit_code == 3);
  const Ran ran = tool.run({"recommend", "-"}, std::string(3 << 20, '#'));
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "standard input"));
}

TEST_CASE("a new target needs one file and no code") {
  const Tool tool;
  tool.write("rules/targets/my-board.yaml",
             "id: my-board\n"
             "name: My board 96 GB\n"
             "kind: gpu\n"
             "memory: {value: 96GiB, source: data sheet, date: 2026-08-21}\n"
             "reserve: {value: 2GiB, source: measured, date: 2026-08-21}\n"
             "bandwidth_per_s: {value: 2TB, source: data sheet, date: 2026-08-21}\n"
             "peaks_per_s:\n"
             "  bf16: {value: 500T, source: data sheet, date: 2026-08-21}\n"
             "tensor_parallel: {value: [1], source: one device, date: 2026-08-21}\n"
             "kernels: [flash-attention-2]\n"
             "decode_efficiency_low: {value: 0.6, source: measured, date: 2026-08-21}\n"
             "prefill_efficiency_low: {value: 0.5, source: measured, date: 2026-08-21}\n"
             "note: \"\"\n");
  const Ran listed = tool("list targets --rules rules");
  CAPTURE(listed.err);
  CHECK(listed.exit_code == 0);
  CHECK(contains(listed.out, "my-board"));
  CHECK(contains(listed.out, "My board 96 GB, 96.0 GiB, 2000 GB/s"));
  CHECK(!contains(tool("list targets").out, "my-board"));
  const Ran ran = tool("recommend --params 1.3B --seq-len 32k --target my-board --rules rules");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "My board 96 GB"));
}

TEST_CASE("a broken rule of a user's folder is told with its place") {
  const Tool tool;
  tool.write("rules/targets/broken.yaml", "id: broken\nnmae: x\n");
  const Ran ran = tool("recommend --params 1.3B --seq-len 32k --target broken --rules rules");
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "broken.yaml:2"));
  CHECK(contains(ran.err, "did you mean 'name'"));
  CHECK(tool("list rules --rules rules").exit_code == 3);
}
