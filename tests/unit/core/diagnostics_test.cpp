#include "mha/diagnostics.hpp"

#include <doctest/doctest.h>

using namespace mha;

TEST_CASE("a diagnostic prints file, line, column, key, what, code and hint") {
  const Diagnostic full{Severity::error,
                        "out-of-range",
                        {"request.yaml", 3, 10, "seq_len"},
                        "-1 is not a length in tokens",
                        "give a whole number from 1 to 1073741824, such as 32k"};
  CHECK(to_string(full) ==
        "error: request.yaml:3:10: seq_len: -1 is not a length in tokens [out-of-range]\n"
        "  hint: give a whole number from 1 to 1073741824, such as 32k");
}

TEST_CASE("a diagnostic leaves out what it does not know") {
  CHECK(to_string({Severity::warning, "", {"", 0, 0, "--seq-len"}, "too long", ""}) == "warning: --seq-len: too long");
  CHECK(to_string({Severity::note, "x", {"a.yaml", 0, 0, ""}, "y", ""}) == "note: a.yaml: y [x]");
  CHECK(to_string({Severity::error, "x", {"a.yaml", 7, 0, ""}, "y", ""}) == "error: a.yaml:7: y [x]");
}

TEST_CASE("expected holds a value or the reasons") {
  const Expected<int> value(3);
  REQUIRE(value.has_value());
  CHECK(*value == 3);
  const Expected<int> none(Diagnostic{Severity::error, "a", {}, "b", "c"});
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().size() == 1);
}
