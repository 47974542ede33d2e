// The command line that asks for a request again. Only what differs from the defaults is written, in the table's order.
#include "mha/request.hpp"
#include "mha/version.hpp"

namespace mha {
namespace {

// As the shell must see it: bare when nothing in it is special, else in single quotes.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+@%-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string reproduce_command(const Request& request, std::string_view verb) {
  std::string command = std::string(kToolName) + " " + std::string(verb);
  for (const RequestField& field : request_fields()) {
    const std::string value = field.get(request);
    if (value.empty()) continue;
    const std::string flag = " " + flag_name(field.key);
    if (field.kind == ValueKind::boolean) {
      command += flag + (value == "true" ? "" : "=" + value);
    } else if (field.kind == ValueKind::assertion) {
      for (const Assertion& limit : request.limits) command += flag + " " + shell_word(limit.text);
    } else {
      command += flag + " " + shell_word(value);
    }
  }
  return command;
}

}  // namespace mha
