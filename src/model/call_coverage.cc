#include "model/call_coverage.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/flight_recorder.h"

namespace ncclog {
namespace {

bool prints_calls(const Job& job, const Process& process) {
  return std::ranges::any_of(process.logs, [&](size_t log) {
    return std::ranges::any_of(job.logs[log].comms.all, [](const CommSegment& segment) {
      return segment.calls->total + segment.traces->total > 0;
    });
  });
}

/// A log and its copy, or one that was rotated, hold a call twice or in an unknown order.
bool is_in_one_input(const Job& job, const CollectiveCalls& calls) {
  const JobUnit* first = unit_of(job, calls.first);
  const JobUnit* last = unit_of(job, calls.last);
  return first != nullptr && last != nullptr && first->input == last->input;
}

/// Where the rank is known from the communicator's end only, what came before it is missing.
bool has_its_beginning(const CommSegment& segment) {
  return segment.rank < 0 || segment.started.line != 0 || segment.completed.line != 0 ||
         segment.announced.line != 0;
}

/// Without initialisation lines processes are joined by the communicator's size alone. Several
/// communicators of one size cannot be told apart.
bool is_a_guess(const Job& job, const Communicator& comm, const CommRank& rank) {
  if (rank.rank >= 0 || !comm.inferred) return false;
  return std::ranges::any_of(job.communicators, [&](const Communicator& other) {
    return &other != &comm && other.inferred && other.nranks == comm.nranks;
  });
}

}  // namespace

const CollectiveCalls* calls_of(const Job& job, const CommRank& rank) {
  if (rank.log < 0 || rank.segment < 0) return nullptr;
  return &calls_of(segment_of(job, rank));
}

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || rank.process < 0) return CallCoverage::Unknown;
  const Process& process = nth_process(job, rank.process);
  // Calls may be missing in the middle: then the numbers of later ones mean nothing.
  const bool lines_are_missing =
      process.torn || process.restarted || job.losses.count(Loss::LineLeftOut) > 0;
  if (lines_are_missing || !prints_calls(job, process)) return CallCoverage::Unknown;
  if (calls->total > 0 && !is_in_one_input(job, *calls)) return CallCoverage::Unknown;
  if (!has_its_beginning(segment_of(job, rank)) || is_a_guess(job, comm, rank)) {
    return CallCoverage::Unknown;
  }
  return process.cut ? CallCoverage::AtLeast : CallCoverage::Counted;
}

namespace {

/// One rank of a communicator with both its witnesses, and how the calls that the log keeps go with
/// those that the dump holds.
struct Witnessed {
  int process = -1;
  uint64_t shown = 0;  ///< By the log.
  uint64_t made = 0;   ///< By the dump.
  bool agrees = false;
  bool differs = false;

  bool is_short() const { return made > shown + 1; }
};

std::vector<Witnessed> witnessed_ranks(const Job& job, const RecordedGroup& group) {
  std::map<int, const RecordedRank*> by_process;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump != nullptr && rank.dump->process >= 0) by_process[rank.dump->process] = &rank;
  }
  std::vector<Witnessed> result;
  const auto& ranks = nth_communicator(job, group.communicator).ranks;
  for (const CommRank& rank : ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    const auto made = by_process.find(rank.process);
    if (calls == nullptr || made == by_process.end()) continue;
    Witnessed both{rank.process, calls->collectives.size(),
                   static_cast<uint64_t>(made->second->enqueued)};
    for (const FlightRecorderEntry* entry : made->second->calls) {
      const auto index = static_cast<uint64_t>(entry->collective_seq_id - 1);
      const PlacedCall* call = calls->collectives.call(index);
      if (call != nullptr)
        (is_call_of_entry(call->call, *entry) ? both.agrees : both.differs) = true;
    }
    result.push_back(both);
  }
  return result;
}

/// Where log and dump of other ranks run side by side, and of none they do not.
void add_short_logs(const Job& job, const RecordedGroup& group, std::vector<ShortLog>& result) {
  if (group.communicator < 0 || !group.is_numbered_alike) return;
  bool is_confirmed = false;
  std::vector<ShortLog> found;
  for (const Witnessed& rank : witnessed_ranks(job, group)) {
    if (rank.is_short()) {
      found.push_back(
          {rank.process, group.communicator, rank.shown, rank.made, !rank.differs, ShortBy::Dump});
    } else if (rank.differs) {
      return;
    } else {
      is_confirmed |= rank.agrees;
    }
  }
  if (is_confirmed) result.insert(result.end(), found.begin(), found.end());
}

/// PyTorch up to 2.4 names the group of all ranks "0"; where none is named it is meant, too.
bool is_of_all_ranks(const Header& header) {
  return header.process_group_name == "default_pg" || header.process_group.empty() ||
         header.process_group == "0";
}

template <typename T, typename Use>
void for_each_message(const Job& job, const Process& process, Use&& use) {
  for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
    const Event event = parse_record(record);
    use(event.header, read_message<T>(event.message));
  });
}

/// What watchdogs say about the group of all ranks.
struct Watched {
  int64_t completed = 0;  ///< The last collective that one of them saw completed.
  size_t confirmed = 0;   ///< Works that gave up, and are the call of their number in the log.
  bool goes_with = true;  ///< None is another call: else the numbers do not go with the calls.
};

void watch(const Job& job, const CommRank& rank, Watched& watched) {
  const CollectiveCalls& calls = *calls_of(job, rank);
  watched.goes_with &= calls.peers.all.empty() && calls.peers.other == 0;
  const Process& process = nth_process(job, rank.process);
  std::set<int64_t> gave_up;
  for_each_message<WorkStatus>(job, process, [&](const Header& header, const WorkStatus& status) {
    if (!is_of_all_ranks(header)) return;
    watched.completed = std::max(watched.completed, status.last_completed);
    gave_up.insert(status.seq);
  });
  // The monitor of the group of all ranks prints this line.
  for_each_message<DumpSignal>(job, process, [&](const Header&, const DumpSignal& signal) {
    watched.completed = std::max(watched.completed, signal.last_completed);
  });
  for_each_message<WatchdogTimeout>(job, process, [&](const Header&, const WatchdogTimeout& work) {
    if (!gave_up.contains(work.seq) || work.seq < 1 || !is_one_call(work.op)) return;
    const PlacedCall* call = calls.collectives.call(static_cast<uint64_t>(work.seq - 1));
    if (call == nullptr) return;
    const bool is_it = is_call_of_work(call->call, work.op, work.numel_in, work.numel_out);
    watched.confirmed += is_it ? 1 : 0;
    watched.goes_with &= is_it;
  });
}

/// The communicator of all ranks; -1 if several have as many.
int communicator_of_all(const Job& job) {
  int found = -1;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    if (comm.inferred || comm.nranks != job.communicators.front().nranks) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(c);
  }
  return found;
}

/// The call of that number is one that ends on no rank before all have entered it, in the logs of
/// most ranks that show it.
bool was_entered_by_all(const Job& job, const Communicator& comm, int64_t number) {
  size_t such = 0;
  size_t others = 0;
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    const auto index = static_cast<uint64_t>(number - 1);
    if (calls == nullptr || calls->collectives.size() <= index) continue;
    const PlacedCall* call = calls->collectives.call(index);
    const bool needs_all = call != nullptr && traits_of(call->call.op.operation()).joins();
    ++(needs_all ? such : others);
  }
  return such > others;
}

/// A log with the same first calls as one that goes on.
bool ends_early(const Job& job, const Communicator& comm, const CallSequence& shown) {
  return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    return calls != nullptr && calls->collectives.size() > shown.size() &&
           calls->collectives.prefix_hash(shown.size()) == shown.hash();
  });
}

/// What a watchdog saw completed in the group of all ranks, all ranks had entered.
void add_short_of_completed(const Job& job, std::vector<ShortLog>& result) {
  const int communicator = communicator_of_all(job);
  if (communicator < 0 || job.runs > 1) return;
  const Communicator& comm = nth_communicator(job, communicator);
  Watched watched;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process >= 0 && calls_of(job, rank) != nullptr) watch(job, rank, watched);
  }
  const int64_t completed = watched.completed;
  // One match may be chance; of two ranks there is no second one to be had.
  const size_t wanted = comm.nranks > 2 ? 2 : 1;
  if (!watched.goes_with || watched.confirmed < wanted || completed < 1) return;
  if (!was_entered_by_all(job, comm, completed)) return;
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = rank.process < 0 ? nullptr : calls_of(job, rank);
    if (calls == nullptr) continue;
    const CallSequence& shown = calls->collectives;
    if (shown.size() + 1 >= static_cast<uint64_t>(completed)) continue;
    result.push_back({rank.process, communicator, shown.size(), static_cast<uint64_t>(completed),
                      ends_early(job, comm, shown), ShortBy::Watchdog});
  }
}

}  // namespace

std::vector<ShortLog> short_logs(const Job& job) {
  std::vector<ShortLog> result;
  if (!job.flight_recorders.empty()) {
    for (const RecordedGroup& group : recorded_groups(job)) add_short_logs(job, group, result);
  }
  if (result.empty() && !job.communicators.empty()) add_short_of_completed(job, result);
  std::ranges::stable_sort(result, {}, &ShortLog::communicator);
  return result;
}

void mark_short_logs(Job& job) {
  for (const ShortLog& log : short_logs(job)) {
    Process& process = job.processes[static_cast<size_t>(log.process)];
    (log.ends_early ? process.cut : process.torn) = true;
  }
}

namespace {

/// Ranks whose sequences are equal, and one of these sequences.
struct Alike {
  const CommRank* rank = nullptr;  ///< The first of them.
  const CallSequence* calls = nullptr;
  std::vector<int> members;
};

/// Of the ranks whose calls are covered.
std::vector<Alike> group_alike(const Job& job, const Communicator& comm) {
  std::map<std::pair<uint64_t, uint64_t>, Alike> groups;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CommRank& rank = comm.ranks[r];
    if (call_coverage(job, comm, rank) == CallCoverage::Unknown) continue;
    const CallSequence& calls = calls_of(job, rank)->collectives;
    Alike& group = groups[{calls.size(), calls.hash()}];
    if (group.members.empty()) group = {&rank, &calls, {}};
    group.members.push_back(static_cast<int>(r));
  }
  std::vector<Alike> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

/// The last checkpoint at or before call `index`; `of` has calls.
const CallCheckpoint& checkpoint_before(const Alike& of, uint64_t index) {
  return *std::prev(
      std::ranges::upper_bound(of.calls->checkpoints(), index, {}, &CallCheckpoint::index));
}

/// The calls [from, to) as far as they are kept, or can be read again from the checkpoint before
/// them.
std::vector<PlacedCall> calls_between(const Alike& of, uint64_t from, uint64_t to,
                                      const CallReader& reader) {
  std::vector<PlacedCall> calls;
  if (from >= of.calls->kept_from()) {
    for (uint64_t i = from; i < to; ++i) calls.push_back(*of.calls->call(i));
  } else if (reader) {
    const CallCheckpoint& point = checkpoint_before(of, from);
    calls = reader(*of.rank, point.where, to - point.index);
    const uint64_t skipped = std::min<uint64_t>(from - point.index, calls.size());
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(skipped));
  }
  return calls;
}

/// Hash of a prefix, read again from the checkpoint before it if need be. Nothing is kept between
/// calls: a stretch is at most what lies between two checkpoints.
std::optional<uint64_t> prefix_hash(const Alike& of, uint64_t length, const CallReader& reader) {
  if (const auto known = of.calls->prefix_hash(length)) return known;
  if (!reader || length > of.calls->size()) return std::nullopt;
  const CallCheckpoint& point = checkpoint_before(of, length);
  const std::vector<PlacedCall> calls = calls_between(of, point.index, length, reader);
  if (calls.size() != length - point.index) return std::nullopt;
  uint64_t hash = point.hash;
  for (const PlacedCall& call : calls) hash = extended_hash(hash, call.call);
  return hash;
}

/// Whether two sequences begin with the same `length` calls; nullopt: it is not known.
std::optional<bool> begin_alike(const Alike& a, const Alike& b, uint64_t length,
                                const CallReader& reader) {
  const auto hash_a = prefix_hash(a, length, reader);
  const auto hash_b = prefix_hash(b, length, reader);
  return hash_a && hash_b ? std::optional(*hash_a == *hash_b) : std::nullopt;
}

/// The range in which two sequences first differ; nullopt if the shorter one begins the longer one.
std::optional<std::pair<uint64_t, uint64_t>> difference_between(const Alike& a, const Alike& b,
                                                                const CallReader& reader) {
  uint64_t same = 0;
  uint64_t different = std::min(a.calls->size(), b.calls->size());
  if (begin_alike(a, b, different, reader).value_or(false)) return std::nullopt;
  // Bisects over the lengths at which hashes are at hand. Prefixes of the length `different`
  // differ, or are not known to be alike.
  std::vector<uint64_t> lengths = {std::max(a.calls->kept_from(), b.calls->kept_from())};
  for (const CallCheckpoint& point : a.calls->checkpoints()) lengths.push_back(point.index);
  for (const CallCheckpoint& point : b.calls->checkpoints()) lengths.push_back(point.index);
  std::ranges::sort(lengths);
  std::erase_if(lengths, [&](uint64_t length) {
    return length >= different || (!reader && !begin_alike(a, b, length, reader).has_value());
  });
  const auto differing = std::ranges::partition_point(
      lengths, [&](uint64_t length) { return begin_alike(a, b, length, reader).value_or(false); });
  if (differing != lengths.begin()) same = *std::prev(differing);
  if (differing != lengths.end()) different = *differing;
  const std::vector<PlacedCall> calls_a = calls_between(a, same, different, reader);
  const std::vector<PlacedCall> calls_b = calls_between(b, same, different, reader);
  for (size_t i = 0; i < std::min(calls_a.size(), calls_b.size()); ++i) {
    if (comparable(calls_a[i].call) != comparable(calls_b[i].call)) return {{same + i, same + i}};
  }
  return {{same, std::max(same, different - 1)}};
}

/// Who called what at `index`; empty where the calls of somebody cannot be told.
std::vector<CallCamp> camps_at(const std::vector<Alike>& groups, uint64_t index,
                               const CallReader& reader) {
  std::map<CallSignature, std::map<int, PlacedCall>> calls;
  for (const Alike& group : groups) {
    if (group.calls->size() <= index) continue;
    const std::vector<PlacedCall> there = calls_between(group, index, index + 1, reader);
    if (there.empty()) return {};
    for (const int member : group.members) {
      calls[comparable(there.front().call)][member] = there.front();
    }
  }
  return camps_of(calls);
}

std::optional<FirstDifference> first_difference(const std::vector<Alike>& groups,
                                                const CallReader& reader) {
  std::optional<FirstDifference> first;
  // The longest sequence stands last; all others are held against it.
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    const auto range = difference_between(groups.back(), groups[i], reader);
    // The earliest difference of all pairs is that of the communicator.
    if (!range || (first && first->index <= range->first)) continue;
    first = FirstDifference{range->first, range->second, {}};
  }
  if (first && first->is_exact()) first->camps = camps_at(groups, first->index, reader);
  return first;
}

}  // namespace

void find_differences(Job& job, const CallReader& reader) {
  for (Communicator& comm : job.communicators) {
    if (comm.difference && comm.difference->is_exact()) continue;
    comm.difference = first_difference(group_alike(job, comm), reader);
  }
}

}  // namespace ncclog
