// One end of the talk between the coordinator of a run and a rank: lines over TCP.
//
//   coordinator: Listener listener;                   127.0.0.1:41377
//   rank:        connect_to("127.0.0.1:41377", "9f86d0…", 5s)
//   both:        connection.send(write_order(order)); connection.receive(); connection.next_line()
//
// Nothing here blocks but connect_to. What the other end sends may be anything: lines are bounded,
// and nobody is heard who did not say the token first.

#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// A socket and the bytes on their way through it. Invariant: it closes its own descriptor.
class Connection {
 public:
  /// Longest line that is taken: the ids of some thousand communicators fit.
  static constexpr size_t kLongestLine = 4 << 20;

  /// Takes `descriptor`, a connected socket that does not block; -1: an empty connection.
  explicit Connection(int descriptor = -1) : descriptor_(descriptor) {}
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close();

  /// Takes what is there, 256 KB at most, so that one who floods keeps nobody else waiting. Closes
  /// the connection if the other end did, or sends a line that is too long; lines that came before
  /// can still be taken. Returns how many bytes came.
  size_t receive();

  /// The next whole line without its end; nullopt: there is none yet.
  std::optional<std::string> next_line();

  /// Sends, or keeps for flush() what the socket does not take now.
  void send(std::string_view bytes);
  void flush();
  bool has_unsent() const { return !unsent_.empty(); }

 private:
  int descriptor_ = -1;
  std::string received_;
  size_t searched_ = 0;  ///< No line end before that place of `received_`.
  std::string unsent_;
};

/// Connects to the coordinator, which listens before it starts a rank, and says the token. Throws
/// Error where nobody listens, or nobody answers within `patience`.
Connection connect_to(std::string_view address, std::string_view token,
                      std::chrono::milliseconds patience);

/// 32 hexadecimal digits that nobody else can know.
std::string random_token();

/// Where ranks connect to. Invariant: listens as long as it lives.
class Listener {
 public:
  /// On any free port of 127.0.0.1. Throws Error.
  Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  int descriptor() const { return descriptor_; }

  /// "127.0.0.1:41377", as a rank is told.
  const std::string& address() const { return address_; }

  /// Connections that came since the last time.
  std::vector<Connection> take_new();

 private:
  int descriptor_ = -1;
  std::string address_;
};

/// Those that have connected and did not say the token yet. Who says anything else is dropped, and
/// of more than kMost who say nothing the eldest.
class WaitingRoom {
 public:
  static constexpr size_t kMost = 256;

  explicit WaitingRoom(std::string token) : token_(std::move(token)) {}

  void admit(std::vector<Connection> newcomers);

  /// Those waiting, to be polled.
  std::vector<int> descriptors() const;

  /// Reads from all; takes out and returns those who said the token.
  std::vector<Connection> take_trusted();

 private:
  std::string token_;
  std::deque<Connection> waiting_;
};

}  // namespace ncclog
