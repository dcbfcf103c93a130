#include "replay/exec/connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {

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

std::optional<HostPort> parse_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = parse_int(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535 || !is_digit(text[colon + 1])) return std::nullopt;
  if (host.front() == '[' && host.back() == ']' && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of("[]: \t") != std::string_view::npos) {
    return std::nullopt;
  }
  return HostPort{std::string(host), std::to_string(*port)};
}

namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Throws Error.
Addresses addresses_of(std::string_view address, int flags) {
  const auto place = parse_host_port(address);
  if (!place) throw Error("this is no HOST:PORT", std::string(address));
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(place->host.c_str(), place->port.c_str(), &wanted, &list);
  if (failed != 0) throw Error(gai_strerror(failed), std::string(address));
  return Addresses(list);
}

int open_socket(const addrinfo& address) {
  return socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

using Clock = std::chrono::steady_clock;

/// True once the connection stands; waits until `latest`.
bool has_connected(int descriptor, const addrinfo& address, Clock::time_point latest) {
  if (connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(latest - Clock::now());
  pollfd polled{descriptor, POLLOUT, 0};
  if (poll(&polled, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

/// An open connection, or a closed one.
Connection try_to_connect(const addrinfo* list, Clock::time_point latest) {
  for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
    Connection connection(open_socket(*address));
    if (connection.is_open() && has_connected(connection.descriptor(), *address, latest)) {
      return connection;
    }
  }
  return Connection();
}

}  // namespace

Connection connect_to(std::string_view address, std::string_view token,
                      std::chrono::milliseconds patience) {
  const auto latest = Clock::now() + patience;
  const Addresses list = addresses_of(address, 0);
  Connection connection = try_to_connect(list.get(), latest);
  while (!connection.is_open() && Clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    connection = try_to_connect(list.get(), latest);
  }
  if (!connection.is_open()) {
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

namespace {

/// The port that the system chose.
std::string bound_port(int descriptor) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size);
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(reinterpret_cast<sockaddr*>(&name), size, nullptr, 0, port.data(), port.size(),
              NI_NUMERICSERV);
  return port.data();
}

}  // namespace

Listener::Listener(std::string_view address) {
  const std::string wanted(address.empty() ? std::string_view("127.0.0.1:0") : address);
  const Addresses list = addresses_of(wanted, AI_PASSIVE);
  descriptor_ = open_socket(*list);
  const int yes = 1;
  setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (descriptor_ < 0 || bind(descriptor_, list->ai_addr, list->ai_addrlen) != 0 ||
      listen(descriptor_, SOMAXCONN) != 0) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error("cannot listen there: " + why, wanted);
  }
  address_ = wanted.substr(0, wanted.rfind(':') + 1) + bound_port(descriptor_);
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

}  // namespace ncclog
