#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "mha/diagnostics.hpp"

using namespace mha;

namespace {
const std::vector<std::string> kTargets = {"a100-80gb", "b200", "h100-pcie", "h100-sxm", "h200", "rpi5", "rtx-4090"};
using Names = std::vector<std::string>;
}  // namespace

TEST_CASE("a misspelt name finds its neighbour first") {
  CHECK(suggest("h100-smx", kTargets)[0] == "h100-sxm");  // swapped letters
  CHECK(suggest("h100sxm", kTargets)[0] == "h100-sxm");   // one missing
  CHECK(suggest("H100_SXM", kTargets)[0] == "h100-sxm");  // case and separator
  CHECK(suggest("rpi4", kTargets) == Names{"rpi5"});
}

TEST_CASE("a prefix names everything that it starts, before mere neighbours") {
  CHECK(suggest("h100", kTargets) == Names{"h100-sxm", "h100-pcie", "h200"});
  CHECK(suggest("h100", kTargets, 1) == Names{"h100-sxm"});
}

TEST_CASE("a part of a name finds it") {
  CHECK(suggest("4090", kTargets) == Names{"rtx-4090"});
}

TEST_CASE("nothing near gives no suggestion") {
  CHECK(suggest("zzz", kTargets).empty());
  CHECK(suggest("", kTargets).empty());
  CHECK(suggest("x", {"a", "b"}).empty());
  CHECK(suggest(std::string(100'000, 'h'), kTargets).empty());
}

TEST_CASE("a swap of neighbours is one mistake") {
  CHECK(suggest("mal", {"mla", "mqb"}) == Names{"mla"});
}

TEST_CASE("did you mean is a sentence") {
  CHECK(did_you_mean("rpi4", kTargets) == "did you mean 'rpi5'?");
  CHECK(did_you_mean("h100", kTargets) == "did you mean 'h100-sxm', 'h100-pcie' or 'h200'?");
  CHECK(did_you_mean("zzz", {"mha", "gqa"}) == "one of: mha, gqa");
  CHECK(did_you_mean("zzz", {}).empty());
  Names many;
  for (int i = 0; i < 40; ++i) many.push_back("name" + std::to_string(i));
  CHECK(did_you_mean("zzz", many).find("(40 in all)") != std::string::npos);
  CHECK(did_you_mean("zzz", many).size() < 150);
}
