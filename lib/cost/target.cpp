#include "mha/rules.hpp"

namespace mha {

const double* Target::peak(std::string_view compute_type) const {
  const auto found = peaks_per_s.find(std::string(compute_type));
  return found == peaks_per_s.end() ? nullptr : &found->second.value;
}

}  // namespace mha
