#include "rules/embedded.hpp"

namespace mha {
namespace {

// Reads one node and everything below it; `next` moves past them.
Node unflatten(const EmbeddedFile& file, std::size_t& next) {
  const FlatNode& flat = file.nodes[next++];
  Node node;
  node.kind = static_cast<Node::Kind>(flat.kind);
  node.quoted = flat.quoted;
  node.line = flat.line;
  node.column = flat.column;
  node.text = file.text.substr(flat.text_at, flat.text_size);
  node.key = file.text.substr(flat.key_at, flat.key_size);
  node.key_line = flat.key_line;
  node.key_column = flat.key_column;
  node.children.reserve(flat.n_children);
  for (std::size_t i = 0; i < flat.n_children; ++i) node.children.push_back(unflatten(file, next));
  return node;
}

}  // namespace

Document to_document(const EmbeddedFile& file) {
  std::size_t next = 0;
  const std::string id(file.id);
  return Document{"rules/" + std::string(file.folder) + "/" + id + ".yaml", id, unflatten(file, next)};
}

}  // namespace mha
