#include "app/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "input/find_inputs.h"

namespace ncclog {
namespace {

constexpr int kMaxColumns = 1000;
constexpr size_t kPassedOnAtOnce = size_t{64} << 10;  ///< Bytes; fewer make too many writes.

}  // namespace

int terminal_columns(int descriptor, int otherwise) {
  winsize size{};
  const bool is_known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : otherwise;
}

bool Console::pass_on() {
  if (!write || out.size() < kPassedOnAtOnce) return true;
  const bool wanted = write(out);
  out.clear();
  return wanted;
}

TextStyle Console::style(ColorChoice color) const {
  const bool colour =
      color == ColorChoice::Always || (color == ColorChoice::Auto && is_terminal && !no_color);
  return {.width = columns, .colour = colour, .verbose = verbose};
}

Console make_console() {
  Console console;
  console.is_terminal = isatty(STDOUT_FILENO) == 1;
  if (console.is_terminal) {
    const int64_t wanted = parse_int(environment_variable("COLUMNS")).value_or(0);
    const bool is_usable = wanted > 0 && wanted <= kMaxColumns;
    console.columns =
        is_usable ? static_cast<int>(wanted) : terminal_columns(STDOUT_FILENO, console.columns);
  }
  console.no_color =
      !environment_variable("NO_COLOR").empty() || environment_variable("TERM") == "dumb";
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

/// What stands at the path, links followed; nullopt: nothing.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT && errno != ENOTDIR) fail(path);
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

void check_output_file(const std::string& path, std::span<const std::string> inputs) {
  const auto status = status_of(path);
  if (status && S_ISDIR(status->st_mode)) throw Error("is a folder", path, "name a file in it");
  if (status && !S_ISREG(status->st_mode)) return;
  const std::string folder = folder_of(path);
  const auto above = status_of(folder);
  if (!above) throw Error("no such folder", folder, "make it first: mkdir -p " + folder);
  if (!S_ISDIR(above->st_mode)) throw Error("not a folder", folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(path, "name a file in another folder");
  const auto is_it = [&](const std::string& input) {
    struct stat read = {};
    const bool known =
        input == kStdinPath ? ::fstat(STDIN_FILENO, &read) == 0 : ::stat(input.c_str(), &read) == 0;
    return known && status->st_dev == read.st_dev && status->st_ino == read.st_ino;
  };
  if (status && std::ranges::any_of(inputs, is_it)) {
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

OutputFile::OutputFile(std::string path, bool is_private) : path_(std::move(path)) {
  const auto old = status_of(path_);
  if (old && !S_ISREG(old->st_mode)) {
    if (is_private) throw Error("is no file", path_, "name another one");
    opened_ = path_;
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_.is_open()) fail(path_);
    return;
  }
  target_ = old ? same_place(path_) : path_;
  for (int n = 0; !file_.is_open(); ++n) {
    opened_ = fmt::format("{}/.ncclog-{}-{}", folder_of(target_), ::getpid(), n);
    const HeldBack signals;
    file_ = Descriptor(
        ::open(opened_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666));
    if (!file_.is_open() && errno != EEXIST) fail(path_);
    if (file_.is_open()) leftover_ = Leftover(opened_);
  }
  if (old && !is_private) old_rights_ = old->st_mode & 07777;
}

OutputFile::~OutputFile() {
  if (!target_.empty()) ::unlink(opened_.c_str());
}

bool OutputFile::write(std::string_view text) { return write_all(file_.get(), text, path_); }

void OutputFile::keep() {
  if (target_.empty()) return;
  if (old_rights_ && ::fchmod(file_.get(), *old_rights_) != 0) fail(path_);
  // EINVAL: what lies there cannot be synced, which is no reason to fail.
  if (::fsync(file_.get()) != 0 && errno != EINVAL) fail(path_);
  if (!file_.close()) fail(path_);
  const HeldBack signals;
  if (std::rename(opened_.c_str(), target_.c_str()) != 0) fail(path_);
  target_.clear();
  leftover_ = {};
}

void write_output_file(const std::string& path, std::string_view text, bool is_private) {
  OutputFile file(path, is_private);
  if (!file.write(text)) fail(path);
  file.keep();
}

ExitStatus run_into(const std::string& path, Console& console,
                    const std::function<ExitStatus(Console& console)>& command) {
  if (path.empty() || path == "-") return command(console);
  OutputFile file(path);
  Console to{.columns = console.columns, .no_color = true, .progress = console.progress};
  to.write = [&file](std::string_view text) { return file.write(text); };
  const ExitStatus status = command(to);
  to.write(to.out);
  console.err += to.err;
  file.keep();
  console.err += fmt::format("wrote {}\n", printable(path));
  return status;
}

}  // namespace ncclog
