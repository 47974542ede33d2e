#include "output.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "failure.hpp"

namespace mha::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the kernel's own limit

Failure cannot_write(const std::string& path, const std::string& why) {
  return input_error("unwritable-output", "--out", "cannot write '" + path + "': " + why, "");
}

// The file that a path leads to, through links, also when the last of them dangles: a report replaces what a link points
// to, not the link.
fs::path follow_links(fs::path path) {
  std::error_code ignored;
  for (int hop = 0; hop < kMaxLinks && fs::is_symlink(path, ignored); ++hop) {
    const fs::path next = fs::read_symlink(path, ignored);
    if (ignored) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const fs::path resolved = fs::canonical(folder, ignored);
  return ignored ? path : resolved / path.filename();
}

void write_all(int fd, std::string_view bytes, int& error) {
  error = 0;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error = written < 0 ? errno : ENOSPC;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string error_text(int error) {
  return std::strerror(error);
}

void claim_standard_descriptors() {
  // Read-only, so that writing to a closed standard output still fails.
  for (;;) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (fd > STDERR_FILENO) {
      ::close(fd);
      return;
    }
  }
}

void write_stdout(std::string_view text) {
  int error = 0;
  write_all(STDOUT_FILENO, text, error);
  if (error != 0) throw cannot_write("-", "standard output: " + error_text(error));
}

// ---- Output --------------------------------------------------------------------------------------------------------------

Output::Output(std::string format, std::string path) : format_(std::move(format)), path_(std::move(path)) {
  if (is_stdout()) {
    const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail("standard output is closed", 0);
    return;
  }
  target_ = follow_links(path_).string();
  struct stat info {};
  const bool exists = ::stat(path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail("it is a directory", 0);
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe: nothing to replace
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd_ < 0) fail("", errno);
    return;
  }
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("", errno);
  const fs::path folder = fs::path(target_).parent_path();
  if (fs::path(target_).filename().empty()) fail("it names a folder", 0);
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) fail("the folder '" + folder.string() + "' does not exist", 0);
  if (!fs::is_directory(folder, ignored)) fail("'" + folder.string() + "' is not a folder", 0);
  if (fs::path(target_).filename().string().size() > NAME_MAX) fail("", ENAMETOOLONG);
  // A short name of its own: the target's name may already have the longest length that the file system takes.
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = (folder / (".mha-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp")).string();
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || attempt == 1000)) {
      const int error = errno;
      temporary_.clear();
      fail("", error);
    }
  }
  if (exists) (void)::fchmod(fd_, info.st_mode & 07777);
}

Output::Output(Output&& other) noexcept
    : format_(std::move(other.format_)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

Output::~Output() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Output::fail(std::string_view action, int error) const {
  throw cannot_write(path_, error != 0 ? error_text(error) : std::string(action));
}

void Output::write(std::string_view bytes) {
  int error = 0;
  write_all(is_stdout() ? STDOUT_FILENO : fd_, bytes, error);
  if (error != 0) fail("", error);
  if (!is_regular_file()) return;
  if (::fsync(fd_) != 0) fail("", errno);
}

void Output::commit() {
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0) fail("", errno);
  if (!is_regular_file()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("", errno);
  temporary_.clear();
}

// ---- Outputs -------------------------------------------------------------------------------------------------------------

Outputs::Outputs(const std::vector<std::string>& specs, const std::vector<std::string>& formats) {
  std::string known;
  for (const std::string& format : formats) known += (known.empty() ? "" : ", ") + format;
  if (specs.empty()) add(formats.front(), "-");
  for (const std::string& spec : specs) {
    const std::size_t colon = spec.find(':');
    if (colon == std::string::npos) {
      std::string guess = formats.front() + ":-";
      for (const std::string& format : formats) {
        if (spec == format) guess = format + ":-";
        if (spec.ends_with("." + format)) guess = format + ":" + spec;
      }
      throw input_error("bad-output", "--out", "'" + spec + "' is not FORMAT:PATH",
                        "write " + guess + " (formats: " + known + ")");
    }
    const std::string format = spec.substr(0, colon);
    const std::string path = spec.substr(colon + 1);
    bool is_known = false;
    for (const std::string& id : formats) is_known = is_known || id == format;
    if (!is_known) {
      throw input_error("unknown-name", "--out", "'" + format + "' is not a format here",
                        did_you_mean(format, formats));
    }
    if (path.empty()) {
      throw input_error("bad-output", "--out", "'" + spec + "' names no path", "give a file, or - for standard output");
    }
    add(format, path);
  }
}

void Outputs::add(const std::string& format, const std::string& path) {
  Output output(format, path);
  for (const Output& other : outputs_) {
    if (other.is_stdout() == output.is_stdout() && other.target() == output.target()) {
      throw input_error("duplicate-output", "--out", "two outputs go to '" + path + "'", "give each its own path");
    }
  }
  outputs_.push_back(std::move(output));
}

void Outputs::add_companion(const std::string& format, const std::string& path) {
  const std::string target = follow_links(path).string();
  for (const Output& other : outputs_) {
    if (!other.is_stdout() && other.target() == target && other.format() == format) return;
  }
  add(format, path);
}

void Outputs::commit() {
  for (Output& output : outputs_) output.commit();
}

}  // namespace mha::cli
