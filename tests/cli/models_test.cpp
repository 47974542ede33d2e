// audit, compare, solve and explain of models, as users meet them.
#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include "tool.hpp"

using namespace cli_test;

namespace {

const std::string kConfig = R"({
  "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false,
  "max_position_embeddings": 8192
})";

rapidjson::Document json_of(const Ran& ran) {
  rapidjson::Document doc;
  doc.Parse(ran.out.c_str());
  REQUIRE_FALSE(doc.HasParseError());
  return doc;
}

}  // namespace

TEST_CASE("audit: the JSON has the fields of its contract") {
  const Tool tool;
  const Ran ran = tool("audit llama-3-8b --seq-len 8k --batch 2 --out json:-");
  CHECK(ran.exit_code == 0);
  CHECK(ran.err.empty());
  const rapidjson::Document doc = json_of(ran);
  CHECK(doc["schema_version"].GetInt() == 1);
  CHECK(doc["model"]["name"].IsString());
  const auto& group = doc["model"]["groups"][0];
  CHECK(group["n_layers"].GetInt() == 32);
  CHECK(std::string(group["variant"].GetString()) == "gqa");
  CHECK(group["n_heads"].GetInt() == 32);
  CHECK(group["n_kv_heads"].GetInt() == 8);
  CHECK(group["d_head"].GetInt() == 128);
  CHECK(group["window"].GetInt() == 0);
  CHECK(doc["params"]["total"].GetInt64() == 8030261248);
  CHECK(doc["params"]["active"].GetInt64() == 8030261248);
  CHECK(doc["params"]["stored"].GetInt64() == 8030261248);
  CHECK(doc["kv_cache"]["bytes_per_token"].GetInt64() == 131072);
  CHECK(doc["kv_cache"]["fixed_bytes_per_sequence"].GetInt64() == 0);
  CHECK(doc["kv_cache"]["bytes_per_sequence"].GetInt64() == 131072LL * 8192);
  CHECK(doc["kv_cache"]["bytes_batch"].GetInt64() == 2 * 131072LL * 8192);
  CHECK(doc["kv_cache"]["allocated"].MemberCount() == 4);
  CHECK(doc["kv_cache"]["per_rank"]["8"].GetInt64() == 131072LL * 8192 / 8);
  CHECK(doc["kv_cache"]["legal_tensor_parallel"].Size() == 6);  // 1, 2, 4, 8, 16, 32
  CHECK(std::string(doc["flops"]["convention"].GetString()) == "causal");
  CHECK(doc["flops"]["prefill"].IsInt64());
  CHECK(doc["flops"]["decode_per_token"].IsInt64());
  CHECK(doc["findings"].IsArray());
  CHECK(doc["alternatives"].Size() > 3);
}

TEST_CASE("audit: a config.json, the model file made of it and the catalogue give the same figures") {
  const Tool tool;
  tool.write("config.json", kConfig);
  CHECK(tool("audit config.json --out yaml:model.yaml").exit_code == 0);
  const auto figures = [&](const std::string& model) {
    rapidjson::Document doc = json_of(tool("audit " + model + " --out json:-"));
    return std::pair{doc["params"]["total"].GetInt64(), doc["kv_cache"]["bytes_per_sequence"].GetInt64()};
  };
  CHECK(figures("config.json") == figures("model.yaml"));
  CHECK(figures("config.json") == figures("llama-3-8b"));
}

TEST_CASE("audit: the same bytes each time, and the command that it prints gives them") {
  const Tool tool;
  const std::string line = "audit gpt-oss-20b --seq-len 32k --kv-dtype fp8 --out md:-";
  const Ran first = tool(line);
  CHECK(first.out == tool(line).out);
  CHECK(contains(first.out, "mha-configurator audit gpt-oss-20b --kv-dtype fp8 --seq-len 32k"));
  CHECK(contains(first.out, "window 128"));
}

TEST_CASE("audit: wrong input is one clear error and exit code 3") {
  struct Case {
    std::string line;
    std::string said;
  };
  const Tool tool;
  tool.write("bad.json", R"({"model_type": "llama", "hidden_size": -1})");
  tool.write("list.json", "[1, 2]");
  tool.write("empty.json", "");
  tool.write("broken.gguf", "GGUF\x03");
  tool.write("odd.yaml", "name: x\nlayers: {}\n");
  for (const Case& c :
       {Case{"audit bad.json", "bad.json:1:"}, Case{"audit list.json", "list.json"}, Case{"audit empty.json", "empty"},
        Case{"audit broken.gguf", "broken.gguf"}, Case{"audit odd.yaml", "odd.yaml:"},
        Case{"audit nothere.json", "nothere.json"}, Case{"audit lama-3-8b", "did you mean"},
        Case{"audit llama-3-8b --seq-len -1", "--seq-len"}, Case{"audit llama-3-8b --kv-dtype bf17", "--kv-dtype"},
        Case{"audit llama-3-8b --tensor-parallel 3", "legal degrees are 1, 2, 4, 8"},
        Case{"audit llama-3-8b --flops palmm", "did you mean 'palm'"}, Case{"audit llama-3-8b --runtime vlm", "vllm"},
        Case{"audit llama-3-8b --target h100", "--target"}, Case{"audit llama-3-8b --past 9k --seq-len 8k", "--past"},
        Case{"audit llama-3-8b --source-tokens 5", "--source-tokens"},
        Case{"audit llama-3-8b --draft-layers", "--draft-layers"}, Case{"audit qwen-7b", "--seq-len"}}) {
    CAPTURE(c.line);
    const Ran ran = tool(c.line);
    CHECK(ran.exit_code == 3);
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "error: "));
    CHECK(contains(ran.err, c.said));
  }
  for (const char* line : {"audit", "audit llama-3-8b qwen3-8b", "audit llama-3-8b --n-heads 4", "compare llama-3-8b",
                           "solve max-contxt llama-3-8b --target h100-sxm", "solve max-context llama-3-8b"}) {
    CAPTURE(line);
    CHECK(tool(line).exit_code == 2);
  }
}

TEST_CASE("compare: all models at the shortest of their contexts") {
  const Tool tool;
  const Ran ran = tool("compare llama-3-8b deepseek-v3 gemma-3-27b --out json:-");
  CHECK(ran.exit_code == 0);
  const rapidjson::Document doc = json_of(ran);
  CHECK(doc["query"]["seq_len"].GetInt() == 8192);
  REQUIRE(doc["models"].Size() == 3);
  CHECK(doc["models"][1]["kv_cache"]["bytes_per_token"].GetInt64() == 70272);
  CHECK(contains(tool("compare llama-3-8b deepseek-v3").out, "70,272 B/token"));
}

TEST_CASE("solve: the answer fits, one more does not, and 1 when nothing fits") {
  const Tool tool;
  const auto solved = [&](const std::string& line) {
    rapidjson::Document doc = json_of(tool("solve " + line + " --out json:-"));
    const auto& s = doc["solutions"][0];
    CHECK(s["at_value"]["used"].GetInt64() <= s["at_value"]["capacity"].GetInt64());
    CHECK(s["one_more"]["used"].GetInt64() > s["one_more"]["capacity"].GetInt64());
    return s["value"].GetInt64();
  };
  const std::int64_t context = solved("max-context llama-3-8b --target h100-sxm --batch 16");
  CHECK(solved("max-context llama-3-8b --target h100-sxm --batch 32") <= context / 2 + 1);
  CHECK(solved("max-batch llama-3-8b --target h100-sxm --seq-len 8k") > 16);
  CHECK(solved("max-params llama-3-8b --target h100-sxm --seq-len 8k --batch 16") > 8030261248);
  const Ran devices = tool("solve min-devices deepseek-v3 --target h200-sxm --seq-len 32k --dtype fp8");
  CHECK(devices.exit_code == 0);
  CHECK(contains(devices.out, "devices"));
  const Ran none = tool("solve max-context llama-3-70b --target rtx-4090");
  CHECK(none.exit_code == 1);
  CHECK(contains(none.out, "none"));
}

TEST_CASE("explain: a model in place of a request") {
  const Tool tool;
  const Ran ran = tool("explain deepseek-v3 --seq-len 4096");
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "d_kv_latent * n_heads * d_nope"));
  CHECK(contains(ran.out, "671,026,419,200 parameters"));
  tool.write("config.json", kConfig);
  CHECK(contains(tool("explain config.json").out, "8,030,261,248 parameters"));
  CHECK(contains(tool("audit llama-3-8b --explain").out, "8,030,261,248 parameters"));
}

TEST_CASE("list: models, families, runtimes and ways of counting") {
  const Tool tool;
  CHECK(contains(tool("list models").out, "deepseek-v3"));
  CHECK(contains(tool("list families").out, "gemma3"));
  CHECK(contains(tool("list runtimes").out, "vllm"));
  CHECK(contains(tool("list flops").out, "chinchilla"));
  CHECK(contains(tool("list linear").out, "gated-delta-net"));
}

TEST_CASE("a published FLOP figure is reproduced by naming its convention") {
  // Chinchilla, table A4: not a catalogue model, so it is written down as one. 10 layers x 640: 929,877,196,800 a sequence.
  const Tool tool;
  tool.write("small.yaml",
             "name: a4\nd_model: 640\nvocab_size: 32000\ntied_embeddings: false\nnorm: layer\nn_layers: 10\nlayers:\n"
             "  full:\n    attention: {n_heads: 10, n_kv_heads: 10, d_head: 64, bias: [q, k, v, o]}\n"
             "    feed_forward: {d_ff: 2560, gated: false, bias: [up, down]}\n");
  const rapidjson::Document doc = json_of(tool("audit small.yaml --seq-len 2048 --flops chinchilla --out json:-"));
  CHECK(doc["flops"]["prefill"].GetInt64() == 929877196800);
}
