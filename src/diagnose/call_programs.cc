#include "diagnose/call_programs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "diagnose/step_past.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A call in a rank's program: on which of its communicators, and what.
struct Step {
  SourceRef where;
  int communicator = -1;
  CallSignature call;
};

using Program = std::vector<Step>;

/// The collectives of one communicator that are kept.
void add_steps(const Job& job, const CommRank& rank, int communicator, Program& program) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return;
  const CallSequence& sequence = calls->collectives;
  for (uint64_t i = sequence.kept_from(); i < sequence.size(); ++i) {
    const PlacedCall* call = sequence.call(i);
    program.push_back({call->where, communicator, comparable(call->call)});
  }
}

/// What `waiter` called last on all of its communicators, in order. Where calls of one of them are
/// no longer kept, it begins behind them.
Program program_of(const Job& job, const Waiter& waiter) {
  Program program;
  SourceRef from;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (waiter_of(rank) != waiter) continue;
      const size_t before = program.size();
      add_steps(job, rank, static_cast<int>(c), program);
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls != nullptr && calls->collectives.kept_from() > 0) {
        from = std::max(from, program[before].where);
      }
    }
  }
  std::erase_if(program, [&](const Step& step) { return step.where < from; });
  std::stable_sort(program.begin(), program.end(),
                   [](const Step& a, const Step& b) { return a.where < b.where; });
  return program;
}

constexpr size_t kLookedAt = 96;  ///< Last steps that are held against the past.

/// Equal steps get equal numbers.
std::vector<int> numbers_of(const Program& program) {
  std::map<std::pair<int, CallSignature>, int> numbers;
  std::vector<int> result;
  for (const Step& step : program) {
    const auto next = static_cast<int>(numbers.size());
    result.push_back(numbers.try_emplace({step.communicator, step.call}, next).first->second);
  }
  return result;
}

}  // namespace

std::optional<bool> departs_from_past(const Job& job, const CallerUntil& caller) {
  Program program = program_of(job, caller.waiter);
  if (caller.last.line != 0) {
    std::erase_if(program, [&](const Step& step) { return caller.last < step.where; });
  }
  const std::vector<int> steps = numbers_of(program);
  std::optional<bool> answer;
  const size_t first = steps.size() > kLookedAt ? steps.size() - kLookedAt : 0;
  for (size_t at = std::max(first, kStepContext); at < steps.size(); ++at) {
    // A run of equal steps is one sight of them, however long it is.
    const Past past = past_of_step(steps, at, at - kStepContext + 1).past;
    if (past == Past::Other) return true;
    if (past == Past::Same) answer = false;
  }
  return answer;
}

std::vector<Waiter> departed(const Job& job, const std::vector<CallerUntil>& callers) {
  std::vector<Waiter> result;
  for (const CallerUntil& caller : callers) {
    const std::optional<bool> departs = departs_from_past(job, caller);
    if (!departs) return {};
    if (*departs) result.push_back(caller.waiter);
  }
  const bool are_few =
      2 * result.size() < callers.size() || (result.size() == 1 && callers.size() == 2);
  return are_few ? result : std::vector<Waiter>{};
}

std::vector<Waiter> departed(const Job& job, const std::vector<Waiter>& waiters) {
  std::vector<CallerUntil> callers;
  for (const Waiter& waiter : waiters) callers.push_back({waiter, {}});
  return departed(job, callers);
}

}  // namespace ncclog
