#include "report/plot.hpp"

#include <algorithm>
#include <cmath>

#include "mha/quantity.hpp"

#include "report/document.hpp"
#include "report/figures.hpp"

namespace mha::report {
namespace {

constexpr std::size_t kGutter = 9;         // "  0.0150 "
constexpr double kLeastLossRange = 0.001;  // nats; equal losses still need an axis
constexpr double kTieGuard = 1e-9;         // places halfway between two cells in the upper one on every machine

int floor_log2(i128 value) {
  int exponent = 0;
  for (; value > 1; value /= 2) ++exponent;
  return exponent;
}

std::size_t cell(double place, std::size_t cells) {
  const double last = static_cast<double>(cells - 1);
  return static_cast<std::size_t>(std::clamp(std::floor(place * last + 0.5 + kTieGuard), 0.0, last));
}

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

// Tick labels centred under their columns, the outer two pushed inside.
std::string tick_labels(const ByteAxis& axis, std::size_t width) {
  std::string line(width, ' ');
  for (const int exponent : axis.ticks(width / 10)) {
    const std::string label = print_bytes(Bytes(i128{1} << exponent));
    const std::size_t centre = cell(axis.place(Bytes(i128{1} << exponent)), width);
    const std::size_t half = label.size() / 2;
    const std::size_t start = std::min(centre > half ? centre - half : 0, width - label.size());
    line.replace(start, label.size(), label);
  }
  return line;
}

char mark(const ParetoPoint& point) {
  return point.recommended ? 'R' : point.front ? 'o' : '.';
}

int strength(char c) {
  return c == 'R' ? 3 : c == 'o' ? 2 : c == '.' ? 1 : 0;
}

}  // namespace

double ByteAxis::place(Bytes value) const {
  return (std::log2(std::max(1.0, value.as_double())) - low) / static_cast<double>(high - low);
}

std::vector<int> ByteAxis::ticks(std::size_t most) const {
  const int wanted = std::max(1, static_cast<int>(most) - 1);
  const int step = std::max(1, (high - low + wanted - 1) / wanted);
  std::vector<int> out;
  for (int exponent = low; exponent <= high; exponent += step) out.push_back(exponent);
  return out;
}

ByteAxis byte_axis(const std::vector<ParetoPoint>& points) {
  ByteAxis axis;
  if (points.empty()) return axis;
  const auto by_bytes = [](const ParetoPoint& a, const ParetoPoint& b) {
    return a.kv_per_sequence < b.kv_per_sequence;
  };
  const i128 least = std::min_element(points.begin(), points.end(), by_bytes)->kv_per_sequence.value();
  const i128 most = std::max_element(points.begin(), points.end(), by_bytes)->kv_per_sequence.value();
  axis.low = floor_log2(least);
  axis.high = floor_log2(most);
  if ((i128{1} << axis.high) < most) ++axis.high;
  if (axis.high == axis.low) ++axis.high;
  return axis;
}

double LossAxis::place(double value) const {
  return (value - low) / (high - low);
}

std::vector<double> LossAxis::ticks() const {
  std::vector<double> out;
  const double first = std::ceil(low / step - kTieGuard);
  for (double i = first; i * step <= high + step * kTieGuard; ++i) out.push_back(i * step);
  return out;
}

LossAxis loss_axis(const std::vector<ParetoPoint>& points) {
  LossAxis axis;
  if (points.empty()) return axis;
  const auto by_loss = [](const ParetoPoint& a, const ParetoPoint& b) { return a.loss < b.loss; };
  axis.low = std::min_element(points.begin(), points.end(), by_loss)->loss;
  axis.high = std::max_element(points.begin(), points.end(), by_loss)->loss;
  const double missing = kLeastLossRange - (axis.high - axis.low);
  if (missing > 0) {
    axis.low -= missing / 2;
    axis.high += missing / 2;
  }
  // The finest step that needs at most seven ticks; grown by products, so that it is the same double everywhere.
  double decade = 1e-4;
  for (axis.decimals = 4;; decade *= 10, axis.decimals = std::max(0, axis.decimals - 1)) {
    for (const int factor : {1, 2, 5}) {
      axis.step = decade * factor;
      if (!((axis.high - axis.low) / axis.step > 6 + kTieGuard)) return axis;
    }
  }
}

std::string plot(const std::vector<ParetoPoint>& points, PlotSize size) {
  if (points.empty()) return {};
  const ByteAxis x = byte_axis(points);
  const LossAxis y = loss_axis(points);
  const std::size_t width = size.columns - kGutter - 1;

  std::vector<std::string> grid(size.rows, std::string(width, ' '));
  for (const ParetoPoint& point : points) {
    char& c = grid[size.rows - 1 - cell(y.place(point.loss), size.rows)][cell(x.place(point.kv_per_sequence), width)];
    if (strength(mark(point)) > strength(c)) c = mark(point);
  }

  std::vector<std::string> labels(size.rows);
  for (const double value : y.ticks()) {
    labels[size.rows - 1 - cell(y.place(value), size.rows)] = print_fixed(value, y.decimals);
  }

  std::string out = "predicted loss difference (nats per token; lower is better)\n";
  for (std::size_t row = 0; row < size.rows; ++row) {
    std::string line = pad(labels[row], kGutter - 1, Align::right) + (labels[row].empty() ? " |" : " +") + grid[row];
    trim_right(line);
    out += line + '\n';
  }
  std::string rule(width, '-');
  for (const int exponent : x.ticks(width / 10)) rule[cell(x.place(Bytes(i128{1} << exponent)), width)] = '+';
  out += std::string(kGutter, ' ') + '+' + rule + '\n';
  std::string ticks = std::string(kGutter + 1, ' ') + tick_labels(x, width);
  trim_right(ticks);
  out += ticks + '\n';
  out += std::string(kGutter + 1, ' ') + "KV cache per sequence (bytes, log2 scale)\n";
  out += std::string(kGutter + 1, ' ') + "R recommended   o Pareto front   . other candidates\n";
  return out;
}

}  // namespace mha::report
