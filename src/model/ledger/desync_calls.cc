// What PyTorch's desync report tells (TORCH_NCCL_DESYNC_DEBUG): where all ranks of one process group
// stood when a watchdog of one of them fired.
//
//   - [0, 2] joined but didn't finish collective #9 (count from 1)
//     [3] finished collective #8, but didn't join collective #9 (count from 1)
//   - To our best knowledge, ranks [1] are the lagging ranks … They never joined any collectives
//
// From torch/csrc/distributed/c10d/TraceUtils.h. Ranks are those inside the group, and all of them
// are listed. Each rank whose watchdog fires prints one: the earliest
// standing of a rank is that of the moment in which the others gave up.

#include <algorithm>
#include <map>

#include "base/text.h"
#include "log/messages.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// "1, 3": no list of ranks is longer than a line that is kept.
std::vector<int> ranks_in(std::string_view list) {
  std::vector<int> ranks;
  for (const std::string_view word : split(list, ',')) {
    const auto rank = parse_int(trim(word));
    if (rank && *rank >= 0) ranks.push_back(static_cast<int>(*rank));
  }
  return ranks;
}

/// What the reports of one group say, by rank in it.
struct DesyncGroup {
  std::map<int, LedgerRank> ranks;
  SourceRef line;  ///< That tells who joined, or who did not.

  void add(std::string_view list, uint64_t entered, bool is_open, SourceRef where) {
    if (!line.is_known()) line = where;
    for (const int number : ranks_in(list)) {
      LedgerRank standing{.rank = number,
                          .coverage = CallCoverage::Counted,
                          .is_idle = true,
                          .entered = entered,
                          .completed = is_open ? entered - 1 : entered};
      if (is_open) standing.calls.push_back({entered, CallState::TimedOut, nullptr, nullptr});
      const auto [known, is_new] = ranks.try_emplace(number, standing);
      if (!is_new && entered < known->second.entered) known->second = standing;
    }
  }
};

/// The report names no group: it is that of the work of which the line before it in the same input
/// tells. Empty: none is known.
std::string group_before(const Job& job, SourceRef report) {
  SourceRef last;
  std::string group;
  const auto look_at = [&](const auto& said) {
    const SourceRef where = said.line.where;
    const bool is_nearer = where.unit == report.unit && where < report && last < where;
    if (!is_nearer || said.group.empty()) return;
    last = where;
    group = said.group;
  };
  for (const TimedOutWork& work : timed_out_work(job)) look_at(work);
  for (const WorkProgress& progress : work_progress(job)) {
    if (progress.seq) look_at(progress);
  }
  return group;
}

}  // namespace

std::vector<CallAccount> desync_accounts(const Job& job) {
  std::map<std::string, DesyncGroup> groups;
  const auto group_of = [&](const auto& said) -> DesyncGroup& {
    return groups[group_before(job, said.where())];
  };
  const auto is_number = [](int64_t number) { return number >= 1; };
  for_each_said<DesyncJoined>(job, [&](const Said<DesyncJoined>& said) {
    if (!is_number(said.message.seq)) return;
    group_of(said).add(said.message.ranks, static_cast<uint64_t>(said.message.seq), true,
                       said.where());
  });
  for_each_said<DesyncFinished>(job, [&](const Said<DesyncFinished>& said) {
    if (!is_number(said.message.seq)) return;
    group_of(said).add(said.message.ranks, static_cast<uint64_t>(said.message.seq), false,
                       said.where());
  });
  for_each_said<DesyncLagging>(job, [&](const Said<DesyncLagging>& said) {
    group_of(said).add(said.message.ranks, 0, false, said.where());
  });
  std::vector<CallAccount> accounts;
  for (auto& [name, group] : groups) {
    CallAccount account{.source = CallSource::Desync, .group = name};
    account.line = group.line;
    account.is_of_all = !name.empty() && is_default_group(name);
    for (auto& [number, rank] : group.ranks) {
      if (account.is_of_all) rank.process = process_of_rank(job, number);
      account.ranks.push_back(std::move(rank));
    }
    accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace ncclog
