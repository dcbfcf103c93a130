#include "diagnose/calls/recorder_moment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diagnose/calls/call_verdict.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"

namespace ncclog {
namespace {

/// The first call of the account that the rank waits in.
const LedgerCall* first_open(const LedgerRank& rank) {
  const auto open = std::ranges::find_if(rank.calls, [](const LedgerCall& call) {
    return call.state == CallState::Open || call.state == CallState::TimedOut;
  });
  return open == rank.calls.end() ? nullptr : &*open;
}

/// True for a call that ends on no rank before all are in it; one that only a counter tells of is
/// taken for such a call.
bool joins(const LedgerCall* call) {
  return call == nullptr || call->entry == nullptr ||
         traits_of(recorded_operation(call->entry->profiling_name)).joins();
}

/// It left a dump that tells how many calls it made in this group.
bool is_counted(const LedgerRank& rank) {
  return rank.dump != nullptr && rank.coverage == CallCoverage::Counted;
}

/// A dump of open calls alone, of a rank that has none: it waits in nothing, whatever it made.
bool is_blank(const LedgerRank& rank) {
  return rank.dump != nullptr && !is_counted(rank) && rank.dump->entries.empty();
}

/// The rank has not made that call of the account.
bool lacks(const LedgerRank& rank, uint64_t number) {
  return is_blank(rank) || (is_counted(rank) && rank.entered < number);
}

/// Somebody completed a call that another had not made: their dumps are of different moments.
bool is_of_several_moments(const CallAccount& account) {
  uint64_t completed = 0;
  uint64_t least = UINT64_MAX;
  for (const LedgerRank& rank : account.ranks) {
    if (!is_counted(rank)) continue;
    least = std::min(least, rank.entered);
    const uint64_t number = rank.completed.value_or(0);
    if (joins(rank.call(number))) completed = std::max(completed, number);
  }
  return least < completed;
}

/// A group, and what is asked of each of its ranks.
struct Group {
  const CallAccount* account = nullptr;
  std::vector<int> waiters;  ///< Members with an open call.
  std::vector<int> others;   ///< Members that left a dump and have none.
  uint64_t first = 0;        ///< Of the waiters' calls the first.
  uint64_t completed = 0;    ///< The last call that somebody completed.
  size_t counted = 0;        ///< Members whose calls are counted.
};

Group group_of(const CallAccount& account) {
  Group group{.account = &account, .first = UINT64_MAX};
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    const LedgerRank& rank = account.ranks[r];
    if (rank.dump == nullptr) continue;
    const LedgerCall* open = first_open(rank);
    (open == nullptr ? group.others : group.waiters).push_back(static_cast<int>(r));
    if (open != nullptr) group.first = std::min(group.first, open->number);
    if (!is_counted(rank)) continue;
    ++group.counted;
    group.completed = std::max(group.completed, rank.completed.value_or(0));
  }
  return group;
}

/// Members of a group, of those, whose first open call is that one.
std::vector<int> waiting_in(const Group& group, uint64_t number) {
  std::vector<int> members = group.waiters;
  std::erase_if(members,
                [&](int m) { return first_open(member(*group.account, m))->number != number; });
  return members;
}

class Moment {
 public:
  explicit Moment(const Job& job) : job_(job) {
    for (const CallAccount* account : largest_first(call_ledger(job, CallSource::Recorder))) {
      const bool is_compared = account->is_numbered_alike && account->ranks.size() > 1;
      for (size_t r = 0; r < account->ranks.size(); ++r) {
        const LedgerRank& rank = account->ranks[r];
        std::set<int>& those = rank.dump == nullptr ? absent_ : rank.is_idle ? idle_ : waiting_;
        those.insert(rank.rank);
        if (is_compared) places_[rank.rank].emplace_back(groups_.size(), static_cast<int>(r));
      }
      if (is_compared) groups_.push_back(group_of(*account));
    }
    // A call that one group shows open is open, and a dump that one group can use is there.
    std::erase_if(idle_, [&](int rank) { return waiting_.contains(rank); });
    std::erase_if(absent_,
                  [&](int rank) { return idle_.contains(rank) || waiting_.contains(rank); });
  }

  RecorderMoment take() {
    RecorderMoment moment{
        .hold_ups = {}, .absent = {absent_.begin(), absent_.end()}, .moved = moved_ranks()};
    const auto is_several = [](const Group& group) {
      return is_of_several_moments(*group.account);
    };
    if (std::ranges::any_of(groups_, is_several)) return moment;
    for (const Group& group : groups_) find_late(group);
    // That a GPU is behind shows only in what others completed, as it does for an instant in any
    // job: it counts where the job is seen to stand still.
    if (!found_.empty() || stood_still(job_)) find_behind_on_gpu();
    // Beside the logs of ranks there are many reasons for a dump that lacks, unless RAS lacks that
    // rank as well.
    const std::set<int> unheard = named_ranks(job_, find_fact("job.ras_incomplete")->ask(job_, {}));
    if (found_.empty() && (job_.processes.empty() || unheard == absent_)) find_missing();
    const auto is_named = [&](int rank) { return found_.contains(rank); };
    if (!std::ranges::all_of(idle_, is_named)) return moment;
    if (std::ranges::any_of(moment.moved, is_named)) return moment;
    for (auto& [rank, hold_up] : found_) moment.hold_ups.push_back(std::move(hold_up));
    return moment;
  }

 private:
  /// Whose last dump shows more than all those before it.
  std::vector<int> moved_ranks() const {
    std::map<int, const FlightRecorderDump*> last;
    for (const FlightRecorderDump& dump : job_.flight_recorders) {
      const auto [known, is_new] = last.try_emplace(dump.rank, &dump);
      if (age_order(*known->second, dump) == std::partial_ordering::less) known->second = &dump;
    }
    std::map<int, bool> moved;
    for (const FlightRecorderDump& dump : job_.flight_recorders) {
      const FlightRecorderDump* newest = last.at(dump.rank);
      if (newest == &dump) continue;
      const bool is_older = age_order(dump, *newest) == std::partial_ordering::less;
      const auto [known, is_new] = moved.try_emplace(dump.rank, is_older);
      known->second &= is_older;
    }
    std::vector<int> ranks;
    for (const auto& [rank, has_moved] : moved) {
      if (has_moved && rank >= 0) ranks.push_back(rank);
    }
    return ranks;
  }

  void add(const HoldUp& hold_up) { found_.try_emplace(hold_up.rank, hold_up); }

  /// All of the group that left a dump wait, but for those that others wait for.
  void find_late(const Group& group) {
    constexpr size_t kMost = 64;  // A job that stands still for more has another cause.
    const auto is_late = [&](int m) {
      const LedgerRank& rank = member(*group.account, m);
      return idle_.contains(rank.rank) && lacks(rank, group.first);
    };
    if (group.waiters.empty() || group.others.size() > kMost) return;
    if (!std::ranges::all_of(group.others, is_late)) return;
    std::vector<int> late = group.others;
    for (const int m : group.waiters) {
      const bool is_behind = behind_on_gpu(member(*group.account, m).rank) != nullptr;
      if (is_behind && late.size() < kMost) late.push_back(m);
    }
    for (const int m : late) {
      const LedgerRank& rank = member(*group.account, m);
      std::optional<uint64_t> number;
      for (const int w : group.waiters) {
        const uint64_t open = first_open(member(*group.account, w))->number;
        if (w != m && lacks(rank, open)) number = std::min(number.value_or(open), open);
      }
      if (!number) continue;
      add({rank.rank, HeldBy::NotEntered, group.account, *number, waiting_in(group, *number)});
    }
  }

  /// The largest group that shows it, if in each group in which the rank waits, and of which another
  /// left a dump, somebody has completed the call; nullptr if not.
  const Group* behind_on_gpu(int number) const {
    const Group* largest = nullptr;
    for (const auto& [place, m] : places_.at(number)) {
      const Group& group = groups_[place];
      const LedgerRank& rank = member(*group.account, m);
      const LedgerCall* open = rank.dump == nullptr ? nullptr : first_open(rank);
      if (open == nullptr || group.counted < 2) continue;
      if (group.completed < open->number || !joins(open)) return nullptr;
      if (largest == nullptr) largest = &group;
    }
    return largest;
  }

  void find_behind_on_gpu() {
    for (const int number : waiting_) {
      const Group* group = places_.contains(number) ? behind_on_gpu(number) : nullptr;
      if (group == nullptr) continue;
      const auto& ranks = group->account->ranks;
      const auto rank = std::ranges::lower_bound(ranks, number, {}, &LedgerRank::rank);
      const uint64_t open = first_open(*rank)->number;
      std::vector<int> ahead;
      for (size_t r = 0; r < ranks.size(); ++r) {
        const bool has = is_counted(ranks[r]) && ranks[r].completed.value_or(0) >= open;
        if (has) ahead.push_back(static_cast<int>(r));
      }
      add({number, HeldBy::BehindOnGpu, group->account, open, std::move(ahead)});
    }
  }

  /// One rank alone left no dump, and of each of its groups all others wait in one call.
  void find_missing() {
    if (absent_.size() != 1 || !idle_.empty()) return;
    const int absent = *absent_.begin();
    if (!places_.contains(absent)) return;
    std::optional<HoldUp> result;
    std::set<int> witnesses;
    for (const auto& [place, m] : places_.at(absent)) {
      const Group& group = groups_[place];
      const std::vector<int> waiters = waiting_in(group, group.first);
      if (waiters.size() + 1 < group.account->ranks.size()) return;
      for (const int w : waiters) witnesses.insert(member(*group.account, w).rank);
      if (!result) result = {absent, HeldBy::NoDump, group.account, group.first, waiters};
    }
    if (result && witnesses.size() > 1) add(*result);
  }

  const Job& job_;
  std::vector<Group> groups_;  ///< Those whose numbers are alike, largest first.
  std::map<int, std::vector<std::pair<size_t, int>>> places_;  ///< By global rank: group, member.
  std::set<int> absent_;  ///< Global ranks of the groups that left no dump.
  std::set<int> idle_;    ///< Left a dump, and no call of theirs is open.
  std::set<int> waiting_;
  std::map<int, HoldUp> found_;  ///< By rank.
};

RecorderMoment find_moment(const Job& job) { return Moment(job).take(); }

}  // namespace

const RecorderMoment& recorder_moment(const Job& job) { return job.answers.of<&find_moment>(job); }

}  // namespace ncclog
