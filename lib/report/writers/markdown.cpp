// Document -> Markdown whose source reads as well as its rendering: tables aligned, one block after another.
#include <algorithm>

#include "report/builder.hpp"
#include "report/writers/writers.hpp"

namespace mha::report {
namespace {

std::string yaml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out + "\"";
}

bool yaml_bare(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos &&
         text[0] != '-';
}

std::string yaml_scalar(std::string_view text) {
  return yaml_bare(text) ? std::string(text) : yaml_string(text);
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void write_block(std::string& out, const FrontMatter& block) {
  out += "---\n";
  for (const auto& field : block.fields) out += field.first + ": " + yaml_scalar(field.second) + "\n";
  out += "tags: [";
  for (std::size_t i = 0; i < block.tags.size(); ++i) out += (i == 0 ? "" : ", ") + yaml_scalar(block.tags[i]);
  out += "]\n---\n";
}

void write_block(std::string& out, const Heading& block) {
  out += std::string(static_cast<std::size_t>(block.level), '#') + " " + block.text + "\n";
}

void write_block(std::string& out, const Paragraph& block) {
  out += block.text + "\n";
}

void write_block(std::string& out, const BulletList& block) {
  for (const std::string& item : block.items) out += "- " + item + "\n";
}

void write_block(std::string& out, const Table& block) {
  std::vector<std::size_t> widths;
  for (const Column& column : block.columns) widths.push_back(std::max<std::size_t>(3, text_width(cell(column.title))));
  for (const auto& row : block.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(cell(row[i])));
  }
  out += "|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    out += " " + pad(cell(block.columns[i].title), widths[i], block.columns[i].align) + " |";
  }
  out += "\n|";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool right = block.columns[i].align == Align::right;
    out += " " + std::string(widths[i] - (right ? 1 : 0), '-') + (right ? ":" : "") + " |";
  }
  out += "\n";
  for (const auto& row : block.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += " " + pad(cell(row[i]), widths[i], block.columns[i].align) + " |";
    out += "\n";
  }
}

void write_block(std::string& out, const CodeBlock& block) {
  // A fence longer than any run of backticks inside.
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : block.text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  out += fence + block.language + "\n" + block.text + fence + "\n";
}

}  // namespace

std::string markdown(const Document& document) {
  std::string out;
  for (const Block& block : document.blocks) {
    if (!out.empty()) out += "\n";
    std::visit([&out](const auto& b) { write_block(out, b); }, block);
  }
  return out;
}

std::string write_markdown(const Recommendation& recommendation, const WriterOptions& options) {
  return markdown(build_report(recommendation, options));
}

}  // namespace mha::report
