// Over what do the coordinator of a run and its ranks talk, and how does it wait for whatever comes
// first?
//
//   coordinator: Listener listener;                   127.0.0.1:41377
//   rank:        connect_to("127.0.0.1:41377", "9f86d0…", 5s)
//   both:        connection.send(write_order(order)); connection.receive(); connection.next_line()
//
// Lines over TCP on this host. Nothing here blocks but connect_to. What the other end sends may be
// anything: lines are bounded, and nobody is heard who did not say the token first.

#pragma once

#include <poll.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/run/protocol.h"

namespace ncclog {

// Ctrl-C and its like as something to be polled for, so that a run can be ended in order.
//
//   StopSignals stops;   SIGINT, SIGTERM and SIGHUP no longer end this process
//   poll(stops.descriptor()) … take_stop_signal(stops.descriptor())   →  SIGINT

/// Invariant: the signals are blocked as long as it lives, and as before when it goes. Made before
/// any thread is started.
class StopSignals {
 public:
  /// Throws Error.
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// A signalfd that does not block.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  sigset_t before_;
};

/// Takes the signal that has come there; 0: none has, or `descriptor` is -1.
int take_stop_signal(int descriptor);

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

// What one loop waits for at once: whatever comes first wakes it.
//
//   PollList polled;
//   polled.add(listener.descriptor());    a rank connects
//   polled.add(connection);               it speaks, or takes what was kept for it
//   polled.wait(30s);

/// Descriptors that are waited for; made anew for every wait.
struct PollList {
  std::vector<pollfd> polled;

  /// Until something can be read from it; -1 is left out.
  void add(int descriptor);

  /// Until something can be read from it, or written if bytes are kept for it; left out if closed.
  void add(const Connection& connection);

  /// Returns when something has come, or after `most`: not at all if that is over, and an hour at
  /// most.
  void wait(std::chrono::milliseconds most);
};

// Which connection is which rank's?
//
//   somebody connects            → waits for the token
//   "9f86d0…"                    → trusted, and nameless
//   {"at":"start","rank":1,…}    → the connection of rank 1

/// The connections of the ranks of one run. Invariant: who has a rank's place said the token and
/// then, as the first one, that it is that rank.
class RankConnections {
 public:
  RankConnections(const std::string& token, size_t nranks);

  /// Somebody who knows the token, and the line that was said behind it.
  struct Greeting {
    Connection connection;
    std::string line;
  };

  /// Lets in who connected, and returns those that have greeted since the last time.
  std::vector<Greeting> admit(std::vector<Connection> newcomers);

  /// Gives the connection the place of the rank that starts with this message. False: it starts
  /// none of the plan, or the rank was here before; the connection is then left as it is.
  bool seat(const RankMessage& message, Connection& connection);

  /// Number of ranks.
  size_t size() const { return of_rank_.size(); }

  /// A closed one if the rank is not connected.
  Connection& of(int rank) { return of_rank_[static_cast<size_t>(rank)]; }
  const Connection& of(int rank) const { return of_rank_[static_cast<size_t>(rank)]; }

  /// True if the rank is connected, or was.
  bool was_connected(int rank) const { return was_connected_[static_cast<size_t>(rank)]; }

  /// To all ranks that are connected.
  void send_all(const RunOrder& order);

  /// Everybody who may speak, ranks or not.
  void add_to(PollList& polled) const;

 private:
  WaitingRoom waiting_;
  std::vector<Connection> nameless_;  ///< Said the token, and not yet who they are.
  std::vector<Connection> of_rank_;
  std::vector<bool> was_connected_;  ///< By rank.
};

}  // namespace ncclog
