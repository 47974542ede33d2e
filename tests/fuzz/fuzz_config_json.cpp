// Any bytes as a Hugging Face config.json.
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  mha::fuzz::check(mha::read_config_json(mha::fuzz::text_of(data, size), "config.json", mha::fuzz::families()));
  return 0;
}
