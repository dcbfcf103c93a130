#include "model/short_logs.h"

#include <algorithm>
#include <map>

#include "log/messages.h"
#include "log/read_message.h"
#include "model/call_coverage.h"
#include "model/framework_calls.h"
#include "model/recorded_group.h"

namespace ncclog {
namespace {

/// How the calls that a log keeps go with those that a dump holds.
struct Overlap {
  uint64_t same = 0;
  bool differs = false;
};

Overlap compare(const CallSequence& shown, const RecordedRank& made) {
  Overlap overlap;
  for (const FlightRecorderEntry* entry : made.calls) {
    const auto index = static_cast<uint64_t>(entry->collective_seq_id - 1);
    const PlacedCall* call = index < shown.size() ? shown.call(index) : nullptr;
    if (call == nullptr) continue;
    if (!is_call_of_entry(call->call, *entry)) {
      overlap.differs = true;
      return overlap;
    }
    ++overlap.same;
  }
  return overlap;
}

/// One rank of a communicator with both its witnesses.
struct Witnessed {
  int process = -1;
  const CallSequence* shown = nullptr;
  const RecordedRank* made = nullptr;

  bool is_short() const { return static_cast<uint64_t>(made->enqueued) > shown->size() + 1; }
};

std::vector<Witnessed> witnessed_ranks(const Job& job, const RecordedGroup& group) {
  std::map<int, const RecordedRank*> by_process;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump != nullptr && rank.dump->process >= 0) by_process[rank.dump->process] = &rank;
  }
  std::vector<Witnessed> result;
  const auto& ranks = job.communicators[static_cast<size_t>(group.communicator)].ranks;
  for (const CommRank& rank : ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    const auto made = by_process.find(rank.process);
    if (calls == nullptr || made == by_process.end()) continue;
    result.push_back({rank.process, &calls->collectives, made->second});
  }
  return result;
}

/// True if log and dump of other ranks run side by side, and of none they do not.
bool is_confirmed(const std::vector<Witnessed>& ranks) {
  size_t confirmed = 0;
  for (const Witnessed& rank : ranks) {
    if (rank.is_short()) continue;
    const Overlap overlap = compare(*rank.shown, *rank.made);
    if (overlap.differs) return false;
    if (overlap.same > 0) ++confirmed;
  }
  return confirmed > 0;
}

void add_short_logs(const Job& job, const RecordedGroup& group, std::vector<ShortLog>& result) {
  if (group.communicator < 0 || !group.is_numbered_alike) return;
  const std::vector<Witnessed> ranks = witnessed_ranks(job, group);
  if (!is_confirmed(ranks)) return;
  for (const Witnessed& rank : ranks) {
    if (!rank.is_short()) continue;
    result.push_back({rank.process, group.communicator, rank.shown->size(),
                      static_cast<uint64_t>(rank.made->enqueued),
                      !compare(*rank.shown, *rank.made).differs, ShortBy::Dump});
  }
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

/// What the watchdog of one process says about the group of all ranks.
struct Watched {
  int64_t completed = -1;        ///< The last collective that it saw completed.
  std::vector<int64_t> gave_up;  ///< Numbers of works on which it gave up, there.
};

Watched watched(const Job& job, const Process& process) {
  Watched result;
  for_each_message<WorkStatus>(job, process, [&](const Header& header, const WorkStatus& status) {
    if (!is_of_all_ranks(header)) return;
    result.completed = std::max(result.completed, status.last_completed);
    result.gave_up.push_back(status.seq);
  });
  // The monitor of the group of all ranks prints this line.
  for_each_message<DumpSignal>(job, process, [&](const Header&, const DumpSignal& signal) {
    result.completed = std::max(result.completed, signal.last_completed);
  });
  return result;
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

/// Works that gave up, and are the call of their number in the log of that process. False if one is
/// not: then the numbers do not go with the calls.
bool count_confirmed(const Job& job, const CommRank& rank, const Watched& said, size_t& confirmed) {
  const CollectiveCalls* calls = calls_of(job, rank);
  bool goes_with = calls->peers.empty() && calls->other_peers == 0;
  const Process& process = job.processes[static_cast<size_t>(rank.process)];
  for_each_message<WatchdogTimeout>(job, process, [&](const Header&, const WatchdogTimeout& work) {
    const bool is_of_all =
        std::find(said.gave_up.begin(), said.gave_up.end(), work.seq) != said.gave_up.end();
    if (!is_of_all || work.seq < 1 || !is_one_call(work.op)) return;
    const PlacedCall* call = calls->collectives.call(static_cast<uint64_t>(work.seq - 1));
    if (call == nullptr) return;
    if (is_call_of_work(call->call, work.op, work.numel_in, work.numel_out)) {
      ++confirmed;
    } else {
      goes_with = false;
    }
  });
  return goes_with;
}

/// Ends on no rank before all have entered it.
bool needs_all(const OpName& op) {
  return op == "AllReduce" || op == "AllGather" || op == "ReduceScatter";
}

/// The call of that number is such a one in the logs of most ranks that show it.
bool was_entered_by_all(const Job& job, const Communicator& comm, int64_t number) {
  size_t such = 0;
  size_t others = 0;
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    const auto index = static_cast<uint64_t>(number - 1);
    if (calls == nullptr || calls->collectives.size() <= index) continue;
    const PlacedCall* call = calls->collectives.call(index);
    ++(call != nullptr && needs_all(call->call.op) ? such : others);
  }
  return such > others;
}

/// A log with the same first calls as one that goes on.
bool ends_early(const Job& job, const Communicator& comm, const CallSequence& shown) {
  return std::any_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    return calls != nullptr && calls->collectives.size() > shown.size() &&
           calls->collectives.prefix_hash(shown.size()) == shown.hash();
  });
}

/// What a watchdog saw completed in the group of all ranks, all ranks had entered.
void add_short_of_completed(const Job& job, std::vector<ShortLog>& result) {
  const int communicator = communicator_of_all(job);
  if (communicator < 0 || !job.runs.empty()) return;
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  int64_t completed = 0;
  size_t confirmed = 0;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0 || calls_of(job, rank) == nullptr) continue;
    const Watched said = watched(job, job.processes[static_cast<size_t>(rank.process)]);
    completed = std::max(completed, said.completed);
    if (!count_confirmed(job, rank, said, confirmed)) return;
  }
  const size_t wanted = comm.nranks > 2 ? 2 : 1;
  if (confirmed < wanted || completed < 1 || !was_entered_by_all(job, comm, completed)) return;
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
  std::stable_sort(result.begin(), result.end(), [](const ShortLog& a, const ShortLog& b) {
    return a.communicator < b.communicator;
  });
  return result;
}

void mark_short_logs(Job& job) {
  for (const ShortLog& log : short_logs(job)) {
    Process& process = job.processes[static_cast<size_t>(log.process)];
    (log.ends_early ? process.cut : process.torn) = true;
  }
}

}  // namespace ncclog
