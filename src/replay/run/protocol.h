// What do the coordinator of a run and its ranks say to each other, and how far does that bring it?
//
//   rank 1 → {"at":"start","nccl":"2.28.9","ids":{"0":"6e63…"}}
//   all    ← {"go":"init","ids":{"0":"6e63…","2":"01ab…"}}
//   rank 1 → {"at":"enqueue","init_seconds":1.7}
//   all    ← {"go":"enqueue"}
//   rank 1 → {"progress":{"entered":3,"completed":2,"open":[2]}}            when it changed
//   rank 1 → {"at":"completion"}        all calls are begun
//   rank 1 → {"at":"teardown","verified":{…},"timings":[…]}    all of them are completed
//   all    ← {"go":"teardown"}
//   rank 1 → {"at":"done"}               then it exits with 0
//   rank 1 → {"error":"ncclAllReduce …"} at any time; the coordinator then stops the run
//   all    ← {"go":"abort"}              ncclCommAbort, {"at":"aborted","verified":{…}}, then it
//                                        exits with 3; what was completed before counts
//
// One JSON object a line over a socket pair for each rank (replay/run/connection.h). A rank serves
// it on a thread of its own, so that "abort" is heard while a call of NCCL blocks. A connection that
// breaks means "abort" to a rank, and that the rank died to the coordinator.
//
// Nothing here opens or sends anything: messages, what follows from them for a run, and the boards
// by which threads of one process pass them on.

#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/judge/outcome.h"

namespace ncclog {

/// What a rank says. Exactly one of `at`, `progress`, `error` is meant by a message; the other
/// members go with some values of `at`.
struct RankMessage {
  enum class Kind { At, Progress, Error, Aborted };

  Kind kind = Kind::At;
  ReplayPhase at = ReplayPhase::Start;  ///< Phase that the rank has reached and waits to enter.
  std::string nccl_version;             ///< Only of Start: of the library it loaded.
  /// Only of Start: by communicator of the plan, the ncclUniqueId in hexadecimal of those that this
  /// rank leads (it is their rank 0 and they are not split off another one).
  std::map<int, std::string> ids;
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
  std::map<int, std::string> ids;         ///< Of Init: all of them.

  bool operator==(const RunOrder&) const = default;
};

/// As one line, with its line end. Deterministic.
std::string write_message(const RankMessage& message);
std::string write_order(const RunOrder& order);

/// nullopt: not such a message, whatever the bytes.
std::optional<RankMessage> parse_message(std::string_view line);
std::optional<RunOrder> parse_order(std::string_view line);

/// Environment variables by which the coordinator starts a rank: the number of the descriptor on
/// which they talk, and a word by which processes are known that a rank has started.
inline constexpr const char* kChannelVariable = "NCCLOG_REPLAY_CHANNEL";
inline constexpr const char* kTokenVariable = "NCCLOG_REPLAY_TOKEN";

/// How a rank's process ends.
enum class RankExit { Done = 0, Error = 1, BadUse = 2, Aborted = 3 };

// How far have the ranks of a run come, which order is due, and which deadline comes first?
//
//   all said "start"       → {"go":"init"}, and init may take 120 s from now
//   all said "enqueue"     → {"go":"enqueue"}
//   one said "completion"  → completion may take 30 s from now; enqueue still runs for the others
//   all said "teardown"    → {"go":"teardown"}
//
// Pure: it is told what ranks say and what time it is; it opens and sends nothing.

using RunClock = std::chrono::steady_clock;

/// How long a run waits.
struct RunLimits {
  /// For each phase from Start to Teardown, from when its first rank begins it.
  std::array<std::chrono::milliseconds, 5> phases{};
  std::chrono::milliseconds abort_grace{5000};      ///< From "abort" to SIGTERM.
  std::chrono::milliseconds terminate_grace{2000};  ///< From SIGTERM to SIGKILL.
  std::chrono::milliseconds kill_grace{10000};      ///< From SIGKILL until a process is given up.
};

/// The deadlines of the plan, and the usual graces.
RunLimits limits_of(const ReplayDeadlines& deadlines);

/// What the ranks of one run have said so far, and what follows from it.
class RunProgress {
 public:
  RunProgress(size_t nranks, const RunLimits& limits, RunClock::time_point start);

  /// Takes what `rank` says. Returns what is wrong with it; empty: nothing, it was due.
  std::string hear(int rank, const RankMessage& message, RunClock::time_point now);

  /// The order that is due to all ranks, once.
  std::optional<RunOrder> take_order(RunClock::time_point now);

  /// The phase whose time is over next. nullopt: no phase has begun that is not over.
  struct Deadline {
    ReplayPhase phase = ReplayPhase::Start;
    RunClock::time_point time;
  };
  std::optional<Deadline> next_deadline() const;

  /// Ranks that have not left `phase`.
  std::vector<int> ranks_in(ReplayPhase phase) const;

  /// True if the rank did all that it had to.
  bool is_done(int rank) const { return outcomes_[rank].reached == ReplayPhase::Done; }

  /// What the ranks said, by rank of the plan; how their processes ended is not known here.
  std::vector<RankOutcome>& outcomes() { return outcomes_; }
  const std::vector<RankOutcome>& outcomes() const { return outcomes_; }

  /// Of the plan's rank 0.
  const std::vector<CallTiming>& timings() const { return timings_; }
  /// Of the rank that said it first; empty: none did.
  const std::string& nccl_version() const { return nccl_version_; }

 private:
  std::string take_phase(int rank, const RankMessage& message, RunClock::time_point now);
  void take_counts(RankOutcome& outcome, const RankMessage& message) const;
  bool has_left(int rank, ReplayPhase phase) const;
  bool have_all_left(ReplayPhase phase) const;
  void begin(ReplayPhase phase, RunClock::time_point now);
  RunOrder go(ReplayPhase phase, RunClock::time_point now);

  RunLimits limits_;
  std::vector<RankOutcome> outcomes_;
  std::vector<bool> is_waiting_;  ///< By rank: it has said what it waits for, and that is not due.
  std::array<std::optional<RunClock::time_point>, 5> began_;
  ReplayPhase let_in_ = ReplayPhase::Start;  ///< The last phase that was ordered.
  std::map<int, std::string> ids_;
  std::vector<CallTiming> timings_;
  std::string nccl_version_;
};

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

  /// Of the working thread: waits for "go". False: it is "abort". The ids come with Init.
  bool await(ReplayPhase phase, std::map<int, std::string>* ids = nullptr);

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

}  // namespace ncclog
