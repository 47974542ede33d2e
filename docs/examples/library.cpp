// Asks for a layout and holds it to a limit: 0 when it is met, 1 when it is not or nothing is feasible, 3 for bad input.
#include <cstdio>

#include "mha/quantity.hpp"
#include "mha/recommend.hpp"
#include "mha/rules_loader.hpp"

int main() {
  mha::Request request;
  request.params = 1'300'000'000;
  request.seq_len = 32'768;
  request.target = "h100-sxm";
  request.batch = 16;

  const mha::RuleStore store;  // the embedded rules; RuleStore("my-rules") adds a folder
  const mha::Expected<mha::RuleSet> rules = store.load(request.target);
  if (!rules) return std::puts(mha::to_string(rules.error().front()).c_str()), 3;
  const mha::Expected<mha::Recommendation> answer = mha::recommend(request, *rules);
  if (!answer) return std::puts(mha::to_string(answer.error().front()).c_str()), 1;

  const mha::Candidate& best = answer->winner();
  const mha::Expected<mha::Assertion> limit = mha::parse_assertion("kv_bytes_per_token <= 128KiB");
  if (!limit) return 3;
  const mha::AssertionResult check = mha::check_assertion(*limit, best);
  std::printf("%s: %s a token, %s\n", best.notation.c_str(), mha::print_bytes(best.cost.cache.per_token).c_str(),
              check.margin.c_str());
  return check.met ? 0 : 1;
}
