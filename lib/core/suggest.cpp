// Did-you-mean. Names are compared without case, and '_' equals '-', because flags and keys differ by just that.
#include <algorithm>
#include <tuple>

#include "mha/diagnostics.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

std::string folded(std::string_view text) {
  std::string out = lower(text);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

// Damerau-Levenshtein, optimal string alignment: insert, delete, replace, swap of neighbours cost 1 each.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::vector<std::string> suggest(std::string_view typed, const std::vector<std::string>& candidates, std::size_t most) {
  constexpr std::size_t kLongestName = 64;  // nobody misspells a name into a longer one, and the distance is quadratic
  constexpr std::size_t kShortestPart = 3;
  const std::string name = folded(typed);
  if (name.empty() || name.size() > kLongestName) return {};
  const std::size_t near = std::max<std::size_t>(1, name.size() / 3);

  using Match = std::tuple<int, std::size_t, std::string>;  // kind (0 prefix, 1 near, 2 part), distance, candidate
  std::vector<Match> matches;
  for (const std::string& candidate : candidates) {
    const std::string other = folded(candidate);
    if (other.size() > kLongestName) continue;
    const std::size_t d = distance(name, other);
    const bool part = name.size() >= kShortestPart && other.find(name) != std::string::npos;
    const bool whole = other.size() >= kShortestPart && name.find(other) != std::string::npos;
    if (other.compare(0, name.size(), name) == 0) {
      matches.emplace_back(0, d, candidate);
    } else if (d <= near && d < other.size()) {  // d == size: not one letter in common
      matches.emplace_back(1, d, candidate);
    } else if (part || whole) {
      matches.emplace_back(2, d, candidate);
    }
  }
  std::sort(matches.begin(), matches.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, matches.size()); ++i) out.push_back(std::get<2>(matches[i]));
  return out;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  const std::vector<std::string> near = suggest(typed, candidates);
  std::string out;
  if (!near.empty()) {
    out = "did you mean ";
    for (std::size_t i = 0; i < near.size(); ++i) {
      if (i > 0) out += i + 1 == near.size() ? " or " : ", ";
      out += "'" + near[i] + "'";
    }
    return out + "?";
  }
  constexpr std::size_t kShown = 12;
  out = "one of: ";
  for (std::size_t i = 0; i < std::min(kShown, candidates.size()); ++i) out += (i > 0 ? ", " : "") + candidates[i];
  if (candidates.size() > kShown) out += ", ... (" + std::to_string(candidates.size()) + " in all)";
  return out;
}

}  // namespace mha
