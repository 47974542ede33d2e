// What an Architecture says about itself: groups of equal layers, the pattern they follow, and whether it is sound.
#include <algorithm>
#include <numeric>
#include <set>

#include "mha/architecture.hpp"
#include "mha/limits.hpp"

namespace mha {
namespace {

class Checker {
 public:
  explicit Checker(const Architecture& architecture) : a_(architecture) {}

  Diagnostics run() {
    count("d_model", a_.d_model, 1, limits::kMaxModelWidth);
    count("vocab_size", a_.vocab_size, 1, limits::kMaxVocab);
    count("d_embedding", a_.d_embedding, 0, limits::kMaxModelWidth);
    count("learned_positions", a_.learned_positions, 0, limits::kMaxContext);
    count("type_vocab", a_.type_vocab, 0, limits::kMaxVocab);
    count("max_context", a_.max_context, 0, limits::kMaxContext);
    count("n_layers", a_.n_layers(), 1, limits::kMaxLayers);
    count("mtp.n_layers", a_.mtp.n_layers, 0, limits::kMaxLayers);
    extras("extras", a_.extras);
    extras("stored", a_.stored);
    check_layers();
    check_ratios();
    std::set<std::string> names;
    for (const LayerSpec& spec : a_.specs) {
      if (!names.insert(spec.name).second)
        problem("layers." + spec.name, "duplicate-name", "two layer kinds are named '" + spec.name + "'", "rename one");
      check_spec(spec);
    }
    return std::move(problems_);
  }

 private:
  struct CheckMixer {
    Checker& checker;
    const std::string& at;
    void operator()(const Attention& attention) const { checker.check_attention(attention, at); }
    void operator()(const LinearMixer& mixer) const { checker.check_linear(mixer, at); }
  };

  void problem(std::string key, std::string code, std::string what, std::string hint) {
    problems_.push_back({Severity::error, std::move(code), Location{a_.origin, 0, 0, std::move(key)}, std::move(what),
                         std::move(hint)});
  }

  void count(const std::string& key, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value >= min && value <= max) return;
    problem(key, "out-of-range", to_decimal(value) + " is out of range",
            "give a whole number from " + to_decimal(min) + " to " + to_decimal(max));
  }

  void extras(const std::string& key, const std::vector<NamedParams>& named) {
    for (const NamedParams& extra : named) count(key + "." + extra.name, extra.elements, 0, limits::kMaxParams);
  }

  void check_layers() {
    for (const std::uint16_t spec : a_.layers) {
      if (spec < a_.specs.size()) continue;
      problem("layers", "unknown-layer-kind",
              "a layer is of kind " + to_decimal(spec) + ", of which there are " +
                  to_decimal(static_cast<std::int64_t>(a_.specs.size())),
              "");
      return;
    }
    if (a_.kv_owner.size() != a_.layers.size()) {
      problem("kv_owner", "wrong-length", "there must be one owner a layer", "");
      return;
    }
    for (std::size_t i = 0; i < a_.layers.size(); ++i) {
      const std::int32_t owner = a_.kv_owner[i];
      const auto self = static_cast<std::int32_t>(i);
      if (shares_kv(i) != (owner >= 0 && owner != self) && owner != -1) {
        problem("kv_owner", "owner-differs",
                "layer " + to_decimal(self) +
                    (shares_kv(i) ? " shares keys and values, and owns its cache here"
                                  : " keeps its own keys and values, and reads layer " + to_decimal(owner) + "'s here"),
                "shares_kv of the layer's kind and kv_owner say the same thing");
        continue;
      }
      if (owner == self || owner == -1) continue;
      if (owner < 0 || owner > self || a_.kv_owner[static_cast<std::size_t>(owner)] != owner)
        problem("kv_owner", "not-an-owner",
                "layer " + to_decimal(self) + " reads the cache of layer " + to_decimal(owner) +
                    ", which has none of its own before it",
                "name an earlier layer that keeps its own keys and values");
    }
  }

  [[nodiscard]] bool shares_kv(std::size_t layer) const {
    const std::vector<Mixer>& mixers = a_.specs[a_.layers[layer]].mixers;
    return std::any_of(mixers.begin(), mixers.end(), [](const Mixer& mixer) {
      const auto* attention = std::get_if<Attention>(&mixer);
      return attention != nullptr && attention->shares_kv;
    });
  }

  // The slope of the cache is stated over a common multiple of all ratios.
  void check_ratios() {
    std::int64_t common = 1;
    for (const LayerSpec& spec : a_.specs) {
      for (const Mixer& mixer : spec.mixers) {
        const auto* attention = std::get_if<Attention>(&mixer);
        if (attention == nullptr || attention->compression.ratio < 1) continue;
        if (attention->compression.ratio <= limits::kMaxContext)
          common = std::lcm(common, attention->compression.ratio);
        if (common <= limits::kMaxContext) continue;
        problem("layers." + spec.name + ".compression.ratio", "ratios-do-not-meet",
                "the compression ratios have no common multiple up to " + to_decimal(limits::kMaxContext),
                "use ratios that divide each other, such as 4 and 128");
        return;
      }
    }
  }

  void check_spec(const LayerSpec& spec) {
    const std::string at = "layers." + spec.name;
    for (const Mixer& mixer : spec.mixers) std::visit(CheckMixer{*this, at}, mixer);
    const FeedForward& f = spec.ffn;
    count(at + ".d_ff", f.d_ff, 0, limits::kMaxFeedForward);
    count(at + ".n_experts", f.n_experts, 0, limits::kMaxHeads);
    if (f.n_experts > 0) {
      count(at + ".top_k", f.top_k, 1, f.n_experts);
      count(at + ".d_ff_expert", f.d_ff_expert, 1, limits::kMaxFeedForward);
    }
    count(at + ".d_ff_shared", f.d_ff_shared, 0, limits::kMaxFeedForward);
    count(at + ".d_latent", f.d_latent, 0, limits::kMaxModelWidth);
    count(at + ".router_scale", f.router_scale, 0, limits::kMaxModelWidth);
    count(at + ".norms", spec.norms, 0, 16);
    extras(at + ".extras", spec.extras);
    if (spec.mixers.empty() && !f.any() && spec.extras.empty())
      problem(at, "empty-layer", "the layer has neither attention nor feed-forward", "give it one");
  }

  void check_attention(const Attention& a, const std::string& at) {
    const Layout& l = a.layout;
    if (l.variant == nullptr) {
      problem(at + ".attention", "unknown-variant", "the attention has no variant", "");
      return;
    }
    if (const auto wrong = l.variant->check(l, a_.d_model))
      problem(at + ".attention", wrong->code, wrong->what, wrong->hint);
    count(at + ".n_heads", l.n_heads, 1, limits::kMaxHeads);
    count(at + ".n_kv_heads", l.n_kv_heads, 1, limits::kMaxHeads);
    for (const auto& [name, value] : {std::pair{"d_head", l.d_head}, {"d_value", l.d_value}})
      count(at + "." + name, value, 1, limits::kMaxHeadWidth);
    for (const auto& [name, value] :
         {std::pair{"d_kv_latent", l.d_kv_latent}, {"d_q_latent", l.d_q_latent}, {"query_latent", a.d_q_latent}})
      count(at + "." + name, value, 0, limits::kMaxLatent);
    const bool spanned = a.span.kind == Span::Kind::window || a.span.kind == Span::Kind::chunked;
    count(at + ".span", a.span.tokens, spanned ? 1 : 0, spanned ? limits::kMaxContext : 0);
    count(at + ".indexer.n_heads", a.indexer.n_heads, 0, limits::kMaxHeads);
    if (a.indexer.n_heads > 0) {
      count(at + ".indexer.d_head", a.indexer.d_head, 1, limits::kMaxHeadWidth);
      count(at + ".indexer.top_k", a.indexer.top_k, 1, limits::kMaxContext);
    }
    count(at + ".compression.ratio", a.compression.ratio, 0, limits::kMaxContext);
    count(at + ".compression.window", a.compression.window, 0, limits::kMaxContext);
    count(at + ".o_groups", a.o_groups, 0, l.n_heads);
    if ((a.o_groups > 0 || a.d_o_latent > 0) && a.compression.ratio == 0)
      problem(at + ".o_groups", "no-compression", "a grouped low-rank output is described without a compressed cache",
              "o_groups and d_o_latent belong to attention with compression (DeepSeek-V4)");
    if (a.o_groups > 0) count(at + ".d_o_latent", a.d_o_latent, 1, limits::kMaxLatent);
    if (a.o_groups > 0 && l.n_heads % a.o_groups != 0)
      problem(at + ".o_groups", "groups-divide",
              to_decimal(a.o_groups) + " output groups do not divide " + to_decimal(l.n_heads) + " heads", "");
  }

  void check_linear(const LinearMixer& m, const std::string& at) {
    if (m.kind == nullptr) {
      problem(at + ".linear", "unknown-linear-kind", "the linear mixer has no kind", "");
      return;
    }
    const std::pair<std::string_view, std::int64_t> fields[] = {{"n_heads", m.n_heads}, {"n_key_heads", m.n_key_heads},
                                                                {"d_key", m.d_key},     {"d_value", m.d_value},
                                                                {"d_conv", m.d_conv},   {"d_latent", m.d_latent}};
    for (const auto& [name, value] : fields) {
      const auto& needs = m.kind->needs;
      const bool needed = std::find(needs.begin(), needs.end(), name) != needs.end();
      count(at + ".linear." + std::string(name), value, needed ? 1 : 0, needed ? limits::kMaxModelWidth : 0);
    }
    if (m.full_gate && m.kind != find_linear_kind("kimi-delta"))
      problem(at + ".linear.full_gate", "no-gate", std::string(m.kind->id) + " has no low-rank gate to replace",
              "full_gate is a key of kimi-delta");
    if (m.n_key_heads > 0 && m.n_heads % m.n_key_heads != 0)
      problem(at + ".linear.n_key_heads", "key-heads-divide",
              to_decimal(m.n_key_heads) + " key heads do not divide " + to_decimal(m.n_heads) + " heads",
              "a key head serves n_heads / n_key_heads value heads");
    for (const std::string_view format : {m.state_format, m.conv_format}) {
      if (find_format(format) == nullptr)
        problem(at + ".linear", "unknown-format", "'" + std::string(format) + "' is no storage format", "");
    }
  }

  const Architecture& a_;
  Diagnostics problems_;
};

std::string run_text(const Architecture& a, std::size_t first, std::size_t end, std::string_view separator) {
  std::string out;
  for (std::size_t i = first; i < end;) {
    std::size_t next = i + 1;
    while (next < end && a.layers[next] == a.layers[i]) ++next;
    if (!out.empty()) out += separator;
    out += to_decimal(static_cast<std::int64_t>(next - i)) + " " + a.specs[a.layers[i]].name;
    i = next;
  }
  return out;
}

}  // namespace

void assign_kv_owners(Architecture& a) {
  const auto attention_of = [&](std::size_t layer) -> const Attention* {
    for (const Mixer& mixer : a.specs[a.layers[layer]].mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention != nullptr && attention->span.kind != Span::Kind::cross &&
          attention->span.kind != Span::Kind::encoder)
        return attention;
    }
    return nullptr;
  };
  a.kv_owner.assign(a.layers.size(), -1);
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    const Attention* attention = attention_of(i);
    if (attention == nullptr) continue;
    if (!attention->shares_kv) {
      a.kv_owner[i] = static_cast<std::int32_t>(i);
      continue;
    }
    a.kv_owner[i] = -2;
    for (std::size_t back = i; back-- > 0;) {
      const Attention* owner = attention_of(back);
      if (owner == nullptr || owner->shares_kv || !(owner->span == attention->span)) continue;
      a.kv_owner[i] = static_cast<std::int32_t>(back);
      break;
    }
  }
}

Diagnostics check_architecture(const Architecture& architecture) {
  return Checker(architecture).run();
}

std::vector<LayerGroup> layer_groups(const Architecture& architecture) {
  std::vector<LayerGroup> groups;
  for (const std::uint16_t spec : architecture.layers) {
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) { return group.spec == spec; });
    if (found == groups.end())
      groups.push_back({1, spec});
    else
      ++found->n_layers;
  }
  return groups;
}

std::string layer_pattern(const Architecture& architecture) {
  const std::vector<std::uint16_t>& layers = architecture.layers;
  const std::size_t n = layers.size();
  constexpr std::size_t kLongestPeriod = 32;
  // A run of layers, a block that is repeated, and what is left: the shortest way to say it. Blocks start early or not at all.
  std::string best = run_text(architecture, 0, n, ", then ");
  for (std::size_t first = 0; first < std::min(n, kLongestPeriod); ++first) {
    for (std::size_t period = 2; period <= kLongestPeriod && first + 2 * period <= n; ++period) {
      std::size_t end = first + period;
      while (end < n && layers[end] == layers[end - period]) ++end;
      const std::size_t times = (end - first) / period;
      if (times < 2) continue;
      const std::size_t behind = first + times * period;
      std::string text = first > 0 ? run_text(architecture, 0, first, ", ") + ", then " : "";
      text += std::to_string(times) + " x (" + run_text(architecture, first, first + period, ", ") + ")";
      if (behind < n) text += ", then " + run_text(architecture, behind, n, ", ");
      if (text.size() < best.size()) best = std::move(text);
    }
  }
  return best;
}

}  // namespace mha
