// How do watchdogs and the lines of calls go together?
//
//   ranks 0-4,6,7 wait in call 29, and their watchdogs gave up on SeqNum 29, an ALLREDUCE of that
//   size                                                 → a sentence for the finding's message
//   a watchdog gave up on a BROADCAST, and its process never called one   → said, nobody is named

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/call_fronts.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/watchdog_calls.h"
#include "diagnose/within_runs.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

bool is_yes(const FactValue& value) {
  const bool* yes = std::get_if<bool>(&value.value);
  return yes != nullptr && *yes;
}

/// The communicator of which a fact speaks; -1: none.
int communicator_of(const Job& job, std::string_view fact, const Instance& instance) {
  const FactValue value = find_fact(fact)->derive(job, instance);
  if (!is_yes(value)) return -1;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    if (job.communicators[c].id == value.communicator) return static_cast<int>(c);
  }
  return -1;
}

std::vector<CallPlace> camp_places(const Job& job, int communicator) {
  std::vector<CallPlace> places;
  const auto& difference = job.communicators[static_cast<size_t>(communicator)].difference;
  if (!difference) return places;
  for (const CallCamp& camp : difference->camps) places.push_back({camp.members, camp.call.call});
  return places;
}

std::vector<CallPlace> front_places(const Job& job, int communicator) {
  const CallFront front = call_front(job, communicator);
  const PlacedCall* call = open_call(job, front);
  if (call == nullptr) return {};
  return {{front.ahead, call->call}};
}

/// All ranks in the communicator's last call.
std::vector<CallPlace> last_places(const Job& job, int communicator) {
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  CallPlace place;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CollectiveCalls* calls = calls_of(job, comm.ranks[r]);
    if (calls == nullptr || calls->collectives.size() == 0) return {};
    place.members.push_back(static_cast<int>(r));
    place.call = calls->collectives.call(calls->collectives.size() - 1)->call;
  }
  if (place.members.empty()) return {};
  return {place};
}

/// The facts of findings that may be about a watchdog's call, and where their ranks are.
struct WaitRow {
  std::string_view fact;
  std::vector<CallPlace> (*places)(const Job& job, int communicator);
};

FactValue watchdogs_on_call(const Job& job, const Instance& instance) {
  constexpr std::array kRows = {
      WaitRow{"job.collectives_mismatched", camp_places},
      WaitRow{"job.rank_missing_in_collective", front_places},
      WaitRow{"job.collectives_all_entered", last_places},
  };
  if (timed_out_work(job).empty()) return unknown();
  for (const WaitRow& row : kRows) {
    const int communicator = communicator_of(job, row.fact, instance);
    if (communicator < 0) continue;
    const std::string words = waiting_words(job, communicator, row.places(job, communicator));
    return words.empty() ? unknown() : yes(fmt::format(". The watchdogs of {}", words));
  }
  return unknown();
}

FactValue watchdog_disagrees(const Job& job, const Instance&) {
  constexpr size_t kMostTold = 3;
  const std::vector<TimedOutWork> works = works_without_call(job);
  if (works.empty()) return no();
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const TimedOutWork& work : works) {
    if (phrases.size() == kMostTold) break;
    value.evidence.push_back(work.line);
    phrases.push_back(fmt::format(
        "the watchdog of {} gave up on {} {}, which its lines of calls "
        "do not show",
        waiter_words(job, {work.process, -1}), to_valid_utf8(work.op), to_valid_utf8(work.size)));
  }
  value.what = join(phrases, "; ");
  if (works.size() > kMostTold)
    value.what += fmt::format("; and {} more", works.size() - kMostTold);
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.watchdog_disagrees", Scope::Job, FactType::Bool,
         "A watchdog gave up on a collective that its process never called, by its log.",
         within_runs<watchdog_disagrees>},
    Fact{
        "job.watchdogs_on_call", Scope::Job, FactType::Bool,
        "Watchdogs gave up on the call that a finding is about; `what` is a sentence to put behind "
        "another.",
        within_runs<watchdogs_on_call>},
};

}  // namespace

std::span<const Fact> watchdog_call_facts() { return kFacts; }

}  // namespace ncclog
