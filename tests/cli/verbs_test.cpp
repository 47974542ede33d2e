// Each verb's own behaviour, help and exit code.
#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include "mha/version.hpp"

#include "tool.hpp"

using namespace cli_test;

namespace {
const std::string kPinned =
    "--params 8.03B --d-model 4096 --n-layers 32 --n-heads 32 --n-kv-heads 8 --d-head 128 --seq-len 8k --target "
    "h100-sxm";
}

TEST_CASE("help and version go to standard output") {
  const Tool tool;
  const Ran version = tool("--version");
  CHECK(version.exit_code == 0);
  CHECK(version.out == "mha-configurator " + std::string(mha::kVersion) + "\n");
  const Ran help = tool("--help");
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  for (const std::string& verb : std::vector<std::string>{"recommend", "explain", "validate", "check", "list"}) {
    CAPTURE(verb);
    CHECK(contains(help.out, "\n  " + verb + " "));
    const Ran page = tool(verb + " --help");
    CHECK(page.exit_code == 0);
    CHECK(page.err.empty());
    CHECK(contains(page.out, "Usage: mha-configurator " + verb));
    CHECK(contains(page.out, "Examples:\n  mha-configurator " + verb));
    CHECK(contains(page.out, "--rules DIR"));
    CHECK(tool(verb + " --params 1B -h").exit_code == 0);
  }
}

TEST_CASE("help of a verb that takes a request shows its fields by group") {
  const Tool tool;
  const std::string page = tool("recommend --help").out;
  for (const std::string& part :
       std::vector<std::string>{"\nModel:\n", "\nLayout:\n", "\nWorkload:\n", "\nObjective:\n", "--seq-len TOKENS",
                                "--n-kv-heads N", "--decoupled[=false]", "--out FORMAT:PATH"}) {
    CAPTURE(part);
    CHECK(contains(page, part));
  }
}

TEST_CASE("usage errors return 2 and suggest what was meant") {
  struct Case {
    std::string line;
    std::string said;
  };
  const Tool tool;
  for (const Case& c :
       {Case{"", "no verb"}, Case{"recomend --params 1B", "did you mean 'recommend'"}, Case{"--versoin", "'--version'"},
        Case{"recommend --parms 1B", "did you mean '--params'"}, Case{"recommend --n-he 4", "did you mean '--n-heads'"},
        Case{"recommend --seqlen=4", "did you mean '--seq-len'"}, Case{"recommend -x", "-x"},
        Case{"recommend --params", "--params: needs a value"},
        Case{"recommend --params --seq-len 3", "--params: needs a value"},
        Case{"recommend --params= --seq-len 3", "--params"},
        Case{"recommend --params 1B --params 2B", "more than once"}, Case{"recommend --validate=yes", "--validate"},
        Case{"recommend a.yaml b.yaml", "b.yaml"}, Case{"recommend --assert x", "--assert"},
        Case{"list", "targets, variants"}, Case{"list target", "did you mean 'targets'"},
        Case{"list targets variants", "more than one"}, Case{"list targets --params 1B", "--params"},
        Case{"check " + kRequest, "nothing to check"}}) {
    CAPTURE(c.line);
    const Ran ran = tool(c.line);
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.starts_with("error: "));
    CHECK(contains(ran.err, c.said));
  }
}

TEST_CASE("check returns 0 when all holds and 1 with the margin when not") {
  const Tool tool;
  const Ran met = tool.run({"check", "--params", "1.3B", "--seq-len", "32k", "--target", "h100-sxm", "--assert",
                            "n_heads >= 1", "--assert", "decode_seconds < 1.5s"});
  CAPTURE(met.err);
  CHECK(met.exit_code == 0);
  const Ran missed = tool("check " + kPinned + " --assert kv_bytes_per_token<=64KiB");
  CAPTURE(missed.out);
  CHECK(missed.exit_code == 1);
  CHECK(contains(missed.out, "FAILED"));
  CHECK(contains(missed.out, "128 KiB (131,072 B)"));
  CHECK(contains(missed.out, "64.0 KiB (65,536 B) above the limit"));
  const Ran exact = tool("check " + kPinned + " --assert kv_bytes_per_token==128KiB");
  CHECK(exact.exit_code == 0);
  const Ran json = tool("check " + kPinned + " --assert kv_bytes_per_token<=64KiB --out json:-");
  CHECK(json.exit_code == 1);
  rapidjson::Document document;
  document.Parse(json.out.c_str());
  CHECK(!document.HasParseError());
}

TEST_CASE("check holds a pinned layout to the limits of its request file") {
  const Tool tool;
  tool.write("request.yaml",
             "params: 8.03B\nd_model: 4096\nn_layers: 32\nn_heads: 32\nn_kv_heads: 8\nd_head: 128\nseq_len: 8k\n"
             "target: h100-sxm\nlimit: kv_bytes_per_token <= 128KiB\n");
  CHECK(tool("check request.yaml").exit_code == 0);
  tool.write("request.yaml",
             "params: 8.03B\nd_model: 4096\nn_layers: 32\nn_heads: 32\nn_kv_heads: 8\nd_head: 128\nseq_len: 8k\n"
             "target: h100-sxm\nlimit: kv_bytes_per_token <= 100KiB\n");
  const Ran missed = tool("check request.yaml");
  CAPTURE(missed.err);
  CHECK(missed.exit_code == 1);
  CHECK(contains(missed.out + missed.err, "28.0 KiB"));
}

TEST_CASE("a bad assertion is bad input") {
  const Tool tool;
  for (const std::string& text :
       std::vector<std::string>{"kv_bytes_per_token", "kv_bytes_per_token <= ", "<= 3", "kv_bytes_per_token =< 3",
                                "kv_bytes_per_token <= 3 apples", "decode_seconds < 5", "nonsense <= 3"}) {
    CAPTURE(text);
    const Ran ran =
        tool.run({"check", "--params", "1.3B", "--seq-len", "32k", "--target", "h100-sxm", "--assert", text});
    CHECK(ran.exit_code == 3);
    CHECK(contains(ran.err, "--assert: "));
  }
}

TEST_CASE("validate counts what the cost model says") {
  const Tool tool;
  for (const std::string& line :
       std::vector<std::string>{"validate " + kRequest, "validate " + kPinned,
                                "validate " + kRequest + " --variants mla --priority inference"}) {
    CAPTURE(line);
    const Ran ran = tool(line);
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(contains(ran.out, "Analytic"));
    CHECK(contains(ran.out, "Counted"));
    CHECK(contains(ran.out, "exact"));
  }
}

TEST_CASE("explain shows formulas with their numbers for the pinned layout") {
  const Tool tool;
  const Ran ran = tool("explain " + kPinned);
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "32/8/128"));
  CHECK(contains(ran.out, "n_kv_heads * d_head"));
  CHECK(contains(ran.out, "131,072"));
  rapidjson::Document json;
  json.Parse(tool("explain " + kPinned + " --out json:-").out.c_str());
  CHECK(!json.HasParseError());
}

TEST_CASE("list prints every topic, one line each") {
  struct Case {
    std::string topic;
    std::string said;
  };
  const Tool tool;
  for (const Case& c :
       {Case{"targets", "h100-sxm "}, Case{"variants", "mla "}, Case{"dtypes", "q4_0 "},
        Case{"kernels", "flash-attention-3 "}, Case{"constraints", "d-head-min "}, Case{"shapes", "llama-3-8b "},
        Case{"priorities", "balanced "}, Case{"presets", "conservative "}, Case{"metrics", "kv_bytes_per_token "},
        Case{"rules", "targets/h100-sxm\n"}, Case{"formats", "json "}}) {
    CAPTURE(c.topic);
    const Ran ran = tool("list " + c.topic);
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    CHECK(contains("\n" + ran.out, "\n" + c.said));
    CHECK(ran.out.ends_with("\n"));
  }
}

TEST_CASE("the command of a report reproduces the report") {
  const Tool tool;
  const Ran first = tool("recommend " + kRequest + " --variants gqa,mha --decoupled --out md:-");
  REQUIRE(first.exit_code == 0);
  const std::string start = "mha-configurator recommend ";
  const std::size_t at = first.out.find(start);
  REQUIRE(at != std::string::npos);
  const std::string command = first.out.substr(at + 17, first.out.find('\n', at) - at - 17);
  CAPTURE(command);
  CHECK(contains(command, "--variants mha,gqa") != contains(command, "--variants gqa,mha"));
  const std::string flags = command.substr(0, command.find(" --out"));
  CHECK(tool(flags + " --out md:-").out == first.out);
}
