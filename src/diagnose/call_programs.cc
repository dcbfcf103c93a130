#include "diagnose/call_programs.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A call in a rank's program: on which of its communicators, and what.
struct Step {
  SourceRef where;
  int communicator = -1;
  CallSignature call;

  bool same_as(const Step& other) const {
    return communicator == other.communicator && call == other.call;
  }
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

constexpr size_t kContext = 8;    ///< Calls before a step that must be the same in the past.
constexpr size_t kLookedAt = 96;  ///< Last steps that are held against the past.
constexpr size_t kTimesSeen = 2;  ///< How often the past must have shown the same.

bool same_context(const Program& program, size_t a, size_t b) {
  for (size_t i = 1; i <= kContext; ++i) {
    if (!program[a - i].same_as(program[b - i])) return false;
  }
  return true;
}

/// True if the past always had another call than step `at` behind the same calls, false if it
/// sometimes had this one; nullopt if it never had these calls often enough.
std::optional<bool> departs_at(const Program& program, size_t at) {
  size_t others = 0;
  const Step* usual = nullptr;
  for (size_t t = kContext; t < at; ++t) {
    if (!same_context(program, t, at)) continue;
    if (program[t].same_as(program[at])) return false;
    if (usual != nullptr && !usual->same_as(program[t])) return std::nullopt;
    usual = &program[t];
    ++others;
  }
  if (others < kTimesSeen) return std::nullopt;
  return true;
}

}  // namespace

std::optional<bool> departs_from_past(const Job& job, const Waiter& waiter) {
  const Program program = program_of(job, waiter);
  std::optional<bool> answer;
  const size_t first = program.size() > kLookedAt ? program.size() - kLookedAt : 0;
  for (size_t at = std::max(first, kContext); at < program.size(); ++at) {
    const std::optional<bool> departs = departs_at(program, at);
    if (!departs) continue;
    if (*departs) return true;
    answer = false;
  }
  return answer;
}

std::vector<Waiter> departed(const Job& job, const std::vector<Waiter>& waiters) {
  std::vector<Waiter> result;
  for (const Waiter& waiter : waiters) {
    const std::optional<bool> departs = departs_from_past(job, waiter);
    if (!departs) return {};
    if (*departs) result.push_back(waiter);
  }
  const bool are_few =
      2 * result.size() < waiters.size() || (result.size() == 1 && waiters.size() == 2);
  return are_few ? result : std::vector<Waiter>{};
}

}  // namespace ncclog
