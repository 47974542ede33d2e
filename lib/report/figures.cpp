#include "report/figures.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "mha/quantity.hpp"

#include "report/document.hpp"

namespace mha::report {

std::string signed_fixed(double value, int decimals) {
  const std::string text = print_fixed(value, decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return is_zero || text[0] == '-' ? text : "+" + text;
}

std::string tokens(std::int64_t n) {
  return counted(n, "token", "tokens");
}

std::string counted(std::int64_t n, const char* one, const char* many) {
  return print_grouped(n) + " " + (n == 1 ? one : many);
}

std::string bytes_both(Bytes value) {
  if (value < Bytes(1024)) return print_grouped(value.value()) + " bytes";
  return print_grouped(value.value()) + " bytes (" + print_bytes(value) + ")";
}

std::string exact_bytes(Bytes value) {
  return print_grouped(value.value()) + " B";
}

std::string nats(double value) {
  return signed_fixed(value, 4) + " nats";
}

std::string seconds_range(const StepTime& time) {
  return print_seconds(time.bound_s) + " to " + print_seconds(time.high_s);
}

std::string params_both(Params value) {
  return print_grouped(value.value()) + " (" + print_count(value.value()) + ")";
}

std::string variant_label(const Layout& layout) {
  if (layout.variant == nullptr) return "unknown";
  std::string label(layout.variant->id);
  for (char& c : label) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return label;
}

std::string layout_label(const Layout& layout, const std::string& notation) {
  // A notation may name its variant itself ("mla:128/512+64").
  const bool named =
      layout.variant != nullptr && notation.compare(0, layout.variant->id.size(), layout.variant->id) == 0;
  return named ? notation : variant_label(layout) + " " + notation;
}

std::string widths(const Layout& l) {
  const auto field = [](const char* name, std::int64_t value) {
    return std::string(name) + " " + std::to_string(value);
  };
  std::string text = field("n_heads", l.n_heads);
  if (l.variant->latent) {
    text += ", " + field("d_nope", l.d_nope) + ", " + field("d_rope", l.d_rope) + ", " + field("d_value", l.d_value) +
            ", " + field("d_kv_latent", l.d_kv_latent) + ", " + field("d_q_latent", l.d_q_latent);
  } else {
    text += ", " + field("n_kv_heads", l.n_kv_heads) + ", " + field("d_head", l.d_head) + ", " +
            field("d_value", l.d_value);
    if (l.d_q_latent > 0) text += ", " + field("d_q_latent", l.d_q_latent);
    if (l.d_rope > 0) text += ", " + field("d_rope", l.d_rope);
  }
  if (l.n_latents > 0) text += ", " + field("n_latents", l.n_latents);
  if (l.rank_kv > 0) text += ", " + field("rank_kv", l.rank_kv) + ", " + field("rank_q", l.rank_q);
  return text;
}

std::string sentence(const std::string& text) {
  return text.empty() || text.back() == '.' ? text : text + ".";
}

std::string scientific(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific, 1);
  return std::string(digits.data(), end.ptr);
}

std::string dated(const Source& source) {
  return source.date.empty() ? source.text : source.text + " (" + source.date + ")";
}

const char* validation_status(const std::optional<Validation>& validation) {
  if (!validation) return "not run";
  const bool counts = std::all_of(validation->rows.begin(), validation->rows.end(),
                                  [](const ValidationRow& row) { return row.exact(); });
  const bool bounds = std::all_of(validation->tolerances.begin(), validation->tolerances.end(),
                                  [](const ToleranceRow& row) { return row.within(); });
  return counts && bounds ? "exact" : "mismatch";
}

std::vector<int> tied_ranks(const Recommendation& recommendation) {
  std::vector<int> ranks;
  for (const Ranked& entry : recommendation.ranked) {
    if (entry.rank != 1 && entry.tie_class == recommendation.ranked.front().tie_class) ranks.push_back(entry.rank);
  }
  return ranks;
}

}  // namespace mha::report
