// Over what do the coordinator of a run and its ranks talk, and how does it wait for whatever comes
// first?
//
//   auto [ours, theirs] = make_channel();   a socket pair; the process of the rank inherits one end
//   ours.send(write_order(order)); ours.receive(); ours.next_line()
//
// Lines over a socket pair that nobody else can reach. Nothing here blocks. What a rank sends may
// still be anything, because NCCL runs in its process: lines are bounded.

#pragma once

#include <poll.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Both ends of a channel. Throws Error.
std::pair<Connection, Connection> make_channel();

// What one loop waits for at once: whatever comes first wakes it.
//
//   PollList polled;
//   polled.add(connection);         a rank speaks, or takes what was kept for it
//   polled.add(child.descriptor())  its process ends
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

}  // namespace ncclog
