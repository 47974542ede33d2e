// Do two computed results agree as well as their rounding bounds demand?
#pragma once

#include "kernel/oracle.hpp"

namespace mha::oracle {

struct Agreement {
  double ratio = 0;    // largest |a - b| / (error of a + error of b); infinite for a NaN or unequal shapes
  double max_abs = 0;  // largest |a - b|
  double bound = 0;    // largest error of a + error of b
  [[nodiscard]] bool within() const { return ratio <= 1.0; }
};

[[nodiscard]] Agreement compare(const Rows& a, const Rows& b);

}  // namespace mha::oracle
