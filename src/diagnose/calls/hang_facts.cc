// Who holds a hanging job up?
//
//   a watchdog gave up; rank 5 never entered the world's call 29, and waits for nobody itself
//       → job.rank_missing_in_collective = yes, rank 5
//   ranks 0 and 1 each entered first what the other entered second
//       → job.collective_order_inverted = yes; where nobody saw a hang, job.calls_crossed = yes
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
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/messages.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/job_span.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/silence.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/job.h"

namespace ncclog {
namespace {

// Who came so late to a collective that the others had given up?
//
//   12:00:01 ranks 0-4,6,7 enter call 29, and time out at 12:10:01
//   12:11:37 rank 5 enters call 29                       → rank 5, 696 s late
//
// Without times such a job looks as if all ranks had entered. Clocks of hosts differ by seconds,
// the limits that people set are minutes: only lateness of that order counts. A rank that was late
// because it waited for another one in another communicator is a victim, and not listed.

constexpr int64_t kNanosecondsPerMs = 1'000'000;

/// A rank's entry into the last call of a communicator.
struct Entry {
  Waiter waiter;
  int communicator = -1;  ///< Into Job::communicators: where most ranks waited for it.
  uint64_t call = 0;      ///< Number of the call there, from 0.
  SourceRef where;        ///< Of its call.
  LineTime time;          ///< Likewise; it views the job.
  int64_t seconds = -1;   ///< After the middle one of the ranks; -1: known by the order of lines.
};

/// The entries into the last call, in order of the ranks; empty if not all ranks entered it, or if
/// it need not be what some rank called last.
std::vector<Entry> last_entries(const Job& job, const CallFront& front) {
  std::vector<Entry> entries;
  if (!front.knows_all() || front.is_open()) return entries;
  for (const CommRank& rank : nth_communicator(job, front.communicator).ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    // What was called last is a collective only where no message may be.
    if (calls == nullptr || !calls->peers.all.empty()) return {};
    entries.push_back({waiter_of(rank), front.communicator, front.furthest - 1, calls->last,
                       find_line_time(calls->last_stamp)});
  }
  return entries;
}

/// Those whose entry into the last call stands behind the watchdogs' lines of others, all in one
/// stream, where the entries of most stand before them.
std::vector<Entry> late_by_order(const Job& job) {
  std::vector<Entry> result;
  std::optional<uint32_t> input;
  SourceRef gave_up;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const JobUnit* unit = unit_of(job, work.line.where);
    if (unit == nullptr) continue;
    if (input && *input != unit->input) return result;
    gave_up = input ? std::min(gave_up, work.line.where) : work.line.where;
    input = unit->input;
  }
  // Pieces of torn lines may stand anywhere.
  if (!input || is_torn(job)) return result;
  for (const CallFront& front : call_fronts(job)) {
    const std::vector<Entry> entries = last_entries(job, front);
    std::vector<Entry> late;
    const bool is_ordered = std::ranges::all_of(entries, [&](const Entry& entry) {
      const JobUnit* unit = unit_of(job, entry.where);
      if (unit == nullptr || unit->input != *input) return false;
      if (!(gave_up < entry.where)) return true;
      late.push_back(entry);
      // Files of several ranks, one put behind the other, have no order.
      return nth_process(job, entry.waiter.process).first < gave_up;
    });
    if (!is_ordered || !are_few(late.size(), entries.size() - late.size())) continue;
    for (const Entry& entry : late) {
      const bool is_known = std::ranges::count(result, entry.waiter, &Entry::waiter) > 0;
      if (!is_known) result.push_back(entry);
    }
  }
  return result;
}

/// Those who entered the last call of a communicator at least `limit_ms` > 0 after most others, in
/// order. Where no time tells, those whose line stands behind the watchdogs' lines in one stream.
/// Empty where neither compares, or where ranks are not covered.
std::vector<Entry> late_entries(const Job& job, int64_t limit_ms) {
  std::map<Waiter, Entry> late;
  std::set<Waiter> victims;
  std::map<Waiter, size_t> waiting;
  for (const CallFront& front : call_fronts(job)) {
    std::vector<Entry> entries = last_entries(job, front);
    // Times with a zone and without one do not compare.
    const bool are_timed = std::ranges::all_of(entries, [&](const Entry& entry) {
      return entry.time.known() && entry.time.has_zone == entries.front().time.has_zone;
    });
    if (entries.size() < 2 || !are_timed) continue;
    const auto when = [](const Entry& entry) { return entry.time.nanoseconds; };
    std::ranges::stable_sort(entries, {}, when);
    const int64_t usual = when(entries[(entries.size() - 1) / 2]);
    const auto begin =
        std::ranges::lower_bound(entries, usual + limit_ms * kNanosecondsPerMs, {}, when);
    const auto in_time = static_cast<size_t>(begin - entries.begin());
    if (begin == entries.end() || !are_few(entries.size() - in_time, in_time)) continue;
    for (auto entry = entries.begin(); entry != begin; ++entry) victims.insert(entry->waiter);
    for (auto entry = begin; entry != entries.end(); ++entry) {
      if (waiting[entry->waiter] >= in_time) continue;
      waiting[entry->waiter] = in_time;
      entry->seconds = (when(*entry) - usual) / (1000 * kNanosecondsPerMs);
      late[entry->waiter] = *entry;
    }
  }
  std::vector<Entry> result;
  for (const auto& [waiter, entry] : late) {
    if (!victims.contains(waiter)) result.push_back(entry);
  }
  return result.empty() && victims.empty() ? late_by_order(job) : result;
}

// What have all ranks entered, where nobody is missing?
//
//   "all 4 ranks of communicator 0x9c… (4 ranks) made the same 28 calls"
//   "all 4 ranks of … made the same collective, and all 12 messages between ranks have both ends"
//   either of two ranks: Recv, Send → "… both ends, though some may wait for each other …"

/// Sent on communicators all of whose ranks are counted.
uint64_t messages_of(const Job& job) {
  uint64_t messages = 0;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    if (!front_of(line_account(job, static_cast<int>(c))).counts_all()) continue;
    for (const CommRank& rank : job.communicators[c].ranks) {
      for (const auto& [peer, totals] : calls_of(job, rank)->peers.all) {
        messages += totals.sent.count;
      }
    }
  }
  return messages;
}

/// Made one after the other, in the order of their lines, some messages would not end: their ends
/// stand behind calls that wait for each other.
bool wait_in_order(const Job& job) {
  const Simulation simulation = simulate_calls(job, /*in_order=*/true);
  return std::ranges::any_of(simulation.meetings(), [](const auto& entry) {
    const auto& [key, meeting] = entry;
    return key.line.is_message() && meeting.is_complete && !meeting.has_ended();
  });
}

/// In words for a sentence, of the first of `fronts` and of the messages of all communicators.
/// Expects closed fronts and messages that match. Empty: no call of a communicator whose ranks are
/// all known. Pure.
std::string entered_words(const Job& job, const std::vector<CallFront>& fronts) {
  const uint64_t messages = messages_of(job);
  std::string met = messages == 1
                        ? "the only message between ranks has both ends"
                        : fmt::format("all {} messages between ranks have both ends", messages);
  if (wait_in_order(job)) met += ", though some may wait for each other outside a group";
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
  const auto& stop = stop_evidence(job);
  if (!stop || stop->by != StopBy::Silence) return unknown();
  return yes(stop->what, {silence_before_end(job)->last, stop->line});
}

/// Somebody ended it, and nothing shows that it had failed or stood still.
FactValue ended_at_work(const Job& job, const Instance&) {
  const auto& stop = stop_evidence(job);
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
  const bool is_silent = stop && (stop->by == StopBy::Silence || is_seen(*stop));
  return is_silent ? stop : std::nullopt;
}

/// How it is known that the job stood still, where no watchdog says so: the end of a sentence.
FactValue hung_silently(const Job& job, const Instance&) {
  const auto stop = silent_stop(job);
  return stop ? yes("; " + stop->what, {stop->line}) : unknown();
}

bool is_any_open(const Waits& waits) {
  return std::ranges::any_of(waits.fronts, &CallFront::is_open);
}

/// What the calls say of a hang that the user, or `ncclog run`, saw.
FactValue stated_hung(const Job& job, const Instance&) {
  const auto& stop = stop_evidence(job);
  if (!stop || !is_seen(*stop)) return unknown();
  const Waits& waits = find_waits(job);
  const bool is_closed = waits.unmatched.empty() && !is_any_open(waits) &&
                         std::ranges::all_of(waits.fronts, &CallFront::counts_all);
  const std::string entered = is_closed ? entered_words(job, waits.fronts) : "";
  const std::string calls =
      entered.empty() ? "these logs do not show the calls of all ranks" : entered;
  return yes(fmt::format("{}, and {}", stop->what, calls), {stop->line});
}

/// Somebody cut a window out of a log, and chose its end, too.
bool is_any_window(const Job& job) {
  return std::ranges::any_of(job.communicators, [&](const Communicator& comm) {
    return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
      const CollectiveCalls* calls = calls_of(job, rank);
      return calls != nullptr && calls->first_op_count > 0;
    });
  });
}

/// Nothing says that it came to an end by itself, and nothing shows that it worked up to its end.
FactValue ends_at_work(const Job& job, const Instance&) {
  if (job.stated && *job.stated != StatedOutcome::Hung) return no();
  const auto& stop = stop_evidence(job);
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
  if (stop && !is_seen(*stop)) return no();
  // A log that ends inside a line was copied while somebody wrote, or lost its end: who is behind
  // there may have gone on.
  const bool is_any_cut = std::ranges::any_of(job.processes, &Process::cut);
  if (outcome_of(job).job.state != EndState::Unfinished || is_any_cut || is_any_window(job)) {
    return unknown();
  }
  const auto open =
      std::ranges::count(outcome_of(job).processes, EndState::Unfinished, &EndOf::state);
  return yes(fmt::format("The logs of {} end in the middle of the work, and nothing says why",
                         plural(open, "process")));
}

/// Messages of which only one end is there when the logs end.
FactValue messages_open(const Job& job, const Instance&) {
  const Waits& waits = find_waits(job);
  std::vector<std::string> phrases;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    if (messages.sizes_differ || phrases.size() == kMostNamed) continue;
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
const CallFront* widest_front(const Waits& waits, const std::vector<Blocker>& blockers) {
  const CallFront* widest = nullptr;
  for (const Blocker& blocker : blockers) {
    for (const size_t f : blocker.fronts) {
      const CallFront& front = waits.fronts[f];
      if (widest == nullptr || front.ahead.size() > widest->ahead.size()) widest = &front;
    }
  }
  return widest;
}

/// Those who entered after the others had given up.
std::vector<Entry> too_late(const Job& job) {
  const std::vector<TimedOutWork>& works = timed_out_work(job);
  int64_t shortest_ms = INT64_MAX;
  for (const TimedOutWork& work : works) {
    if (work.timeout_ms > 0) shortest_ms = std::min(shortest_ms, work.timeout_ms);
  }
  if (shortest_ms == INT64_MAX) return {};  // None gave up, or no limit is printed.
  std::vector<Entry> late = late_entries(job, shortest_ms);
  // Whose own watchdog had given up before it entered, was waiting then like the others. Where the
  // order of the two lines is unknown, it may have been.
  std::erase_if(late, [&](const Entry& entry) {
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
  for (const Entry& late : too_late(job)) {
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

FactValue rank_missing_in_collective(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  std::vector<Blocker> late = idle_blockers(job, waits);
  std::erase_if(late, [](const Blocker& blocker) { return blocker.fronts.empty(); });
  const CallFront* front = widest_front(waits, late);
  if (front == nullptr) return came_too_late(job);
  std::vector<Waiter> left = diverged_from_most(job);
  if (others_diverged(left, late)) return unknown();
  // A watchdog tells who waits; after a silence, who seems to wait for nobody may wait as well.
  const bool is_silent = timed_out_work(job).empty();
  const std::vector<Waiter>& unlike_twins = diverged_from_twins(job);
  if (is_silent) left.insert(left.end(), unlike_twins.begin(), unlike_twins.end());
  keep_diverged(left, late);
  // Some rank that holds others up left out a message, and it is none of those that seem late.
  const auto is_of_other = [&](const UnmatchedMessages& messages) {
    const auto divergence = message_divergence(job, messages);
    return divergence && blocks(waits, divergence->waiter) && !is_one_of(late, divergence->waiter);
  };
  if (std::ranges::any_of(waits.unmatched, is_of_other)) return unknown();
  if (is_silent && others_diverged(unlike_twins, late)) return unknown();
  const bool is_vague = is_silent || timeouts_name_no_process(job);
  if (is_vague && !message_conflicts(job).empty()) return unknown();
  // Where most ranks are behind, one has run ahead.
  if (!are_few(late.size(), front->ahead.size())) return unknown();
  FactValue value = yes({});
  place_in(job, front->communicator, value);
  add_front_evidence(job, *front, value);
  std::vector<std::string> phrases;
  for (const Blocker& blocker : late) {
    const Waiter& waiter = blocker.waiters.front();
    blame(job, waiter, value);
    if (phrases.size() < kMostNamed) phrases.push_back(late_words(job, waiter, value));
  }
  value.what = fmt::format("{}; {}", front_words(job, *front), join(phrases, "; "));
  if (late.size() > kMostNamed)
    value.what += fmt::format("; and {} more", late.size() - kMostNamed);
  return value;
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
  const std::vector<Blocker> idle = idle_blockers(job, find_waits(job));
  if (idle.size() == 1 && idle.front().waiters.front() == late) blame(job, late, value);
}

FactValue rank_behind(const Job& job, const Instance&) {
  const std::vector<CallFront> fronts = call_fronts(job);
  // What a reader should look at first: the one in which most ranks wait.
  const auto front =
      std::ranges::max_element(fronts, {}, [](const CallFront& each) { return each.ahead.size(); });
  if (front == fronts.end() || !front->is_open()) return unknown();
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
std::string circle_words(const Job& job, const Waits& waits, const Blocker& circle,
                         FactValue& value) {
  std::vector<std::string> phrases;
  for (const size_t f : circle.fronts) {
    const CallFront& front = waits.fronts[f];
    if (phrases.size() == kMostNamed) break;
    add_front_evidence(job, front, value);
    phrases.push_back(fmt::format("{} and {} did not", front_words(job, front),
                                  members_words(job, front.communicator, front.behind)));
  }
  return join(phrases, "; ");
}

/// "rank 2 … called AllReduce … of communicator a where 3 ranks like it called …".
std::string divergence_words(const Job& job, const Divergence& divergence, FactValue& value) {
  value.evidence.push_back({divergence.call.where, {}});
  value.evidence.push_back({divergence.usual.where, {}});
  return fmt::format(
      "{} called {} of {} where {} like it called {} of {}", waiter_words(job, divergence.waiter),
      call_words(divergence.call.call), communicator_words(job, divergence.communicator),
      divergence.others == 1 ? "another rank" : fmt::format("{} ranks", divergence.others),
      call_words(divergence.usual.call), communicator_words(job, divergence.usual_communicator));
}

/// Names those that left the program of ranks like them; false if nobody did.
bool blame_diverged(const Job& job, const std::vector<Divergence>& left, FactValue& value) {
  std::vector<std::string> phrases;
  for (const Divergence& divergence : left) {
    blame(job, divergence.waiter, value);
    if (phrases.size() < kMostNamed) phrases.push_back(divergence_words(job, divergence, value));
  }
  if (!value.what.empty() && !phrases.empty()) value.what += ". ";
  value.what += join(phrases, "; ");
  return !phrases.empty();
}

/// Where the logs end, ranks are in calls of two communicators, each of which lacks one that is in
/// the other. What is lost from the end of a log cannot make it look so: who is seen in the second
/// call, and not in the first, made them in another order.
FactValue calls_crossed(const Job& job, const Instance&) {
  if (stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const auto circle = std::ranges::find_if(waits.blockers, [&](const Blocker& blocker) {
    return blocker.fronts.size() > 1 && is_closed_by_fronts(waits, blocker);
  });
  if (circle == waits.blockers.end()) return unknown();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const size_t f : circle->fronts) {
    const CallFront& front = waits.fronts[f];
    const PlacedCall* call = open_call(job, front);
    if (call == nullptr || !front.counts_all()) return unknown();
    if (phrases.size() == kMostNamed) break;
    add_front_evidence(job, front, value);
    phrases.push_back(
        fmt::format("{} in {} of {}", members_words(job, front.communicator, front.ahead),
                    call_words(call->call), communicator_words(job, front.communicator)));
  }
  place_in(job, waits.fronts[circle->fronts.front()].communicator, value);
  value.what = join(phrases, ", ");
  return value;
}

/// Names those of a circle that left what they themselves did so far.
void blame_unusual(const Job& job, const Waits& waits, const Blocker& circle, FactValue& value) {
  std::vector<std::string> odd;
  for (const Waiter& waiter : diverged(job, circle.waiters)) {
    if (may_wait_for_unknown(job, waits, waiter)) continue;
    blame(job, waiter, value);
    odd.push_back(waiter_words(job, waiter));
  }
  if (odd.empty()) return;
  value.what += fmt::format(
      ". {} departed from the order of calls that it had kept so far; the others did not",
      join(odd, ", "));
}

/// Who stands alone, or with few, against all others in every communicator of a circle, sorted; empty
/// where no side is a clear minority. The many keep one order, so it is the few that left it.
std::vector<Waiter> lone_side(const Job& job, const Waits& waits, const Blocker& circle) {
  std::set<std::vector<Waiter>> few;
  std::set<std::vector<Waiter>> many;
  for (const size_t f : circle.fronts) {
    const CallFront& front = waits.fronts[f];
    std::vector<Waiter> sides[2];
    for (const int r : front.ahead) sides[0].push_back(waiter_at(job, front.communicator, r));
    for (const int r : front.behind) sides[1].push_back(waiter_at(job, front.communicator, r));
    const size_t less = sides[0].size() < sides[1].size() ? 0 : 1;
    for (std::vector<Waiter>& side : sides) std::ranges::sort(side);
    few.insert(std::move(sides[less]));
    many.insert(std::move(sides[1 - less]));
  }
  if (few.size() != 1 || many.size() != 1) return {};
  const size_t others = many.begin()->size();
  return is_clear(others, others + few.begin()->size()) ? *few.begin() : std::vector<Waiter>{};
}

/// Those that diverged; in a circle, where somebody must have, also from what the many did for the
/// first time there.
std::vector<Divergence> odd_in(const Blocker& circle, const Divergences& left) {
  if (!left.odd.empty()) return left.odd;
  std::vector<Divergence> odd;
  for (const Divergence& divergence : left.unprecedented) {
    const bool is_in_circle = std::ranges::binary_search(circle.waiters, divergence.waiter);
    if (is_in_circle && divergence.others >= 3) odd.push_back(divergence);
  }
  return odd;
}

/// Names the only rank that made other calls than those at the same place of their groups: a
/// message that it left out may be hidden by those that it made later. False if there is none, or
/// several: then they may all be as they should.
bool blame_unlike_twins(const Job& job, FactValue& value) {
  const std::vector<Waiter>& diverged = diverged_from_twins(job);
  if (diverged.size() != 1) return false;
  const auto divergence = divergence_from_twins(job, diverged.front());
  const RankCall& made = divergence->made;
  blame(job, diverged.front(), value);
  place_in(job, made.line.communicator, value);
  value.what = twin_words(job, *divergence,
                          fmt::format(" number {} of {}", made.index + 1,
                                      communicator_words(job, made.line.communicator)));
  return true;
}

FactValue collective_order_inverted(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const Divergences left = find_divergences(job);
  FactValue value = yes({});
  const auto say = [&](std::string_view who) {
    value.what = fmt::format("{}: {}", who, value.what);
    return value;
  };
  constexpr std::string_view kRanks = "ranks call in different orders and wait for ever";
  for (const Blocker& circle : waits.blockers) {
    if (circle.fronts.size() < 2 || !is_closed_by_fronts(waits, circle)) continue;
    value.what = circle_words(job, waits, circle, value);
    place_in(job, waits.fronts[circle.fronts.front()].communicator, value);
    if (!blame_diverged(job, odd_in(circle, left), value)) blame_unusual(job, waits, circle, value);
    FactValue lone = yes({});
    for (const Waiter& waiter : lone_side(job, waits, circle)) blame(job, waiter, lone);
    if (value.processes.empty() && value.ranks.empty())
      std::tie(value.processes, value.ranks) = std::tie(lone.processes, lone.ranks);
    const bool is_lone = !lone.processes.empty() || !lone.ranks.empty();
    if (!is_lone || value.processes != lone.processes || value.ranks != lone.ranks) {
      return say(kRanks);
    }
    const CallFront& front = waits.fronts[circle.fronts.front()];
    const auto& few = front.ahead.size() < front.behind.size() ? front.ahead : front.behind;
    return say(fmt::format("{} call{} in another order than the others",
                           members_words(job, front.communicator, few),
                           few.size() == 1 ? "s" : ""));
  }
  // Who seems to wait for nobody may wait in a call that all have made, behind the one that
  // diverged.
  const std::vector<Blocker> idle = idle_blockers(job, waits);
  const bool is_silent = timed_out_work(job).empty();
  const bool may_wait = others_diverged(diverged_from_most(job), idle) ||
                        (is_silent && others_diverged(diverged_from_twins(job), idle));
  if (!idle.empty() && !may_wait) return unknown();
  if (blame_diverged(job, left.odd, value)) {
    place_in(job, left.odd.front().communicator, value);
    return say(kRanks);
  }
  if (blame_unlike_twins(job, value)) return say(kRanks);
  if (left.undecided.empty()) return unknown();
  place_in(job, left.undecided.front().communicator, value);
  value.what = divergence_words(job, left.undecided.front(), value);
  return say(kRanks);
}

/// A collective timed out, or the job was silent, all ranks are known, and none lacks anything.
FactValue all_made_the_same(const Job& job) {
  if (timed_out_work(job).empty() && !silent_stop(job)) return unknown();
  if (ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const std::string entered = entered_words(job, waits.fronts);
  if (entered.empty() || !too_late(job).empty()) return unknown();
  if (!waits.unmatched.empty() || !messages_are_covered(job)) return unknown();
  const bool all_alike = std::ranges::all_of(
      waits.fronts, [](const CallFront& front) { return front.counts_all() && !front.is_open(); });
  const Divergences left = find_divergences(job);
  if (!all_alike || !left.odd.empty() || !left.undecided.empty()) return unknown();
  if (diverged_from_twins(job).size() == 1) return unknown();
  FactValue value = yes(entered);
  if (!waits.fronts.empty()) place_in(job, waits.fronts.front().communicator, value);
  return value;
}

FactValue all_entered(const Job& job, const Instance&) {
  FactValue value = all_made_the_same(job);
  if (value.known()) return value;
  // By PyTorch's desync report all ranks joined a collective.
  const CallVerdict verdict = find_verdict(job, CallSource::Desync, VerdictKind::Entered);
  if (verdict.account == nullptr || verdict.account->ranks.size() < 2) return unknown();
  std::vector<int> all(verdict.account->ranks.size());
  std::iota(all.begin(), all.end(), 0);
  return yes(fmt::format("{}, as PyTorch's desync report says",
                         joined_words(*verdict.account, all, verdict.number)),
             {{verdict.account->line, {}}});
}

FactValue job_stood_still(const Job& job, const Instance&) {
  if (!stood_still(job)) return no();
  const StopEvidence& stop = *stop_evidence(job);
  return yes(stop.what, {stop.line});
}

constexpr std::array kHangFacts = {
    // Somebody ended the job from outside, and nothing shows that it had failed or stood
    // still.
    job_fact("job.ended_at_work", ended_at_work),
    // The job's communicators were complete, and no line says that it came to an end by
    // itself, or was at work when somebody ended it.
    comparing_fact("job.ends_at_work", ends_at_work),
    // The job stood still, by the silence before its end or as the user says; no
    // watchdog said it.
    job_fact("job.hung_silently", hung_silently),
    // Somebody waited until a limit, or the job was silent for far longer than usual before
    // its end, or the user says that it hung; "no" where nothing tells so.
    job_fact("job.stood_still", job_stood_still),
    // Where the logs end, a Send lacks its Recv, or a Recv its Send.
    comparing_fact("job.messages_open", messages_open),
    // Somebody ended the job after a silence far longer than its rhythm.
    job_fact("job.stalled_before_end", stalled_before_end),
    // The user or `ncclog run` says that the job hung, and no line says that anybody gave
    // up or failed.
    comparing_fact("job.stated_hung", stated_hung),
    // Nothing shows that the job stood still, and where its logs end, ranks are in calls of two
    // communicators, each of which lacks one of those in the other.
    comparing_fact("job.calls_crossed", calls_crossed),
    // The job stood still, and ranks wait for each other in two communicators.
    comparing_fact("job.collective_order_inverted", collective_order_inverted),
    // The job stood still although all ranks made the same calls on all communicators.
    comparing_fact("job.collectives_all_entered", all_entered),
    // On some communicator ranks whose calls are known made fewer calls than others.
    comparing_fact("job.rank_behind", rank_behind),
    // The job stood still, and a rank that waits for nobody did not enter a call that
    // the others entered.
    comparing_fact("job.rank_missing_in_collective", rank_missing_in_collective),
};

}  // namespace

std::span<const Fact> hang_facts() { return kHangFacts; }

}  // namespace ncclog
