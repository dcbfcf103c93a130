#include "app/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "input/find_inputs.h"

namespace ncclog {
namespace {

constexpr int kMaxColumns = 1000;
constexpr size_t kPassedOnAtOnce = size_t{64} << 10;  ///< Bytes; fewer make too many writes.

std::string_view environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

int terminal_columns() {
  const auto wanted = parse_int(environment_value("COLUMNS"));
  if (wanted && *wanted > 0 && *wanted <= kMaxColumns) return static_cast<int>(*wanted);
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return Console{}.columns;
}

}  // namespace

bool Console::pass_on() {
  if (!write || out.size() < kPassedOnAtOnce) return true;
  const bool wanted = write(out);
  out.clear();
  return wanted;
}

TextStyle Console::style(ColorChoice color) const {
  const bool colour =
      color == ColorChoice::Always || (color == ColorChoice::Auto && is_terminal && !no_color);
  return {.width = columns, .colour = colour};
}

Console make_console() {
  Console console;
  console.is_terminal = isatty(STDOUT_FILENO) == 1;
  if (console.is_terminal) console.columns = terminal_columns();
  console.no_color = !environment_value("NO_COLOR").empty();
  return console;
}

std::string error_text(std::string_view where, std::string_view what, std::string_view hint) {
  std::string text = "ncclog: ";
  if (!where.empty()) text += printable(where) + ": ";
  text += printable(what) + "\n";
  if (!hint.empty()) text += "  hint: " + printable(hint) + "\n";
  return text;
}

bool write_all(int descriptor, std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      throw Error(std::string("cannot write: ") + std::strerror(errno), std::string(name),
                  "free some space there, or write somewhere else");
    }
  }
  return true;
}

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& hint = {}) {
  throw Error(fmt::format("cannot write: {}", std::strerror(errno)), path, hint);
}

/// What stands at the path, behind links; nullopt: nothing.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT && errno != ENOTDIR) fail(path);
  return std::nullopt;
}

bool is_input(const struct stat& output, const std::string& input) {
  struct stat status {};
  const bool known = input == kStdinPath ? ::fstat(STDIN_FILENO, &status) == 0
                                         : ::stat(input.c_str(), &status) == 0;
  return known && output.st_dev == status.st_dev && output.st_ino == status.st_ino;
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Throws Error unless files can be made in the folder of `path`.
void check_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const auto status = status_of(folder);
  if (!status) throw Error("no such folder", folder, "make it first: mkdir -p " + folder);
  if (!S_ISDIR(status->st_mode)) throw Error("not a folder", folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(path, "name a file in another folder");
}

/// A file descriptor, open for writing.
class Descriptor {
 public:
  Descriptor(const std::string& path, int more_flags)
      : number_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | more_flags, 0666)) {
    if (number_ < 0) fail(path);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

void write_all_to(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) fail(path);
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

/// A file that is gone again unless it is moved to its place.
class NewFile {
 public:
  /// Makes a file beside `target`, with these rights as far as the process gives them.
  explicit NewFile(std::string target, mode_t rights = 0666) : target_(std::move(target)) {
    for (int n = 0; file_ < 0; ++n) {
      path_ = fmt::format("{}/.ncclog-{}-{}", folder_of(target_), ::getpid(), n);
      file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights);
      if (file_ < 0 && errno != EEXIST) fail(target_);
    }
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!moved_) ::unlink(path_.c_str());
  }

  void write(std::string_view text) const { write_all_to(file_, text, target_); }

  void keep_rights_of(const struct stat& old) const {
    if (::fchmod(file_, old.st_mode & 07777) != 0) fail(target_);
  }

  void move_to_place() {
    // EINVAL: what lies there cannot be synced, which is no reason to fail.
    if (::fsync(file_) != 0 && errno != EINVAL) fail(target_);
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0 || std::rename(path_.c_str(), target_.c_str()) != 0) fail(target_);
    moved_ = true;
  }

 private:
  std::string target_;
  std::string path_;
  int file_ = -1;  ///< -1: closed.
  bool moved_ = false;
};

}  // namespace

void check_output_file(const std::string& path, std::span<const std::string> inputs) {
  const auto status = status_of(path);
  if (status && S_ISDIR(status->st_mode)) {
    throw Error("is a folder", path, "name a file in it");
  }
  if (status && !S_ISREG(status->st_mode)) return;
  check_folder(path);
  if (status && std::any_of(inputs.begin(), inputs.end(),
                            [&](const std::string& input) { return is_input(*status, input); })) {
    throw Error("is one of the logs to be read", path, "name a file outside of their folder");
  }
}

void check_other_file(const std::string& path, const std::string& read, std::string_view what) {
  std::error_code none;
  const bool are_one = fs::is_regular_file(path, none) && fs::equivalent(path, read, none);
  if (are_one) throw Error(fmt::format("is {}", what), path, "name another file");
}

std::string same_place(const std::string& path) {
  std::error_code none;
  const auto place = fs::weakly_canonical(path, none);
  return none ? path : place.string();
}

void write_private_file(const std::string& path, std::string_view text) {
  const auto old = status_of(path);
  if (old && !S_ISREG(old->st_mode)) throw Error("is no file", path, "name another one");
  NewFile file(same_place(path), 0600);
  file.write(text);
  file.move_to_place();
}

void write_output_file(const std::string& path, std::string_view text) {
  const auto old = status_of(path);
  if (old && !S_ISREG(old->st_mode)) {  // /dev/stderr, a named pipe
    const Descriptor device(path, 0);
    return write_all_to(device.number(), text, path);
  }
  NewFile file(old ? same_place(path) : path);
  if (old) file.keep_rights_of(*old);
  file.write(text);
  file.move_to_place();
}

namespace {

bool is_special(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status);
}

/// The file behind links.
std::string target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

PartFile::PartFile(std::string path) : path_(target_of(path)), part_(path_) {
  if (is_special(path_)) return;
  // A name that nothing has, so that no file of the user is overwritten.
  for (int n = 0; part_ == path_ || fs::exists(fs::symlink_status(part_)); ++n) {
    part_ = fmt::format("{}.{}-{}.part", path_, ::getpid(), n);
  }
}

PartFile::~PartFile() {
  std::error_code error;
  if (!part_.empty() && part_ != path_) fs::remove(part_, error);
}

void PartFile::keep() {
  if (part_ == path_) return;
  std::error_code error;
  const fs::file_status old = fs::status(path_, error);
  if (fs::exists(old)) fs::permissions(part_, old.permissions(), error);
  fs::rename(part_, path_, error);
  if (error) throw Error("cannot write: " + error.message(), path_);
  part_.clear();
}

ExitStatus run_into(const std::string& path, Console& console,
                    const std::function<ExitStatus(Console& console)>& command) {
  if (path.empty() || path == "-") return command(console);
  PartFile file(path);
  const Descriptor descriptor(file.part(), O_CREAT);
  Console to{.columns = console.columns, .no_color = true};
  to.write = [&](std::string_view text) { return write_all(descriptor.number(), text, path); };
  const ExitStatus status = command(to);
  to.write(to.out);
  console.err += to.err;
  file.keep();
  console.err += fmt::format("wrote {}\n", printable(path));
  return status;
}

}  // namespace ncclog
