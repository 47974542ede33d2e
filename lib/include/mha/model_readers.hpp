// From what a user already has to an Architecture: a Hugging Face config.json, the metadata of a GGUF file, our own YAML, or
// the name of a model in the catalogue. Every reader refuses what it cannot know; none guesses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/family.hpp"
#include "mha/rules_loader.hpp"

namespace mha {

struct Node;

// A Hugging Face config.json. `file` names it in messages.
[[nodiscard]] Expected<Architecture> read_config_json(std::string_view text, const std::string& file,
                                                      const std::vector<FamilyRule>& families);
// The same, already taken apart: a map with the keys of a config.json.
[[nodiscard]] Expected<Architecture> architecture_from_config(const Node& config, const std::string& file,
                                                              const std::vector<FamilyRule>& families);

// The metadata of a GGUF file and what its tensors are called; the tensors themselves are not read.
[[nodiscard]] Expected<Architecture> read_gguf_file(const std::string& path, const std::vector<FamilyRule>& families);
// The same of a file in memory; it may end behind its header.
[[nodiscard]] Expected<Architecture> read_gguf_bytes(std::span<const std::byte> bytes, const std::string& file,
                                                     const std::vector<FamilyRule>& families);

// A path (told apart by content: GGUF magic, '{', otherwise YAML) or, when no file of that name exists, a catalogue name.
[[nodiscard]] Expected<Architecture> read_model(const std::string& path_or_name, const RuleStore& rules);

}  // namespace mha
