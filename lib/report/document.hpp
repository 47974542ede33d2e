// The document model: what a page says, free of how it is written. Builders append blocks, writers turn them into bytes.
// Text inside a block may use four inline marks: **strong**, `code`, [text](address) and a backslash before a literal mark.
// Text from outside (names, reasons, sources) goes through literal() first.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mha::report {

struct FrontMatter {
  std::vector<std::pair<std::string, std::string>> fields;  // in order
  std::vector<std::string> tags;
};

struct Heading {
  int level = 1;
  std::string text;
};

struct Paragraph {
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
};

struct CodeBlock {
  std::string language;
  std::string text;  // ends with a newline
};

using Block = std::variant<FrontMatter, Heading, Paragraph, BulletList, Table, CodeBlock>;

struct Document {
  std::vector<Block> blocks;

  void front_matter(FrontMatter block) { blocks.emplace_back(std::move(block)); }
  void heading(int level, std::string text) { blocks.emplace_back(Heading{level, std::move(text)}); }
  void paragraph(std::string text) { blocks.emplace_back(Paragraph{std::move(text)}); }
  void bullets(std::vector<std::string> items) { blocks.emplace_back(BulletList{std::move(items)}); }
  void table(Table block) { blocks.emplace_back(std::move(block)); }
  void code(std::string language, std::string text) {
    blocks.emplace_back(CodeBlock{std::move(language), std::move(text)});
  }
};

// Outside text as inline text that means itself: marks escaped, control characters and line breaks turned into spaces.
[[nodiscard]] std::string literal(std::string_view text);

// Inline text without its marks, for writers that have none.
[[nodiscard]] std::string plain(std::string_view text);

// Printed columns: code points, which is right for the Latin text that occurs here.
[[nodiscard]] std::size_t text_width(std::string_view text);

// `text` filled with spaces up to `width`.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align);

}  // namespace mha::report
