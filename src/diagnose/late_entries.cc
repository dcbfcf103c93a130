#include "diagnose/late_entries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "diagnose/watchdog_records.h"
#include "log/line_time.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

constexpr int64_t kNanosecondsPerMs = 1'000'000;

/// A rank's entry into the last call of a communicator.
struct Entry {
  Waiter waiter;
  SourceRef where;
  int64_t nanoseconds = 0;
};

/// The entries into the last call, earliest first; empty if they are not all known.
std::vector<Entry> last_entries(const Job& job, const CallFront& front) {
  std::vector<Entry> entries;
  if (!front.knows_all() || front.is_open()) return entries;
  std::set<bool> zones;
  for (const CommRank& rank : job.communicators[static_cast<size_t>(front.communicator)].ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    // What was called last is a collective only where no message may be.
    if (calls == nullptr || !calls->peers.empty()) return {};
    const LineTime time = find_line_time(calls->last_stamp);
    if (!time.known()) return {};
    zones.insert(time.has_zone);
    entries.push_back({waiter_of(rank), calls->last, time.nanoseconds});
  }
  if (zones.size() != 1) return {};
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.nanoseconds < b.nanoseconds; });
  return entries;
}

/// Place of the first entry that is late; entries.size() if none is, or if the late ones are not
/// the few.
size_t first_late(const std::vector<Entry>& entries, int64_t limit_ms) {
  if (entries.size() < 2) return entries.size();
  const int64_t usual = entries[(entries.size() - 1) / 2].nanoseconds;
  size_t first = 0;
  while (first < entries.size() &&
         entries[first].nanoseconds - usual < limit_ms * kNanosecondsPerMs) {
    ++first;
  }
  const size_t late = entries.size() - first;
  return 2 * late < entries.size() || (late == 1 && entries.size() == 2) ? first : entries.size();
}

/// Where the first watchdog line of an input stands.
std::map<uint32_t, SourceRef> first_timeouts(const Job& job) {
  std::map<uint32_t, SourceRef> first;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const JobUnit* unit = unit_of(job, work.line.where);
    if (unit == nullptr) continue;
    const auto [entry, is_new] = first.try_emplace(unit->input, work.line.where);
    if (!is_new) entry->second = std::min(entry->second, work.line.where);
  }
  return first;
}

/// Those whose entry into the last call stands behind the watchdogs' lines of others, all in one
/// stream, where the entries of most stand before them.
std::vector<LateEntry> late_by_order(const Job& job) {
  std::vector<LateEntry> result;
  const std::map<uint32_t, SourceRef> timeouts = first_timeouts(job);
  // Pieces of torn lines may stand anywhere.
  if (timeouts.size() != 1 || is_torn(job)) return result;
  const auto& [input, gave_up] = *timeouts.begin();
  for (const CallFront& front : call_fronts(job)) {
    if (!front.knows_all() || front.is_open() || front.furthest == 0) continue;
    std::vector<LateEntry> late;
    const auto& ranks = job.communicators[static_cast<size_t>(front.communicator)].ranks;
    const bool is_ordered = std::all_of(ranks.begin(), ranks.end(), [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr || !calls->peers.empty()) return false;
      const JobUnit* unit = unit_of(job, calls->last);
      if (unit == nullptr || unit->input != input) return false;
      if (gave_up < calls->last) {
        // Files of several ranks, one put behind the other, have no order.
        if (!(job.processes[static_cast<size_t>(rank.process)].first < gave_up)) return false;
        late.push_back({waiter_of(rank), front.communicator, front.furthest - 1, -1, calls->last});
      }
      return true;
    });
    const bool are_few = 2 * late.size() < ranks.size() || (late.size() == 1 && ranks.size() == 2);
    if (!is_ordered || !are_few) continue;
    for (const LateEntry& entry : late) {
      const bool is_new = std::none_of(result.begin(), result.end(), [&](const LateEntry& other) {
        return other.waiter == entry.waiter;
      });
      if (is_new) result.push_back(entry);
    }
  }
  return result;
}

}  // namespace

std::vector<LateEntry> late_entries(const Job& job, int64_t limit_ms) {
  std::map<Waiter, LateEntry> late;
  std::set<Waiter> victims;
  std::map<Waiter, size_t> waiting;
  for (const CallFront& front : call_fronts(job)) {
    const std::vector<Entry> entries = last_entries(job, front);
    const size_t first = first_late(entries, limit_ms);
    if (first == entries.size()) continue;
    const int64_t usual = entries[(entries.size() - 1) / 2].nanoseconds;
    for (size_t i = 0; i < first; ++i) victims.insert(entries[i].waiter);
    for (size_t i = first; i < entries.size(); ++i) {
      if (waiting[entries[i].waiter] >= first) continue;
      waiting[entries[i].waiter] = first;
      late[entries[i].waiter] = {entries[i].waiter, front.communicator, front.furthest - 1,
                                 (entries[i].nanoseconds - usual) / (1000 * kNanosecondsPerMs),
                                 entries[i].where};
    }
  }
  std::vector<LateEntry> result;
  for (const auto& [waiter, entry] : late) {
    if (!victims.contains(waiter)) result.push_back(entry);
  }
  return result.empty() && victims.empty() ? late_by_order(job) : result;
}

}  // namespace ncclog
