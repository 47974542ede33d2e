// Any bytes as a GGUF file.
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  mha::fuzz::check(mha::read_gguf_bytes(bytes, "model.gguf", mha::fuzz::families()));
  return 0;
}
