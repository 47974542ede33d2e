// The table of writers. To add one: lib/report/writers/<id>.cpp and its row here.
#include "report/writers/writers.hpp"

#include <algorithm>

#include "mha/report.hpp"

namespace mha {

const std::vector<Writer>& writers() {
  static const std::vector<Writer> kWriters = {
      {"txt", ".txt", "short answer for a terminal", false, report::write_terminal},
      {"md", ".md", "full design report in Markdown, validation included", true, report::write_markdown},
      {"json", ".json", "everything, for programs (docs/json.md)", false, report::write_json},
      {"svg", ".svg", "plot of predicted loss against KV cache", false, report::write_svg},
  };
  return kWriters;
}

const Writer* find_writer(std::string_view id) {
  const auto found =
      std::find_if(writers().begin(), writers().end(), [id](const Writer& writer) { return writer.id == id; });
  return found == writers().end() ? nullptr : &*found;
}

}  // namespace mha
