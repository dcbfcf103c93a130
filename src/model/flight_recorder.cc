#include "model/flight_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>

#include "base/collectives.h"
#include "model/job.h"

namespace ncclog {

std::string_view to_string(RecordedState state) {
  constexpr std::array<std::string_view, 4> kNames = {"", "scheduled", "started", "completed"};
  return kNames[static_cast<size_t>(state)];
}

std::string sizes_text(const TensorSizes& sizes, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, sizes.size()); ++i) {
    text += fmt::format("{}[{}]", i == 0 ? "" : " ", fmt::join(sizes[i], ", "));
  }
  if (sizes.size() > most) text += fmt::format(" and {} more", sizes.size() - most);
  return text;
}

namespace {

/// Complex numbers count twice; what NCCL up to 2.21 prints in bytes, as often as they have bytes.
bool count_fits(const CallSignature& call, int64_t elements) {
  constexpr std::array<int64_t, 5> kFactors = {1, 2, 4, 8, 16};
  const bool may_be_bytes = traits_of(call.op.operation()).may_count_bytes();
  const size_t factors = may_be_bytes ? kFactors.size() : 2;
  return std::any_of(kFactors.begin(), kFactors.begin() + factors, [&](int64_t factor) {
    return call.count % factor == 0 && call.count / factor == elements;
  });
}

}  // namespace

const OperationAlias* find_recorded_alias(std::string_view profiling_name) {
  constexpr std::string_view kBackend = "nccl:";
  if (!profiling_name.starts_with(kBackend)) return nullptr;
  profiling_name.remove_prefix(kBackend.size());
  return find_operation_alias(profiling_name.substr(0, profiling_name.find(' ')),
                              AliasSource::Recorder);
}

Operation recorded_operation(std::string_view profiling_name) {
  const OperationAlias* found = find_recorded_alias(profiling_name);
  return found == nullptr ? Operation::Unknown : found->operation;
}

AgreedSizes agreed_sizes(const OperationAlias* name) {
  if (name == nullptr || !name->is_uneven) return {true, true};
  const OperationTraits& traits = traits_of(name->operation);
  if (traits.has_root()) return {!traits.only_root_sends(), !traits.only_root_receives()};
  return {traits.sends_blocks() && !traits.receives_blocks(),
          traits.receives_blocks() && !traits.sends_blocks()};
}

int64_t element_count(const TensorSizes& sizes) {
  if (sizes.empty()) return -1;
  constexpr int64_t kMost = int64_t{1} << 60;
  int64_t all = 0;
  for (const std::vector<int64_t>& tensor : sizes) {
    int64_t elements = 1;
    for (const int64_t dimension : tensor) {
      if (dimension < 0) return -1;
      if (dimension > 0 && elements > kMost / dimension) return -1;
      elements *= dimension;
    }
    if (all > kMost - elements) return -1;
    all += elements;
  }
  return all;
}

bool is_one_call(std::string_view op) {
  const OperationAlias* name = find_operation_alias(op, AliasSource::Watchdog);
  return name != nullptr && !name->is_uneven && traits_of(name->operation).is_collective();
}

bool is_call_of_work(const CallSignature& call, std::string_view op, int64_t numel_in,
                     int64_t numel_out) {
  const Operation operation = operation_of(op, AliasSource::Watchdog);
  if (!is_one_call(op) || call.op.operation() != operation) return false;
  const int64_t elements = traits_of(operation).counts_received() ? numel_out : numel_in;
  return elements >= 0 && count_fits(call, elements);
}

bool is_call_of_entry(const CallSignature& call, const FlightRecorderEntry& entry) {
  const Operation operation = recorded_operation(entry.profiling_name);
  if (call.op.view() != name_of(operation)) return false;
  const bool by_output = traits_of(operation).counts_received();
  const int64_t elements = element_count(by_output ? entry.output_sizes : entry.input_sizes);
  return elements < 0 || count_fits(call, elements);
}

namespace {

using GroupMembers = std::map<int, const FlightRecorderDump*>;

/// Ranks of all groups together; no job has nearly as many, and a hostile dump may claim any
/// number.
constexpr size_t kMostRanks = size_t{1} << 20;

/// No job comes as far; numbers beyond are no numbers of calls.
constexpr int64_t kMostCalls = int64_t{1} << 53;

/// PyTorch's own default, for dumps that name no limit.
constexpr int64_t kDefaultTimeoutMs = 30 * 60 * 1000;

/// Dumps by rank; those of a rank that has several are left out.
GroupMembers dumps_by_rank(const Job& job) {
  std::map<int, int> count;
  for (const FlightRecorderDump& dump : job.flight_recorders) ++count[dump.rank];
  GroupMembers result;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.rank >= 0 && count[dump.rank] == 1) result[dump.rank] = &dump;
  }
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

/// What the dumps say about the groups of one name.
struct NamedGroup {
  std::string description;
  std::vector<int> ranks;
  bool agreed = true;
};

std::map<std::string, NamedGroup> named_groups(const GroupMembers& dumps) {
  std::map<std::string, NamedGroup> groups;
  for (const auto& [rank, dump] : dumps) {
    for (const FlightRecorderGroup& group : dump->groups) {
      if (group.name.empty() || group.ranks.empty()) continue;
      const std::vector<int> ranks = sorted_ranks(group);
      NamedGroup& named = groups.try_emplace(group.name, NamedGroup{{}, ranks}).first->second;
      if (named.description.empty()) named.description = group.description;
      named.agreed &= named.ranks == ranks;
    }
  }
  return groups;
}

bool is_point_to_point(const FlightRecorderEntry& entry) {
  return entry.is_p2p.value_or(false) || entry.p2p_seq_id > 0 ||
         traits_of(recorded_operation(entry.profiling_name)).is_message() ||
         entry.profiling_name.find("coalesced") != std::string::npos;
}

bool is_of(const FlightRecorderEntry& entry, const FlightRecorderGroup& group) {
  return entry.group.empty() ? entry.pg_id >= 0 && entry.pg_id == group.pg_id
                             : entry.group == group.name;
}

/// Fills in what the dump says. False if its numbers may mean other calls than those of others.
bool read_calls(const FlightRecorderGroup& group, RecordedRank& rank) {
  bool is_plain = true;
  rank.is_idle = true;
  for (const FlightRecorderEntry& entry : rank.dump->entries) {
    // Of all groups: a rank that waits in another one is not idle here.
    rank.is_idle &= !is_open(entry);
    if (!is_of(entry, group)) continue;
    is_plain &= !is_point_to_point(entry) && entry.collective_seq_id > 0 &&
                entry.collective_seq_id < kMostCalls;
    rank.calls.push_back(&entry);
    rank.enqueued = std::max(rank.enqueued, entry.collective_seq_id);
    if (entry.state == RecordedState::Completed) {
      rank.completed = std::max(rank.completed, entry.collective_seq_id);
    }
  }
  std::ranges::stable_sort(rank.calls, {}, &FlightRecorderEntry::collective_seq_id);
  is_plain &= std::ranges::adjacent_find(rank.calls, {}, &FlightRecorderEntry::collective_seq_id) ==
              rank.calls.end();
  rank.enqueued = std::max(rank.enqueued, group.last_enqueued.value_or(0));
  rank.completed = std::max(rank.completed, group.last_completed.value_or(0));
  return is_plain && rank.enqueued < kMostCalls;
}

/// When each call of a dump was made, by group and number.
using CallTimes = std::map<std::pair<std::string_view, int64_t>, const FlightRecorderEntry*>;

CallTimes call_times(const FlightRecorderDump& dump) {
  CallTimes times;
  for (const FlightRecorderEntry& entry : dump.entries) {
    if (entry.time_created_ns > 0 && !entry.group.empty() && !is_point_to_point(entry)) {
      times[{entry.group, entry.collective_seq_id}] = &entry;
    }
  }
  return times;
}

/// True if the last call that both dumps hold was made within the limit after which a rank would
/// have given up on the other.
bool same_time(const CallTimes& times, const FlightRecorderDump& dump) {
  for (auto entry = dump.entries.rbegin(); entry != dump.entries.rend(); ++entry) {
    if (entry->time_created_ns <= 0) continue;
    const auto other = times.find({entry->group, entry->collective_seq_id});
    if (other == times.end()) continue;
    const int64_t limit_ms = entry->timeout_ms > 0 ? entry->timeout_ms : kDefaultTimeoutMs;
    const int64_t apart_ns = std::abs(entry->time_created_ns - other->second->time_created_ns);
    return apart_ns / 1000000 <= limit_ms;
  }
  return false;
}

/// Dumps of the time of the first one. A stale dump may be that first one; then the others are left
/// out and nothing is concluded.
GroupMembers of_one_time(const GroupMembers& dumps) {
  if (dumps.empty()) return {};
  const CallTimes times = call_times(*dumps.begin()->second);
  GroupMembers result;
  for (const auto& [rank, dump] : dumps) {
    if (dump == dumps.begin()->second || same_time(times, *dump)) result[rank] = dump;
  }
  return result;
}

RecordedGroup build_group(const std::string& name, const NamedGroup& named,
                          const GroupMembers& dumps) {
  RecordedGroup result{.name = name, .description = named.description};
  GroupMembers members;
  for (const auto& [rank, dump] : dumps) {
    const bool is_in = std::ranges::binary_search(named.ranks, rank);
    if (is_in && group_named(*dump, name) != nullptr) members[rank] = dump;
  }
  members = of_one_time(members);
  for (const int number : named.ranks) {
    RecordedRank& rank = result.ranks.emplace_back();
    rank.rank = number;
    const auto found = members.find(number);
    if (found == members.end()) continue;
    rank.dump = found->second;
    result.is_numbered_alike &= read_calls(*group_named(*rank.dump, name), rank);
  }
  return result;
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

void tie_communicators(const Job& job, std::vector<RecordedGroup>& groups) {
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
  // Two groups of the same ranks have two communicators, and nothing says which is whose.
  struct Same {
    std::vector<int> communicators;
    std::vector<RecordedGroup*> groups;
  };
  std::map<std::vector<int>, Same> by_processes;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const auto processes =
        processes_of(job.communicators[c].ranks, [](const CommRank& rank) { return rank.process; });
    by_processes[processes].communicators.push_back(static_cast<int>(c));
  }
  for (RecordedGroup& group : groups) {
    const auto processes = processes_of(group.ranks, [&](const RecordedRank& rank) {
      const auto found = process_of_number.find(rank.rank);
      return found == process_of_number.end() ? -1 : found->second;
    });
    by_processes[processes].groups.push_back(&group);
  }
  by_processes.erase(std::vector<int>());  // Some process is not known.
  for (const auto& [processes, same] : by_processes) {
    if (same.groups.size() != 1 || same.communicators.size() != 1) continue;
    same.groups.front()->communicator = same.communicators.front();
  }
}

}  // namespace

const FlightRecorderEntry* RecordedRank::call(int64_t number) const {
  const auto found =
      std::ranges::lower_bound(calls, number, {}, &FlightRecorderEntry::collective_seq_id);
  return found == calls.end() || (*found)->collective_seq_id != number ? nullptr : *found;
}

std::vector<RecordedGroup> recorded_groups(const Job& job) {
  // Ranks of two runs have the same numbers, and no dump says of which run it is.
  if (job.runs > 1) return {};
  const GroupMembers dumps = dumps_by_rank(job);
  std::vector<RecordedGroup> result;
  size_t ranks = 0;
  for (const auto& [name, named] : named_groups(dumps)) {
    ranks += named.ranks.size();
    if (ranks > kMostRanks) break;
    if (named.agreed) result.push_back(build_group(name, named, dumps));
  }
  tie_communicators(job, result);
  return result;
}

bool is_open(const FlightRecorderEntry& entry) {
  return entry.state == RecordedState::Scheduled || entry.state == RecordedState::Started;
}

}  // namespace ncclog
