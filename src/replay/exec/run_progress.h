// How far have the ranks of a run come, which order is due, and which deadline comes first?
//
//   all said "start"       → {"go":"init"}, and init may take 120 s from now
//   all said "enqueue"     → {"go":"enqueue"}
//   one said "completion"  → completion may take 30 s from now; enqueue still runs for the others
//   all said "teardown"    → {"go":"teardown"}
//
// Pure: it is told what ranks say and what time it is; it opens and sends nothing.

#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/exec/worker_protocol.h"

namespace ncclog {

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

}  // namespace ncclog
