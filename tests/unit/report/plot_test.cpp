#include "report/plot.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <sstream>

using namespace mha;
using namespace mha::report;

namespace {

ParetoPoint point(std::int64_t mib, double loss, bool front = false, bool recommended = false) {
  ParetoPoint p;
  p.kv_per_sequence = Bytes(i128{mib} << 20);
  p.loss = loss;
  p.front = front;
  p.recommended = recommended;
  return p;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("the plot of three points is this text") {
  const std::string expected =
      "predicted loss difference (nats per token; lower is better)\n"
      "   0.012 +R\n"
      "   0.010 +\n"
      "   0.008 +\n"
      "   0.006 +               .\n"
      "   0.004 +\n"
      "   0.002 +\n"
      "   0.000 +                             o\n"
      "         ++--------------+-------------+\n"
      "          256 MiB     512 MiB   1.00 GiB\n"
      "          KV cache per sequence (bytes, log2 scale)\n"
      "          R recommended   o Pareto front   . other candidates\n";
  CHECK(plot({point(256, 0.012, true, true), point(1024, 0.0, true), point(512, 0.006)}, {40, 7}) == expected);
}

TEST_CASE("the default plot is 20 rows of at most 72 columns without trailing spaces") {
  const std::vector<std::string> text = lines(plot({point(100, -0.01, true, true), point(7777, 0.05)}));
  CHECK(text.size() == 20 + 5);
  for (const std::string& line : text) {
    CHECK(line.size() <= 72);
    CHECK((line.empty() || line.back() != ' '));
  }
}

TEST_CASE("a single point, equal points and a cache of nothing are drawn") {
  for (const auto& points : {std::vector<ParetoPoint>{point(64, 0.0, true, true)},
                             std::vector<ParetoPoint>{point(65, 0.01, true, true), point(65, 0.01, true)},
                             std::vector<ParetoPoint>{point(0, 0.0, true, true)}}) {
    const std::vector<std::string> text = lines(plot(points));
    const auto marks = std::count_if(text.begin(), text.begin() + 21, [](const std::string& line) {
      return line.size() > 10 && line.find('R', 10) != std::string::npos;
    });
    CHECK(marks == 1);
  }
}

TEST_CASE("the recommended point hides a front point, which hides another") {
  const std::string text = plot({point(64, 0.01, true, true), point(64, 0.01, true), point(64, 0.01)}, {40, 5});
  const std::vector<std::string> all = lines(text);
  for (std::size_t i = 1; i < 6; ++i) {
    CHECK(all[i].find('o', 10) == std::string::npos);
    CHECK(all[i].find('.', 10) == std::string::npos);
  }
}

TEST_CASE("no points make no plot") {
  CHECK(plot({}).empty());
}

TEST_CASE("axes hold every point and have at most seven loss ticks") {
  for (const double spread : {0.0, 0.0003, 0.0118, 0.2, 3.0, 700.0}) {
    const std::vector<ParetoPoint> points = {point(3, -0.004), point(5000, -0.004 + spread)};
    const LossAxis y = loss_axis(points);
    CHECK(y.ticks().size() <= 7);
    CHECK(y.ticks().size() >= 2);
    CHECK(y.low <= -0.004 + 1e-12);
    CHECK(y.high >= -0.004 + spread - 1e-9);
    const ByteAxis x = byte_axis(points);
    CHECK(x.place(points[0].kv_per_sequence) >= 0);
    CHECK(x.place(points[1].kv_per_sequence) <= 1);
  }
}
