#include "diagnose/calls/call_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/messages.h"

namespace ncclog {
namespace {

std::map<std::string, const CallAccount*> find_watched(const Job& job) {
  std::map<std::string, const CallAccount*> by_group;
  for (const CallAccount& account : call_ledger(job, CallSource::Watchdog))
    by_group.emplace(account.group, &account);
  return by_group;
}

/// What watchdogs say of the process group of a dump.
const CallAccount* watched_account(const Job& job, const CallAccount& account) {
  const bool is_default = is_default_group(account.group) || account.description == "default_pg";
  const auto& watched = job.answers.of<&find_watched>(job);
  const auto found = watched.find(is_default ? "" : account.group);
  return found == watched.end() ? nullptr : found->second;
}

/// By number, who gave up on a work of which no line names the group.
std::map<int64_t, std::set<int>> find_ungrouped(const Job& job) {
  std::map<int64_t, std::set<int>> ranks;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.group.empty() && work.seq >= 0) ranks[work.seq].insert(work.rank);
  }
  return ranks;
}

/// Somebody waited in that call until a limit: its account says so, or a watchdog. Limits elsewhere
/// prove nothing: dumps may have been asked for long before. `ncclog run` asks for them once it has
/// seen that nothing moves.
bool somebody_gave_up(const Job& job, const CallAccount& account, uint64_t number) {
  const auto gave_up = [&](const LedgerRank& rank) {
    const LedgerCall* call = rank.call(number);
    return call != nullptr && call->state == CallState::TimedOut;
  };
  const auto& stop = stop_evidence(job);
  if (stop && stop->by == StopBy::Watched) return true;
  if (account.source == CallSource::Desync) return true;  // Only then it is printed.
  if (std::ranges::any_of(account.ranks, gave_up)) return true;
  const CallAccount* watched = watched_account(job, account);
  if (watched != nullptr && std::ranges::any_of(watched->ranks, gave_up)) return true;
  // A line that names no group is of this one where the dump of its rank shows that call open.
  const auto& ungrouped = job.answers.of<&find_ungrouped>(job);
  const auto ranks = ungrouped.find(static_cast<int64_t>(number));
  if (ranks == ungrouped.end()) return false;
  std::set<int> seen;  // Of several with one number the first counts.
  return std::ranges::any_of(account.ranks, [&](const LedgerRank& rank) {
    return ranks->second.contains(rank.rank) && seen.insert(rank.rank).second &&
           rank.waits_in(number);
  });
}

CallVerdict mismatch(const CallAccount& account, LedgerDifference difference) {
  CallVerdict verdict{VerdictKind::Mismatch, &account, difference.number, {}, {}, {}};
  verdict.named =
      account.source == CallSource::Recorder
          ? outvoted(difference.camps,
                     [&](size_t agree, size_t) { return is_majority(agree, account.ranks.size()); })
          : outvoted(difference.camps, is_two_thirds);
  std::ranges::sort(verdict.named);
  verdict.difference = std::move(difference);
  return verdict;
}

CallVerdict find_mismatch(const std::vector<const CallAccount*>& accounts) {
  for (const CallAccount* account : accounts) {
    if (auto difference = first_difference(*account)) {
      return mismatch(*account, std::move(*difference));
    }
  }
  return {};
}

/// The ranks whose watchdogs say that they wait; -1: somebody's.
std::set<int> find_those_that_wait(const Job& job) {
  std::set<int> ranks;
  for (const TimedOutWork& work : timed_out_work(job)) ranks.insert(std::max(work.rank, -1));
  for (const WorkProgress& progress : work_progress(job)) {
    if (progress.is_timeout) ranks.insert(std::max(progress.rank, -1));
  }
  return ranks;
}

/// A desync report names the rank as furthest back: it joined a collective, and joined none of those
/// to which all others have gone on, nor does its own watchdog say that it waits.
bool is_stopped(const Job& job, const CallAccount& account, const LedgerRank& rank) {
  const bool is_of_all = !account.group.empty() && is_default_group(account.group);
  if (account.source != CallSource::Desync || !is_of_all || is_torn(job)) return false;
  const std::set<int>& waiting = job.answers.of<&find_those_that_wait>(job);
  return !waiting.contains(-1) && !waiting.contains(rank.rank);
}

/// The account's ranks that are behind and wait for nobody; Nothing if most are, since then one has
/// run ahead.
CallVerdict late(const Job& job, const CallAccount& account) {
  CallFront front = front_of(account);
  // Of a group with a rank that left no dump, all may wait for that one.
  const bool is_covered = account.source == CallSource::Watchdog || front.unknown.empty();
  if (!front.is_open() || !is_covered || !somebody_gave_up(job, account, front.front + 1)) {
    return {};
  }
  std::vector<int> idle;
  for (const int r : front.behind) {
    const LedgerRank& rank = member(account, r);
    if (rank.is_idle || is_stopped(job, account, rank)) idle.push_back(r);
  }
  if (idle.empty() || !are_few(idle.size(), front.ahead.size())) return {};
  const uint64_t number = front.front + 1;
  return {VerdictKind::Late, &account, number, std::move(idle), std::move(front), {}};
}

/// All ranks of the group are in the same call, and somebody gave up on it.
CallVerdict entered(const Job& job, const CallAccount& account) {
  if (!account.is_numbered_alike || account.unseen > 0 || account.ranks.empty()) return {};
  const std::optional<uint64_t> most = given_up(account);
  const uint64_t number = most.value_or(account.ranks.front().entered);
  const bool all_wait = std::ranges::all_of(account.ranks, [&](const LedgerRank& rank) {
    return rank.waits_in(number) && (most || rank.entered == number);
  });
  const bool is_the_same = all_wait && !first_difference(account);
  if (!is_the_same || !somebody_gave_up(job, account, number)) return {};
  return {VerdictKind::Entered, &account, number, {}, {}, {}};
}

}  // namespace

std::vector<const CallAccount*> largest_first(const std::vector<CallAccount>& accounts) {
  std::vector<const CallAccount*> sorted;
  for (const CallAccount& account : accounts) sorted.push_back(&account);
  std::ranges::stable_sort(sorted, std::greater{},
                           [](const CallAccount* account) { return account->ranks.size(); });
  return sorted;
}

std::vector<int> ranks_of(const CallAccount& account, const std::vector<int>& members) {
  std::vector<int> ranks;
  for (const int m : members) {
    if (member(account, m).rank >= 0) ranks.push_back(member(account, m).rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::set<int> named_ranks(const Job& job, const FactValue& value) {
  std::set<int> ranks(value.ranks.begin(), value.ranks.end());
  for (const int process : value.processes) ranks.insert(nth_process(job, process).rank);
  return ranks;
}

std::string members_phrase(const CallAccount& account, const std::vector<int>& members) {
  const std::vector<int> ranks = ranks_of(account, members);
  return ranks.empty() ? fmt::format("{} processes", members.size()) : ranks_phrase(ranks);
}

std::string joined_words(const CallAccount& account, const std::vector<int>& members,
                         uint64_t number) {
  const bool is_named = !is_default_group(account.group);
  return fmt::format("{}{} joined collective {} and did not finish it",
                     members.size() == account.ranks.size()
                         ? fmt::format("all {} ranks", members.size())
                         : members_phrase(account, members),
                     is_named ? " of process group " + to_valid_utf8(account.group) : "", number);
}

CallVerdict find_verdict(const Job& job, CallSource source, VerdictKind kind) {
  const auto accounts = largest_first(call_ledger(job, source));
  if (accounts.empty()) return {};
  if (kind == VerdictKind::Mismatch) return find_mismatch(accounts);
  // What all have entered matters in the group of all.
  if (kind == VerdictKind::Entered) return entered(job, *accounts.front());
  for (const CallAccount* account : accounts) {
    CallVerdict verdict = late(job, *account);
    if (verdict.account != nullptr) return verdict;
  }
  return {};
}

CallVerdict verdict_of(const Job& job, CallSource source) {
  for (const VerdictKind kind : {VerdictKind::Mismatch, VerdictKind::Late, VerdictKind::Entered}) {
    CallVerdict verdict = find_verdict(job, source, kind);
    if (verdict.account != nullptr) return verdict;
  }
  return {};
}

}  // namespace ncclog
