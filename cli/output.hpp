// Where answers go. Every output is opened before the work starts, so that a path that cannot be written is known at once;
// a file is written as a temporary beside its target and renamed at the end, so that the target is always whole: the old
// one or the new one. Nothing here knows what is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mha::cli {

// strerror's text; the same in every locale, because the program never sets one.
[[nodiscard]] std::string error_text(int error);

// An open place to write to. Throws Failure (kBadInput) with the path in the message.
class Output {
 public:
  Output(std::string format, std::string path);
  ~Output();
  Output(Output&& other) noexcept;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  Output& operator=(Output&&) = delete;

  [[nodiscard]] const std::string& format() const { return format_; }
  [[nodiscard]] bool is_stdout() const { return path_ == "-"; }
  [[nodiscard]] bool is_regular_file() const { return !temporary_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }      // as given
  [[nodiscard]] const std::string& target() const { return target_; }  // links resolved; empty for stdout

  void write(std::string_view bytes);  // and waits until the disk has them
  void commit();                       // puts a finished temporary in its target's place

 private:
  [[noreturn]] void fail(std::string_view action, int error) const;

  std::string format_, path_, target_, temporary_;
  int fd_ = -1;
};

// All outputs of one run. They are committed together: when one fails, no file changes.
class Outputs {
 public:
  // `specs`: texts of --out, "FORMAT:PATH"; `formats`: those that the verb can write, the first is the default to stdout.
  Outputs(const std::vector<std::string>& specs, const std::vector<std::string>& formats);

  // A file that accompanies another output; not added when the user names the same path with the same format.
  void add_companion(const std::string& format, const std::string& path);

  [[nodiscard]] std::vector<Output>& all() { return outputs_; }
  void commit();

 private:
  void add(const std::string& format, const std::string& path);

  std::vector<Output> outputs_;
};

// Writes to standard output right away (help, listings).
void write_stdout(std::string_view text);

// Makes descriptors 0 to 2 safe: one that is closed would otherwise be reused for a report and written into.
void claim_standard_descriptors();

}  // namespace mha::cli
