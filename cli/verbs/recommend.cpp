// recommend: a request becomes a ranked, explained layout, in as many formats as asked for.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "mha/report.hpp"
#include "mha/validate.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

namespace fs = std::filesystem;

bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

// The picture beside a Markdown file: report.md gets report.svg.
std::string picture_path(const Output& markdown) {
  return fs::path(markdown.path()).replace_extension(".svg").string();
}

bool has_picture(const Output& output) {
  return output.format() == "md" && output.is_regular_file();
}

int recommend_layout(const Invocation& invocation) {
  std::vector<std::string> formats;
  for (const Writer& writer : writers()) formats.emplace_back(writer.id);
  const RuleSet rules = load_rules(invocation);
  Outputs outputs(invocation.all("out"), formats);
  std::vector<std::string> pictures;
  for (const Output& output : outputs.all()) {
    if (has_picture(output)) pictures.push_back(picture_path(output));
  }
  for (const std::string& picture : pictures) outputs.add_companion("svg", picture);

  Expected<Recommendation> found = recommend(invocation.request, rules);
  if (!found) throw library_error(found.error());
  bool validation_wanted = invocation.has("validate");
  for (const Output& output : outputs.all()) {
    validation_wanted = validation_wanted || find_writer(output.format())->wants_validation;
  }
  if (validation_wanted) found->validation = validate(found->winner().layout, found->winner().shape.d_model);

  for (Output& output : outputs.all()) {
    WriterOptions options;
    options.colour = output.is_stdout() && colour_wanted();
    if (has_picture(output)) options.svg_name = fs::path(picture_path(output)).filename().string();
    output.write(find_writer(output.format())->write(*found, options));
  }
  outputs.commit();

  for (const Warning& warning : found->warnings) {
    const Diagnostic message = {Severity::warning, warning.code, {}, warning.message, {}};
    std::fprintf(stderr, "%s\n", to_string(message).c_str());
  }
  return found->validation && !found->validation->exact() ? kMismatch : kDone;
}

}  // namespace

Verb recommend_verb() {
  return {
      "recommend",
      "rank head layouts for a parameter budget, a sequence length and a target",
      true,
      "[request.yaml | -] [flags]",
      {kOutOption,
       kRulesOption,
       {"validate", "", "run the counting kernel on the recommended layout (md reports always do)", false}},
      "Without --out the answer goes to standard output as text. Formats are txt, md, json and svg; a Markdown file "
      "gets "
      "its plot beside it, as report.svg for report.md.",
      "recommend --params 1.3B --seq-len 32k --target h100-sxm --batch 16\n"
      "recommend request.yaml --out md:report.md --out json:-\n"
      "recommend --params 70B --seq-len 128k --target h100-sxm --tensor-parallel 8 --priority inference\n"
      "recommend --params 8B --seq-len 8k --target h100-sxm --kv-dtypes bf16,fp8 --limit 'kv_bytes_per_token <= 64KiB'",
      recommend_layout};
}

}  // namespace mha::cli
