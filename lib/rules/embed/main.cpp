// Build step: checks every file of rules/ as the tool would, and writes them as C++ arrays (embedded.hpp). A bad rule
// fails the build with the message that a user would get.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>

#include "mha/rules_loader.hpp"

#include "rules/embedded.hpp"
#include "rules/folder.hpp"
#include "rules/loaders.hpp"

namespace mha {

// The generator starts from nothing: the folder on disk is all the rules there are.
std::span<const EmbeddedFile> embedded_files() {
  return {};
}

namespace {

class Flattener {
 public:
  std::string text;
  std::string nodes;
  bool fits = true;

  void add(const Node& node) {
    nodes += "    {" + number(static_cast<std::size_t>(node.kind)) + ", " + (node.quoted ? "true" : "false") + ", " +
             number(node.line) + ", " + number(node.column) + ", " + number(node.key_line) + ", " +
             number(node.key_column) + ", " + string(node.text) + ", " + string(node.key) + ", " +
             number(node.children.size()) + "},\n";
    for (const Node& child : node.children) add(child);
  }

 private:
  template <class T>
  std::string number(T value) {
    fits = fits && static_cast<std::size_t>(value) <= std::numeric_limits<std::uint16_t>::max();
    return std::to_string(value);
  }

  // Position and length in `text`; a string that is there already is used again.
  std::string string(const std::string& value) {
    std::size_t at = text.find(value);
    if (at == std::string::npos) {
      at = text.size();
      text += value;
    }
    return number(at) + ", " + number(value.size());
  }
};

std::string literal(const std::string& text) {
  constexpr std::size_t kLineBytes = 100;
  std::string out = "\"";
  std::size_t line = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte > 0x7E || c == '?') {  // octal, which ends after three digits; '?': no trigraphs
      out += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
              static_cast<char>('0' + byte % 8)};
    } else {
      out += c;
    }
    if (++line % kLineBytes == 0) out += "\"\n    \"";
  }
  return out + "\"";
}

int generate(const std::string& rules_dir, const std::string& output) {
  const Diagnostics problems = RuleStore(rules_dir).check_all();
  for (const Diagnostic& problem : problems) std::fprintf(stderr, "%s\n", to_string(problem).c_str());
  if (!problems.empty()) return 1;

  std::string arrays;
  std::string table;
  std::size_t n_files = 0;
  for (const RuleKind& kind : rule_kinds()) {
    const std::string folder(kind.folder);
    const std::vector<std::string> ids = list_folder(rules_dir, folder).ids;
    if (ids.empty()) {
      std::fprintf(stderr, "error: %s/%s: no rule is in this folder\n", rules_dir.c_str(), folder.c_str());
      return 1;
    }
    for (const std::string& id : ids) {
      const Expected<Document> document = read_rule_file(rules_dir, folder, id);
      if (!document) return 1;  // it was read a moment ago
      Flattener flat;
      flat.add(document->root);
      if (!flat.fits) {
        std::fprintf(stderr, "error: %s: too large to embed: a line, column or text passes 65535\n",
                     document->file.c_str());
        return 1;
      }
      const std::string n = std::to_string(n_files++);
      arrays += "// " + folder + "/" + id + "\nconstexpr char kText" + n + "[] =\n    " + literal(flat.text) +
                ";\nconstexpr FlatNode kNodes" + n + "[] = {\n" + flat.nodes + "};\n";
      table +=
          "    {\"" + folder + "\", \"" + id + "\", {kText" + n + ", sizeof kText" + n + " - 1}, kNodes" + n + "},\n";
    }
  }
  const std::string source =
      "// Generated from rules/ by lib/rules/embed; do not edit.\n#include \"rules/embedded.hpp\"\n\n"
      "namespace mha {\nnamespace {\n\n" +
      arrays + "\nconstexpr EmbeddedFile kFiles[] = {\n" + table +
      "};\n\n}  // namespace\n\nstd::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n"
      "}  // namespace mha\n";
  std::ofstream stream(output, std::ios::binary | std::ios::trunc);
  stream << source;
  stream.close();
  if (!stream) {
    std::fprintf(stderr, "error: %s: cannot write the file\n", output.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace mha

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: mha_embed_rules RULES_DIR OUTPUT.cpp\n");
    return 2;
  }
  return mha::generate(argv[1], argv[2]);
}
