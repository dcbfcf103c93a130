#include "app/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

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

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
    if (number_ < 0) throw Error(std::string("cannot write: ") + std::strerror(errno), path);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

PartFile::PartFile(std::string path) : path_(target_of(path)), part_(path_) {
  if (is_special(path_)) return;
  // A name of nobody's, so that nothing of the user's is in the way.
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
  const Descriptor descriptor(file.part());
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
