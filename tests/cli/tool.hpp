// Runs the built tool in a process of its own, in a folder of its own.
#pragma once

#include <string>
#include <vector>

namespace cli_test {

struct Ran {
  int exit_code = -1;  // -signal when one ended it
  std::string out;
  std::string err;
};

// Where standard output goes instead of being captured.
enum class Stdout { captured, full_disk, closed, broken_pipe };

class Tool {
 public:
  Tool();
  ~Tool();
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  Ran run(const std::vector<std::string>& arguments, const std::string& standard_input = "",
          Stdout standard_output = Stdout::captured) const;
  // The words of `line`, split at spaces.
  Ran operator()(const std::string& line) const;

  void write(const std::string& name, const std::string& content) const;  // a file of the folder
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> files() const;  // sorted names in the folder
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;   // current folder of the tool
  std::string capture_;  // what it printed
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A request that is answered quickly.
inline const std::string kRequest = "--params 1.3B --seq-len 32k --target h100-sxm --batch 16";

}  // namespace cli_test
