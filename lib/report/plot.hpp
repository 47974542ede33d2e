// Scatter of candidates in characters, for terminals and Markdown. x: KV cache per sequence, bytes, log2. y: predicted loss
// difference, nats, linear. Pure text of a fixed width, so that a golden test can hold it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mha/recommend.hpp"

namespace mha::report {

struct PlotSize {
  std::size_t columns = 72;  // whole width, labels included
  std::size_t rows = 20;     // of the plotted area
};

// Whole octaves around the caches of the points; at least one wide, so that equal values have a place.
struct ByteAxis {
  int low = 0;  // exponents of two
  int high = 1;
  [[nodiscard]] double place(Bytes value) const;                 // 0 at low, 1 at high
  [[nodiscard]] std::vector<int> ticks(std::size_t most) const;  // exponents, evenly spaced, low first
};
[[nodiscard]] ByteAxis byte_axis(const std::vector<ParetoPoint>& points);

// The range of the losses, with ticks at multiples of 1, 2 or 5 times a power of ten.
struct LossAxis {
  double low = 0;
  double high = 0.001;
  double step = 0.0002;
  int decimals = 4;
  [[nodiscard]] double place(double value) const;   // 0 at low, 1 at high
  [[nodiscard]] std::vector<double> ticks() const;  // at most seven, low first
};
[[nodiscard]] LossAxis loss_axis(const std::vector<ParetoPoint>& points);

// Empty text for no points. Lines end with '\n' and have no trailing spaces.
[[nodiscard]] std::string plot(const std::vector<ParetoPoint>& points, PlotSize size = {});

}  // namespace mha::report
