// The Pareto plot as SVG: no script, no font of its own, every coordinate with two decimals, so that bytes are stable.
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/plot.hpp"
#include "report/writers/writers.hpp"

namespace mha::report {
namespace {

constexpr double kWidth = 760, kHeight = 480;
constexpr double kLeft = 84, kRight = 40, kTop = 64, kBottom = 76;  // margins around the plotted area

std::string number(double value) {
  return print_fixed(value, 2);
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string text_at(double x, double y, std::string_view cls, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", cls, number(x), number(y), xml(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view cls) {
  return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", cls, number(x1), number(y1),
                     number(x2), number(y2));
}

// Kinds differ in shape as well as colour: ring, filled dot, diamond.
std::string marker(double x, double y, std::string_view kind, std::string_view hint) {
  const std::string title = hint.empty() ? std::string() : fmt::format("<title>{}</title>", xml(hint));
  if (kind == "best") {
    return fmt::format("<path class=\"best\" d=\"M{} {}l8 8l-8 8l-8 -8z\">{}</path>\n", number(x), number(y - 8),
                       title);
  }
  return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n", kind, number(x), number(y),
                     kind == "front" ? "4.50" : "2.50", title);
}

constexpr std::string_view kStyle =
    "<style>\n"
    "text { font-family: sans-serif; font-size: 12px; fill: #222; }\n"
    ".title { font-size: 15px; font-weight: bold; }\n"
    ".x { text-anchor: middle; }\n"
    ".y { text-anchor: end; }\n"
    ".grid { stroke: #ddd; stroke-width: 1; }\n"
    ".axis { stroke: #222; stroke-width: 1; }\n"
    ".other { fill: #999; }\n"
    ".front { fill: #fff; stroke: #0055aa; stroke-width: 2; }\n"
    ".best { fill: #cc3311; stroke: #fff; stroke-width: 1; }\n"
    "</style>\n";

std::string axes(const ByteAxis& x, const LossAxis& y, double width, double height) {
  std::string out;
  const double bottom = kTop + height;
  for (const int exponent : x.ticks(9)) {
    const Bytes value(i128{1} << exponent);
    const double at = kLeft + x.place(value) * width;
    out += line(at, kTop, at, bottom, "grid") + text_at(at, bottom + 18, "x", print_bytes(value));
  }
  for (const double value : y.ticks()) {
    const double at = bottom - y.place(value) * height;
    out += line(kLeft, at, kLeft + width, at, "grid") + text_at(kLeft - 8, at + 4, "y", print_fixed(value, y.decimals));
  }
  out += line(kLeft, bottom, kLeft + width, bottom, "axis") + line(kLeft, kTop, kLeft, bottom, "axis");
  out += text_at(kLeft + width / 2, bottom + 40, "x", "KV cache per sequence (bytes, log2 scale)");
  out += fmt::format(
      "<text class=\"x\" transform=\"translate({} {}) rotate(-90)\">Predicted loss difference (nats per token)"
      "</text>\n",
      number(18), number(kTop + height / 2));
  return out;
}

std::string legend(double y) {
  return marker(kLeft + 8, y - 4, "best", "") + text_at(kLeft + 22, y, "key", "recommended") +
         marker(kLeft + 140, y - 4, "front", "") + text_at(kLeft + 152, y, "key", "Pareto front") +
         marker(kLeft + 264, y - 4, "other", "") + text_at(kLeft + 274, y, "key", "other candidates");
}

}  // namespace

std::string write_svg(const Recommendation& r, const WriterOptions& /*options*/) {
  const double width = kWidth - kLeft - kRight;
  const double height = kHeight - kTop - kBottom;
  const ByteAxis x = byte_axis(r.pareto);
  const LossAxis y = loss_axis(r.pareto);
  const std::string title = fmt::format("{}: predicted loss against KV cache at {}",
                                        layout_label(r.winner().layout, r.winner().notation), tokens(r.workload.n_ctx));

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
      "<title>{2}</title>\n",
      static_cast<int>(kWidth), static_cast<int>(kHeight), xml(title));
  out += kStyle;
  out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n", static_cast<int>(kWidth),
                     static_cast<int>(kHeight));
  out += text_at(kLeft, 24, "title", title);
  out +=
      text_at(kLeft, 44, "key", fmt::format("{}, batch {}, {}", r.target.name, r.workload.batch, r.winner().kv_format));
  out += axes(x, y, width, height);

  // Weak marks first, so that strong ones lie on top.
  const auto draw = [&](std::string_view kind, bool front, bool recommended) {
    for (const ParetoPoint& point : r.pareto) {
      if (point.recommended != recommended || (!recommended && point.front != front)) continue;
      const double px = kLeft + x.place(point.kv_per_sequence) * width;
      const double py = kTop + height - y.place(point.loss) * height;
      const std::string hint =
          kind == "other" ? std::string()
                          : fmt::format("{}: {}, {} per sequence, decode step {}", point.notation, nats(point.loss),
                                        print_bytes(point.kv_per_sequence), print_seconds(point.decode_s));
      out += marker(px, py, kind, hint);
      if (recommended) {
        const bool right_half = px > kLeft + width / 2;
        out += text_at(px + (right_half ? -12 : 12), py - 10, right_half ? "y" : "key", point.notation);
      }
    }
  };
  draw("other", false, false);
  draw("front", true, false);
  draw("best", true, true);
  return out + legend(kHeight - 12) + "</svg>\n";
}

}  // namespace mha::report
