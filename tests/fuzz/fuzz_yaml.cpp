// Any bytes as a model description in our own YAML. What was read is written and read again: the same model.
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace mha;
  const Expected<Architecture> model = read_model_yaml(fuzz::text_of(data, size), "model.yaml");
  fuzz::check(model);
  if (!model) return 0;
  const std::string written = to_yaml(*model);
  const Expected<Architecture> again = read_model_yaml(written, "again.yaml");
  if (!again) fuzz::violated("what is written can be read", to_string(again.error().front()) + "\n" + written);
  if (to_yaml(*again) != written) fuzz::violated("reading and writing give the same text", written);
  return 0;
}
