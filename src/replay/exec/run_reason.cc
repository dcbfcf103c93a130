#include "replay/exec/run_reason.h"

#include <fmt/format.h>

#include <csignal>

#include "base/text.h"

namespace ncclog {
namespace {

/// "rank 1 (pid 4711) was killed by SIGKILL in completion"
std::string death_text(const RankOutcome& rank, ReplayPhase phase) {
  const std::string who = fmt::format("rank {} (pid {})", rank.rank, rank.pid);
  if (rank.end == ProcessEnd::Lost) {
    return fmt::format("{} went away in {}, and how is not known here", who, to_string(phase));
  }
  if (rank.end != ProcessEnd::ByItself && rank.end != ProcessEnd::OnAbort) {
    return fmt::format("{} broke its connection off in {} and had to be ended", who,
                       to_string(phase));
  }
  if (rank.signal != 0) {
    return fmt::format("{} was killed by {} in {}", who, signal_name(rank.signal),
                       to_string(phase));
  }
  return fmt::format("{} ended in {} without a word, with exit status {}", who, to_string(phase),
                     rank.exit_code);
}

const RankOutcome* wrong_rank(const RunOutcome& run) {
  for (const RankOutcome& rank : run.ranks) {
    if (rank.verified.wrong > 0) return &rank;
  }
  return nullptr;
}

std::string wrong_text(const RankOutcome& rank) {
  const Verification& verified = rank.verified;
  std::string text = fmt::format("rank {}: {} of {} elements are wrong", rank.rank, verified.wrong,
                                 verified.elements);
  if (verified.first) {
    text += fmt::format(", the first is element {} of call {}: {} instead of {}",
                        verified.first->element, verified.first->call,
                        printable(verified.first->found), printable(verified.first->expected));
  }
  return text;
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{} s", std::chrono::duration<double>(time).count());
}

}  // namespace

Trouble expiry_of(const RunProgress::Deadline& deadline, const RunProgress& progress,
                  const RunLimits& limits) {
  const auto limit = limits.phases[static_cast<size_t>(deadline.phase)];
  const std::vector<int> ranks = progress.ranks_in(deadline.phase);
  const bool has_begun = deadline.phase != ReplayPhase::Start;
  std::string reason =
      fmt::format("{} was not over after {}", to_string(deadline.phase), seconds_text(limit));
  if (ranks.empty()) {
    reason += "; all ranks were done, but a process of theirs did not end";
  } else {
    reason += fmt::format("; not through: {} {}", ranks.size() == 1 ? "rank" : "ranks",
                          ranges_text(ranks));
  }
  return {has_begun ? RunEnd::Hung : RunEnd::NotStarted, deadline.phase, -1, std::move(reason)};
}

RunEnd end_of_death(const RankOutcome& rank) {
  const bool gave_up = rank.reached == ReplayPhase::Start && rank.signal == 0;
  return gave_up ? RunEnd::NotStarted : RunEnd::Died;
}

bool explains(const ProcessStatus& status, const Trouble& trouble) {
  const bool by_others =
      status.signal == SIGKILL || status.signal == SIGTERM || status.signal == SIGINT;
  return by_others && trouble.end == RunEnd::Failed;
}

void conclude(RunOutcome& run, const std::optional<Trouble>& trouble) {
  if (!trouble) {
    const RankOutcome* wrong = wrong_rank(run);
    run.end = wrong == nullptr ? RunEnd::Completed : RunEnd::Wrong;
    run.phase = wrong == nullptr ? ReplayPhase::Done : ReplayPhase::Teardown;
    if (wrong != nullptr) run.reason = wrong_text(*wrong);
    return;
  }
  run.end = trouble->end;
  run.phase = trouble->phase;
  run.reason = trouble->reason;
  if (run.reason.empty() && trouble->rank >= 0) {
    const RankOutcome& rank = run.ranks[trouble->rank];
    run.end = end_of_death(rank);
    run.reason = death_text(rank, trouble->phase);
  }
}

}  // namespace ncclog
