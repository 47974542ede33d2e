// Input of a test: core must not see cost.
#include "mha/cost.hpp"
