#include "diagnose/calls/watchdog_stall.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/facts/fact.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

Stall find_stall(const Job& job) {
  for (const CallSource source : {CallSource::Watchdog, CallSource::Desync}) {
    const auto tells = [&](VerdictKind kind) {
      return find_verdict(job, source, kind).account != nullptr;
    };
    if (tells(VerdictKind::Mismatch) || tells(VerdictKind::Late)) return {};
    for (const CallAccount* account : largest_first(call_ledger(job, source))) {
      auto stops = stops_of(*account);
      if (stops.size() > 1 && account->is_numbered_alike) return {account, std::move(stops)};
    }
  }
  return {};
}

/// Those that stopped further on than the ones furthest back, ascending.
std::vector<int> members_ahead(const Stall& stall) {
  std::vector<int> ahead;
  for (auto stop = std::next(stall.stops.begin()); stop != stall.stops.end(); ++stop) {
    ahead.insert(ahead.end(), stop->second.begin(), stop->second.end());
  }
  std::ranges::sort(ahead);
  return ahead;
}

/// The last call that all of those further on had ended.
uint64_t ended_by_all_ahead(const Stall& stall) {
  uint64_t ended = UINT64_MAX;
  for (auto stop = std::next(stall.stops.begin()); stop != stall.stops.end(); ++stop) {
    for (const int m : stop->second) {
      const uint64_t before = std::max<uint64_t>(stop->first, 1) - 1;
      ended = std::min(ended, member(*stall.account, m).completed.value_or(before));
    }
  }
  return ended;
}

}  // namespace

const Stall& stall_of(const Job& job) { return job.answers.of<&find_stall>(job); }

std::string called_words(const LedgerCall& call) {
  if (call.work == nullptr) return to_valid_utf8(call.op);
  return call.work->op + (call.work->size.empty() ? "" : " " + call.work->size);
}

std::string stall_words(const Stall& stall) {
  if (stall.account == nullptr) return {};
  const CallAccount& account = *stall.account;
  std::vector<std::string> phrases;
  for (const auto& [number, members] : stall.stops) {
    const std::string words = called_words(*member(account, members.front()).call(number));
    phrases.push_back(fmt::format("{}{} SeqNum {}{}", members_phrase(account, members),
                                  phrases.empty() ? " stopped furthest back, at" : " at", number,
                                  words.empty() ? "" : " (" + words + ")"));
  }
  return "; " + few_of(phrases, kMostNamed, ", ");
}

StallMeaning meaning_of(const Stall& stall) {
  if (stall.account == nullptr) return {};
  const auto& [number, members] = *stall.stops.begin();
  const LedgerCall& call = *member(*stall.account, members.front()).call(number);
  const std::string& op = call.work == nullptr ? call.op : call.work->op;
  const Operation operation = operation_of(op, AliasSource::Watchdog);
  const std::string back = members_phrase(*stall.account, members);
  const std::string ahead = members_phrase(*stall.account, members_ahead(stall));
  const uint64_t ended = ended_by_all_ahead(stall);
  if (operation == Operation::Broadcast && ended >= number) {
    return {fmt::format("{} had ended {} {} and gone on, as its root may, and who hands its data "
                        "on. Then nobody is missing there: the data did not come to {}.",
                        ahead, op, number, back),
            fmt::format("; {} had ended {}", ahead, number)};
  }
  // Who ended the call alone may have got its data before it stopped to flow to the others.
  if (!traits_of(operation).joins() || ended <= number) return {};
  return {fmt::format("{} had ended all up to SeqNum {} without {}, which cannot be where all call "
                      "the same: the ranks' calls may have diverged before, or members of the "
                      "group use it without the others.",
                      ahead, ended, back),
          "; their calls may have diverged"};
}

}  // namespace ncclog
