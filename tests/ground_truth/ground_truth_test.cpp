// Every published figure that can be derived is derived, and agrees; the three that are known to be wrong are reproduced as
// wrong (tests/data/ground_truth.yaml).
#include <doctest/doctest.h>

#include "ground_truth/records.hpp"

namespace mha::ground_truth {
namespace {

void check(const std::string& collection, int agree, int mismatch) {
  const Node file = load(MHA_SOURCE_DIR "/tests/data/ground_truth.yaml");
  int agreed = 0, mismatched = 0;
  for (const Outcome& outcome : run(file)) {
    if (outcome.collection != collection) continue;
    CAPTURE(outcome.id);
    CAPTURE(outcome.problem);
    CAPTURE(outcome.derived);
    CAPTURE(outcome.expected);
    CAPTURE(outcome.observed);
    CHECK(outcome.derives);
    CHECK(outcome.agrees == (outcome.status != "mismatch"));
    (outcome.agrees ? agreed : mismatched) += 1;
  }
  CHECK(agreed == agree);
  CHECK(mismatched == mismatch);
}

TEST_CASE("ground truth: 113 of 113 parameter counts, and 2 published ones that are wrong") {
  check("params", 113, 2);
}

TEST_CASE("ground truth: 71 of 71 cache sizes, and 1 printed by one worker of four") {
  check("kv", 71, 1);
}

TEST_CASE("ground truth: 36 of 36 FLOP figures, and 1 that a profiler got wrong") {
  check("flops", 36, 1);
}

}  // namespace
}  // namespace mha::ground_truth
