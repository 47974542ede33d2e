// mha-configurator: looks the verb up, lets it work, reports what went wrong. One catch, one place that returns.
#include <csignal>
#include <cstdio>
#include <exception>
#include <unistd.h>

#include "failure.hpp"
#include "help.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/model_query.hpp"

namespace mha::cli {
namespace {

const Verb& verb_of(const std::string& typed) {
  if (const Verb* verb = find_verb(typed)) return *verb;
  std::vector<std::string> ids;
  for (const Verb& verb : verbs()) ids.emplace_back(verb.id);
  if (typed.starts_with("-")) {
    throw usage_error(typed, "unknown flag, and a verb comes first", did_you_mean(typed, {"--help", "--version"}));
  }
  throw usage_error({}, "'" + typed + "' is not a verb", did_you_mean(typed, ids));
}

// explain takes a request or a model; which one decides what flags it has.
Verb form_for(const Verb& verb, const std::vector<std::string>& rest) {
  if (verb.for_model == nullptr) return verb;
  const RuleStore rules;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool is_value = i > 0 && rest[i - 1].starts_with("--") && rest[i - 1].find('=') == std::string::npos;
    if (!is_value && !rest[i].starts_with("-") && names_model(rest[i], rules)) return verb.for_model();
  }
  return verb;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    throw usage_error({}, "no verb is given", "try 'mha-configurator --help', or 'mha-configurator list targets'");
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h") return write_stdout(help_page()), kDone;
  if (first == "--version") return write_stdout(version_line()), kDone;
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const Verb verb = form_for(verb_of(first), rest);
  if (asks_for_help(rest)) return write_stdout(help_page(verb)), kDone;
  return verb.run(read_command_line(verb, rest));
}

}  // namespace
}  // namespace mha::cli

int main(int argc, char** argv) {
  using namespace mha::cli;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error that is reported, not a silent end
  claim_standard_descriptors();
  try {
    return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const Failure& failure) {
    for (const mha::Diagnostic& problem : failure.problems()) std::fprintf(stderr, "%s\n", to_string(problem).c_str());
    return failure.code();
  } catch (const std::exception& problem) {  // out of memory, above all
    std::fprintf(stderr, "error: %s\n", problem.what());
    return kBadInput;
  }
}
