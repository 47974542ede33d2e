#include "mha/diagnostics.hpp"

namespace mha {
namespace {

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
    case Severity::error:
      break;
  }
  return "error";
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  const Location& where = diagnostic.where;
  std::string out(name(diagnostic.severity));
  out += ": ";
  if (!where.file.empty()) {
    out += where.file;
    if (where.line > 0) out += ":" + std::to_string(where.line);
    if (where.line > 0 && where.column > 0) out += ":" + std::to_string(where.column);
    out += ": ";
  }
  if (!where.key.empty()) out += where.key + ": ";
  out += diagnostic.what;
  if (!diagnostic.code.empty()) out += " [" + diagnostic.code + "]";
  if (!diagnostic.hint.empty()) out += "\n  hint: " + diagnostic.hint;
  return out;
}

}  // namespace mha
