// What dumps of PyTorch's Flight Recorder tell: the collectives of a process group side by side.
//
//   group "0" (default_pg, ranks 0-7)   rank 4: collectives 1 … 29, the last one is open
//                                       rank 5: collectives 1 … 28, all completed
//                                       rank 6: no dump, so nothing is known of it
//
// The recorder numbers each call (collective_seq_id), so nothing is lost in the middle; the ring
// only forgets the oldest. A dump is of the moment in which it was written, and a folder may hold
// dumps of an earlier run: only dumps whose common calls were made at about the same time are put
// side by side.

#include <algorithm>
#include <array>
#include <compare>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/collectives.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

using GroupMembers = std::map<int, const FlightRecorderDump*>;

/// Ranks of all groups together; no job has nearly as many, and a hostile dump may claim any
/// number.
constexpr size_t kMostRanks = size_t{1} << 20;

/// No job comes as far; numbers beyond are no numbers of calls.
constexpr int64_t kMostCalls = int64_t{1} << 53;

/// PyTorch's own default, for dumps that name no limit.
constexpr int64_t kDefaultTimeoutMs = 30 * 60 * 1000;

/// The last dump of each rank. Of two that nothing puts in an order, none: they may be of two jobs.
GroupMembers dumps_by_rank(const Job& job) {
  GroupMembers result;
  std::set<int> unordered;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.rank < 0) continue;
    const FlightRecorderDump*& last = result.try_emplace(dump.rank, &dump).first->second;
    if (last == &dump) continue;
    const auto order = age_order(*last, dump);
    if (order == std::partial_ordering::unordered) unordered.insert(dump.rank);
    if (order == std::partial_ordering::less) last = &dump;
  }
  for (const int rank : unordered) result.erase(rank);
  return result;
}

const FlightRecorderGroup* group_named(const FlightRecorderDump& dump, const std::string& name) {
  const auto group = std::ranges::find(dump.groups, name, &FlightRecorderGroup::name);
  return group == dump.groups.end() ? nullptr : &*group;
}

std::vector<int> sorted_ranks(const FlightRecorderGroup& group) {
  std::vector<int> ranks = group.ranks;
  std::ranges::sort(ranks);
  const auto [end, last] = std::ranges::unique(ranks);
  ranks.erase(end, last);
  return ranks;
}

/// Accounts of the groups that dumps list, by name, with their ranks alone; none of a group on
/// whose ranks they disagree. Of all groups the first ones, which have no more ranks together than
/// any job has.
std::map<std::string, CallAccount> listed_groups(const GroupMembers& dumps) {
  std::map<std::string_view, size_t> most_ranks;  // By name.
  for (const auto& [number, dump] : dumps) {
    for (const FlightRecorderGroup& group : dump->groups) {
      if (group.name.empty()) continue;
      most_ranks[group.name] = std::max(most_ranks[group.name], group.ranks.size());
    }
  }
  size_t listed = 0;
  const auto left_out = std::ranges::find_if(
      most_ranks, [&](const auto& group) { return (listed += group.second) > kMostRanks; });
  std::map<std::string, CallAccount> groups;
  std::set<std::string> disputed;
  for (const auto& [number, dump] : dumps) {
    for (const FlightRecorderGroup& group : dump->groups) {
      if (group.name.empty() || group.ranks.empty()) continue;
      if (left_out != most_ranks.end() && group.name >= left_out->first) continue;
      const std::vector<int> ranks = sorted_ranks(group);
      const auto [entry, is_new] = groups.try_emplace(group.name);
      CallAccount& account = entry->second;
      if (is_new) {
        account.source = CallSource::Recorder;
        account.group = group.name;
        for (const int rank : ranks) account.ranks.push_back({.rank = rank});
      }
      if (account.description.empty()) account.description = group.description;
      if (!std::ranges::equal(ranks, account.ranks, {}, {}, &LedgerRank::rank)) {
        disputed.insert(group.name);
      }
    }
  }
  std::erase_if(groups, [&](const auto& group) { return disputed.contains(group.first); });
  return groups;
}

/// Sends, receives and coalesced calls count by themselves. A collective carries the number of the
/// messages before it, and says since schema 2.1 that it is none.
bool moves_other_numbers(const FlightRecorderEntry& entry) {
  return entry.is_p2p.value_or(entry.p2p_seq_id > 0) ||
         traits_of(recorded_operation(entry.profiling_name)).is_message() ||
         entry.profiling_name.find("coalesced") != std::string::npos;
}

bool is_of(const FlightRecorderEntry& entry, const FlightRecorderGroup& group) {
  return entry.group.empty() ? entry.pg_id >= 0 && entry.pg_id == group.pg_id
                             : entry.group == group.name;
}

CallState state_of(const FlightRecorderEntry& entry, const FlightRecorderGroup& group) {
  // A host that has not returned from its first call, which connects, records it as completed before
  // it is: of such a group nothing was enqueued yet, and the call is not retired.
  if (group.last_enqueued == -1 && entry.retired == false) return CallState::Open;
  if (entry.state == RecordedState::Completed) return CallState::Completed;
  if (!is_open(entry)) return CallState::Entered;
  // The watchdog is done with it although it is open: its limit is over.
  return entry.retired.value_or(false) ? CallState::TimedOut : CallState::Open;
}

/// A rank that never called anything writes no entry and no counter.
bool has_called_nothing(const FlightRecorderDump& dump) {
  const auto is_counted = [](const FlightRecorderGroup& group) {
    return group.last_enqueued.has_value();
  };
  return dump.entries.empty() && std::ranges::none_of(dump.groups, is_counted);
}

/// A send or a receive that moves its own counter and leaves that of collectives alone, as schemas
/// with p2p_seq_id have it.
bool is_beside_collectives(const FlightRecorderEntry& entry) {
  const bool is_batch = entry.profiling_name == "nccl:coalesced";  // Which says that it is no P2P.
  return entry.p2p_seq_id > 0 && entry.collective_seq_id >= 0 &&
         (is_batch || entry.is_p2p.value_or(true));
}

/// Whether the rank waits in nothing, whatever the group. The single messages of a batch stay
/// scheduled for ever (batch_isend_irecv); only the batch itself, "nccl:coalesced", completes.
bool is_idle(const FlightRecorderDump& dump) {
  std::set<std::string_view> batched;
  for (const FlightRecorderEntry& entry : dump.entries) {
    const bool is_batch = entry.p2p_seq_id > 0 && entry.profiling_name == "nccl:coalesced";
    if (is_batch) batched.insert(entry.group);
  }
  const auto waits = [&](const FlightRecorderEntry& entry) {
    const bool is_part = batched.contains(entry.group) &&
                         traits_of(recorded_operation(entry.profiling_name)).is_message();
    return is_open(entry) && !is_part;
  };
  return std::ranges::none_of(dump.entries, waits);
}

/// Fills in what the dump says. False if its numbers may mean other calls than those of others.
bool read_calls(const FlightRecorderGroup& group, LedgerRank& rank) {
  bool is_plain = true;
  bool has_messages = false;
  int64_t enqueued = -1;
  int64_t completed = -1;
  rank.is_idle = is_idle(*rank.dump);
  for (const FlightRecorderEntry& entry : rank.dump->entries) {
    if (!is_of(entry, group)) continue;
    const int64_t number = entry.collective_seq_id;
    if (is_beside_collectives(entry)) {
      has_messages = true;
      enqueued = std::max(enqueued, number);
      continue;
    }
    is_plain &= !moves_other_numbers(entry) && number > 0 && number < kMostCalls;
    const CallState state = state_of(entry, group);
    rank.calls.push_back({static_cast<uint64_t>(std::max<int64_t>(number, 0)), state, &entry, {}});
    rank.is_idle &= state != CallState::Open;
    enqueued = std::max(enqueued, number);
    if (state == CallState::Completed) completed = std::max(completed, number);
  }
  std::ranges::stable_sort(rank.calls, {}, &LedgerCall::number);
  is_plain &= std::ranges::adjacent_find(rank.calls, {}, &LedgerCall::number) == rank.calls.end();
  // The group's own counters count messages as well, so beside messages they say nothing.
  if (!has_messages) {
    enqueued = std::max(enqueued, group.last_enqueued.value_or(-1));
    completed = std::max(completed, group.last_completed.value_or(-1));
  } else if (rank.calls.empty()) {
    completed = enqueued;
  }
  // Of a dump that lists open calls alone, or whose ring went on, it may have made any number here.
  const bool is_told = enqueued >= 0 || has_called_nothing(*rank.dump);
  rank.coverage = is_told ? CallCoverage::Counted : CallCoverage::Unknown;
  rank.entered = static_cast<uint64_t>(std::max<int64_t>(enqueued, 0));
  rank.completed = static_cast<uint64_t>(std::max<int64_t>(completed, 0));
  return is_plain && enqueued < kMostCalls;
}

/// When each call of a dump was made, by group and number.
using CallTimes = std::map<std::pair<std::string_view, int64_t>, const FlightRecorderEntry*>;

CallTimes call_times(const FlightRecorderDump& dump) {
  CallTimes times;
  for (const FlightRecorderEntry& entry : dump.entries) {
    if (entry.time_created_ns > 0 && !entry.group.empty() && !moves_other_numbers(entry)) {
      times[{entry.group, entry.collective_seq_id}] = &entry;
    }
  }
  return times;
}

/// When its last call was made, by the clock of its host; -1: it tells no time.
int64_t last_time(const FlightRecorderDump& dump) {
  int64_t last = -1;
  for (const FlightRecorderEntry& entry : dump.entries) {
    last = std::max(last, entry.time_created_ns);
  }
  return last;
}

/// True if the last call that both dumps hold was made within the limit after which a rank would
/// have given up on the other. Dumps of open calls need not share one: then the last ones of each
/// count. A dump without calls may be of any time.
bool same_time(const FlightRecorderDump& first, const CallTimes& times,
               const FlightRecorderDump& dump) {
  const auto is_near = [](const FlightRecorderEntry& call, int64_t time_ns) {
    const int64_t limit_ms = call.timeout_ms > 0 ? call.timeout_ms : kDefaultTimeoutMs;
    return std::abs(call.time_created_ns - time_ns) / 1000000 <= limit_ms;
  };
  const FlightRecorderEntry* last = nullptr;
  for (auto entry = dump.entries.rbegin(); entry != dump.entries.rend(); ++entry) {
    if (entry->time_created_ns <= 0) continue;
    if (last == nullptr) last = &*entry;
    const auto other = times.find({entry->group, entry->collective_seq_id});
    if (other != times.end()) return is_near(*entry, other->second->time_created_ns);
  }
  const int64_t time = last_time(first);
  if (last == nullptr || time < 0) return dump.entries.empty() || first.entries.empty();
  return is_near(*last, time);
}

/// Dumps of the time of the first one. A stale dump may be that first one; then the others are left
/// out and nothing is concluded.
GroupMembers of_one_time(const GroupMembers& dumps) {
  if (dumps.empty()) return {};
  const CallTimes times = call_times(*dumps.begin()->second);
  GroupMembers result;
  for (const auto& [rank, dump] : dumps) {
    if (dump == dumps.begin()->second || same_time(*dumps.begin()->second, times, *dump))
      result[rank] = dump;
  }
  return result;
}

/// Fills in what the dumps of its ranks say.
void read_dumps(const GroupMembers& dumps, CallAccount& account) {
  GroupMembers members;
  for (const auto& [rank, dump] : dumps) {
    const bool is_in = std::ranges::binary_search(account.ranks, rank, {}, &LedgerRank::rank);
    if (is_in && group_named(*dump, account.group) != nullptr) members[rank] = dump;
  }
  members = of_one_time(members);
  for (LedgerRank& rank : account.ranks) {
    const auto found = members.find(rank.rank);
    if (found == members.end()) continue;
    rank.dump = found->second;
    rank.process = rank.dump->process;
    account.is_numbered_alike &= read_calls(*group_named(*rank.dump, account.group), rank);
  }
}

/// The processes of a communicator, or of a group; empty if one is not known.
template <typename Ranks, typename ProcessOf>
std::vector<int> processes_of(const Ranks& ranks, ProcessOf&& process_of) {
  std::vector<int> processes;
  for (const auto& rank : ranks) {
    const int process = process_of(rank);
    if (process < 0) return {};
    processes.push_back(process);
  }
  std::sort(processes.begin(), processes.end());
  return processes;
}

void tie_communicators(const Job& job, std::vector<CallAccount>& groups) {
  // Ranks of PyTorch are those of the job only where some dump was tied to a process.
  const bool are_the_jobs = std::ranges::any_of(
      job.flight_recorders, [](const FlightRecorderDump& dump) { return dump.process >= 0; });
  if (!are_the_jobs) return;
  std::map<int, int> process_of_number;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const auto [entry, is_new] =
        process_of_number.try_emplace(job.processes[p].rank, static_cast<int>(p));
    if (!is_new) entry->second = -1;
  }
  std::map<std::vector<int>, std::vector<int>> communicators;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const auto processes =
        processes_of(job.communicators[c].ranks, [](const CommRank& rank) { return rank.process; });
    communicators[processes].push_back(static_cast<int>(c));
  }
  std::map<std::vector<int>, std::vector<CallAccount*>> same;
  for (CallAccount& group : groups) {
    const auto processes = processes_of(group.ranks, [&](const LedgerRank& rank) {
      const auto found = process_of_number.find(rank.rank);
      return found == process_of_number.end() ? -1 : found->second;
    });
    if (!processes.empty()) same[processes].push_back(&group);
  }
  // Two groups of the same ranks have two communicators, and nothing says which is whose.
  for (const auto& [processes, accounts] : same) {
    const std::vector<int>& own = communicators[processes];
    if (accounts.size() == 1 && own.size() == 1) accounts.front()->communicator = own.front();
  }
}

}  // namespace

std::partial_ordering age_order(const FlightRecorderDump& one, const FlightRecorderDump& other) {
  /// Newest call, calls of all groups, and how many of them completed.
  using Age = std::array<int64_t, 3>;
  const auto age_of = [](const FlightRecorderDump& dump) {
    const auto counted = [](std::optional<int64_t> calls) {
      return std::clamp<int64_t>(calls.value_or(0), 0, int64_t{1} << 40);
    };
    Age age = {last_time(dump), 0, 0};
    for (const FlightRecorderEntry& entry : dump.entries) {
      age[2] += entry.state == RecordedState::Completed ? 1 : 0;
    }
    for (const FlightRecorderGroup& group : dump.groups) {
      age[1] += counted(group.last_enqueued);
      age[2] += counted(group.last_completed);
    }
    return age;
  };
  Age age = age_of(one);
  Age other_age = age_of(other);
  const bool are_dated = age[0] >= 0 && other_age[0] >= 0;
  if (!are_dated) age[0] = other_age[0] = -1;
  if (age != other_age) return age <=> other_age;
  const bool are_equal = are_dated || (one.entries == other.entries && one.groups == other.groups);
  return are_equal ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

std::vector<CallAccount> recorder_accounts(const Job& job) {
  if (job.runs > 1) return {};
  const GroupMembers dumps = dumps_by_rank(job);
  std::vector<CallAccount> result;
  for (auto& [name, account] : listed_groups(dumps)) {
    read_dumps(dumps, account);
    result.push_back(std::move(account));
  }
  tie_communicators(job, result);
  return result;
}

}  // namespace ncclog
