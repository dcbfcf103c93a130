// Who holds a hanging job up?
//
//   a watchdog gave up; rank 5 never entered the world's call 29, and waits for nobody itself
//       → job.rank_missing_in_collective = yes, rank 5
//   ranks 0 and 1 each entered first what the other entered second
//       → job.collective_order_inverted = yes
//   all entered the same calls, rank 5 minutes after the others had given up
//       → job.rank_missing_in_collective = yes, rank 5, "696 s after the others"
//   nothing for 22 s where steps came every 0.1 s, then SIGTERM
//       → job.stalled_before_end = yes
//
// Who is behind says nothing in a job that runs, so the facts ask first whether it stood still
// (diagnose/outcome/stop_evidence.h), then who waits for whom (diagnose/calls/who_waits.h), and
// then whether somebody else diverged (diagnose/calls/diverged.h): then being late is that one's
// doing.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/messages.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/watchdog.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/event.h"
#include "model/call_coverage.h"
#include "model/job.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 4;

// Who came so late to a collective that the others had given up?
//
//   12:00:01 ranks 0-4,6,7 enter call 29, and time out at 12:10:01
//   12:11:37 rank 5 enters call 29                       → rank 5, 696 s late
//
// Without times such a job looks as if all ranks had entered. Clocks of hosts differ by seconds,
// the limits that people set are minutes: only lateness of that order counts. A rank that was late
// because it waited for another one in another communicator is a victim, and not listed.

struct LateEntry {
  Waiter waiter;
  int communicator = -1;  ///< Into Job::communicators: where most ranks waited for it.
  uint64_t call = 0;      ///< Number of the call there, from 0.
  int64_t seconds = 0;    ///< After the middle one of the ranks; -1: known by the order of lines.
  SourceRef where;        ///< Of its call.
};

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
  for (const CommRank& rank : nth_communicator(job, front.communicator).ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    // What was called last is a collective only where no message may be.
    if (calls == nullptr || !calls->peers.empty()) return {};
    const LineTime time = find_line_time(calls->last_stamp);
    if (!time.known()) return {};
    zones.insert(time.has_zone);
    entries.push_back({waiter_of(rank), calls->last, time.nanoseconds});
  }
  // Times with a zone and without one do not compare.
  if (zones.size() != 1) return {};
  std::ranges::stable_sort(entries, {}, &Entry::nanoseconds);
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
  return are_few(late, first) ? first : entries.size();
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
    const auto& ranks = nth_communicator(job, front.communicator).ranks;
    const bool is_ordered = std::ranges::all_of(ranks, [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr || !calls->peers.empty()) return false;
      const JobUnit* unit = unit_of(job, calls->last);
      if (unit == nullptr || unit->input != input) return false;
      if (gave_up < calls->last) {
        // Files of several ranks, one put behind the other, have no order.
        if (!(nth_process(job, rank.process).first < gave_up)) return false;
        late.push_back({waiter_of(rank), front.communicator, front.furthest - 1, -1, calls->last});
      }
      return true;
    });
    if (!is_ordered || !are_few(late.size(), ranks.size() - late.size())) continue;
    for (const LateEntry& entry : late) {
      const bool is_known = std::ranges::count(result, entry.waiter, &LateEntry::waiter) > 0;
      if (!is_known) result.push_back(entry);
    }
  }
  return result;
}

/// Those who entered the last call of a communicator at least `limit_ms` > 0 after most others, in
/// order. Where no time tells, those whose line stands behind the watchdogs' lines in one stream.
/// Empty where neither compares, or where ranks are not covered.
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

// What have all ranks entered, where nobody is missing?
//
//   "all 4 ranks of communicator 0x9c… (4 ranks) made the same 28 calls"
//   "all 4 ranks of … made the same collective, and all 12 messages between ranks have both ends"

/// Sent on communicators all of whose ranks are counted.
uint64_t messages_of(const Job& job) {
  uint64_t messages = 0;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    if (!call_front(job, static_cast<int>(c)).counts_all()) continue;
    for (const CommRank& rank : job.communicators[c].ranks) {
      for (const auto& [peer, totals] : calls_of(job, rank)->peers) messages += totals.sent.count;
    }
  }
  return messages;
}

/// In words for a sentence, of the first of `fronts` and of the messages of all communicators.
/// Expects closed fronts and messages that match. Empty: no call of a communicator whose ranks are
/// all known. Pure.
std::string entered_words(const Job& job, const std::vector<CallFront>& fronts) {
  const uint64_t messages = messages_of(job);
  const std::string met =
      messages == 1 ? "the only message between ranks has both ends"
                    : fmt::format("all {} messages between ranks have both ends", messages);
  if (fronts.empty()) return messages == 0 ? "" : met;
  const CallFront& front = fronts.front();
  const std::string_view call = messages == 0 ? "call" : "collective";
  const std::string calls = front.front == 1 ? fmt::format("the same {}", call)
                                             : fmt::format("the same {} {}s", front.front, call);
  const std::string made =
      fmt::format("all {} ranks of {} made {}", nth_communicator(job, front.communicator).nranks,
                  communicator_words(job, front.communicator), calls);
  return messages == 0 ? made : made + ", and " + met;
}

// What do the logs of a job show that no watchdog ended?
//
//   steps 0.1 s apart, 22 s of nothing, SIGTERM     → job.stalled_before_end = yes
//   steps 0.4 s apart, SIGTERM 0.4 s later          → job.ended_at_work = yes
//   communicators complete, calls, and then nothing → job.ends_at_work = yes: "of 4 processes …"
//
// The first is a hang that somebody ended; the second is no fault of the job. The third may be
// either, or a copy of a log that goes on.

FactValue stalled_before_end(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Silence) return unknown();
  const std::optional<Silence>& silence = silence_before_end(job);
  return yes(fmt::format("nothing was printed for {}, where work had shown every {}; then {}",
                         duration_words(silence->nanoseconds), duration_words(silence->usual),
                         silence->ended),
             {silence->last, silence->end});
}

/// Somebody ended it, and nothing shows that it had failed or stood still.
FactValue ended_at_work(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Ended) return unknown();
  if (outcome_of(job).job.state != EndState::Stopped) return unknown();
  const std::optional<Silence>& silence = silence_before_end(job);
  std::string what = stop->what;
  if (silence && silence->usual > 0) {
    what += fmt::format("; its last sign of life is {} older, where work had shown every {}",
                        duration_words(silence->nanoseconds), duration_words(silence->usual));
  }
  return yes(std::move(what), {stop->line});
}

/// The job stood still, though no watchdog says so; nullopt: unknown.
std::optional<StopEvidence> silent_stop(const Job& job) {
  auto stop = stop_evidence(job);
  const bool is_silent = stop && (stop->by == StopBy::Silence || stop->by == StopBy::Stated);
  return is_silent ? std::move(stop) : std::nullopt;
}

/// How it is known that the job stood still, where no watchdog says so: the end of a sentence.
FactValue hung_silently(const Job& job, const Instance&) {
  const auto stop = silent_stop(job);
  return stop ? yes("; " + stop->what, {stop->line}) : unknown();
}

bool is_any_open(const Waits& waits) {
  return std::ranges::any_of(waits.fronts, &CallFront::is_open);
}

/// What the calls say of a hang that the user saw.
FactValue stated_hung(const Job& job, const Instance&) {
  const auto stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Stated) return unknown();
  const Waits& waits = find_waits(job);
  const bool is_closed = waits.unmatched.empty() && !is_any_open(waits);
  const std::string entered = is_closed ? entered_words(job, waits.fronts) : "";
  return yes(entered.empty() ? "these logs do not show the calls of all ranks" : entered,
             {stop->line});
}

/// Nothing says that it came to an end by itself, and nothing shows that it worked up to its end.
FactValue ends_at_work(const Job& job, const Instance&) {
  if (job.stated && *job.stated != StatedOutcome::Hung) return no();
  const auto stop = stop_evidence(job);
  // The lines may carry no times, or it had been silent for longer than before and not for long
  // enough.
  const std::optional<Silence>& silence = silence_before_end(job);
  const bool was_perhaps_still =
      outcome_of(job).job.state == EndState::Stopped && (!silence || !silence->is_usual);
  if (stop && stop->by == StopBy::Ended && was_perhaps_still) {
    return yes(fmt::format("The job was ended from outside ({}), and these lines do not show "
                           "whether it still worked then",
                           stop->what),
               {stop->line});
  }
  if (stop && stop->by != StopBy::Stated) return no();
  // A log that ends inside a line was copied while somebody wrote, or lost its end: who is behind
  // there may have gone on.
  const bool is_any_cut = std::ranges::any_of(job.processes, &Process::cut);
  if (outcome_of(job).job.state != EndState::Unfinished || is_any_cut) return unknown();
  size_t open = 0;
  for (const EndOf& end : outcome_of(job).processes) open += end.state == EndState::Unfinished;
  return yes(
      fmt::format("The logs of {} process{} end in the middle of the work, and nothing says why",
                  open, open == 1 ? "" : "es"));
}

/// Messages of which only one end is there when the logs end.
FactValue messages_open(const Job& job, const Instance&) {
  const Waits& waits = find_waits(job);
  std::vector<std::string> phrases;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    if (messages.sizes_differ) continue;
    if (phrases.size() == kMostNamed) break;
    const auto one = [&](int m) { return members_words(job, messages.communicator, {m}); };
    phrases.push_back(fmt::format("{} had sent {} messages to {}, which had received {}",
                                  one(messages.sender), messages.sent, one(messages.receiver),
                                  messages.received));
  }
  if (phrases.empty()) return unknown();
  // It goes on behind what is said of collectives.
  return yes((is_any_open(waits) ? "; " : "") + join(phrases, "; "));
}

// Who holds a hanging job up?
//
//   a watchdog gave up; rank 5 never entered the world's call 29, and waits for nobody itself
//       → job.rank_missing_in_collective = yes, rank 5
//   no line says that the job stopped: the same counts may be a snapshot of a running job
//       → job.rank_behind = yes, and named is at most who alone is behind
//
// Calls are enqueued ahead of their execution, so that ranks are a few calls apart says nothing in
// a job that runs. Where somebody waited until a limit, or all were silent for long, all others had
// the time to come to where they are stuck, and who waits for nobody holds them up. A rank whose
// own watchdog fired waits in a collective that it entered, so it is no such rank.

/// "ranks 0-4,6,7 entered call 29, AllReduce of 8 float32 (sum), of communicator 0x9c…".
std::string front_words(const Job& job, const CallFront& front) {
  const PlacedCall* call = open_call(job, front);
  const std::string what = call == nullptr ? "" : fmt::format(", {},", call_words(call->call));
  return fmt::format("{} entered call {}{} of {}",
                     members_words(job, front.communicator, front.ahead), front.front + 1, what,
                     communicator_words(job, front.communicator));
}

std::string late_words(const Job& job, const Waiter& waiter, FactValue& value) {
  Evidence line;
  const std::string last = last_call_words(job, waiter, &line);
  if (line.where.line != 0) value.evidence.push_back(line);
  const std::string did = last.empty() ? "it made no call at all" : "its last call was " + last;
  return fmt::format("{} did not; {}", waiter_words(job, waiter), did);
}

void add_front_evidence(const Job& job, const CallFront& front, FactValue& value) {
  if (const PlacedCall* call = open_call(job, front)) value.evidence.push_back({call->where, {}});
}

/// The front in which most ranks wait for one of those that are named.
const CallFront* widest_front(const Waits& waits, const std::vector<Holdup>& holdups) {
  const CallFront* widest = nullptr;
  for (const Holdup& holdup : holdups) {
    for (const int f : holdup.fronts) {
      const CallFront& front = waits.fronts[static_cast<size_t>(f)];
      if (widest == nullptr || front.ahead.size() > widest->ahead.size()) widest = &front;
    }
  }
  return widest;
}

/// Those who entered after the others had given up.
std::vector<LateEntry> too_late(const Job& job) {
  const std::vector<TimedOutWork>& works = timed_out_work(job);
  int64_t shortest_ms = INT64_MAX;
  for (const TimedOutWork& work : works) {
    if (work.timeout_ms > 0) shortest_ms = std::min(shortest_ms, work.timeout_ms);
  }
  if (shortest_ms == INT64_MAX) return {};  // None gave up, or no limit is printed.
  std::vector<LateEntry> late = late_entries(job, shortest_ms);
  // Whose own watchdog had given up before it entered, was waiting then like the others. Where the
  // order of the two lines is unknown, it may have been.
  std::erase_if(late, [&](const LateEntry& entry) {
    return std::ranges::any_of(works, [&](const TimedOutWork& work) {
      return work.process == entry.waiter.process &&
             (work.line.where.unit != entry.where.unit || work.line.where < entry.where);
    });
  });
  return late;
}

FactValue came_too_late(const Job& job) {
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const LateEntry& late : too_late(job)) {
    blame(job, late.waiter, value);
    if (phrases.size() == kMostNamed) continue;
    place_in(job, late.communicator, value);
    value.evidence.push_back({late.where, {}});
    const std::string when =
        late.seconds < 0 ? std::string("only when the others had given up")
                         : fmt::format("{} s after the others, who had given up", late.seconds);
    phrases.push_back(fmt::format("{} entered call {} of {} {}", waiter_words(job, late.waiter),
                                  late.call + 1, communicator_words(job, late.communicator), when));
  }
  if (phrases.empty()) return unknown();
  value.what = join(phrases, "; ");
  return value;
}

/// Hosts run ahead: beside one that left its program others may be late who wait behind it, in
/// calls that all have made.
void keep_departed(const Job& job, const std::vector<Departure>& left, std::vector<Holdup>& late) {
  // A watchdog tells who waits; after a silence, who seems to wait for nobody may wait as well.
  const bool is_silent = timed_out_work(job).empty();
  const std::vector<Waiter>& unlike_twins = departed_from_twins(job);
  const auto departed = [&](const Holdup& holdup) {
    const Waiter& waiter = holdup.waiters.front();
    return (is_silent && std::ranges::count(unlike_twins, waiter) > 0) ||
           std::ranges::count(left, waiter, &Departure::waiter) > 0;
  };
  if (std::ranges::any_of(late, departed)) {
    std::erase_if(late, [&](const Holdup& holdup) { return !departed(holdup); });
  }
}

/// Some rank that holds others up left out a message, and it is none of those that seem to be late.
bool others_departed_in_message(const Job& job, const Waits& waits,
                                const std::vector<Holdup>& late) {
  return std::ranges::any_of(waits.unmatched, [&](const UnmatchedMessages& messages) {
    const auto departure = message_departure(job, messages);
    return departure && holds_up(waits, departure->waiter) && !is_one_of(late, departure->waiter);
  });
}

FactValue rank_missing_in_collective(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  std::vector<Holdup> late = idle_holdups(job, waits);
  std::erase_if(late, [](const Holdup& holdup) { return holdup.fronts.empty(); });
  const CallFront* front = widest_front(waits, late);
  if (front == nullptr) return came_too_late(job);
  const std::vector<Departure> left = find_departures(job).odd;
  if (others_departed(left, late, &Departure::waiter)) return unknown();
  keep_departed(job, left, late);
  if (others_departed_in_message(job, waits, late)) return unknown();
  // A watchdog tells who waits; after a silence, who seems to wait for nobody may wait as well.
  const bool is_silent = timed_out_work(job).empty();
  if (is_silent && others_departed(departed_from_twins(job), late)) return unknown();
  const bool is_vague = is_silent || timeouts_name_no_process(job);
  if (is_vague && !message_conflicts(job).empty()) return unknown();
  // Where most ranks are behind, one has run ahead.
  if (!are_few(late.size(), front->ahead.size())) return unknown();
  FactValue value = yes({});
  place_in(job, front->communicator, value);
  add_front_evidence(job, *front, value);
  std::vector<std::string> phrases;
  for (const Holdup& holdup : late) {
    const Waiter& waiter = holdup.waiters.front();
    blame(job, waiter, value);
    if (phrases.size() < kMostNamed) phrases.push_back(late_words(job, waiter, value));
  }
  value.what = fmt::format("{}; {}", front_words(job, *front), join(phrases, "; "));
  if (late.size() > kMostNamed)
    value.what += fmt::format("; and {} more", late.size() - kMostNamed);
  return value;
}

/// The open front that a reader should look at first: the one in which most ranks wait.
const CallFront* largest_open(const std::vector<CallFront>& fronts) {
  const CallFront* largest = nullptr;
  for (const CallFront& front : fronts) {
    if (!front.is_open()) continue;
    if (largest == nullptr || front.ahead.size() > largest->ahead.size()) largest = &front;
  }
  return largest;
}

/// Where all ranks but one made equally many calls, and that one waits for nobody, it is worth a
/// look; in a job at work ranks are apart in all ways.
void blame_only_late(const Job& job, const CallFront& front, FactValue& value) {
  const auto& ranks = nth_communicator(job, front.communicator).ranks;
  const bool all_alike = std::ranges::all_of(front.ahead, [&](int member) {
    return collectives_of(job, ranks[static_cast<size_t>(member)]) == front.furthest;
  });
  if (front.behind.size() != 1 || front.ahead.size() < 2 || !front.counts_all() || !all_alike) {
    return;
  }
  const Waiter late = waiter_of(ranks[static_cast<size_t>(front.behind.front())]);
  const std::vector<Holdup> idle = idle_holdups(job, find_waits(job));
  if (idle.size() == 1 && idle.front().waiters.front() == late) blame(job, late, value);
}

FactValue rank_behind(const Job& job, const Instance&) {
  const std::vector<CallFront> fronts = call_fronts(job);
  const CallFront* front = largest_open(fronts);
  if (front == nullptr) return unknown();
  FactValue value = yes(fmt::format("{}; {} had not", front_words(job, *front),
                                    members_words(job, front->communicator, front->behind)));
  if (!front->unknown.empty()) {
    value.what += fmt::format("; of {} the logs do not show it",
                              members_words(job, front->communicator, front->unknown));
  }
  if (front->unseen > 0) value.what += fmt::format("; {} more were not seen", front->unseen);
  place_in(job, front->communicator, value);
  add_front_evidence(job, *front, value);
  blame_only_late(job, *front, value);
  return value;
}

/// "rank 1 … waits in call 4 of communicator a for rank 2 …".
std::string circle_words(const Job& job, const Waits& waits, const Holdup& circle,
                         FactValue& value) {
  std::vector<std::string> phrases;
  for (const int f : circle.fronts) {
    const CallFront& front = waits.fronts[static_cast<size_t>(f)];
    if (phrases.size() == kMostNamed) break;
    add_front_evidence(job, front, value);
    phrases.push_back(fmt::format("{} and {} did not", front_words(job, front),
                                  members_words(job, front.communicator, front.behind)));
  }
  return join(phrases, "; ");
}

/// "rank 2 … called AllReduce … of communicator a where 3 ranks like it called …".
std::string departure_words(const Job& job, const Departure& departure, FactValue& value) {
  value.evidence.push_back({departure.call.where, {}});
  value.evidence.push_back({departure.usual.where, {}});
  return fmt::format(
      "{} called {} of {} where {} like it called {} of {}", waiter_words(job, departure.waiter),
      call_words(departure.call.call), communicator_words(job, departure.communicator),
      departure.others == 1 ? "another rank" : fmt::format("{} ranks", departure.others),
      call_words(departure.usual.call), communicator_words(job, departure.usual_communicator));
}

/// Names those that left the program of ranks like them; false if nobody did.
bool blame_departed(const Job& job, const std::vector<Departure>& left, FactValue& value) {
  std::vector<std::string> phrases;
  for (const Departure& departure : left) {
    blame(job, departure.waiter, value);
    if (phrases.size() < kMostNamed) phrases.push_back(departure_words(job, departure, value));
  }
  if (!value.what.empty() && !phrases.empty()) value.what += ". ";
  value.what += join(phrases, "; ");
  return !phrases.empty();
}

/// Names those of a circle that left what they themselves did so far.
void blame_unusual(const Job& job, const Waits& waits, const Holdup& circle, FactValue& value) {
  std::vector<std::string> odd;
  for (const Waiter& waiter : departed(job, circle.waiters)) {
    if (may_wait_for_unknown(job, waits, waiter)) continue;
    blame(job, waiter, value);
    odd.push_back(waiter_words(job, waiter));
  }
  if (odd.empty()) return;
  value.what += fmt::format(
      ". {} departed from the order of calls that it had kept so far; the others did not",
      join(odd, ", "));
}

/// Those that departed; in a circle, where somebody must have, also from what the many did for the
/// first time there.
std::vector<Departure> odd_in(const Holdup& circle, const Departures& left) {
  if (!left.odd.empty()) return left.odd;
  std::vector<Departure> odd;
  for (const Departure& departure : left.unheard_of) {
    const bool is_in_circle = std::ranges::binary_search(circle.waiters, departure.waiter);
    if (is_in_circle && departure.others >= 3) odd.push_back(departure);
  }
  return odd;
}

/// Names the only rank that made other calls than those at the same place of their groups: a
/// message that it left out may be hidden by those that it made later. False if there is none, or
/// several: then they may all be as they should.
bool blame_unlike_twins(const Job& job, FactValue& value) {
  const std::vector<Waiter>& departed = departed_from_twins(job);
  if (departed.size() != 1) return false;
  const auto departure = departure_from_twins(job, departed.front());
  if (!departure) return false;
  const RankCall& made = departure->made;
  blame(job, departed.front(), value);
  place_in(job, made.line.communicator, value);
  value.what = fmt::format(
      "{} called {} number {} of {} where {}, which is at the same place of its groups, called {}",
      waiter_words(job, departed.front()), to_valid_utf8(made.op.view()), made.index + 1,
      communicator_words(job, made.line.communicator), waiter_words(job, departure->twin),
      to_valid_utf8(departure->usual.op.view()));
  return true;
}

FactValue collective_order_inverted(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const Departures left = find_departures(job);
  FactValue value = yes({});
  for (const Holdup& circle : waits.holdups) {
    if (circle.fronts.size() < 2 || !is_closed_by_fronts(waits, circle)) continue;
    value.what = circle_words(job, waits, circle, value);
    place_in(job, waits.fronts[static_cast<size_t>(circle.fronts.front())].communicator, value);
    if (!blame_departed(job, odd_in(circle, left), value)) {
      blame_unusual(job, waits, circle, value);
    }
    return value;
  }
  // Who seems to wait for nobody may wait in a call that all have made, behind the one that
  // departed.
  const std::vector<Holdup> idle = idle_holdups(job, waits);
  const bool is_silent = timed_out_work(job).empty();
  const bool may_wait = others_departed(left.odd, idle, &Departure::waiter) ||
                        (is_silent && others_departed(departed_from_twins(job), idle));
  if (!idle.empty() && !may_wait) return unknown();
  if (blame_departed(job, left.odd, value)) {
    place_in(job, left.odd.front().communicator, value);
    return value;
  }
  if (blame_unlike_twins(job, value)) return value;
  if (left.undecided.empty()) return unknown();
  place_in(job, left.undecided.front().communicator, value);
  value.what = departure_words(job, left.undecided.front(), value);
  return value;
}

/// A collective timed out, or the job was silent, all ranks are known, and none lacks anything.
FactValue all_entered(const Job& job, const Instance&) {
  if (timed_out_work(job).empty() && !silent_stop(job)) return unknown();
  if (ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const std::string entered = entered_words(job, waits.fronts);
  if (entered.empty() || !too_late(job).empty()) return unknown();
  if (!waits.unmatched.empty() || !messages_are_covered(job)) return unknown();
  const bool all_alike = std::ranges::all_of(
      waits.fronts, [](const CallFront& front) { return front.counts_all() && !front.is_open(); });
  const Departures left = find_departures(job);
  if (!all_alike || !left.odd.empty() || !left.undecided.empty()) return unknown();
  if (departed_from_twins(job).size() == 1) return unknown();
  FactValue value = yes(entered);
  if (!waits.fronts.empty()) place_in(job, waits.fronts.front().communicator, value);
  return value;
}

constexpr std::array kFacts = {
    Fact{
        "job.ended_at_work", Scope::Job, FactType::Bool,
        "Somebody ended the job from outside, and nothing shows that it had failed or stood still.",
        ended_at_work},
    Fact{"job.ends_at_work", Scope::Job, FactType::Bool,
         "The job's communicators were complete, and no line says that it came to an end by "
         "itself, or "
         "was at work when somebody ended it.",
         within_runs<ends_at_work>},
    Fact{"job.hung_silently", Scope::Job, FactType::Bool,
         "The job stood still, by the silence before its end or as the user says; no watchdog said "
         "it.",
         hung_silently},
    Fact{"job.messages_open", Scope::Job, FactType::Bool,
         "Where the logs end, a Send lacks its Recv, or a Recv its Send.",
         within_runs<messages_open>},
    Fact{"job.stalled_before_end", Scope::Job, FactType::Bool,
         "Somebody ended the job after a silence far longer than its rhythm.", stalled_before_end},
    Fact{"job.stated_hung", Scope::Job, FactType::Bool,
         "The user says that the job hung, and no line says that anybody gave up or failed.",
         within_runs<stated_hung>},
    Fact{"job.collective_order_inverted", Scope::Job, FactType::Bool,
         "The job stood still, and ranks wait for each other in two communicators.",
         within_runs<collective_order_inverted>},
    Fact{"job.collectives_all_entered", Scope::Job, FactType::Bool,
         "The job stood still although all ranks made the same calls on all communicators.",
         within_runs<all_entered>},
    Fact{"job.rank_behind", Scope::Job, FactType::Bool,
         "On some communicator ranks whose calls are known made fewer calls than others.",
         within_runs<rank_behind>},
    Fact{"job.rank_missing_in_collective", Scope::Job, FactType::Bool,
         "The job stood still, and a rank that waits for nobody did not enter a call that "
         "the others entered.",
         within_runs<rank_missing_in_collective>},
};

}  // namespace

std::span<const Fact> hang_facts() { return kFacts; }

}  // namespace ncclog
