// What is wrong, where, and what would be right. Loading returns every problem it finds, not the first.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mha {

enum class Severity { error, warning, note };

// Where a value came from: a file with a 1-based line and column, or a command-line flag (file empty, key "--seq-len").
struct Location {
  std::string file;
  int line = 0;  // 0: not from a file
  int column = 0;
  std::string key;  // "params", "peaks_per_s.bf16", "--seq-len"
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  // stable, kebab-case: "unknown-key", "out-of-range"
  Location where;
  std::string what;  // "-1 is not a length in tokens"
  std::string hint;  // "give a whole number from 1 to 1073741824, such as 32k"; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

// One line, two when there is a hint:
//   error: request.yaml:3:10: seq_len: -1 is not a length in tokens [out-of-range]
//     hint: give a whole number from 1 to 1073741824, such as 32k
[[nodiscard]] std::string to_string(const Diagnostic& diagnostic);

// A value, or the reasons why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}                            // NOLINT(google-explicit-constructor)
  Expected(Diagnostics problems) : state_(std::move(problems)) {}            // NOLINT(google-explicit-constructor)
  Expected(Diagnostic problem) : state_(Diagnostics{std::move(problem)}) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& operator*() & { return std::get<0>(state_); }
  [[nodiscard]] const T& operator*() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& operator*() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] T* operator->() { return &std::get<0>(state_); }
  [[nodiscard]] const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] const Diagnostics& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

// The candidates nearest to `typed` (Damerau-Levenshtein, prefix matches first), best first, at most `most`; empty when
// nothing is near. Used for every name that a user types.
[[nodiscard]] std::vector<std::string> suggest(std::string_view typed, const std::vector<std::string>& candidates,
                                               std::size_t most = 3);

// "did you mean 'h100-sxm'?" or, when nothing is near, "one of: a, b, c" (shortened when long).
[[nodiscard]] std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace mha
