// What do the coordinator of a run and its ranks say to each other, over what, and how far does
// that bring it?
//
//   rank 1 → {"kind":"at","nccl_version":"2.28.9","ids":["6e63…",null]}     it has started
//   all    ← {"kind":"go","phase":"init","ids":["6e63…","01ab…"]}
//   rank 1 → {"kind":"at","at":"enqueue","init_seconds":1.7}
//   all    ← {"kind":"go","phase":"enqueue"}
//   rank 1 → {"kind":"progress","entered":3,"completed":2,"open":[2]}      when it changed
//   rank 1 → {"kind":"at","at":"completion"}        all calls are begun
//   rank 1 → {"kind":"at","at":"teardown","verified":{…},"timings":[…]}    all of them are completed
//   all    ← {"kind":"go","phase":"teardown"}
//   rank 1 → {"kind":"at","at":"done"}              then it exits with 0
//   rank 1 → {"kind":"error","error":"ncclAllReduce …"}    at any time; the coordinator then stops
//   all    ← {"kind":"abort"}    ncclCommAbort, {"kind":"aborted","verified":{…}}, then it exits
//                                with 3; what was completed before counts
//
// One JSON object a line over a socket pair for each rank, which nobody else can reach. A rank
// serves it on a thread of its own, so that "abort" is heard while a call of NCCL blocks. A
// connection that breaks means "abort" to a rank, and that the rank died to the coordinator.

#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/posix.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan_json.h"

namespace ncclog {

/// What a rank says.
struct RankMessage {
  enum class Kind { At, Progress, Error, Aborted };

  Kind kind = Kind::At;
  ReplayPhase at = ReplayPhase::Start;  ///< Phase that the rank has reached and waits to enter.
  std::string nccl_version;             ///< Only of Start: of the library it loaded.
  /// Only of Start: by communicator of the plan, the ncclUniqueId in hexadecimal of those that this
  /// rank leads (it is their rank 0 and they are not split off another one); of others empty.
  std::vector<std::string> ids;
  double init_seconds = 0;  ///< Only of Enqueue.
  uint64_t entered = 0;     ///< Of Progress and of At.
  uint64_t completed = 0;
  std::vector<uint64_t> open;
  Verification verified;            ///< Of Teardown; of Aborted, for completed calls.
  std::vector<CallTiming> timings;  ///< Only of Teardown, only of the plan's rank 0.
  std::string error;                ///< Only of Error.

  bool operator==(const RankMessage&) const = default;
};

/// What the coordinator says to all ranks.
struct RunOrder {
  enum class Kind { Go, Abort };

  Kind kind = Kind::Go;
  ReplayPhase phase = ReplayPhase::Init;  ///< Of Go: Init, Enqueue or Teardown.
  std::vector<std::string> ids;           ///< Of Init: all of them.

  bool operator==(const RunOrder&) const = default;
};

constexpr std::string_view enum_words(RankMessage::Kind) { return "at|progress|error|aborted"; }
constexpr std::string_view noun_of(RankMessage::Kind) { return "kind of message"; }

constexpr std::string_view enum_words(RunOrder::Kind) { return "go|abort"; }
constexpr std::string_view noun_of(RunOrder::Kind) { return "kind of order"; }

// Both stand as write_line() has them and parse_line() reads them.

NCCLOG_JSON_FIELDS(RankMessage, kind, at, nccl_version, ids, init_seconds, entered, completed, open,
                   verified, timings, error)
NCCLOG_MAY_LACK(RankMessage, at, nccl_version, ids, init_seconds, entered, completed, open,
                verified, timings, error)

NCCLOG_JSON_FIELDS(RunOrder, kind, phase, ids)
NCCLOG_MAY_LACK(RunOrder, phase, ids)

/// Environment variables by which the coordinator starts a rank: the number of the descriptor on
/// which they talk, and a word by which processes are known that a rank has started.
inline constexpr const char* kChannelVariable = "NCCLOG_REPLAY_CHANNEL";
inline constexpr const char* kTokenVariable = "NCCLOG_REPLAY_TOKEN";

/// How a rank's process ends.
enum class RankExit { Done = 0, Error = 1, BadUse = 2, Aborted = 3 };

// What the two threads of a rank tell each other.
//
//   one works:  post({"at":"enqueue"}), await(Enqueue), progress: 28 calls entered, 27 completed
//   one serves: sends what was posted, hears {"go":"enqueue"}, {"go":"abort"}
//
// The serving thread never waits for the working one, which may be inside NCCL.

/// Invariant: every member is used under the lock.
class RankTalk {
 public:
  /// Of the working thread: a message to be sent, behind those before.
  void post(RankMessage message);

  /// Of the working thread: replaces what is not yet sent of an earlier one.
  void post_progress(RankMessage progress);

  /// Of the working thread: waits for "go". nullopt: it is "abort".
  std::optional<RunOrder> await(ReplayPhase phase);

  /// Of the working thread: nothing follows.
  void end();

  /// Of the serving thread: waits so long for that.
  void await_end(std::chrono::milliseconds patience);

  /// Of the serving thread: what is to be sent now. Progress is left there unless `with_progress`.
  std::vector<RankMessage> take_posted(bool with_progress);

  /// Of the serving thread.
  void hear(RunOrder order);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RankMessage> posted_;
  bool has_progress_ = false;
  RankMessage progress_;
  std::vector<RunOrder> heard_;
  bool is_aborted_ = false;
  bool has_ended_ = false;
};

// Over what do they talk, and how does one loop wait for whatever comes first?
//
//   auto [ours, theirs] = make_channel();   a socket pair; the process of the rank inherits one end
//   ours.send(write_line(order)); ours.receive(); ours.next_line()
//
// Nothing of it blocks. What a rank sends may still be anything, because NCCL runs in its process:
// lines are bounded.

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
  int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  sigset_t before_;
};

/// Takes the signal that has come there; 0: none has, or `descriptor` is -1.
int take_stop_signal(int descriptor);

/// A socket and the bytes on their way through it.
class Connection {
 public:
  /// Longest line that is taken: the ids of some thousand communicators fit.
  static constexpr size_t kLongestLine = 4 << 20;

  /// Takes `descriptor`, a connected socket that does not block; -1: an empty connection.
  explicit Connection(int descriptor = -1) : descriptor_(descriptor) {}

  bool is_open() const { return descriptor_.is_open(); }
  int descriptor() const { return descriptor_.get(); }
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
  Descriptor descriptor_;
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
