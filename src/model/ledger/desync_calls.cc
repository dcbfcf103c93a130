// What PyTorch's desync report tells (TORCH_NCCL_DESYNC_DEBUG): where all ranks of one process group
// stood when a watchdog of one of them fired.
//
//   - [0, 2] joined but didn't finish collective #9 (count from 1)
//     [3] finished collective #8, but didn't join collective #9 (count from 1)
//   - To our best knowledge, ranks [1] are the lagging ranks … They never joined any collectives
//
// From torch/csrc/distributed/c10d/TraceUtils.h. Ranks are those inside the group, and all of them
// are listed. Each rank whose watchdog fires prints a report: the earliest standing of a rank is that
// of the moment in which the others gave up.

#include <iterator>
#include <map>
#include <set>

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
  std::set<uint64_t> joined;  ///< Numbers of the collectives that ranks joined.
  SourceRef line;             ///< That tells who joined, or who did not.

  void add(std::string_view list, uint64_t entered, bool is_open, SourceRef where) {
    if (!line.is_known()) line = where;
    if (is_open) joined.insert(entered);
    for (const int number : ranks_in(list)) {
      LedgerRank standing{.rank = number,
                          .coverage = CallCoverage::Counted,
                          .is_idle = !is_open,
                          .entered = entered,
                          .completed = is_open ? entered - 1 : entered};
      if (is_open) standing.calls.push_back({entered, CallState::TimedOut, nullptr, nullptr});
      const auto [known, is_new] = ranks.try_emplace(number, standing);
      if (!is_new && entered < known->second.entered) known->second = standing;
    }
  }

  /// The lines of no rank between 0 and the last one are lost.
  bool lists_all() const {
    return !ranks.empty() && ranks.begin()->first == 0 &&
           ranks.rbegin()->first + 1 == static_cast<int>(ranks.size());
  }
};

/// Names of groups by the lines on works that name them.
std::map<SourceRef, std::string_view> groups_by_line(const Job& job) {
  std::map<SourceRef, std::string_view> groups;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (!work.group.empty()) groups[work.line.where] = work.group;
  }
  for (const WorkProgress& progress : work_progress(job)) {
    const bool is_named = progress.seq && !progress.group.empty();
    if (is_named) groups[progress.line.where] = progress.group;
  }
  return groups;
}

}  // namespace

std::vector<CallAccount> desync_accounts(const Job& job) {
  // A report names no group: it is that of the work of which the line before it in the same input
  // tells. Empty: none is known.
  const std::map<SourceRef, std::string_view> named = groups_by_line(job);
  std::map<std::string, DesyncGroup> groups;
  const auto group_of = [&](const auto& said) -> DesyncGroup& {
    const auto behind = named.lower_bound(said.where());
    const bool is_known =
        behind != named.begin() && std::prev(behind)->first.unit == said.where().unit;
    return groups[is_known ? std::string(std::prev(behind)->second) : std::string()];
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
    account.unseen = group.lists_all() ? 0 : 1;
    // Reports of groups that no line names may be of several.
    account.is_numbered_alike = !name.empty() || group.joined.size() < 2;
    for (auto& [number, rank] : group.ranks) {
      if (account.is_of_all) rank.process = process_of_rank(job, number);
      account.ranks.push_back(std::move(rank));
    }
    accounts.push_back(std::move(account));
  }
  return accounts;
}

}  // namespace ncclog
