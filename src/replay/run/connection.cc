#include "replay/run/connection.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

// Signals.

StopSignals::StopSignals() {
  sigset_t stops;
  sigemptyset(&stops);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, number);
  sigprocmask(SIG_BLOCK, &stops, &before_);
  descriptor_ = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ >= 0) return;
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  throw Error(std::string("signals cannot be watched: ") + std::strerror(error));
}

StopSignals::~StopSignals() {
  close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int take_stop_signal(int descriptor) {
  signalfd_siginfo info{};
  if (descriptor < 0 || read(descriptor, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

// One connection.

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)),
      searched_(std::exchange(other.searched_, 0)),
      unsent_(std::move(other.unsent_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(received_, other.received_);
  std::swap(searched_, other.searched_);
  std::swap(unsent_, other.unsent_);
  return *this;
}

void Connection::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  unsent_.clear();
}

size_t Connection::receive() {
  std::array<char, 65536> buffer;
  size_t taken = 0;
  for (int round = 0; round < 4 && is_open(); ++round) {
    const ssize_t n = recv(descriptor_, buffer.data(), buffer.size(), 0);
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
    const ssize_t n = ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
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

namespace {

// How a connection is made.

/// Coordinator and ranks are on one host.
constexpr std::string_view kLoopback = "127.0.0.1:";

sockaddr_in loopback_address(int64_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

/// Of "127.0.0.1:41377". Throws Error.
sockaddr_in parse_address(std::string_view text) {
  const auto port =
      text.starts_with(kLoopback) ? parse_int(text.substr(kLoopback.size())) : std::nullopt;
  if (!port || *port < 1 || *port > 65535) {
    throw Error("this is no 127.0.0.1:PORT", std::string(text));
  }
  return loopback_address(*port);
}

int open_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

/// True once the connection stands; else errno says why it does not.
bool has_connected(int descriptor, const sockaddr_in& address, std::chrono::milliseconds patience) {
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  // A coordinator that takes many ranks at once lets some of them wait.
  if (errno != EINPROGRESS) return false;
  pollfd polled{descriptor, POLLOUT, 0};
  if (poll(&polled, 1, static_cast<int>(patience.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

}  // namespace

Connection connect_to(std::string_view address, std::string_view token,
                      std::chrono::milliseconds patience) {
  const sockaddr_in place = parse_address(address);
  Connection connection(open_socket());
  if (!connection.is_open() || !has_connected(connection.descriptor(), place, patience)) {
    throw Error(std::string("the coordinator cannot be reached: ") + std::strerror(errno),
                std::string(address));
  }
  connection.send(std::string(token) + "\n");
  return connection;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error("the system gives no random bytes");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string token;
  for (unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

Listener::Listener() : descriptor_(open_socket()) {
  sockaddr_in place = loopback_address(0);
  auto* const name = reinterpret_cast<sockaddr*>(&place);
  socklen_t size = sizeof place;
  if (descriptor_ < 0 || bind(descriptor_, name, size) != 0 ||
      listen(descriptor_, SOMAXCONN) != 0 || getsockname(descriptor_, name, &size) != 0) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error("cannot listen there: " + why, std::string(kLoopback) + "0");
  }
  address_ = std::string(kLoopback) + std::to_string(ntohs(place.sin_port));
}

Listener::~Listener() { ::close(descriptor_); }

std::vector<Connection> Listener::take_new() {
  std::vector<Connection> newcomers;
  while (newcomers.size() < WaitingRoom::kMost) {
    const int descriptor = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) break;
    newcomers.emplace_back(descriptor);
  }
  return newcomers;
}

void WaitingRoom::admit(std::vector<Connection> newcomers) {
  for (Connection& newcomer : newcomers) waiting_.push_back(std::move(newcomer));
  while (waiting_.size() > kMost) waiting_.pop_front();
}

std::vector<int> WaitingRoom::descriptors() const {
  std::vector<int> all;
  for (const Connection& connection : waiting_) all.push_back(connection.descriptor());
  return all;
}

std::vector<Connection> WaitingRoom::take_trusted() {
  std::vector<Connection> trusted;
  std::deque<Connection> still_waiting;
  for (Connection& connection : waiting_) {
    connection.receive();
    const auto line = connection.next_line();
    if (line && *line == token_) {
      trusted.push_back(std::move(connection));
    } else if (!line && connection.is_open()) {
      still_waiting.push_back(std::move(connection));
    }
  }
  waiting_ = std::move(still_waiting);
  return trusted;
}

// What is waited for, and the connections of all ranks.

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

RankConnections::RankConnections(const std::string& token, size_t nranks)
    : waiting_(token), of_rank_(nranks), was_connected_(nranks, false) {}

std::vector<RankConnections::Greeting> RankConnections::admit(std::vector<Connection> newcomers) {
  waiting_.admit(std::move(newcomers));
  for (Connection& trusted : waiting_.take_trusted()) nameless_.push_back(std::move(trusted));
  std::vector<Greeting> greetings;
  std::vector<Connection> still_nameless;
  for (Connection& connection : nameless_) {
    connection.receive();
    if (auto line = connection.next_line()) {
      greetings.push_back({std::move(connection), *std::move(line)});
    } else if (connection.is_open()) {
      still_nameless.push_back(std::move(connection));
    }
  }
  nameless_ = std::move(still_nameless);
  return greetings;
}

bool RankConnections::seat(const RankMessage& message, Connection& connection) {
  const bool is_start = message.kind == RankMessage::Kind::At && message.at == ReplayPhase::Start &&
                        message.rank >= 0 && static_cast<size_t>(message.rank) < size();
  if (!is_start || was_connected(message.rank)) return false;
  of(message.rank) = std::move(connection);
  was_connected_[static_cast<size_t>(message.rank)] = true;
  return true;
}

void RankConnections::send_all(const RunOrder& order) {
  for (Connection& connection : of_rank_) connection.send(write_order(order));
}

void RankConnections::add_to(PollList& polled) const {
  for (int descriptor : waiting_.descriptors()) polled.add(descriptor);
  for (const Connection& connection : nameless_) polled.add(connection.descriptor());
  for (const Connection& connection : of_rank_) polled.add(connection);
}

}  // namespace ncclog
