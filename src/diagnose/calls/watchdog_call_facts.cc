// How do watchdogs and the lines of calls go together?
//
//   WorkNCCL(SeqNum=29, OpType=ALLREDUCE, NumelIn=1048576, …) of default_pg, on rank 0
//       → call 29 of the world's communicator, AllReduce of 1048576 float32, that rank 0 entered
//   ranks 0-4,6,7 wait in call 29, and their watchdogs gave up on such a work
//                                                        → a sentence for the finding's message
//   a watchdog gave up on a BROADCAST, and its process never called one   → said, nobody is named
//
// c10d counts its own works, and NCCL's lines carry no number, so a work is matched by operation
// and size among the calls that its process made.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/memberships.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

bool fits(const CallSignature& call, const TimedOutWork& work) {
  return is_call_of_work(call, work.op, work.numel_in, work.numel_out);
}

std::vector<CallCamp> differing_camps(const Job& job, int communicator) {
  const auto& difference = nth_communicator(job, communicator).difference;
  return difference ? difference->camps : std::vector<CallCamp>();
}

std::vector<CallCamp> front_camp(const Job& job, int communicator) {
  CallFront front = front_of(line_account(job, communicator));
  const PlacedCall* call = open_call(job, front);
  if (call == nullptr) return {};
  return {{*call, std::move(front.ahead)}};
}

/// All ranks in the communicator's last call.
std::vector<CallCamp> last_camp(const Job& job, int communicator) {
  CallCamp camp;
  for (const CommRank& rank : nth_communicator(job, communicator).ranks) {
    const uint64_t made = collectives_of(job, rank);
    if (made == 0) return {};
    camp.members.push_back(static_cast<int>(camp.members.size()));
    camp.call = *calls_of(job, rank)->collectives.call(made - 1);
  }
  return {camp};
}

/// The facts of findings that may be about a watchdog's call, and where their ranks are.
using CampsOf = std::vector<CallCamp> (*)(const Job& job, int communicator);
constexpr std::array<std::pair<std::string_view, CampsOf>, 3> kWaitRows = {{
    {"job.collectives_mismatched", differing_camps},
    {"job.rank_missing_in_collective", front_camp},
    {"job.collectives_all_entered", last_camp},
}};

/// "ranks 0-4,6,7 gave up on it as SeqNum 29 of process group 0": the watchdogs of members whose
/// works fit what they are in, of the one group and SeqNum that most of them have; empty: none.
std::string waiting_words(const Job& job, int communicator, const std::vector<CallCamp>& camps) {
  std::map<int, std::vector<std::pair<int, const CallCamp*>>> by_process;
  for (const CallCamp& camp : camps) {
    for (const int m : camp.members)
      by_process[rank_at(job, communicator, m).process].emplace_back(m, &camp);
  }
  std::map<std::pair<std::string, int64_t>, std::set<int>> waiting;
  for (const TimedOutWork& work : timed_out_work(job)) {
    for (const auto& [m, camp] : by_process[work.process]) {
      if (fits(camp->call.call, work)) waiting[{work.group, work.seq}].insert(m);
    }
  }
  const auto most =
      std::ranges::max_element(waiting, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == waiting.end()) return {};
  const auto& [number, members] = *most;
  std::string words = fmt::format(
      "{} gave up on it", members_words(job, communicator, {members.begin(), members.end()}));
  if (number.second < 0) return words;
  const std::string group =
      number.first.empty() ? "" : " of process group " + to_valid_utf8(number.first);
  return fmt::format("{} as SeqNum {}{}", words, number.second, group);
}

FactValue watchdogs_on_call(const Job& job, const Instance& instance) {
  if (timed_out_work(job).empty()) return unknown();
  for (const auto& [fact, camps_of] : kWaitRows) {
    const FactValue value = find_fact(fact)->ask(job, instance);
    if (!is_yes(value)) continue;
    const auto comm = std::ranges::find(job.communicators, value.communicator, &Communicator::id);
    if (comm == job.communicators.end()) continue;
    const int communicator = static_cast<int>(comm - job.communicators.begin());
    const std::string words = waiting_words(job, communicator, camps_of(job, communicator));
    return words.empty() ? unknown() : yes(fmt::format(". The watchdogs of {}", words));
  }
  return unknown();
}

/// Calls of a process by signature; nullopt if its log need not show all.
std::optional<std::vector<CallSignature>> all_calls(const Job& job, int process) {
  std::vector<CallSignature> all;
  for (const auto& [communicator, rank] : memberships_of(job, process)) {
    const Communicator& comm = nth_communicator(job, communicator);
    if (call_coverage(job, comm, *rank) != CallCoverage::Counted) return std::nullopt;
    const auto& made = calls_of(job, *rank)->by_signature;
    if (made.other > 0) return std::nullopt;
    for (const auto& [call, count] : made.all) all.push_back(call);
  }
  return all.empty() ? std::nullopt : std::optional(std::move(all));
}

/// Works that fit no call of their process, although its log shows all of them.
FactValue watchdog_disagrees(const Job& job, const Instance&) {
  constexpr size_t kMostTold = 3;
  AnswerParts parts;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool has_size = work.numel_in >= 0 && work.numel_out >= 0;
    if (!is_one_call(work.op) || !has_size || work.process < 0) continue;
    const auto calls = all_calls(job, work.process);
    if (!calls || std::ranges::any_of(*calls, [&](const auto& call) { return fits(call, work); })) {
      continue;
    }
    parts.evidence.push_back(work.line);
    parts.words.push_back(fmt::format(
        "the watchdog of {} gave up on {} {}, which its lines of calls "
        "do not show",
        waiter_words(job, {work.process, -1}), to_valid_utf8(work.op), to_valid_utf8(work.size)));
  }
  return parts.answer(no(), "; ", kMostTold);
}

constexpr std::array kWatchdogCallFacts = {
    // A watchdog gave up on a collective that its process never called, by its log.
    comparing_fact("job.watchdog_disagrees", watchdog_disagrees),
    // Watchdogs gave up on the call that a finding is about; `what` is a sentence to put
    // behind another.
    comparing_fact("job.watchdogs_on_call", watchdogs_on_call),
};

}  // namespace

std::span<const Fact> watchdog_call_facts() { return kWatchdogCallFacts; }

}  // namespace ncclog
