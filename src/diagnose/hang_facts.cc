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

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/call_departures.h"
#include "diagnose/call_programs.h"
#include "diagnose/call_waits.h"
#include "diagnose/call_words.h"
#include "diagnose/entered_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/first_transfer.h"
#include "diagnose/idle_holdups.h"
#include "diagnose/late_entries.h"
#include "diagnose/message_departures.h"
#include "diagnose/message_sizes.h"
#include "diagnose/program_twins.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/watchdog_records.h"
#include "diagnose/within_runs.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 4;

void place_in(const Job& job, int communicator, FactValue& value) {
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  value.communicator = comm.id;
  value.inferred |= comm.inferred && comm.ranks.front().rank < 0;
}

/// Those who are late must be the few: where most ranks are, one rank has run ahead.
bool are_few(size_t late, const CallFront& front) {
  return late < front.ahead.size() || (late == 1 && front.ahead.size() == 1);
}

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

/// The shortest limit after which a watchdog gave up; 0: none did, or none is printed.
int64_t shortest_limit_ms(const Job& job) {
  int64_t shortest = 0;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.timeout_ms > 0 && (shortest == 0 || work.timeout_ms < shortest)) {
      shortest = work.timeout_ms;
    }
  }
  return shortest;
}

/// Its own watchdog had given up before it entered, so it was waiting then like the others. Where
/// the order of the two lines is unknown, it may have been.
bool waited_before(const std::vector<TimedOutWork>& works, const LateEntry& late) {
  return std::any_of(works.begin(), works.end(), [&](const TimedOutWork& work) {
    if (work.process != late.waiter.process) return false;
    return work.line.where.unit != late.where.unit || work.line.where < late.where;
  });
}

/// Those who entered after the others had given up.
std::vector<LateEntry> too_late(const Job& job) {
  const int64_t limit_ms = shortest_limit_ms(job);
  if (limit_ms == 0) return {};
  std::vector<LateEntry> late = late_entries(job, limit_ms);
  const std::vector<TimedOutWork> works = timed_out_work(job);
  std::erase_if(late, [&](const LateEntry& entry) { return waited_before(works, entry); });
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

bool are_late(const std::vector<Holdup>& late, const Waiter& waiter) {
  return std::any_of(late.begin(), late.end(),
                     [&](const Holdup& holdup) { return holdup.waiters.front() == waiter; });
}

/// Some rank left its program, and it is none of those that seem to be late.
bool others_departed(const std::vector<Departure>& left, const std::vector<Holdup>& late) {
  return !left.empty() && std::none_of(left.begin(), left.end(), [&](const Departure& departure) {
    return are_late(late, departure.waiter);
  });
}

/// Hosts run ahead: beside one that left its program others may be late who wait behind it, in
/// calls that all have made.
void keep_departed(const Job& job, const std::vector<Departure>& left, std::vector<Holdup>& late) {
  // A watchdog tells who waits; after a silence, who seems to wait for nobody may wait as well.
  const bool is_silent = timed_out_work(job).empty();
  const std::vector<Waiter>& unlike_twins = departed_from_twins(job);
  const auto departed = [&](const Holdup& holdup) {
    const Waiter& waiter = holdup.waiters.front();
    if (is_silent && std::count(unlike_twins.begin(), unlike_twins.end(), waiter) > 0) return true;
    return std::any_of(left.begin(), left.end(),
                       [&](const Departure& departure) { return departure.waiter == waiter; });
  };
  if (std::none_of(late.begin(), late.end(), departed)) return;
  std::erase_if(late, [&](const Holdup& holdup) { return !departed(holdup); });
}

/// Some rank made other calls than ranks like it, and it is none of those that seem to be late.
bool others_departed_from_twins(const Job& job, const std::vector<Holdup>& late) {
  const std::vector<Waiter>& departed = departed_from_twins(job);
  return !departed.empty() && std::none_of(departed.begin(), departed.end(),
                                           [&](const Waiter& one) { return are_late(late, one); });
}

/// Some rank that holds others up left out a message, and it is none of those that seem to be late.
bool others_departed_in_message(const Job& job, const Waits& waits,
                                const std::vector<Holdup>& late) {
  return std::any_of(waits.unmatched.begin(), waits.unmatched.end(), [&](const auto& messages) {
    const auto departure = message_departure(job, messages);
    return departure && holds_up(waits, departure->waiter) && !are_late(late, departure->waiter);
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
  if (others_departed(left, late)) return unknown();
  keep_departed(job, left, late);
  if (others_departed_in_message(job, waits, late)) return unknown();
  // A watchdog tells who waits; after a silence, who seems to wait for nobody may wait as well.
  const bool is_silent = timed_out_work(job).empty();
  if (is_silent && others_departed_from_twins(job, late)) return unknown();
  if (timeouts_name_no_process(job) && !message_conflicts(job).empty()) return unknown();
  if (is_silent && !message_conflicts(job).empty()) return unknown();
  if (!are_few(late.size(), *front)) return unknown();
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

std::string unknown_words(const Job& job, const CallFront& front) {
  std::string words;
  if (!front.unknown.empty()) {
    words = fmt::format("; of {} the logs do not show it",
                        members_words(job, front.communicator, front.unknown));
  }
  if (front.unseen > 0) words += fmt::format("; {} more were not seen", front.unseen);
  return words;
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
  const auto& ranks = job.communicators[static_cast<size_t>(front.communicator)].ranks;
  const bool all_alike = std::all_of(front.ahead.begin(), front.ahead.end(), [&](int member) {
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
  FactValue value = yes(fmt::format("{}; {} had not{}", front_words(job, *front),
                                    members_words(job, front->communicator, front->behind),
                                    unknown_words(job, *front)));
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
    const bool is_in_circle =
        std::binary_search(circle.waiters.begin(), circle.waiters.end(), departure.waiter);
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
  const bool may_wait =
      others_departed(left.odd, idle) || (is_silent && others_departed_from_twins(job, idle));
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
  const auto stop = stop_evidence(job);
  const bool is_silent = stop && (stop->by == StopBy::Silence || stop->by == StopBy::Stated);
  if (timed_out_work(job).empty() && !is_silent) return unknown();
  if (ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  const std::string entered = entered_words(job, waits.fronts);
  if (entered.empty() || !too_late(job).empty()) return unknown();
  if (!waits.unmatched.empty() || !messages_are_covered(job)) return unknown();
  const bool all_alike =
      std::all_of(waits.fronts.begin(), waits.fronts.end(),
                  [](const CallFront& front) { return front.counts_all() && !front.is_open(); });
  const Departures left = find_departures(job);
  if (!all_alike || !left.odd.empty() || !left.undecided.empty()) return unknown();
  if (departed_from_twins(job).size() == 1) return unknown();
  FactValue value = yes(entered);
  if (!waits.fronts.empty()) place_in(job, waits.fronts.front().communicator, value);
  return value;
}

constexpr std::array kFacts = {
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
    Fact{"job.stalled_from_start", Scope::Job, FactType::Bool,
         "The job stopped, and not one transfer is known to have ended: nccl-tests has no row, or "
         "the first two calls of groups timed out.",
         stalled_from_start},
};

}  // namespace

std::span<const Fact> hang_facts() { return kFacts; }

}  // namespace ncclog
