// config.json files of released models: what is read of each gives its published number of parameters and elements of
// cache for each token. And files that are wrong: each is refused with one message that names the line.
#include "readers/config_json.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"

#include "readers/json_reader.hpp"
#include "rules/family_traits.hpp"

using namespace mha;

namespace {

const std::vector<FamilyRule>& families() {
  static const Expected<std::vector<FamilyRule>> all = RuleStore().families();
  REQUIRE(all.has_value());
  return *all;
}

std::string data(const std::string& folder, const std::string& name) {
  const std::string path = std::string(MHA_SOURCE_DIR) + "/tests/data/" + folder + "/" + name + ".json";
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream, path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Expected<Architecture> read(const std::string& text) {
  return read_config_json(text, "config.json", families());
}

Architecture must_read(const std::string& text) {
  Expected<Architecture> model = read(text);
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

Architecture released(const std::string& name) {
  CAPTURE(name);
  return must_read(data("configs", name));
}

const Attention& attention(const Architecture& model, std::size_t layer) {
  for (const Mixer& mixer : model.specs[model.layers[layer]].mixers) {
    if (const auto* found = std::get_if<Attention>(&mixer)) return *found;
  }
  FAIL("the layer has no attention");
  static const Attention none;
  return none;
}

const LinearMixer& linear(const Architecture& model, std::size_t layer) {
  for (const Mixer& mixer : model.specs[model.layers[layer]].mixers) {
    if (const auto* found = std::get_if<LinearMixer>(&mixer)) return *found;
  }
  FAIL("the layer has no linear mixer");
  static const LinearMixer none;
  return none;
}

const FeedForward& ffn(const Architecture& model, std::size_t layer) {
  return model.specs[model.layers[layer]].ffn;
}

std::size_t count_named(const Architecture& model, std::string_view name) {
  std::size_t n = 0;
  for (const std::uint16_t spec : model.layers) n += model.specs[spec].name == name ? 1 : 0;
  return n;
}

bool has_note(const Architecture& model, std::string_view code) {
  for (const Diagnostic& note : model.notes) {
    if (note.code == code) return note.severity == Severity::note;
  }
  return false;
}

// A small Llama with `extra` fields behind it, each beginning with a comma.
std::string llama(const std::string& extra, const std::string& type = "llama") {
  return R"({"model_type": ")" + type +
         R"(", "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
 "num_hidden_layers": 4, "vocab_size": 1000, "max_position_embeddings": 512, "tie_word_embeddings": false)" +
         extra + "}";
}

std::string only_code(const std::string& text) {
  const Expected<Architecture> model = read(text);
  REQUIRE_FALSE(model.has_value());
  CHECK(model.error().size() == 1);
  return model.error()[0].code;
}

struct Release {
  std::string name;
  std::int64_t params = 0;    // 0: no exact figure is published
  double billions = 0;        // as published, where that is all
  std::int64_t growing = 0;   // elements of cache for each token, of caches that grow without end
  std::int64_t n_window = 0;  // layers with a window or chunk, its tokens, and elements of each cached token
  std::int64_t window = 0;
  std::int64_t window_elements = 0;
};

// Parameters: ground_truth.yaml, or the total of the model's safetensors. Growing elements and windows: the survey of
// released layouts, or by hand (layers x (keys + values), MLA layers x (latent + rope), DSA also index keys of 128).
const std::vector<Release>& releases() {
  static const std::vector<Release> table = {
      {"llama-2-13b", 13'015'864'320, 0, 409'600, 0, 0, 0},
      {"llama-1-heads-only", 7'000'559'616, 0, 262'144, 0, 0, 0},
      {"llama-3-8b", 8'030'261'248, 0, 65'536, 0, 0, 0},
      {"llama-3.1-405b", 405'853'388'800, 0, 258'048, 0, 0, 0},
      {"llama-3.2-1b", 1'235'814'400, 0, 16'384, 0, 0, 0},
      {"smollm2-135m", 134'515'008, 0, 11'520, 0, 0, 0},
      {"mistral-7b-v0.3", 7'248'023'552, 0, 65'536, 0, 0, 0},
      {"mistral-7b-v0.1", 7'241'732'096, 0, 0, 32, 4096, 2048},
      {"mistral-nemo-12b", 12'247'782'400, 0, 81'920, 0, 0, 0},
      {"mixtral-8x7b", 46'702'792'704, 0, 65'536, 0, 0, 0},
      {"qwen-7b", 7'721'324'544, 0, 262'144, 0, 0, 0},
      {"qwen-72b", 72'287'920'128, 0, 1'310'720, 0, 0, 0},
      {"qwen2.5-3b", 3'085'938'688, 0, 18'432, 0, 0, 0},
      {"qwen2.5-32b", 32'763'876'352, 0, 131'072, 0, 0, 0},
      {"qwen1.5-moe-a2.7b", 14'315'784'192, 0, 98'304, 0, 0, 0},
      {"qwen3-32b", 32'762'123'264, 0, 131'072, 0, 0, 0},
      {"qwen3-1.7b", 1'720'574'976, 0, 57'344, 0, 0, 0},
      {"qwen3-235b-a22b", 235'093'634'560, 0, 96'256, 0, 0, 0},
      {"qwen3.5-397b-a17b", 0, 397, 15'360, 0, 0, 0},
      {"qwen3.5-27b", 0, 27, 32'768, 0, 0, 0},
      {"gemma-2b", 2'506'172'416, 0, 9216, 0, 0, 0},
      {"gemma-2-9b", 9'241'705'984, 0, 86'016, 21, 4096, 4096},
      {"gemma-3-1b", 999'885'952, 0, 2048, 22, 512, 512},
      {"gemma-3-4b", 3'880'263'168, 0, 10'240, 29, 1024, 2048},
      {"gemma-3-27b", 27'009'346'304, 0, 40'960, 52, 1024, 4096},
      {"gemma-4-26b-a4b", 0, 0, 10'240, 25, 1024, 4096},
      {"gemma-4-31b", 0, 31, 40'960, 50, 1024, 8192},
      {"gemma-4-e2b", 0, 0, 3072, 12, 512, 512},
      {"gemma-3n-e4b", 0, 6.87, 4096, 16, 512, 1024},
      {"phi-2", 2'779'683'840, 0, 163'840, 0, 0, 0},
      {"phi-3-medium-4k", 13'960'238'080, 0, 102'400, 0, 0, 0},
      {"gpt2", 124'439'808, 0, 18'432, 0, 0, 0},
      {"gpt-j-6b", 6'050'882'784, 0, 229'376, 0, 0, 0},
      {"pythia-12b", 11'846'072'320, 0, 368'640, 0, 0, 0},
      {"gpt-neo-2.7b", 2'651'307'520, 0, 81'920, 16, 256, 5120},
      {"starcoder", 15'517'456'384, 0, 10'240, 0, 0, 0},
      {"starcoder2-7b", 7'173'923'840, 0, 0, 32, 4096, 1024},
      {"opt-125m", 125'239'296, 0, 18'432, 0, 0, 0},
      {"bloom-3b", 3'002'557'440, 0, 153'600, 0, 0, 0},
      {"falcon-7b", 6'921'720'704, 0, 4096, 0, 0, 0},
      {"falcon-180b", 178'557'088'768, 0, 81'920, 0, 0, 0},
      {"dbrx", 131'596'523'520, 0, 81'920, 0, 0, 0},
      {"mpt-7b", 6'649'286'656, 0, 262'144, 0, 0, 0},
      {"aya-expanse-32b", 32'296'476'672, 0, 81'920, 0, 0, 0},
      {"command-r7b", 8'028'033'024, 0, 16'384, 24, 4096, 2048},
      {"olmo-1b", 1'176'764'416, 0, 65'536, 0, 0, 0},
      {"olmo-2-32b", 32'234'279'936, 0, 131'072, 0, 0, 0},
      {"olmo-3-7b", 7'298'011'136, 0, 65'536, 24, 4096, 8192},
      {"olmoe-1b-7b", 6'919'161'856, 0, 65'536, 0, 0, 0},
      {"stablelm-2-1.6b", 1'644'515'328, 0, 98'304, 0, 0, 0},
      {"glm-4-9b", 9'399'951'360, 0, 20'480, 0, 0, 0},
      {"chatglm-6b", 6'173'286'400, 0, 229'376, 0, 0, 0},
      {"glm-4.5", 352'797'829'024, 0, 188'416, 0, 0, 0},
      {"glm-5", 0, 744, 54'912, 0, 0, 0},
      {"deepseek-moe-16b", 16'375'728'128, 0, 114'688, 0, 0, 0},
      {"deepseek-v2-lite", 15'706'484'224, 0, 15'552, 0, 0, 0},
      {"deepseek-v3", 671'026'419'200, 0, 35'136, 0, 0, 0},
      {"deepseek-v3.2", 671'877'944'064, 0, 42'944, 0, 0, 0},
      {"kimi-k2", 1'026'408'232'448, 0, 35'136, 0, 0, 0},
      {"kimi-k3", 0, 0, 13'824, 0, 0, 0},
      {"deepseek-v4-flash", 0, 284, 0, 0, 0, 0},
      {"gpt-oss-20b", 20'914'757'184, 0, 12'288, 12, 128, 1024},
      {"llama-4-scout", 0, 109, 24'576, 36, 8192, 2048},
      {"llama-4-maverick", 0, 400, 24'576, 36, 8192, 2048},
      {"llama-3.2-11b-vision", 0, 0, 65'536, 0, 0, 0},
      {"smollm3-3b", 3'075'098'624, 0, 36'864, 0, 0, 0},
      {"granite-3.0-2b", 2'533'531'648, 0, 40'960, 0, 0, 0},
      {"granite-3.0-1b-a400m", 1'334'625'280, 0, 24'576, 0, 0, 0},
      {"granite-4.0-micro", 3'402'836'480, 0, 40'960, 0, 0, 0},
      {"exaone-deep-7.8b", 7'818'448'896, 0, 65'536, 0, 0, 0},
      {"exaone-4.0-32b", 0, 32, 32'768, 48, 4096, 2048},
      {"nemotron-h-56b", 0, 56, 20'480, 0, 0, 0},
      {"nemotron-3-nano-30b-a3b", 0, 31.6, 3072, 0, 0, 0},
      {"jamba-v0.1", 51'570'323'328, 0, 8192, 0, 0, 0},
      {"falcon-h1-small", 0, 0, 12'288, 0, 0, 0},
      {"minimax-text-01", 0, 456, 20'480, 0, 0, 0},
      {"minimax-m2", 0, 230, 126'976, 0, 0, 0},
      {"minimax-m3", 0, 0, 61'440, 0, 0, 0},
      {"mimo-7b", 7'622'619'136, 0, 73'728, 0, 0, 0},
      {"mimo-v2-flash", 0, 309, 11'520, 39, 128, 2560},
      {"step-3", 0, 316, 31'232, 0, 0, 0},
      {"step-3.7-flash", 0, 0, 24'576, 33, 512, 2048},
      {"dots.llm1", 142'774'381'696, 0, 507'904, 0, 0, 0},
      {"apertus-8b", 8'053'338'112, 0, 65'536, 0, 0, 0},
      {"bitnet-2b-4t", 2'412'820'480, 0, 38'400, 0, 0, 0},
      {"lfm2-1.2b", 1'170'340'608, 0, 6144, 0, 0, 0},
      {"recurrentgemma-2b", 2'682'862'080, 0, 0, 8, 2048, 512},
      {"minicpm3-4b", 0, 4.07, 17'856, 0, 0, 0},
      {"ernie-4.5-21b-a3b", 0, 0, 28'672, 0, 0, 0},
      {"hunyuan-a13b", 0, 80, 65'536, 0, 0, 0},
      {"bge-base-en", 109'482'240, 0, 0, 0, 0, 0},
      {"unknown-mla", 0, 1.96, 18'432, 0, 0, 0},
      {"qwen3-next-80b-a3b", 0, 80, 12'288, 0, 0, 0},
      {"seed-oss-36b", 0, 36, 131'072, 0, 0, 0},
      {"mamba2-2.7b", 0, 2.7, 0, 0, 0, 0},
      {"bamba-9b", 0, 9.78, 6144, 0, 0, 0},
      {"granite-4.0-h-tiny", 0, 6.94, 4096, 0, 0, 0},
      {"llava-1.5-7b", 6'738'939'904, 0, 262'144, 0, 0, 0},
  };
  return table;
}

}  // namespace

TEST_CASE("config.json of released models give the published parameters and cache") {
  CHECK(releases().size() >= 90);
  for (const Release& release : releases()) {
    CAPTURE(release.name);
    const Architecture model = released(release.name);
    const ModelPlan plan = lower(model);
    const i128 total = count_params(model, plan).total.value();
    if (release.params > 0) CHECK(to_decimal(total) == to_decimal(release.params));
    if (release.billions > 0) {
      CHECK(static_cast<double>(total) / 1e9 == doctest::Approx(release.billions).epsilon(0.015));
    }
    i128 growing = 0;
    i128 windowed = 0;
    std::int64_t n_window = 0;
    for (const std::uint16_t spec : model.layers) {
      bool has_window = false;
      for (const CacheComponent& part : plan.specs[spec].cache) {
        const i128 elements = i128{part.n_rows} * part.row_elements;
        if (part.growth.kind == Growth::Kind::token) growing += elements;
        if (part.growth.kind != Growth::Kind::window && part.growth.kind != Growth::Kind::chunked) continue;
        windowed += elements;
        has_window = true;
        if (release.n_window > 0) CHECK(part.growth.limit == release.window);
      }
      n_window += has_window ? 1 : 0;
    }
    CHECK(to_decimal(growing) == to_decimal(release.growing));
    if (release.n_window > 0) {
      CHECK(n_window == release.n_window);
      CHECK(to_decimal(windowed) == to_decimal(i128{release.n_window} * release.window_elements));
    }
  }
}

TEST_CASE("every config in the folder is in the table, and they are of many families") {
  std::set<std::string> known;
  std::set<std::string> seen_families;
  for (const Release& release : releases()) known.insert(release.name + ".json");
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MHA_SOURCE_DIR) + "/tests/data/configs")) {
    CHECK_MESSAGE(known.count(entry.path().filename().string()) == 1, entry.path().string());
  }
  for (const Release& release : releases()) seen_families.insert(released(release.name).family);
  CHECK(seen_families.size() >= 60);
}

TEST_CASE("layer kinds have the names of what they are") {
  CHECK(count_named(released("llama-3-8b"), "full") == 32);
  const Architecture gemma = released("gemma-3-1b");
  CHECK(count_named(gemma, "window") == 22);
  CHECK(count_named(gemma, "full") == 4);
  const Architecture deepseek = released("deepseek-v3");
  CHECK(count_named(deepseek, "dense") == 3);
  CHECK(count_named(deepseek, "moe") == 58);
  const Architecture mimo = released("mimo-v2-flash");
  CHECK(count_named(mimo, "full-dense") == 1);
  CHECK(count_named(mimo, "full-moe") == 8);
  CHECK(count_named(mimo, "window-moe") == 39);
  const Architecture scout = released("llama-4-scout");
  CHECK(count_named(scout, "chunked") == 36);
  const Architecture nemotron = released("nemotron-3-nano-30b-a3b");
  CHECK(count_named(nemotron, "linear") == 23);
  CHECK(count_named(nemotron, "moe") == 23);
  CHECK(count_named(nemotron, "full") == 6);
}

TEST_CASE("DeepSeek-V4: window, compressed and hash layers; the entry of the extra layer is dropped") {
  const Architecture model = released("deepseek-v4-flash");
  REQUIRE(model.n_layers() == 43);
  CHECK(count_named(model, "window-hash-moe") == 2);
  CHECK(count_named(model, "compressed-4-hash-moe") == 1);
  CHECK(count_named(model, "compressed-4-moe") == 20);
  CHECK(count_named(model, "compressed-128-moe") == 20);
  CHECK(attention(model, 0).compression == Compression{1, 128});
  CHECK(attention(model, 2).compression == Compression{4, 128});
  CHECK(attention(model, 2).indexer == Indexer{64, 128, 512});
  CHECK(attention(model, 3).compression == Compression{128, 128});
  CHECK(attention(model, 3).indexer == Indexer{});
  CHECK(attention(model, 3).d_q_latent == 1024);
  CHECK(attention(model, 3).o_groups == 8);
  CHECK(attention(model, 3).sinks);
  CHECK_FALSE(ffn(model, 0).correction_bias);
  CHECK(ffn(model, 3).correction_bias);
  CHECK(model.mtp.n_layers == 1);
}

TEST_CASE("Gemma 4: global layers have their own width and KV heads and no value projection") {
  const Architecture model = released("gemma-4-26b-a4b");
  CHECK(attention(model, 0).layout.d_head == 256);
  CHECK(attention(model, 0).layout.n_kv_heads == 8);
  CHECK_FALSE(attention(model, 0).tied_values);
  CHECK(attention(model, 5).layout.d_head == 512);
  CHECK(attention(model, 5).layout.n_kv_heads == 2);
  CHECK(attention(model, 5).tied_values);
  CHECK(ffn(model, 0).d_ff == 2112);
  CHECK(ffn(model, 0).n_experts == 128);
  CHECK(ffn(model, 0).router_scale == 2816);
  CHECK(model.specs[0].norms == 7);
}

TEST_CASE("multi-token-prediction layers are counted aside") {
  const auto mtp = [](const std::string& name) {
    const Architecture model = released(name);
    return to_decimal(count_params(model, lower(model)).mtp.value());
  };
  // ground_truth.yaml: the layer, its 2d -> d projection, three norms; DeepSeek-V3 also stores embedding and head again.
  CHECK(mtp("mimo-7b") == to_decimal(177'223'680 + 33'554'432 + 12'288));
  CHECK(mtp("glm-4.5") == to_decimal(3'935'625'632 + 52'428'800 + 15'360));
  CHECK(mtp("deepseek-v3") == to_decimal(11'507'286'272 + 102'760'448 + 21'504 + 1'853'358'080));
  CHECK(mtp("llama-3-8b") == "0");
}

TEST_CASE("GLM-5: an indexer in each layer, or picks borrowed from another") {
  const Architecture model = released("glm-5");
  CHECK(attention(model, 0).indexer == Indexer{32, 128, 2048});
  std::string text = data("configs", "glm-5");
  text.insert(text.rfind('}'), R"(, "index_topk_freq": 4)");
  // transformers: full where max(i - 1, 0) % 4 == 0, so layers 0, 1, 5, 9 ...
  const Architecture sparse = must_read(text);
  CHECK(attention(sparse, 1).indexer.n_heads == 32);
  CHECK(attention(sparse, 2).indexer == Indexer{});
  CHECK(attention(sparse, 5).indexer.n_heads == 32);
  CHECK(has_note(sparse, "borrowed-picks"));
}

TEST_CASE("layers that share a cache name its owner") {
  const Architecture model = released("gemma-4-e2b");  // 35 layers, the last 20 share; every fifth is full
  REQUIRE(model.n_layers() == 35);
  CHECK(model.kv_owner[13] == 13);
  CHECK(model.kv_owner[14] == 14);
  CHECK(model.kv_owner[15] == 13);  // the last window layer before
  CHECK(model.kv_owner[19] == 14);  // the last full layer before
  CHECK(model.kv_owner[34] == 14);
  CHECK(attention(model, 15).shares_kv);
  CHECK_FALSE(attention(model, 15).keeps_kv_weights);
  CHECK(ffn(model, 15).d_ff == 2 * 6144);  // use_double_wide_mlp
  CHECK(attention(released("gemma-3n-e4b"), 34).keeps_kv_weights);
}

TEST_CASE("Kimi-K3: linear layers from numbered lists, MLA with a gate, experts on a latent") {
  const Architecture model = released("kimi-k3");
  CHECK(linear(model, 0).kind == find_linear_kind("kimi-delta"));
  CHECK(linear(model, 0).n_heads == 96);
  CHECK(linear(model, 0).full_gate);
  CHECK(attention(model, 3).layout.d_kv_latent == 512);
  CHECK(attention(model, 3).output_gate);
  CHECK(attention(model, 92).layout.d_kv_latent == 512);  // the last two are both full
  CHECK(ffn(model, 0).d_ff == 33792);
  CHECK(ffn(model, 1).d_latent == 3584);
  CHECK(ffn(model, 1).d_ff_shared == 2 * 3072);
  CHECK(model.kv_owner[0] == -1);
  CHECK(model.kv_owner[3] == 3);
}

TEST_CASE("Step-3.5: window layers have heads of their own") {
  const Architecture model = must_read(
      llama(R"(, "sliding_window": 64, "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
 "sliding_attention", "full_attention"], "num_nextn_predict_layers": 1, "head_dim": 16,
 "attention_other_setting": {"attention_type": "sliding_attention", "num_attention_heads": 6,
 "num_attention_groups": 2, "head_dim": 16})",
            "step3p5"));
  CHECK(model.n_layers() == 4);  // the fifth entry is the extra layer's
  CHECK(attention(model, 0).layout.n_heads == 4);
  CHECK(attention(model, 1).layout.n_heads == 6);
  CHECK(attention(model, 1).head_gate);
  CHECK(attention(model, 1).span == Span{Span::Kind::window, 64});
}

TEST_CASE("Falcon-H1: attention and Mamba side by side; Jamba: by period; LFM2: by number") {
  const Architecture falcon = released("falcon-h1-small");
  CHECK(falcon.specs[0].mixers.size() == 2);
  CHECK(linear(falcon, 0).n_heads == 48);
  CHECK_FALSE(linear(falcon, 0).inner_norm);
  const Architecture jamba = released("jamba-v0.1");
  CHECK(jamba.specs[jamba.layers[4]].name == "full-dense");
  CHECK(linear(jamba, 0).d_latent == 256);
  CHECK(ffn(jamba, 1).n_experts == 16);
  const Architecture lfm = released("lfm2-1.2b");
  CHECK(attention(lfm, 2).layout.d_head == 64);
  CHECK(ffn(lfm, 0).d_ff == 8192);  // 2 / 3 of 12,288
}

TEST_CASE("cross-attention layers see the image only") {
  const Architecture model = released("llama-3.2-11b-vision");
  CHECK(count_named(model, "cross") == 8);
  CHECK(attention(model, 3).span.kind == Span::Kind::cross);
  CHECK(attention(model, 3).qk_norm == QkNorm::per_head);
  CHECK(attention(model, 0).qk_norm == QkNorm::none);
}

TEST_CASE("windows that nothing uses are a note, not a span") {
  for (const std::string name : {"qwen2.5-3b", "qwen2.5-32b", "phi-3-medium-4k", "mimo-7b"}) {
    const Architecture model = released(name);
    CHECK(model.specs.size() == 1);
    CHECK(attention(model, 0).span == Span{});
    CHECK(has_note(model, "window-not-active"));
  }
  // As long as the context: changes nothing.
  const Architecture model = must_read(llama(R"(, "sliding_window": 512)", "mistral"));
  CHECK(attention(model, 0).span == Span{});
  CHECK(has_note(model, "window-not-active"));
  CHECK(attention(must_read(llama(R"(, "sliding_window": 511)", "mistral")), 0).span.tokens == 511);
}

TEST_CASE("use_sliding_window starts at max_window_layers") {
  const Architecture model =
      must_read(llama(R"(, "use_sliding_window": true, "sliding_window": 128, "max_window_layers": 3)", "qwen2"));
  CHECK(attention(model, 2).span == Span{});
  CHECK(attention(model, 3).span == Span{Span::Kind::window, 128});
}

TEST_CASE("null and absent take the family's default") {
  // Llama without num_key_value_heads has as many as heads; head_dim is the width of an equal share.
  const std::string text = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
 "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, "num_key_value_heads": null, "head_dim": null})";
  const Architecture model = must_read(text);
  CHECK(attention(model, 0).layout.n_kv_heads == 4);
  CHECK(attention(model, 0).layout.d_head == 16);
  CHECK(attention(model, 0).layout.variant == find_variant("mha"));
  CHECK_FALSE(model.tied_embeddings);
  CHECK(model.notes.empty());
  // Gemma 3's sparse configs leave out even the number of heads: a default of the class, and a note.
  const Architecture gemma = released("gemma-3-4b");
  CHECK(attention(gemma, 0).layout.n_heads == 8);
  CHECK(attention(gemma, 0).layout.n_kv_heads == 4);
  CHECK(has_note(gemma, "default-taken"));
  // The same field missing from a language model's own file is refused.
  CHECK(only_code(R"({"model_type": "gemma3_text", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
 "num_hidden_layers": 2})") == "missing-field");
  // Qwen3 states 128 as the default width of a head, whatever the model's.
  CHECK(attention(must_read(llama("", "qwen3")), 0).layout.d_head == 128);
}

TEST_CASE("an unknown family is described by its fields, and says so") {
  const Architecture model = must_read(llama("", "llama_of_tomorrow"));
  CHECK(has_note(model, "unknown-family"));
  CHECK(has_note(model, "derived-head-width"));
  CHECK(attention(model, 0).layout.d_head == 16);
  CHECK(model.family == "llama_of_tomorrow");
  // A latent is found by its field.
  CHECK(attention(released("unknown-mla"), 0).layout.variant == find_variant("mla"));
  // No model_type at all.
  CHECK(has_note(must_read(R"({"n_embd": 64, "d_ff": 128, "n_heads": 4, "num_query_groups": 1, "n_layers": 2,
 "padded_vocab_size": 100, "tie_embeddings": true})"),
                 "unknown-family"));
  // Heads are never guessed.
  CHECK(only_code(R"({"n_embd": 64, "d_ff": 128, "n_heads": 4, "n_layers": 2, "vocab_size": 100})") == "missing-field");
  CHECK(only_code(R"({"n_embd": 65, "d_ff": 128, "n_heads": 4, "n_kv_heads": 4, "n_layers": 2, "vocab_size": 100})") ==
        "missing-field");
  // ChatGLM's spelling counts only together with its switch.
  const std::string groups = R"({"n_embd": 64, "d_ff": 128, "n_heads": 4, "n_layers": 2, "vocab_size": 100,
 "multi_query_group_num": 2)";
  CHECK(only_code(groups + "}") == "missing-field");
  CHECK(attention(must_read(groups + R"(, "multi_query_attention": true})"), 0).layout.n_kv_heads == 2);
}

TEST_CASE("biases that a field switches on") {
  const ProjectionBias all{true, true, true, true};
  CHECK(attention(must_read(llama("")), 0).layout.bias == ProjectionBias{});
  CHECK(attention(must_read(llama(R"(, "attention_bias": true)")), 0).layout.bias == all);
  CHECK(attention(must_read(llama("", "qwen2")), 0).layout.bias == ProjectionBias{true, true, true, false});
  CHECK(ffn(must_read(llama(R"(, "mlp_bias": true)")), 0).bias_down);
  CHECK(attention(must_read(llama(R"(, "attention_bias": true)", "glm4_moe")), 0).layout.bias ==
        ProjectionBias{true, true, true, false});
}

TEST_CASE("two spellings may stand in one file when they agree") {
  CHECK(must_read(llama(R"(, "n_embd": 64, "n_layer": 4, "n_head": 4)")).d_model == 64);
  // Of the context only the first spelling counts: Qwen-1 has 32,768 and 8,192.
  CHECK(released("qwen-7b").max_context == 32768);
}

TEST_CASE("a config inside another is found, and its outer map may say whether the head is tied") {
  const std::string inner = llama("").substr(0, llama("").rfind(", \"tie_word")) + "}";
  for (const std::string path : {"text_config", "language_config", "llm_config"}) {
    const Architecture model =
        must_read("{\"model_type\": \"vlm\", \"tie_word_embeddings\": true, \"" + path + "\": " + inner + "}");
    CHECK(model.family == "llama");
    CHECK(model.tied_embeddings);
  }
  CHECK(must_read("{\"thinker_config\": {\"text_config\": " + inner + "}}").d_model == 64);
  // The inner word counts when both speak.
  CHECK_FALSE(must_read("{\"tie_word_embeddings\": true, \"text_config\": " + llama("") + "}").tied_embeddings);
  CHECK(model_types_of(*read_json("{\"model_type\": \"a\", \"text_config\": {\"model_type\": \"b\"}}", "f")) ==
        std::vector<std::string>{"b", "a"});
}

TEST_CASE("traits beside the fields override the family's") {
  const Architecture model = must_read(llama(R"(, "traits": {"qk_norm": "full", "norms": 4, "gated_ffn": "false"})"));
  CHECK(attention(model, 0).qk_norm == QkNorm::full);
  CHECK(model.specs[0].norms == 4);
  CHECK_FALSE(ffn(model, 0).gated);
  CHECK(only_code(llama(R"(, "traits": {"qk_nrom": "full"})")) == "unknown-trait");
  CHECK(only_code(llama(R"(, "traits": {"qk_norm": "some"})")) == "unknown-name");
}

TEST_CASE("per-layer lists are read layer by layer") {
  const Architecture model = must_read(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 3,
 "vocab_size": 100, "num_attention_heads": [4, 8, 4], "num_key_value_heads": [2, 8, 1], "head_dim": 16,
 "intermediate_size": [128, 256, 128]})");
  CHECK(attention(model, 1).layout.n_heads == 8);
  CHECK(attention(model, 2).layout.n_kv_heads == 1);
  CHECK(ffn(model, 1).d_ff == 256);
  CHECK(model.specs.size() == 3);
  CHECK(model.specs[0].name == "full");
  CHECK(model.specs[1].name == "full-2");
}

TEST_CASE("GPT-Neo's nested lists, EXAONE's letters, RecurrentGemma's cycle") {
  const Architecture neo = released("gpt-neo-2.7b");
  CHECK(attention(neo, 0).span == Span{});
  CHECK(attention(neo, 1).span == Span{Span::Kind::window, 256});
  const Architecture exaone = released("exaone-4.0-32b");
  CHECK(attention(exaone, 2).span.kind == Span::Kind::window);
  CHECK(attention(exaone, 3).span.kind == Span::Kind::full);
  const Architecture griffin = released("recurrentgemma-2b");
  CHECK(linear(griffin, 0).kind == find_linear_kind("rg-lru"));
  CHECK(attention(griffin, 2).span == Span{Span::Kind::window, 2048});
  CHECK(linear(griffin, 25).d_value == 256);
}

// ---- Refused --------------------------------------------------------------------------------------------------------

namespace {

struct Wrong {
  std::string name;
  std::string code;
  int line = 0;
  std::string key;
};

const std::vector<Wrong>& wrong_files() {
  static const std::vector<Wrong> table = {
      {"count-in-quotes", "wrong-kind", 3, "hidden_size"},
      {"count-is-a-map", "wrong-kind", 3, "hidden_size"},
      {"count-is-true", "wrong-kind", 5, "num_attention_heads"},
      {"layers-as-a-list", "wrong-kind", 7, "num_hidden_layers"},
      {"fraction", "not-whole", 3, "hidden_size"},
      {"negative-heads", "out-of-range", 5, "num_attention_heads"},
      {"zero-layers", "out-of-range", 7, "num_hidden_layers"},
      {"zero-kv-heads", "out-of-range", 6, "num_key_value_heads"},
      {"million-layers", "out-of-range", 7, "num_hidden_layers"},
      {"beyond-64-bits", "out-of-range", 8, "vocab_size"},
      {"1e308", "out-of-range", 8, "vocab_size"},
      {"tied-is-a-word", "wrong-kind", 10, "tie_word_embeddings"},
      {"heads-do-not-divide", "kv-heads-divide", 6, "num_key_value_heads"},
      {"width-does-not-divide", "does-not-divide", 1, "head_dim"},
      {"no-width", "missing-field", 1, "hidden_size"},
      {"no-heads", "missing-field", 1, "num_attention_heads"},
      {"null-vocabulary", "missing-field", 1, "vocab_size"},
      {"two-spellings", "conflicting-values", 11, "n_embd"},
      {"kv-heads-with-mla", "mla-kv-heads", 6, "num_key_value_heads"},
      {"mla-without-value-width", "missing-field", 1, "v_head_dim"},
      {"odd-rope", "rope-even", 12, "qk_rope_head_dim"},
      {"short-layer-types", "wrong-length", 11, "layer_types"},
      {"unknown-layer-type", "unknown-layer-type", 12, "layer_types[1]"},
      {"window-without-size", "missing-field", 1, "sliding_window"},
      {"negative-window", "out-of-range", 11, "sliding_window"},
      {"short-kv-list", "wrong-length", 6, "num_key_value_heads"},
      {"zero-in-kv-list", "zero-kv-heads", 6, "num_key_value_heads"},
      {"linear-of-no-kind", "unknown-linear-kind", 11, "layer_types"},
      {"more-experts-than-there-are", "out-of-range", 12, "num_experts_per_tok"},
      {"bad-pattern-letter", "unknown-layer-type", 11, "hybrid_override_pattern"},
      {"share-without-owner", "no-kv-owner", 11, "num_kv_shared_layers"},
      {"layers-one-by-one", "unsupported-field", 11, "block_configs"},
      {"encoder-decoder", "unsupported-field", 11, "is_encoder_decoder"},
      {"duplicate-key", "duplicate-key", 11, "hidden_size"},
      {"nan", "not-a-number", 3, ""},
      {"infinity", "not-a-number", 9, ""},
      {"trailing-comma", "json-syntax", 11, ""},
      {"leading-zero", "json-syntax", 3, ""},
      {"comment", "json-syntax", 2, ""},
      {"single-quotes", "json-syntax", 2, ""},
      {"truncated", "truncated-file", 3, ""},
      {"truncated-text", "truncated-file", 2, ""},
      {"empty", "empty-file", 1, ""},
      {"only-blanks", "empty-file", 1, ""},
      {"list-at-the-top", "wrong-kind", 1, ""},
      {"a-number", "wrong-kind", 1, ""},
      {"two-values", "trailing-text", 2, ""},
      {"invalid-utf-8", "invalid-utf-8", 2, ""},
      {"zero-byte", "binary-file", 2, ""},
      {"lone-surrogate", "json-syntax", 2, ""},
      {"deep", "too-deep", 1, ""},
      {"deep-maps", "too-deep", 1, ""},
      {"kimi-layer-twice", "wrong-length", 4, "linear_attn_config"},
      {"layer-zero-of-kimi", "out-of-range", 4, "linear_attn_config.full_attn_layers[0]"},
      {"nested-wrong-kind", "wrong-kind", 4, "text_config.hidden_size"},
      {"no-model-at-all", "missing-field", 1, "hidden_size"},
      {"long-word", "wrong-kind", 3, "hidden_size"},
  };
  return table;
}

}  // namespace

TEST_CASE("a wrong config.json is refused with its line") {
  CHECK(wrong_files().size() >= 50);
  for (const Wrong& wrong : wrong_files()) {
    CAPTURE(wrong.name);
    const Expected<Architecture> model = read(data("hostile/configs", wrong.name));
    REQUIRE_FALSE(model.has_value());
    const Diagnostic& first = model.error()[0];
    CAPTURE(to_string(first));
    CHECK(first.code == wrong.code);
    CHECK(first.where.line == wrong.line);
    CHECK(first.where.column > 0);
    CHECK(first.where.key == wrong.key);
    CHECK(first.where.file == "config.json");
    CHECK_FALSE(first.hint.empty());
    CHECK(first.severity == Severity::error);
    // One mistake, one message; a file that describes no model lacks three fields.
    CHECK(model.error().size() == (wrong.name == "no-model-at-all" ? 3 : 1));
  }
}

TEST_CASE("every hostile config in the folder is in the table") {
  std::set<std::string> known;
  for (const Wrong& wrong : wrong_files()) known.insert(wrong.name + ".json");
  const std::string folder = std::string(MHA_SOURCE_DIR) + "/tests/data/hostile/configs";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK_MESSAGE(known.count(entry.path().filename().string()) == 1, entry.path().string());
  }
}

TEST_CASE("a misspelt layer kind is answered with the right one") {
  const Expected<Architecture> model = read(data("hostile/configs", "unknown-layer-type"));
  REQUIRE_FALSE(model.has_value());
  CHECK(model.error()[0].hint.find("full_attention") != std::string::npos);
}

// ---- Families -------------------------------------------------------------------------------------------------------

TEST_CASE("no model_type and no GGUF architecture belongs to two families") {
  CHECK(families().size() >= 80);
  std::set<std::string> types;
  std::set<std::string> architectures;
  for (const FamilyRule& family : families()) {
    CAPTURE(family.id);
    CHECK_FALSE(family.model_types.empty());
    CHECK_FALSE(family.source.text.empty());
    for (const std::string& type : family.model_types) {
      CHECK_MESSAGE(types.insert(type).second, type);
      CHECK(find_family(families(), type) == &family);
    }
    for (const std::string& name : family.gguf) {
      CHECK_MESSAGE(architectures.insert(name).second, name);
      CHECK(find_gguf_family(families(), name) == &family);
    }
  }
  CHECK(find_family(families(), "no-such-family") == nullptr);
}

TEST_CASE("the linear kinds that a trait may name exist") {
  for (const TraitRow& row : trait_rows()) {
    if (row.name != "linear") continue;
    CHECK(row.choices.size() == linear_kinds().size());
    for (const std::string& kind : row.choices) CHECK_MESSAGE(find_linear_kind(kind) != nullptr, kind);
  }
}

TEST_CASE("only the family that is asked for is taken apart") {
  const auto some = RuleStore().families_of({"qwen3_moe", "nothing"});
  REQUIRE(some.has_value());
  REQUIRE(some->size() == 1);
  CHECK((*some)[0].id == "qwen3-moe");
  const auto by_gguf = RuleStore().families_of({"qwen3moe"});
  REQUIRE(by_gguf.has_value());
  CHECK(by_gguf->size() == 1);
  CHECK(RuleStore().families_of({})->empty());
}
