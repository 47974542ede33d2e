#include "mha/units.hpp"

#include <concepts>
#include <doctest/doctest.h>
#include <limits>

using namespace mha;

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Flops>, "units of different kinds must not mix");
static_assert(!Addable<Params, Elements>);
static_assert(!std::convertible_to<int, Bytes>, "a bare number has no unit");

TEST_CASE("decimal digits of 128-bit integers are exact") {
  CHECK(to_decimal(0) == "0");
  CHECK(to_decimal(327'680) == "327680");
  CHECK(to_decimal(-70'272) == "-70272");
  const i128 most = static_cast<i128>(~u128{0} >> 1U);
  CHECK(to_decimal(most) == "170141183460469231731687303715884105727");
  CHECK(to_decimal(-most - 1) == "-170141183460469231731687303715884105728");
}

TEST_CASE("a multiply-add is two floating-point operations") {
  CHECK(flops_of(MultiplyAdds(21)) == Flops(42));
}

TEST_CASE("quantities add, scale and compare") {
  Bytes sum(3);
  sum += Bytes(4);
  CHECK(sum == Bytes(7));
  CHECK(sum * 2 - Bytes(1) == Bytes(13));
  CHECK(Bytes(2) < Bytes(3));
  CHECK(Bytes(i128{std::numeric_limits<std::int64_t>::max()}) * 4 >
        Bytes(i128{std::numeric_limits<std::int64_t>::max()}));
}
