// Declarations of the rows of the variant table; each is defined in variants/<id>.cpp.
#pragma once

#include "mha/attention.hpp"

namespace mha {

extern const Variant kMha, kMqa, kGqa, kMla, kGta, kGla, kMfa, kTpa;

}  // namespace mha
