// The tables behind the GGUF reader: which key of a file is which field of a config.json, and what llama.cpp's own code
// knows about windows that no key says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mha {

struct GgufKeyRow {
  enum class Form : unsigned char {
    count,      // an integer, handed on
    positive,   // the same; 0 means what no key means
    flag,       // a bool, handed on
    per_layer,  // an integer, or one for each layer
    own,        // has a function in gguf_config.cpp
    unused,     // says nothing about sizes
  };
  std::string_view gguf;    // behind "{architecture}."
  std::string_view config;  // of config.json; of unused ones empty
  Form form = Form::unused;
};
[[nodiscard]] std::span<const GgufKeyRow> gguf_keys();

// True for keys that the table has, and for those about the angles of rotary positions, which are not listed one by
// one.
[[nodiscard]] bool is_gguf_key(std::string_view gguf);

// The key of the file behind a field of the config ("num_hidden_layers": "llama.block_count"); empty: none.
[[nodiscard]] std::string gguf_key(std::string_view config_key, std::string_view architecture);

// Which layers slide where no key says so: every n-th layer is full, the others have the window.
struct GgufWindowRow {
  std::string_view architecture;
  std::int64_t every = 1;
  bool full_first = false;
  std::int64_t chunk = 0;  // Llama 4: chunks of this length, which no key says; 0: a window
};
[[nodiscard]] const GgufWindowRow* find_gguf_window(std::string_view architecture);  // nullptr: not in the table
// llama.cpp does not slide the window of these, whatever the key says.
[[nodiscard]] bool ignores_gguf_window(std::string_view architecture);

}  // namespace mha
