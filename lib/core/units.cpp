#include "mha/units.hpp"

#include <algorithm>

namespace mha {

std::string to_decimal(i128 value) {
  // The magnitude is taken unsigned, because the least i128 has no positive counterpart.
  u128 rest = value < 0 ? -static_cast<u128>(value) : static_cast<u128>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace mha
