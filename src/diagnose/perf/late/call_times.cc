#include "diagnose/perf/late/call_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/collectives.h"
#include "base/sorting.h"
#include "base/text.h"
#include "model/flight_recorder.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

std::string host_of_process(const Job& job, int process) {
  return process < 0 ? std::string() : nth_process(job, process).host;
}

/// Adds a rank, with what its file shows in words: what holds no lines is evidence as a whole.
void add_rank(RankTimes rank, SourceRef where, CallTimes& times) {
  std::vector<double> durations;
  for (const TimedCall& call : rank.calls) {
    if (std::isfinite(call.duration)) durations.push_back(call.duration);
  }
  std::string text =
      fmt::format("rank {}: times of {}", rank.rank, plural(rank.calls.size(), "call"));
  if (!durations.empty()) text += fmt::format(", median {:.1f} ms", median_of(durations) / 1000);
  times.evidence.push_back({{where.unit, 0}, std::move(text)});
  times.ranks.push_back(std::move(rank));
}

// The Flight Recorder's durations are those of the GPU's events around the call; without them there
// is only when the host called.

double microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

/// Adds what the entries of a rank's dump tell of its calls of one group.
void add_recorded_rank(const Job& job, const LedgerRank& known, CallTimes& times) {
  RankTimes rank;
  rank.rank = known.rank;
  rank.host = host_of_process(job, known.dump->process);
  bool has_durations = false;
  for (const LedgerCall& recorded : known.calls) {
    const FlightRecorderEntry* entry = recorded.entry;
    if (!traits_of(recorded_operation(entry->profiling_name)).joins()) continue;
    TimedCall& call = rank.calls.emplace_back();
    call.number = entry->collective_seq_id;
    if (entry->duration_ms >= 0) {
      call.duration = entry->duration_ms * 1000;
      has_durations = true;
    } else if (entry->time_created_ns > 0) {
      call.entered = microseconds(entry->time_created_ns);
    }
  }
  if (rank.calls.empty()) return;
  // Behind the first of them and before the last one: what the rank did beside them.
  const std::vector<FlightRecorderEntry>& all = known.dump->entries;
  std::set<const FlightRecorderEntry*> own;
  for (const LedgerCall& recorded : known.calls) own.insert(recorded.entry);
  const auto is_own = [&](const FlightRecorderEntry& entry) { return own.contains(&entry); };
  const auto first = std::ranges::find_if(all, is_own);
  const auto last = std::find_if(all.rbegin(), all.rend(), is_own).base();
  double elsewhere = 0;
  int64_t others = 0;
  int64_t untimed = 0;
  for (auto entry = first; first != all.end() && entry != last; ++entry) {
    if (is_own(*entry)) continue;
    ++others;
    if (entry->duration_ms < 0) ++untimed;
    elsewhere += std::max(entry->duration_ms, 0.0) * 1000;
  }
  const auto calls = static_cast<double>(rank.calls.size());
  rank.elsewhere_us = std::isfinite(elsewhere) ? elsewhere / calls : 0;
  constexpr int64_t kFew = 20;  // One in so many is no matter.
  const bool are_untimed =
      has_durations ? kFew * untimed > others : kFew * others > std::ssize(rank.calls);
  times.has_unknown_waits |= others > 0 && are_untimed;
  if (has_durations) {
    std::erase_if(rank.calls, [](const TimedCall& call) { return std::isnan(call.duration); });
  }
  add_rank(std::move(rank), known.dump->where, times);
}

void add_recorded(const Job& job, std::vector<CallTimes>& all) {
  if (job.flight_recorders.size() < 2) return;
  for (const CallAccount& group : call_ledger(job, CallSource::Recorder)) {
    if (!group.is_numbered_alike || group.ranks.size() < 2) continue;
    CallTimes times;
    times.source = "Flight Recorder";
    times.communicator =
        group.communicator >= 0 ? nth_communicator(job, group.communicator).id : group.group;
    if (group.communicator < 0 && !group.description.empty() && group.description != group.group) {
      times.communicator += " (" + group.description + ")";
    }
    times.nranks = static_cast<int>(group.ranks.size());
    for (const LedgerRank& rank : group.ranks) {
      if (rank.dump != nullptr) add_recorded_rank(job, rank, times);
    }
    if (times.ranks.size() > 1) all.push_back(std::move(times));
  }
}

// The Inspector numbers the calls of each function by themselves. The order in which the first rank
// made all of them gives them one number.

using InspectedNumbers = std::map<std::pair<OpName, int64_t>, int64_t>;

InspectedNumbers number_calls(const std::vector<const InspectedRank*>& ranks) {
  InspectedNumbers numbers;
  for (const InspectedCall& call : ranks.front()->calls) {
    numbers.try_emplace({call.op, call.number}, static_cast<int64_t>(numbers.size()));
  }
  return numbers;
}

/// The rank in the largest communicator of the files, by host and pid; -1: several.
using InspectedProcesses = std::map<std::pair<std::string, int64_t>, int>;

InspectedProcesses ranks_of_processes(const Job& job) {
  InspectedProcesses ranks;
  int largest = 0;
  for (const InspectedRank& rank : job.inspected) largest = std::max(largest, rank.nranks);
  for (const InspectedRank& rank : job.inspected) {
    if (rank.nranks != largest) continue;
    const auto [known, is_new] = ranks.try_emplace({rank.host, rank.pid}, rank.rank);
    if (!is_new && known->second != rank.rank) known->second = -1;
  }
  return ranks;
}

/// A process's global rank: that of the job, else its number in the largest communicator.
int global_rank(const Job& job, const InspectedProcesses& ranks, const InspectedRank& rank) {
  for (const Process& process : job.processes) {
    if (process.pid == rank.pid && process.host == rank.host && process.rank >= 0) {
      return process.rank;
    }
  }
  const auto known = ranks.find({rank.host, rank.pid});
  return known == ranks.end() || known->second < 0 ? rank.rank : known->second;
}

RankTimes inspected_times(const InspectedRank& rank, const InspectedNumbers& numbers) {
  RankTimes times;
  times.host = rank.host;
  double elsewhere = 0;
  for (const InspectedCall& call : rank.calls) {
    const auto number = numbers.find({call.op, call.number});
    elsewhere += call.elsewhere;
    if (number == numbers.end() || !traits_of(call.op.operation()).joins()) {
      elsewhere += call.duration;  // In a Broadcast it may wait, too.
      continue;
    }
    times.calls.push_back({number->second, call.started, call.duration});
  }
  times.elsewhere_us = elsewhere / static_cast<double>(std::max<size_t>(times.calls.size(), 1));
  std::ranges::stable_sort(times.calls, {}, &TimedCall::number);
  return times;
}

void add_inspected(const Job& job, std::vector<CallTimes>& all) {
  std::map<std::string, std::map<int, std::vector<const InspectedRank*>>> communicators;
  for (const InspectedRank& rank : job.inspected) {
    communicators[rank.communicator][rank.rank].push_back(&rank);
  }
  const InspectedProcesses processes = ranks_of_processes(job);
  for (const auto& [id, members] : communicators) {
    std::vector<const InspectedRank*> ranks;
    for (const auto& [rank, files] : members) {
      // Two files of one rank are of two runs, or copies.
      if (files.size() == 1) ranks.push_back(files.front());
    }
    if (ranks.size() < 2) continue;
    CallTimes times;
    times.source = "NCCL Inspector";
    times.communicator = id;
    times.nranks = ranks.front()->nranks;
    const InspectedNumbers numbers = number_calls(ranks);
    for (const InspectedRank* rank : ranks) {
      RankTimes known = inspected_times(*rank, numbers);
      known.rank = global_rank(job, processes, *rank);
      if (known.calls.empty()) continue;
      add_rank(std::move(known), rank->where, times);
    }
    if (times.ranks.size() > 1) all.push_back(std::move(times));
  }
}

// Lines of calls say when the host entered. Only where all ranks made the same calls from the first
// on are equal numbers the same call.

constexpr int64_t kSecond = 1'000'000'000;

/// True if a stamp tells fractions of a second.
bool is_fine_stamp(std::string_view stamp) {
  const LineTime time = find_line_time(stamp);
  return time.known() && time.nanoseconds % kSecond != 0;
}

/// The calls of a communicator's ranks that can be put side by side; empty if they cannot.
std::vector<std::pair<const CommRank*, const CollectiveCalls*>> comparable_calls(
    const Job& job, const Communicator& comm) {
  std::vector<std::pair<const CommRank*, const CollectiveCalls*>> result;
  if (comm.nranks < 2 || comm.difference || !comm.gaps.empty()) return result;
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls == nullptr || calls->collectives.size() < kLeastCalls) continue;
    if (!is_fine_stamp(calls->first_stamp) && !is_fine_stamp(calls->last_stamp)) continue;
    if (call_coverage(job, comm, rank) == CallCoverage::Unknown) continue;
    result.emplace_back(&rank, calls);
  }
  if (result.size() < 2) result.clear();
  return result;
}

/// True if its process makes calls on another communicator between those of this one.
bool calls_elsewhere(const Job& job, const CommRank& rank, uint64_t own) {
  constexpr uint64_t kFew = 20;
  for (const CommSegment& segment : job.logs[rank.log].comms.all) {
    if (&segment == &segment_of(job, rank) || segment.nranks == 1) continue;
    if (calls_of(segment).total * kFew > own) return true;
  }
  return false;
}

/// What stamps are multiples of, in nanoseconds.
int64_t resolution_of(const std::vector<TimedLine>& stamps) {
  for (const int64_t step : {kSecond, kSecond / 10, kSecond / 100, kSecond / 1000}) {
    const auto is_whole = [&](const TimedLine& stamp) { return stamp.nanoseconds % step == 0; };
    if (std::ranges::all_of(stamps, is_whole)) return step;
  }
  return 0;
}

void add_stamped(const Job& job, std::vector<CallTimes>& all) {
  if (job.call_stamps.empty()) return;
  const double resolution = microseconds(resolution_of(job.call_stamps));
  for (const Communicator& comm : job.communicators) {
    CallTimes times;
    times.source = "stamped lines";
    times.communicator = comm.id;
    times.nranks = comm.nranks;
    times.resolution_us = resolution;
    for (const auto& [rank, calls] : comparable_calls(job, comm)) {
      RankTimes known;
      known.rank = rank->process < 0 || nth_process(job, rank->process).rank < 0
                       ? rank->rank
                       : nth_process(job, rank->process).rank;
      known.host = host_of_process(job, rank->process);
      const CallSequence& made = calls->collectives;
      SourceRef last;
      for (uint64_t c = made.kept_from(); c < made.size(); ++c) {
        const PlacedCall& call = *made.call(c);
        if (!traits_of(call.call.op.operation()).joins()) continue;
        const auto stamp =
            std::ranges::lower_bound(job.call_stamps, call.where, {}, &TimedLine::where);
        if (stamp == job.call_stamps.end() || stamp->where != call.where) continue;
        TimedCall& timed = known.calls.emplace_back();
        timed.number = static_cast<int64_t>(c);
        timed.entered = microseconds(stamp->nanoseconds);
        last = call.where;
      }
      if (known.calls.empty()) continue;
      times.has_unknown_waits =
          times.has_unknown_waits || calls_elsewhere(job, *rank, calls->total);
      times.ranks.push_back(std::move(known));
      times.evidence.push_back({last, {}});
    }
    if (times.ranks.size() > 1) all.push_back(std::move(times));
  }
}

}  // namespace

std::vector<SourceRef> stamped_calls(const Job& job) {
  // Each unit is read from its beginning.
  constexpr size_t kMostUnits = 64;
  constexpr size_t kMostCommunicators = 16;
  std::vector<SourceRef> lines;
  std::set<uint64_t> units;
  size_t communicators = 0;
  for (const Communicator& comm : job.communicators) {
    const auto calls_of_ranks = comparable_calls(job, comm);
    if (calls_of_ranks.empty() || ++communicators > kMostCommunicators) continue;
    for (const auto& [rank, calls] : calls_of_ranks) {
      const CallSequence& made = calls->collectives;
      for (uint64_t c = made.kept_from(); c < made.size(); ++c) {
        lines.push_back(made.call(c)->where);
        units.insert(lines.back().unit);
      }
      if (units.size() > kMostUnits) return {};
    }
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<CallTimes> call_times(const Job& job) {
  std::vector<CallTimes> all;
  add_recorded(job, all);
  add_inspected(job, all);
  add_stamped(job, all);
  std::ranges::stable_sort(all, [](const CallTimes& a, const CallTimes& b) {
    return std::tuple(a.source, -a.nranks) < std::tuple(b.source, -b.nranks);
  });
  return all;
}

}  // namespace ncclog
