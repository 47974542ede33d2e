#include "ground_truth/records.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "rules/yaml_reader.hpp"

namespace mha::ground_truth {

Node load(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  Expected<Node> root = read_yaml(text.str(), path);
  return root ? *std::move(root) : Node{};
}

const Node* child(const Node& node, std::string_view key) {
  for (const Node& c : node.children) {
    if (c.key == key) return &c;
  }
  return nullptr;
}

std::string text_of(const Node& node, std::string_view key) {
  const Node* found = child(node, key);
  return found == nullptr ? std::string() : found->text;
}

std::int64_t number_of(const Node& node, std::string_view key, std::int64_t fallback) {
  const Node* found = child(node, key);
  return found == nullptr ? fallback : std::strtoll(found->text.c_str(), nullptr, 10);
}

double real_of(const Node& node, std::string_view key, double fallback) {
  const Node* found = child(node, key);
  return found == nullptr ? fallback : std::strtod(found->text.c_str(), nullptr);
}

bool flag_of(const Node& node, std::string_view key, bool fallback) {
  const Node* found = child(node, key);
  return found == nullptr ? fallback : found->text == "true";
}

Outcome outcome_of(const Node& record) {
  Outcome out;
  out.id = text_of(record, "id");
  out.model = text_of(record, "model");
  out.collection = text_of(record, "collection");
  out.status = text_of(record, "status");
  out.why = text_of(record, "why");
  return out;
}

std::vector<Outcome> run(const Node& file) {
  std::vector<Outcome> out;
  const Node* records = child(file, "records");
  if (records == nullptr) return out;
  for (const Node& record : records->children) {
    const std::string collection = text_of(record, "collection");
    if (collection == "params") out.push_back(run_params(record));
    if (collection == "kv") out.push_back(run_kv(record));
    if (collection == "flops") out.push_back(run_flops(record));
  }
  return out;
}

namespace {

std::string number(const Node& node, std::string_view key) {
  return std::to_string(number_of(node, key));
}

std::string names(const Node* bias, const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string out;
  for (const auto& [key, name] : keys) {
    if (bias != nullptr && flag_of(*bias, key)) out += (out.empty() ? "" : ", ") + name;
  }
  return out.empty() ? out : ", bias: [" + out + "]";
}

std::string attention(const Node& layout) {
  std::string out = "n_heads: " + number(layout, "n_heads");
  if (const Node* mla = child(layout, "mla")) {
    out += ", d_kv_latent: " + number(*mla, "kv_rank") + ", d_nope: " + number(*mla, "d_nope") +
           ", d_rope: " + number(*mla, "d_rope") + ", d_value: " + number(*mla, "d_v");
    if (number_of(*mla, "q_rank") > 0) out += ", d_q_latent: " + number(*mla, "q_rank");
  } else {
    out += ", n_kv_heads: " + std::to_string(number_of(layout, "n_kv_heads", number_of(layout, "n_heads"))) +
           ", d_head: " + number(layout, "d_head");
  }
  const std::string qk_norm = text_of(layout, "qk_norm");
  if (qk_norm == "per_head_dim") out += ", qk_norm: per_head";
  if (qk_norm == "full") out += ", qk_norm: full";
  if (flag_of(layout, "attn_sinks")) out += ", sinks: true";
  return out + names(child(layout, "bias"), {{"q", "q"}, {"k", "k"}, {"v", "v"}, {"o", "o"}});
}

std::string feed_forward(const Node& layout, bool dense) {
  const Node* moe = child(layout, "moe");
  std::string out = std::string("gated: ") + (flag_of(layout, "gated_ffn") ? "true" : "false") +
                    names(child(layout, "bias"), {{"ffn_up", "up"}, {"ffn_down", "down"}});
  if (moe == nullptr) return out + ", d_ff: " + number(layout, "d_ff");
  if (dense) return out + ", d_ff: " + number(*moe, "d_ff_dense");
  out += ", n_experts: " + number(*moe, "n_experts") + ", top_k: " + number(*moe, "top_k") +
         ", d_ff_expert: " + number(*moe, "d_ff_expert");
  if (number_of(*moe, "d_ff_shared") > 0) out += ", d_ff_shared: " + number(*moe, "d_ff_shared");
  for (const char* flag : {"shared_gate", "router_bias", "correction_bias"}) {
    if (flag_of(*moe, flag)) out += std::string(", ") + flag + ": true";
  }
  return out;
}

std::string kind(const std::string& name, const Node& layout, bool dense) {
  return "  " + name + ":\n    attention: {" + attention(layout) + "}\n    feed_forward: {" +
         feed_forward(layout, dense) + "}\n    norms: " + std::to_string(number_of(layout, "norms_per_layer", 2)) +
         "\n";
}

// T5: an encoder and a decoder of equal layers, cross attention with a norm of its own, relative position biases once a stack.
std::string t5_yaml(const Node& l) {
  const std::string heads = "{n_heads: " + number(l, "n_heads") + ", n_kv_heads: " + number(l, "n_heads") +
                            ", d_head: " + number(l, "d_head");
  const std::string ffn = "    feed_forward: {gated: false, d_ff: " + number(l, "d_ff") + "}\n";
  const std::int64_t bias = 2 * number_of(l, "rel_buckets") * number_of(l, "n_heads");
  return "name: t5\nd_model: " + number(l, "d_model") + "\nvocab_size: " + number(l, "vocab_size") +
         "\ntied_embeddings: true\nnorm: rms\nn_layers: " +
         std::to_string(number_of(l, "n_enc_layers") + number_of(l, "n_dec_layers")) + "\nlayers:\n  encoder:\n" +
         "    attention: " + heads + ", encoder: true}\n" + ffn + "  decoder:\n    attention: " + heads +
         "}\n    cross_attention: " + heads + "}\n" + ffn + "    norms: 3\npattern: [encoder*" +
         number(l, "n_enc_layers") + ", decoder*" + number(l, "n_dec_layers") +
         "]\nextras: {relative position biases: " + std::to_string(bias) +
         ", encoder's final norm: " + number(l, "d_model") + "}\n";
}

}  // namespace

std::string layout_yaml(const Node& l) {
  if (text_of(l, "family") == "t5") return t5_yaml(l);
  const std::string norm = text_of(l, "norm");
  std::string out = "name: record\nd_model: " + number(l, "d_model") + "\nvocab_size: " + number(l, "vocab_size") +
                    "\ntied_embeddings: " + text_of(l, "tied_embeddings") + "\nnorm: " +
                    (norm == "ln"     ? "layer"
                     : norm == "ln_w" ? "layer_scale"
                                      : norm) +
                    "\n";
  if (const Node* bias = child(l, "bias"); bias != nullptr && flag_of(*bias, "lm_head")) out += "lm_head_bias: true\n";
  if (!flag_of(l, "lm_head", true)) out += "lm_head: false\n";
  if (!flag_of(l, "final_norm", true)) out += "final_norm: false\n";
  if (flag_of(l, "embed_norm")) out += "embedding_norm: true\n";
  for (const char* key : {"learned_positions", "type_vocab"}) {
    if (number_of(l, key) > 0) out += std::string(key) + ": " + number(l, key) + "\n";
  }
  if (const Node* others = child(l, "other_params")) {
    out += "extras: {";
    for (std::size_t i = 0; i < others->children.size(); ++i) {
      const Node& pair = others->children[i];
      out += (i > 0 ? ", " : "") + pair.children[0].text + ": " + pair.children[1].text;
    }
    out += "}\n";
  }
  out += "n_layers: " + number(l, "n_layers") + "\nlayers:\n";
  const Node* moe = child(l, "moe");
  const std::int64_t first_dense = moe == nullptr ? 0 : number_of(*moe, "first_dense");
  if (first_dense > 0) out += kind("dense", l, true);
  out += kind("main", l, false);
  if (first_dense > 0) {
    out += "pattern: [dense*" + std::to_string(first_dense) + ", main*" +
           std::to_string(number_of(l, "n_layers") - first_dense) + "]\n";
  }
  return out;
}

}  // namespace mha::ground_truth
