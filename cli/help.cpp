#include "help.hpp"

#include <algorithm>

#include "mha/version.hpp"

namespace mha::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kWidth = 100;

// Words of `text` from `column` on, later lines indented to the same column.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    if (at > column && at + 1 + length > kWidth) {
      out += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += text.substr(0, length);
    at += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

std::string row(std::string left, std::string_view help) {
  left = "  " + left;
  left += left.size() + 2 <= kHelpColumn ? std::string(kHelpColumn - left.size(), ' ')
                                         : "\n" + std::string(kHelpColumn, ' ');
  return left + wrapped(help, kHelpColumn) + "\n";
}

std::string flag_row(const std::string& flag, std::string_view value_name, std::string_view help) {
  return row(value_name.empty() ? flag : flag + " " + std::string(value_name), help);
}

std::string example_lines(std::string_view examples) {
  std::string out;
  while (!examples.empty()) {
    const std::size_t length = std::min(examples.find('\n'), examples.size());
    out += "  " + std::string(kToolName) + " " + std::string(examples.substr(0, length)) + "\n";
    examples.remove_prefix(std::min(length + 1, examples.size()));
  }
  return out;
}

}  // namespace

std::string version_line() {
  return std::string(kToolName) + " " + std::string(kVersion) + "\n";
}

std::string help_page() {
  std::string page =
      std::string(kToolName) + " " + std::string(kVersion) + "\n" +
      wrapped(
          "Recommends the attention head layout of a transformer (n_heads, n_kv_heads, d_head; MHA, GQA, MQA, "
          "MLA and their kin) from a parameter budget, a sequence length and a deployment target, and says what the "
          "attention of an existing model costs.",
          0) +
      "\n\nUsage: " + std::string(kToolName) + " VERB [flags] [request.yaml]\n\nVerbs:\n";
  for (const Verb& verb : verbs()) page += row(std::string(verb.id), verb.help);
  page += "\nFlags:\n";
  page += flag_row("--help", "", "this page; after a verb, the page of that verb");
  page += flag_row("--version", "", "name and version");
  page += "\nExamples:\n";
  page += example_lines(
      "recommend --params 1.3B --seq-len 32k --target h100-sxm --batch 16\n"
      "recommend request.yaml --out md:report.md --out json:-\n"
      "list targets");
  page +=
      "\nExit codes: 0 done; 1 nothing satisfies the request, or a check failed; 2 usage; 3 bad input;\n"
      "4 the kernel's counts differ from the cost model.\n";
  return page;
}

std::string help_page(const Verb& verb) {
  std::string page = std::string(kToolName) + " " + std::string(verb.id) + ": " + std::string(verb.help) +
                     "\n\nUsage: " + std::string(kToolName) + " " + std::string(verb.id) + " " +
                     std::string(verb.arguments) + "\n";
  if (!verb.details.empty()) page += "\n" + wrapped(verb.details, 0) + "\n";
  page += "\nExamples:\n" + example_lines(verb.examples);
  if (verb.takes_request) {
    std::string_view group;
    for (const RequestField& field : request_fields()) {
      if (field.group != group) page += "\n" + std::string(field.group) + ":\n";
      group = field.group;
      const bool is_switch = field.kind == ValueKind::boolean;
      page += is_switch ? row(flag_name(field.key) + "[=false]", field.help)
                        : flag_row(flag_name(field.key), field.value_name, field.help);
    }
    page +=
        "\n" +
        wrapped(
            "A request file holds the same names with '_' for '-', such as 'seq_len: 32k'; '-' reads it from standard "
            "input. Flags override the file.",
            0) +
        "\n";
  }
  page += "\nCommand:\n";
  for (const VerbOption& option : verb.options)
    page += flag_row(flag_name(option.name), option.value_name, option.help);
  page += flag_row("--help", "", "this page");
  return page;
}

}  // namespace mha::cli
