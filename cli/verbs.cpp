// The table of verbs. To add one: cli/verbs/<id>.cpp and its row here.
#include "verbs/verbs.hpp"

namespace mha::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = {recommend_verb(), explain_verb(),  audit_verb(), compare_verb(),
                                          solve_verb(),     validate_verb(), check_verb(), list_verb()};
  return table;
}

const Verb* find_verb(std::string_view id) {
  for (const Verb& verb : verbs()) {
    if (verb.id == id) return &verb;
  }
  return nullptr;
}

}  // namespace mha::cli
