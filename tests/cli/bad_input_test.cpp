// What people get wrong, and what they are told. A bad request leaves no file behind.
#include <doctest/doctest.h>

#include "tool.hpp"

using namespace cli_test;

namespace {

struct Case {
  std::string name;
  std::string flags;
  int exit_code;
  std::vector<std::string> said;  // parts of the message
};

}  // namespace

TEST_CASE("a wrong value is named, explained, and leaves no file") {
  const std::vector<Case> cases = {
      {"width that does not split",
       kRequest + " --d-model 510 --n-heads 8",
       3,
       {"--d-model", "510", "8 heads", "504 or 512", "--decoupled"}},
      {"key/value heads that do not divide",
       kRequest + " --n-heads 12 --n-kv-heads 5",
       3,
       {"--n-kv-heads", "5 key/value heads", "12", "1, 2, 3, 4, 6, 12"}},
      {"more key/value heads than heads", kRequest + " --n-heads 8 --n-kv-heads 16", 3, {"--n-kv-heads", "1, 2, 4, 8"}},
      {"misspelt target",
       "--params 1.3B --seq-len 32k --target h100-sxmm",
       3,
       {"--target", "h100-sxmm", "did you mean 'h100-sxm'"}},
      {"negative length", "--params 1.3B --target h100-sxm --seq-len -1", 3, {"--seq-len", "-1", "1073741824"}},
      {"negative length behind =", "--params 1.3B --target h100-sxm --seq-len=-1", 3, {"--seq-len", "-1"}},
      {"too many parameters",
       "--params 1e30 --seq-len 32k --target h100-sxm",
       3,
       {"--params", "1e30", "1,000,000,000,000,000"}},
      {"fraction of a token", "--params 1.3B --seq-len 1.5 --target h100-sxm", 3, {"--seq-len", "1.5"}},
      {"value with a tail", kRequest + " --n-heads 8x", 3, {"--n-heads", "8x"}},
      {"zero heads", kRequest + " --n-heads 0", 3, {"--n-heads", "0"}},
      {"hex", kRequest + " --n-heads 0x10", 3, {"--n-heads", "0x10"}},
      {"unknown variant", kRequest + " --variants gqu", 3, {"--variants", "gqu", "did you mean 'gqa'"}},
      {"unknown dtype", kRequest + " --dtype bf61", 3, {"--dtype", "bf61", "did you mean 'bf16'"}},
      {"cache-only dtype for weights", kRequest + " --dtype q4_0", 3, {"--dtype", "q4_0", "--kv-dtypes"}},
      {"unknown priority", kRequest + " --priority balance", 3, {"--priority", "did you mean 'balanced'"}},
      {"unknown preset", kRequest + " --quality-preset optimist", 3, {"--quality-preset", "'optimistic'"}},
      {"unknown metric",
       "--params 1B " + kRequest.substr(14) + " --limit kv_byte_per_token<=64KiB",
       3,
       {"--limit", "'kv_bytes_per_token'"}},
      {"latent width without a latent variant",
       kRequest + " --variants gqa --d-kv-latent 512",
       3,
       {"--d-kv-latent", "mla"}},
      {"rank without a variant that has ranks", kRequest + " --rank-kv 2", 3, {"--rank-kv", "add tpa to --variants"}},
      {"latents where one serves all heads",
       kRequest + " --variants mla --n-latents 2",
       3,
       {"--n-latents", "add gla to --variants"}},
      {"all beside a variant", kRequest + " --variants all,mla", 3, {"--variants", "all"}},
      {"heads of a latent variant",
       kRequest + " --variants mla --n-heads 16 --n-kv-heads 4",
       3,
       {"--n-kv-heads", "mla"}},
      {"two widths that disagree",
       kRequest + " --d-model 2048 --n-heads 16 --d-head 64",
       3,
       {"--d-head", "1024", "2048", "d_head 128", "--decoupled"}},
      {"no budget", "--seq-len 32k --target h100-sxm", 3, {"--params", "--d-model, --n-layers, --d-ff, --vocab-size"}},
      {"no length", "--params 1.3B --target h100-sxm", 3, {"--seq-len"}},
      {"no target", "--params 1.3B --seq-len 32k", 3, {"--target", "list targets"}},
      {"no compute rate", "--params 350M --seq-len 8k --target sd-8-gen3", 3, {"--dtype", "bf16", "f16"}},
      {"no folder of rules", kRequest + " --rules nowhere", 3, {"nowhere"}},
      {"no file", "missing.yaml", 3, {"missing.yaml", "no such file"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Tool tool;
    const Ran ran = tool("recommend " + c.flags + " --out md:report.md");
    CAPTURE(ran.err);
    CHECK(ran.exit_code == c.exit_code);
    CHECK(ran.out.empty());
    CHECK(ran.err.starts_with("error: "));
    for (const std::string& part : c.said) {
      CAPTURE(part);
      CHECK(contains(ran.err, part));
    }
    CHECK(tool.files().empty());
  }
}

TEST_CASE("every problem of a command line is reported at once") {
  const Tool tool;
  const Ran ran = tool("recommend --params x --seq-len -1 --target h100-sxm --dtype bf61");
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "--params"));
  CHECK(contains(ran.err, "--seq-len"));
  CHECK(contains(ran.err, "--dtype"));
  const Ran gaps = tool("recommend --n-heads 12 --n-kv-heads 5 --target h100-smx");
  CHECK(gaps.exit_code == 3);
  CHECK(contains(gaps.err, "--params"));
  CHECK(contains(gaps.err, "--seq-len"));
  CHECK(contains(gaps.err, "--n-kv-heads"));
  CHECK(contains(gaps.err, "--target"));
}

TEST_CASE("a request that nothing satisfies says why and returns 1") {
  const Tool tool;
  for (const std::string& flags :
       std::vector<std::string>{"--params 70B --seq-len 32k --target rpi5 --dtype f32",
                                "--params 1.3B --seq-len 32k --target h100-sxm --limit kv_bytes_per_token<=1"}) {
    CAPTURE(flags);
    const Ran ran = tool("recommend " + flags + " --out md:report.md --out json:-");
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 1);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "no-feasible-layout"));
    CHECK(tool.files().empty());
  }
}

TEST_CASE("heads narrower than 32 are never recommended") {
  const Tool tool;
  const Ran ran =
      tool("recommend --params 350M --seq-len 8k --target h100-sxm --d-model 1536 --n-layers 12 --d-head 24");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.empty());
  CHECK(contains(ran.err, "24"));
  CHECK(contains(ran.err, "32"));
  CHECK(contains(ran.err, "d-head-min"));
}

TEST_CASE("a width that is not a multiple of a pinned head width is refused") {
  const Tool tool;
  const Ran ran = tool("recommend " + kRequest + " --d-model 2048 --d-head 96");
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "2016 or 2112"));
}
