#include "input/raw_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "input/bytes_read.h"
#include "input/find_inputs.h"

namespace ncclog {

RawFile::RawFile(const std::string& path, uint64_t begin, uint64_t end)
    : position_(begin), end_(std::max(begin, end)) {
  const bool is_stdin = path == kStdinPath;
  descriptor_ = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                         : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat file {};
  if (descriptor_ < 0 || fstat(descriptor_, &file) != 0) {
    fail();
    return;
  }
  if (is_stdin || !S_ISREG(file.st_mode)) return;
  seekable_ = true;
  regular_size_ = static_cast<uint64_t>(file.st_size);
  // Advice only, and not worth a call for files that the first read-ahead covers.
  constexpr uint64_t kWorthAdvice = uint64_t{1} << 20;
  if (regular_size_ > kWorthAdvice) {
    (void)posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

RawFile::~RawFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

size_t RawFile::read(char* buffer, size_t capacity) {
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(capacity, end_ - position_));
  if (descriptor_ < 0 || wanted == 0) return 0;
  ssize_t got = 0;
  do {
    got = seekable_ ? pread(descriptor_, buffer, wanted, static_cast<off_t>(position_))
                    : ::read(descriptor_, buffer, wanted);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    fail();
    return 0;
  }
  position_ += static_cast<uint64_t>(got);
  bytes_read().fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
  return static_cast<size_t>(got);
}

void RawFile::fail() {
  // Not strerror: its buffer is shared by all threads.
  error_ = std::generic_category().message(errno);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

}  // namespace ncclog
