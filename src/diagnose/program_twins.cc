#include "diagnose/program_twins.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnose/step_past.h"

namespace ncclog {
namespace {

/// A call as ranks of one stage have it in common: communicators are numbered by their first use.
struct CommonCall {
  int communicator = 0;
  int sender = -1;
  int receiver = -1;
  bool receives = false;
  OpName op;

  bool operator==(const CommonCall&) const = default;
};

std::vector<CommonCall> common_calls(const RankProgram& program) {
  std::map<int, int> numbers;
  std::vector<CommonCall> calls;
  calls.reserve(program.calls.size());
  for (const RankCall& call : program.calls) {
    const auto [number, is_new] =
        numbers.try_emplace(call.line.communicator, static_cast<int>(numbers.size()));
    calls.push_back({number->second, call.line.sender, call.line.receiver, call.receives, call.op});
  }
  return calls;
}

/// It begins where the rank began. Where only the last calls of a process are kept, the programs of
/// its ranks begin at different places.
bool is_whole(const RankProgram& program) {
  std::set<std::pair<CallLine, bool>> seen;
  return std::all_of(program.calls.begin(), program.calls.end(), [&](const RankCall& call) {
    return !seen.insert({call.line, call.receives}).second || call.index == 0;
  });
}

using CommonPrograms = std::vector<std::vector<CommonCall>>;  ///< As rank_programs() has them.

CommonPrograms find_common_programs(const Job& job) {
  CommonPrograms all;
  for (const RankProgram& program : rank_programs(job)) all.push_back(common_calls(program));
  return all;
}

size_t alike(const std::vector<CommonCall>& a, const std::vector<CommonCall>& b) {
  const size_t most = std::min(a.size(), b.size());
  size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

/// Fewer calls in common may be a start that all ranks share.
constexpr size_t kFewestAlike = 8;

/// Both go on alike from those places until one of them ends, and for long enough.
bool rejoin(const std::vector<CommonCall>& a, size_t from_a, const std::vector<CommonCall>& b,
            size_t from_b) {
  size_t n = 0;
  while (from_a + n < a.size() && from_b + n < b.size() && a[from_a + n] == b[from_b + n]) ++n;
  return n >= kFewestAlike && (from_a + n == a.size() || from_b + n == b.size());
}

/// They share the first `n` calls, and all the others but one that one of them left out.
bool differ_by_one(const std::vector<CommonCall>& a, const std::vector<CommonCall>& b, size_t n) {
  return n >= kFewestAlike && (rejoin(a, n + 1, b, n) || rejoin(a, n, b, n + 1));
}

constexpr size_t kMostCompared = 256;  ///< Ranks: each may be held against each other.

std::vector<Waiter> find_departed(const Job& job) {
  std::vector<Waiter> departed;
  if (rank_programs(job).size() > kMostCompared) return departed;
  for (const RankProgram& program : rank_programs(job)) {
    if (departure_from_twins(job, program.waiter)) departed.push_back(program.waiter);
  }
  return departed;
}

/// What stood behind the same calls of the program before.
Past past_at(const RankProgram& program, size_t at) {
  if (at < kStepContext) return Past::Unknown;
  return past_of_step(kinds_of(program), at, at - kStepContext + 1).past;
}

}  // namespace

const std::vector<Waiter>& departed_from_twins(const Job& job) {
  return job.answers.of<&find_departed>(job);
}

bool made_no_more(const Job& job, const Waiter& a, const Waiter& b) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  if (programs.size() > kMostCompared) return false;
  const CommonPrograms& common = job.answers.of<&find_common_programs>(job);
  const RankProgram* own = program_of(job, a);
  const RankProgram* other = program_of(job, b);
  if (own == nullptr || other == nullptr || !is_whole(*own) || !is_whole(*other)) return false;
  const auto& calls = common[static_cast<size_t>(own - programs.data())];
  return alike(calls, common[static_cast<size_t>(other - programs.data())]) == calls.size();
}

std::optional<TwinDeparture> departure_from_twins(const Job& job, const Waiter& waiter) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  const CommonPrograms& common = job.answers.of<&find_common_programs>(job);
  const RankProgram* own = program_of(job, waiter);
  if (own == nullptr) return std::nullopt;
  const auto o = static_cast<size_t>(own - programs.data());
  std::optional<size_t> twin;
  size_t most = 0;
  for (size_t p = 0; p < programs.size(); ++p) {
    if (p == o) continue;
    const size_t n = alike(common[o], common[p]);
    const size_t shorter = std::min(common[o].size(), common[p].size());
    if (n == shorter && n >= kFewestAlike) return std::nullopt;
    if (n <= most) continue;
    // They are of one stage if they share half of what is known, or all but one call.
    const bool share_half = n >= std::max(kFewestAlike, shorter / 2);
    const bool is_twin = share_half || (differ_by_one(common[o], common[p], n) && is_whole(*own) &&
                                        is_whole(programs[p]));
    if (!is_twin) continue;
    most = n;
    twin = p;
  }
  if (!twin) return std::nullopt;
  // Of two that differ, it is the twin that left the order that it had kept itself.
  const bool twin_left = past_at(programs[*twin], most) == Past::Other;
  if (twin_left && past_at(*own, most) != Past::Other) return std::nullopt;
  return TwinDeparture{programs[*twin].waiter, own->calls[most], programs[*twin].calls[most]};
}

}  // namespace ncclog
