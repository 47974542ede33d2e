#include "tool.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace cli_test {
namespace {

namespace fs = std::filesystem;

std::string fresh_folder() {
  std::string name = (fs::temp_directory_path() / "mha-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  return name;
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void spill(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
}

}  // namespace

Tool::Tool() : folder_(fresh_folder()), capture_(fresh_folder()) {}

Tool::~Tool() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove_all(capture_, ignored);
}

Ran Tool::run(const std::vector<std::string>& arguments, const std::string& standard_input,
              Stdout standard_output) const {
  const std::string in = capture_ + "/in", out = capture_ + "/out", err = capture_ + "/err";
  spill(in, standard_input);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int pipe_ends[2] = {-1, -1};
  switch (standard_output) {
    case Stdout::captured:
      posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      break;
    case Stdout::full_disk:
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/full", O_WRONLY, 0);
      break;
    case Stdout::closed:
      posix_spawn_file_actions_addclose(&actions, 1);
      break;
    case Stdout::broken_pipe:
      if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
      ::close(pipe_ends[0]);  // nobody reads
      posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
      break;
  }

  std::vector<std::string> words = {MHA_TOOL};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char locale[] = "LC_ALL=C";
  char* environment[] = {locale, nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, MHA_TOOL, &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (pipe_ends[1] >= 0) ::close(pipe_ends[1]);
  if (error != 0) throw std::runtime_error("posix_spawn");
  int status = 0;
  ::waitpid(child, &status, 0);

  Ran ran;
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (standard_output == Stdout::captured) ran.out = slurp(out);
  ran.err = slurp(err);
  return ran;
}

Ran Tool::operator()(const std::string& line) const {
  std::istringstream words(line);
  return run(std::vector<std::string>(std::istream_iterator<std::string>(words), {}));
}

void Tool::write(const std::string& name, const std::string& content) const {
  const fs::path path = fs::path(folder_) / name;
  fs::create_directories(path.parent_path());
  spill(path.string(), content);
}

std::string Tool::read(const std::string& name) const {
  return slurp(folder_ + "/" + name);
}

bool Tool::exists(const std::string& name) const {
  return fs::exists(fs::path(folder_) / name);
}

std::vector<std::string> Tool::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace cli_test
