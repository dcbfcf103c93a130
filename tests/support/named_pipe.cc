#include "support/named_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace ncclog::testing {

NamedPipe::NamedPipe(const std::filesystem::path& path) : path_(path.string()) {
  if (mkfifo(path_.c_str(), 0600) != 0) throw std::runtime_error("cannot make " + path_);
}

NamedPipe::~NamedPipe() {
  if (end_ >= 0) close(end_);
  unlink(path_.c_str());
}

bool NamedPipe::wait(int bytes) {
  while (bytes > 0 && take() == 1) --bytes;
  return bytes == 0;
}

bool NamedPipe::wait_for_end() {
  int taken = 1;
  while (taken == 1) taken = take();
  return taken == 0;
}

std::string NamedPipe::tell_and_wait() const {
  // Nobody else opens the second one: it can be read, and gives nothing.
  const std::string silent = path_ + ".silent";
  return "mkfifo " + silent + "; exec 3<>" + silent + "; echo >" + path_ + "; read line <&3";
}

int NamedPipe::take() {
  // Without O_NONBLOCK this would wait for who writes, for ever.
  if (end_ < 0) end_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  constexpr int kPatienceMs = 60'000;
  pollfd polled{end_, POLLIN, 0};
  if (poll(&polled, 1, kPatienceMs) != 1) return -1;
  char byte = 0;
  return static_cast<int>(read(end_, &byte, 1));
}

}  // namespace ncclog::testing
