#include "options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <unistd.h>

#include "mha/rules_loader.hpp"

#include "failure.hpp"
#include "output.hpp"

namespace mha::cli {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kPositional = "argument";  // Boost's name for what is not a flag; nobody can type it as one
constexpr std::size_t kMaxStandardInput = std::size_t{1} << 20;

std::vector<std::string> flag_names(const Verb& verb) {
  std::vector<std::string> names = {"--help"};
  for (const VerbOption& option : verb.options) names.push_back(flag_name(option.name));
  if (verb.takes_request) {
    for (const RequestField& field : request_fields()) names.push_back(flag_name(field.key));
  }
  return names;
}

Failure unknown_flag(const Verb& verb, const std::string& typed) {
  const std::string name = typed.substr(0, typed.find('='));
  return usage_error(name, "unknown flag of '" + std::string(verb.id) + "'", did_you_mean(name, flag_names(verb)));
}

Failure missing_value(const Verb& verb, const std::string& flag) {
  return usage_error(flag, "needs a value",
                     "'mha-configurator " + std::string(verb.id) + " --help' shows what it takes");
}

po::options_description describe(const Verb& verb) {
  po::options_description description;
  const auto add = [&](const std::string& flag, bool repeatable) {
    const std::string name = flag.substr(2);
    if (repeatable) {
      description.add_options()(name.c_str(), po::value<std::vector<std::string>>()->composing(), "");
    } else {
      description.add_options()(name.c_str(), po::value<std::string>(), "");
    }
  };
  for (const VerbOption& option : verb.options) {
    add(flag_name(option.name), option.repeatable);
  }
  if (verb.takes_request) {
    for (const RequestField& field : request_fields()) {
      add(flag_name(field.key), field.kind == ValueKind::assertion);
    }
  }
  description.add_options()(std::string(kPositional).c_str(), po::value<std::vector<std::string>>(), "");
  return description;
}

std::vector<std::string> switches(const Verb& verb) {
  std::vector<std::string> names;
  for (const VerbOption& option : verb.options) {
    if (option.value_name.empty()) names.push_back(flag_name(option.name));
  }
  if (verb.takes_request) {
    for (const RequestField& field : request_fields()) {
      if (field.kind == ValueKind::boolean) names.push_back(flag_name(field.key));
    }
  }
  return names;
}

// "--decoupled" becomes "--decoupled=true": an optional value of Boost's would swallow the word after it, such as a file.
std::vector<std::string> with_switch_values(const Verb& verb, std::vector<std::string> arguments) {
  const std::vector<std::string> names = switches(verb);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (std::find(names.begin(), names.end(), argument) != names.end()) argument += "=true";
  }
  return arguments;
}

// Long flags only and no abbreviations: a script must not change its meaning when a flag is added.
po::variables_map split(const Verb& verb, const std::vector<std::string>& arguments) {
  const po::options_description description = describe(verb);
  po::positional_options_description positional;
  positional.add(std::string(kPositional).c_str(), -1);
  po::variables_map values;
  try {
    using namespace po::command_line_style;
    const auto parsed = po::command_line_parser(with_switch_values(verb, arguments))
                            .options(description)
                            .positional(positional)
                            .style(allow_long | long_allow_adjacent | long_allow_next)
                            .run();
    for (const auto& option : parsed.options) {
      if (option.string_key == kPositional && option.position_key < 0) {
        throw unknown_flag(verb, flag_name(kPositional));
      }
      if (option.original_tokens.size() == 2 && option.original_tokens[1].starts_with("--")) {
        throw missing_value(verb, option.original_tokens[0]);
      }
    }
    po::store(parsed, values);
  } catch (const po::unknown_option& problem) {
    throw unknown_flag(verb, problem.get_option_name());
  } catch (const po::multiple_occurrences& problem) {
    throw usage_error(problem.get_option_name(), "given more than once", "give it once");
  } catch (const po::error_with_option_name& problem) {
    throw missing_value(verb, problem.get_option_name());
  } catch (const po::error& problem) {
    throw usage_error({}, problem.what(), "'mha-configurator " + std::string(verb.id) + " --help' shows the flags");
  }
  return values;
}

std::vector<std::string> values_of(const po::variables_map& values, const std::string& name) {
  const po::variable_value& value = values[name];
  if (value.empty()) return {};
  if (const auto* one = boost::any_cast<std::string>(&value.value())) return {*one};
  return value.as<std::vector<std::string>>();
}

std::string read_standard_input() {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw input_error("unreadable-file", {}, "cannot read standard input: " + error_text(errno), "");
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxStandardInput) {
      throw input_error("file-too-large", {}, "standard input holds more than 1 MiB, which is not a request", "");
    }
  }
}

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::any_of(arguments.begin(), end, [](const std::string& a) { return a == "--help" || a == "-h"; });
}

Invocation read_command_line(const Verb& verb, const std::vector<std::string>& arguments) {
  const po::variables_map values = split(verb, arguments);
  Invocation invocation;
  invocation.arguments = values_of(values, std::string(kPositional));
  for (const VerbOption& option : verb.options) {
    std::vector<std::string> given = values_of(values, std::string(option.name));
    if (option.value_name.empty() && !given.empty() && given.front() != "true") {
      throw usage_error(flag_name(option.name), "takes no value", "write it alone");
    }
    if (!given.empty()) invocation.options[std::string(option.name)] = std::move(given);
  }

  // Something like "-x" is not a file: whoever has such a file can write "./-x".
  for (const std::string& argument : invocation.arguments) {
    if (argument.size() > 1 && argument.front() == '-') throw unknown_flag(verb, argument);
  }
  if (!verb.takes_request) return invocation;
  if (invocation.arguments.size() > 1) {
    throw usage_error({}, "'" + invocation.arguments[1] + "' is one argument too many",
                      "one request file may be given, the rest are flags; 'mha-configurator " + std::string(verb.id) +
                          " --help' shows them");
  }
  Diagnostics problems;
  if (!invocation.arguments.empty()) {
    const std::string& path = invocation.arguments.front();
    problems = path == "-" ? read_request_text(read_standard_input(), "<stdin>", invocation.request)
                           : read_request_file(path, invocation.request);
    invocation.arguments.clear();
  }
  for (const RequestField& field : request_fields()) {
    std::string text;
    const std::string flag = flag_name(field.key);
    const std::vector<std::string> given = values_of(values, flag.substr(2));
    if (given.empty()) continue;
    for (const std::string& value : given) text += (text.empty() ? "" : ", ") + value;
    Diagnostics found = field.set(invocation.request, text);
    for (Diagnostic& problem : found) problem.where.key = flag;
    append(problems, std::move(found));
  }
  if (!problems.empty()) throw Failure(kBadInput, std::move(problems));
  return invocation;
}

}  // namespace mha::cli
