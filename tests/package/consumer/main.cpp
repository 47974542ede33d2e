// Another project that asks for a layout: request, rules, recommendation, JSON.
#include <cstdio>

#include "mha/recommend.hpp"
#include "mha/report.hpp"
#include "mha/rules_loader.hpp"

int main() {
  mha::Request request;
  request.params = 1'300'000'000;
  request.seq_len = 32'768;
  request.target = "h100-sxm";
  const mha::Expected<mha::RuleSet> rules = mha::RuleStore().load(request.target);
  if (!rules) return 3;
  const mha::Expected<mha::Recommendation> answer = mha::recommend(request, *rules);
  if (!answer) return 1;
  std::puts(answer->winner().notation.c_str());
  std::puts(mha::find_writer("json")->write(*answer, {}).c_str());
  return 0;
}
