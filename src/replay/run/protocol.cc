#include "replay/run/protocol.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ncclog {

// The board between the two threads of a rank.

void RankTalk::post(RankMessage message) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_progress_, false)) posted_.push_back(std::move(progress_));
  posted_.push_back(std::move(message));
}

void RankTalk::post_progress(RankMessage progress) {
  const std::lock_guard lock(mutex_);
  has_progress_ = true;
  progress_ = std::move(progress);
}

std::optional<RunOrder> RankTalk::await(ReplayPhase phase) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_aborted_) return std::nullopt;
    const auto order = std::ranges::find(heard_, phase, &RunOrder::phase);
    if (order != heard_.end()) return *order;
    changed_.wait(lock);
  }
}

void RankTalk::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

void RankTalk::await_end(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return has_ended_; });
}

std::vector<RankMessage> RankTalk::take_posted(bool with_progress) {
  const std::lock_guard lock(mutex_);
  std::vector<RankMessage> taken = std::exchange(posted_, {});
  if (with_progress && std::exchange(has_progress_, false)) taken.push_back(std::move(progress_));
  return taken;
}

void RankTalk::hear(RunOrder order) {
  const std::lock_guard lock(mutex_);
  if (order.kind == RunOrder::Kind::Abort) is_aborted_ = true;
  heard_.push_back(std::move(order));
  changed_.notify_all();
}

// Signals.

StopSignals::StopSignals() {
  sigset_t stops;
  sigemptyset(&stops);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, number);
  sigprocmask(SIG_BLOCK, &stops, &before_);
  descriptor_ = Descriptor(signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (descriptor_.is_open()) return;
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  throw Error(std::string("signals cannot be watched: ") + std::strerror(error));
}

StopSignals::~StopSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int take_stop_signal(int descriptor) {
  signalfd_siginfo info{};
  if (descriptor < 0 || read(descriptor, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

// One connection.

void Connection::close() {
  descriptor_.close();
  unsent_.clear();
}

size_t Connection::receive() {
  std::array<char, 65536> buffer;
  size_t taken = 0;
  for (int round = 0; round < 4 && is_open(); ++round) {
    const ssize_t n = recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      received_.append(buffer.data(), static_cast<size_t>(n));
      taken += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      break;
    } else {
      close();
    }
  }
  const size_t last_end = received_.rfind('\n');
  const size_t tail = last_end == std::string::npos ? 0 : last_end + 1;
  if (received_.size() - tail > kLongestLine) {
    received_.resize(tail);
    close();
  }
  return taken;
}

std::optional<std::string> Connection::next_line() {
  const size_t end = received_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = received_.size();
    return std::nullopt;
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

void Connection::send(std::string_view bytes) {
  if (!is_open()) return;
  unsent_ += bytes;
  flush();
}

void Connection::flush() {
  while (!unsent_.empty() && is_open()) {
    const ssize_t n = ::send(descriptor_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (n > 0) {
      unsent_.erase(0, static_cast<size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else {
      // What the other end said before it went away is still to be read.
      unsent_.clear();
    }
  }
}

std::pair<Connection, Connection> make_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw Error(std::string("no channel to a rank can be made: ") + std::strerror(errno));
  }
  return {Connection(ends[0]), Connection(ends[1])};
}

void PollList::add(int descriptor) {
  if (descriptor >= 0) polled.push_back({descriptor, POLLIN, 0});
}

void PollList::add(const Connection& connection) {
  add(connection.descriptor());
  if (connection.is_open() && connection.has_unsent()) polled.back().events |= POLLOUT;
}

void PollList::wait(std::chrono::milliseconds most) {
  constexpr int64_t kHour = 3'600'000;
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp<int64_t>(most.count(), 0, kHour)));
}

}  // namespace ncclog
