// Who diverged or is behind, and what timed out first, as PyTorch's watchdogs tell it?
//
//   [rank0]: … Watchdog caught collective operation timeout: WorkNCCL(SeqNum=29, OpType=ALLREDUCE …
//   [rank5]: … last enqueued work: 28, last completed work: 28      → job.watchdog_behind, rank 5
//
// SeqNum counts the calls of one process group; it is never compared with another source's numbers.
//   ranks 0-2: SeqNum=20 ALLREDUCE NumelIn=1048576, rank 3: SeqNum=20 ALLREDUCE NumelIn=524288
//       → job.watchdog_mismatch = yes, rank 3
//   ranks 0-4,6,7: SeqNum=29 timed out; rank 5: "Last enqueued NCCL work: 28"
//       → job.watchdog_behind = yes, rank 5
//
// The rank that reports a timeout is usually a victim. A rank is named only by its own lines or by
// a clear majority against it, never because it is silent.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/call_verdict.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/quiet_ranks.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/watchdog_stall.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/messages.h"
#include "log/wording/other_programs.h"

namespace ncclog {
namespace {

/// Names who said that, a TimedOutWork or a LedgerRank.
void blame_speaker(const Job& job, const auto& said, FactValue& value) {
  blame(said.rank >= 0 ? process_of_rank(job, said.rank) : said.process, said.rank, value);
}

/// "SeqNum 29 of process group 3".
std::string place(const CallAccount& account, uint64_t number) {
  const std::string group =
      account.group.empty() ? "" : fmt::format(" of process group {}", account.group);
  return fmt::format("SeqNum {}{}", number, group);
}

/// The line that says that the member gave up on the call of that number: its watchdog's, its status
/// alone, or that of a desync report.
Evidence timeout_line(const CallAccount& account, int m, uint64_t number) {
  const LedgerRank& rank = member(account, m);
  const LedgerCall* call = rank.call(number);
  if (call != nullptr && call->work != nullptr) return call->work->line;
  return rank.progress == nullptr ? Evidence{account.line, {}} : rank.progress->line;
}

/// A desync report's ranks are those inside the group: the job's only in that of all.
void blame_member(const Job& job, const CallAccount& account, int m, FactValue& value) {
  const bool is_global = account.source == CallSource::Watchdog ||
                         (!account.group.empty() && is_default_group(account.group));
  if (is_global) blame_speaker(job, member(account, m), value);
}

FactValue mismatch_by(const Job& job, CallSource source) {
  const CallVerdict verdict = find_verdict(job, source, VerdictKind::Mismatch);
  if (verdict.account == nullptr) return unknown();
  const CallAccount& account = *verdict.account;
  const std::vector<LedgerCamp>& camps = verdict.difference->camps;
  FactValue value = yes(
      fmt::format("{}: {}", place(account, verdict.number),
                  camps_words(
                      camps, "operation or size",
                      [&](const LedgerCamp& camp) { return members_phrase(account, camp.members); },
                      [](const LedgerCall* call) { return called_words(*call); })));
  for (const LedgerCamp& camp : camps) {
    value.evidence.push_back(timeout_line(account, camp.members.front(), verdict.number));
  }
  for (const int m : verdict.named) blame_member(job, account, m, value);
  // Where reports of other ranks may be lost, two sides do not tell which of them is the odd one.
  if (!verdict.named.empty() || is_torn(job)) return value;
  for (const LedgerCamp& camp : camps) {
    for (const int m : camp.members) blame_member(job, account, m, value);
  }
  return value;
}

FactValue watchdog_mismatch(const Job& job, const Instance&) {
  FactValue value = mismatch_by(job, CallSource::Watchdog);
  return value.known() ? value : mismatch_by(job, CallSource::Desync);
}

/// An NCCL call of this process failed before the others gave up, by itself and not because a peer
/// had gone.
std::optional<Evidence> own_failure(const Job& job, int process, SourceRef before) {
  std::optional<Evidence> first;
  const auto add = [&](const Record& record) {
    const bool earlier = record.where.unit != before.unit || record.where < before;
    if (earlier && (!first || record.where < first->where)) first = evidence_of(record);
  };
  const Process& speaker = nth_process(job, process);
  for_each_record(job, speaker, kKindIndex<StoreWaitFailed>, add);
  for_each_record(job, speaker, kKindIndex<NcclException>, [&](const Record& record) {
    if (record.text().find("remote process exited") == std::string::npos) add(record);
  });
  return first;
}

/// "ranks 0-4 timed out at SeqNum 29, but rank 5 had enqueued 28 as last work", with the line of one
/// that waits.
FactValue behind_answer(const CallAccount& account, const std::vector<int>& waiting,
                        const std::vector<std::string>& parts, FactValue value) {
  const uint64_t number = *given_up(account);
  const std::vector<int> ranks = ranks_of(account, waiting);
  value.what =
      fmt::format("{} timed out at {}, but {}", ranks.empty() ? "others" : ranks_phrase(ranks),
                  place(account, number), join(parts, ", "));
  value.evidence.push_back(timeout_line(account, waiting.front(), number));
  return value;
}

std::set<int> find_waiting(const Job& job) {
  std::set<int> processes;
  for (const Waiter& waiter : find_waits(job).waiting) processes.insert(waiter.process);
  return processes;
}

/// Its lines of calls show that it waits for somebody itself: it is a victim.
bool waits_by_lines(const Job& job, int process) {
  return job.answers.of<&find_waiting>(job).contains(process);
}

/// The ranks whose own lines say that they had enqueued less; unknown if there are none.
FactValue late_answer(const Job& job) {
  const CallVerdict verdict = find_verdict(job, CallSource::Watchdog, VerdictKind::Late);
  FactValue value = yes({});
  std::vector<std::string> parts;
  for (const int m : verdict.named) {
    const LedgerRank& late = member(*verdict.account, m);
    if (waits_by_lines(job, late.rank >= 0 ? process_of_rank(job, late.rank) : late.process)) {
      continue;
    }
    const std::string who = late.rank >= 0 ? fmt::format("rank {}", late.rank) : "one process";
    parts.push_back(fmt::format("{} had enqueued {} as last work", who, late.entered));
    value.evidence.push_back(late.progress->line);
    blame_speaker(job, late, value);
  }
  if (parts.empty()) return unknown();
  return behind_answer(*verdict.account, verdict.front.ahead, parts, std::move(value));
}

/// The ranks that PyTorch's desync report says not to have joined; unknown if there are none.
FactValue desync_answer(const Job& job) {
  const CallVerdict verdict = find_verdict(job, CallSource::Desync, VerdictKind::Late);
  if (verdict.account == nullptr) return unknown();
  const CallAccount& account = *verdict.account;
  const uint64_t number = member(account, verdict.front.ahead.front()).entered;
  const std::string late = members_phrase(account, verdict.named);
  const uint64_t last = verdict.number - 1;
  // Those named stand at one number, so all of them are in that collective or none is.
  const bool is_in_it = !member(account, verdict.named.front()).is_idle;
  std::string what =
      is_in_it
          ? fmt::format("{} joined collective {} and none after it, but {} had come to {}", late,
                        last, members_phrase(account, verdict.front.ahead), number)
          : fmt::format("{}, but {} {}", joined_words(account, verdict.front.ahead, number), late,
                        last == 0 ? "never joined any"
                                  : fmt::format("had finished {} and did not join it", last));
  FactValue value = yes(what + ", as PyTorch's desync report says", {{account.line, {}}});
  value.inferred = is_in_it;
  for (const int m : verdict.named) blame_member(job, account, m, value);
  return value;
}

/// The ranks that failed in a call of their own before the others gave up in the group of all
/// ranks, and that report no time-out.
FactValue failure_answer(const Job& job) {
  const auto& accounts = call_ledger(job, CallSource::Watchdog);
  const auto account = std::ranges::find(accounts, "", &CallAccount::group);
  if (account == accounts.end()) return unknown();
  const std::optional<uint64_t> number = given_up(*account);
  if (!number) return unknown();
  std::vector<int> waiting;
  std::optional<SourceRef> first;
  for (size_t r = 0; r < account->ranks.size(); ++r) {
    const LedgerCall* call = account->ranks[r].call(*number);
    if (call == nullptr) continue;
    waiting.push_back(static_cast<int>(r));
    const SourceRef where = timeout_line(*account, waiting.back(), *number).where;
    first = std::min(first.value_or(where), where);
  }
  FactValue value = yes({});
  std::vector<std::string> parts;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const int process = static_cast<int>(p);
    const int rank = job.processes[p].rank;
    if (rank < 0 || processes_that_gave_up(job).contains(process)) continue;
    if (waits_by_lines(job, process)) continue;
    auto line = own_failure(job, process, *first);
    if (!line) continue;
    parts.push_back(fmt::format("rank {} had failed in a call of its own before", rank));
    value.evidence.push_back(std::move(*line));
    blame(process, rank, value);
  }
  if (parts.empty() || !are_few(parts.size(), waiting.size())) return unknown();
  return behind_answer(*account, waiting, parts, std::move(value));
}

// Who came to a collective only after the others had given up on it?
//
//   22:36:07  ranks 1,2: SeqNum=16 timed out, limit 25 s
//   22:37:07  rank 0: failure detected by watchdog at work sequence id: 18 …, last completed work: 17
//       → rank 0 came too late: it began 18 after 22:36:42, 25 s before its line, and so ended 16
//         when nobody waited there any more
//
// What joins all ranks ends on none before all have entered it. Who had been in it with the others
// and went on would have met its own limit with them.

/// The member ended the work of that number and began a later one after `gave_up`, by the clocks.
bool came_after(const LedgerRank& rank, uint64_t number, int64_t limit_ms,
                const Evidence& gave_up) {
  constexpr int64_t kSecond = 1'000'000'000;
  const WorkProgress* progress = rank.progress;
  const bool went_on = progress != nullptr && progress->seq &&
                       rank.completed.value_or(0) >= number &&
                       std::cmp_greater(*progress->seq, number);
  if (!went_on || limit_ms <= 0) return false;
  const LedgerCall* later = rank.call(static_cast<uint64_t>(*progress->seq));
  if (later != nullptr && later->work != nullptr)
    limit_ms = std::max(limit_ms, later->work->ran_ms);
  const auto between = nanoseconds_between(gave_up.text, progress->line.text);
  return between && *between > limit_ms * (kSecond / 1000) + kSecond;
}

/// The few that came to a collective after all others of whom anything is known had given up on it.
FactValue came_late_answer(const Job& job) {
  for (const CallAccount* account : largest_first(call_ledger(job, CallSource::Watchdog))) {
    const auto stops = stops_of(*account);
    if (stops.empty() || !account->is_numbered_alike) continue;
    const auto& [number, waiting] = *stops.begin();
    const LedgerCall* call = member(*account, waiting.front()).call(number);
    const bool joins = call->work != nullptr &&
                       traits_of(operation_of(call->work->op, AliasSource::Watchdog)).joins();
    if (!joins) continue;
    FactValue value = yes({});
    std::vector<int> late;
    const auto last = std::ranges::max(waiting, {}, [&](int m) {
      return time_of_line(timeout_line(*account, m, number).text).nanoseconds;
    });
    const Evidence gave_up = timeout_line(*account, last, number);
    const std::set<int> known(waiting.begin(), waiting.end());
    for (size_t r = 0; r < account->ranks.size(); ++r) {
      const int m = static_cast<int>(r);
      if (known.contains(m)) continue;
      const LedgerRank& rank = account->ranks[r];
      if (rank.rank < 0 || !came_after(rank, number, call->work->timeout_ms, gave_up))
        return unknown();
      late.push_back(m);
      value.evidence.push_back(rank.progress->line);
      blame_speaker(job, rank, value);
    }
    if (late.empty() || !are_few(late.size(), waiting.size())) continue;
    value.evidence.insert(value.evidence.begin(), timeout_line(*account, waiting.front(), number));
    std::string busy;
    const FactValue phase = rare_phase_before(job, call->work->line);
    if (late.size() == 1 && is_yes(phase) &&
        parse_int(rank_named_in(phase.evidence.front().text)) ==
            member(*account, late.front()).rank) {
      busy = fmt::format(", after \"{}\"", line_words(phase.evidence.front().text, 80));
      value.evidence.push_back(phase.evidence.front());
    }
    value.what =
        fmt::format("{} came too late to {}, {} (limit {} s){}: {} had given up",
                    members_phrase(*account, late), place(*account, number), call->work->op,
                    call->work->timeout_ms / 1000, busy, members_phrase(*account, waiting));
    return value;
  }
  return unknown();
}

FactValue watchdog_behind(const Job& job, const Instance&) {
  for (const auto answer : {late_answer, desync_answer, failure_answer, came_late_answer}) {
    FactValue value = answer(job);
    if (value.known()) return value;
  }
  return unknown();
}

/// Every rank of the job gave up on the same collective.
FactValue watchdog_all_alike(const Job& job, const Instance&) {
  const CallVerdict verdict = find_verdict(job, CallSource::Watchdog, VerdictKind::Entered);
  if (verdict.account == nullptr || !verdict.account->group.empty()) return unknown();
  const CallAccount& account = *verdict.account;
  const std::string words = called_words(*account.ranks.front().call(verdict.number));
  // In a job of several communicators, others may have worked before.
  const bool is_first_of_all = verdict.number == 1 && job.communicators.size() == 1;
  FactValue value = yes(fmt::format("all {} ranks gave up on SeqNum {}{}{}", account.ranks.size(),
                                    verdict.number, words.empty() ? "" : ", " + words,
                                    is_first_of_all ? ", the very first collective" : ""));
  for (size_t r = 0; r < account.ranks.size(); ++r) {
    value.evidence.push_back(timeout_line(account, static_cast<int>(r), verdict.number));
  }
  return value;
}

/// The timeout that matters most: of a stall the furthest back, else that which was printed first;
/// nullptr if there is none.
const TimedOutWork* first_timeout(const Job& job) {
  const Stall& stall = stall_of(job);
  if (stall.account != nullptr) {
    const auto& [number, members] = *stall.stops.begin();
    const LedgerCall* call = member(*stall.account, members.front()).call(number);
    if (call->work != nullptr) return call->work;
  }
  const std::vector<TimedOutWork>& works = timed_out_work(job);
  const auto first =
      std::ranges::min_element(works, {}, [](const TimedOutWork& work) { return work.line.where; });
  return first == works.end() ? nullptr : &*first;
}

FactValue watchdog_at_eval(const Job& job, const Instance&) {
  const TimedOutWork* timeout = first_timeout(job);
  return timeout == nullptr ? unknown() : rare_phase_before(job, timeout->line);
}

/// "here all ranks …": what a stall says of those that are waited for, and who is quiet.
std::string waited_for_phrase(const Job& job) {
  const StallMeaning meaning = meaning_of(stall_of(job));
  std::string quiet = quiet_ranks_phrase(job);
  if (meaning.sentence.empty()) return quiet;
  const bool names_some = quiet.starts_with("no ");
  return "here " + meaning.sentence + (names_some ? " " + capitalised(std::move(quiet)) : "");
}

/// How the exception of a watchdog begins that gave up on a work.
constexpr std::string_view kCutTimeout = "Watchdog caught collective operation";

/// What is known where the line that names the operation is not there, and only the status is.
FactValue first_status(const Job& job) {
  const WorkProgress* first = nullptr;
  for (const WorkProgress& progress : work_progress(job)) {
    const bool is_earlier = first == nullptr || progress.line.where < first->line.where;
    if (progress.is_timeout && is_earlier) first = &progress;
  }
  FactValue value;
  if (first != nullptr) {
    const std::string on = first->rank < 0 ? "" : fmt::format(" on rank {}", first->rank);
    value.value =
        fmt::format("Work {} timed out{}, last completed {}; no line names the operation{}",
                    *first->seq, on, first->last_completed, stall_words(stall_of(job)));
    value.evidence = {first->line};
  }
  for_each_said<WatchdogTimeout>(job, [&](const Said<WatchdogTimeout>& said) {
    if (value.known()) return;
    const int rank = rank_of(job, said.process, said.header());
    const std::string seq =
        said.message.seq < 0 ? "A work" : fmt::format("Work {}", said.message.seq);
    const std::string on = rank < 0 ? "" : fmt::format(" on rank {}", rank);
    value.value = seq + " timed out" + on + "; its line is cut before the operation";
    value.evidence = {evidence_of(said.record())};
  });
  for_each_said<WatchdogTerminated>(job, [&](const Said<WatchdogTerminated>& said) {
    if (value.known() || said.message.error.find(kCutTimeout) == said.message.error.npos) return;
    const int rank = rank_of(job, said.process, said.header());
    value.value = fmt::format("A work timed out{}; its line is cut before the operation",
                              rank < 0 ? "" : fmt::format(" on rank {}", rank));
    value.evidence = {evidence_of(said.record())};
  });
  value.what = waited_for_phrase(job);
  return value;
}

/// Of a time-out of which only the signals tell that ask ranks for their flight records: from
/// another rank, from the rank itself, or from nobody who is named.
FactValue first_hearsay(const Job& job) {
  FactValue value;
  const auto who = [&](const auto& said) {
    const int rank = rank_of(job, said.process, said.header());
    return rank < 0 ? std::string("a rank") : fmt::format("rank {}", rank);
  };
  const auto add_signals = [&](bool is_own) {
    for_each_said<DumpSignal>(job, [&](const Said<DumpSignal>& said) {
      const DumpSignal& signal = said.message;
      if (value.known() || (signal.from_rank < 0) != is_own) return;
      const std::string about =
          is_own ? fmt::format("{}, whose line of it is not here; it", who(said))
                 : fmt::format("rank {}, whose own lines are not here; {}, which heard of it,",
                               signal.from_rank, who(said));
      value.value = fmt::format("A work timed out on {} had completed {} of {} works", about,
                                signal.last_completed, signal.last_enqueued);
      value.evidence = {evidence_of(said.record())};
    });
  };
  add_signals(true);
  add_signals(false);
  for_each_said<DumpObserved>(job, [&](const Said<DumpObserved>& said) {
    if (value.known()) return;
    value.value = fmt::format("A work timed out on a rank whose lines are not here; {} heard of it",
                              who(said));
    value.evidence = {evidence_of(said.record())};
  });
  value.what = quiet_ranks_phrase(job);
  return value;
}

/// No line says that the two are of different groups; that which would name one may be lost.
bool may_be_of_one_group(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b || (is_default_group(a) && is_default_group(b));
}

/// Who gave up on a work of a number, by the group that lines name.
using RanksByGroup = std::map<std::string_view, std::set<int>>;

/// Who gave up on which work.
struct GivenUp {
  std::map<std::pair<int64_t, std::string_view>, RanksByGroup> works;  ///< By number and operation.
  /// By number, what ranks say of which no line names an operation.
  std::map<int64_t, std::vector<const WorkProgress*>> statuses;
  std::map<int64_t, RanksByGroup> alone;  ///< The ranks of these.
  std::map<int64_t, std::set<int>> cut;   ///< By lines that are cut before the operation.
};

GivenUp find_given_up(const Job& job) {
  GivenUp all;
  std::set<int> named;
  for (const TimedOutWork& each : timed_out_work(job)) {
    named.insert(each.rank);
    all.works[{each.seq, each.op}][each.group].insert(each.rank);
  }
  // "Exception (either an error or timeout)": theirs was an error of NCCL.
  std::set<int> failed;
  for_each_said<WorkException>(job, [&](const auto& said) { failed.insert(said.process); });
  for (const WorkProgress& progress : work_progress(job)) {
    const bool counts = progress.seq && *progress.seq >= 0 && progress.rank >= 0 &&
                        (progress.is_timeout || !failed.contains(progress.process));
    if (!counts || named.contains(progress.rank)) continue;
    all.statuses[*progress.seq].push_back(&progress);
    all.alone[*progress.seq][progress.group].insert(progress.rank);
  }
  for_each_said<WatchdogTimeout>(job, [&](const Said<WatchdogTimeout>& said) {
    if (said.message.op.empty())
      all.cut[said.message.seq].insert(rank_of(job, said.process, said.header()));
  });
  return all;
}

/// Calls `use(ranks)` for each set of ranks whose watchdogs gave up on the same work, by a line that
/// may be cut before the operation.
template <typename Use>
void for_those_giving_up(const Job& job, const TimedOutWork& work, Use&& use) {
  const GivenUp& all = job.answers.of<&find_given_up>(job);
  const auto use_groups = [&](const auto& ranks, const auto& key) {
    const auto found = ranks.find(key);
    if (found == ranks.end()) return;
    const RanksByGroup& by_group = found->second;
    // All but these are of another group than one that is named and not that of all ranks.
    if (!is_default_group(work.group)) {
      for (const std::string_view group : {std::string_view(work.group), std::string_view()}) {
        const auto own = by_group.find(group);
        if (own != by_group.end()) use(own->second);
      }
      return;
    }
    for (const auto& [group, own] : by_group) {
      if (may_be_of_one_group(std::string(group), work.group)) use(own);
    }
  };
  use_groups(all.works, std::pair<int64_t, std::string_view>(work.seq, work.op));
  if (work.seq >= 0) use_groups(all.alone, work.seq);
  if (const auto cut = all.cut.find(work.seq); cut != all.cut.end()) use(cut->second);
}

/// What ranks say that gave up on the same work, of which no line names an operation.
std::vector<const WorkProgress*> statuses_alone(const Job& job, const TimedOutWork& work) {
  const GivenUp& all = job.answers.of<&find_given_up>(job);
  const auto found = all.statuses.find(work.seq);
  if (found == all.statuses.end()) return {};
  std::vector<const WorkProgress*> alone;
  std::ranges::copy_if(found->second, std::back_inserter(alone), [&](const WorkProgress* each) {
    return may_be_of_one_group(each->group, work.group);
  });
  return alone;
}

/// Of all who gave up there is a status alone, or of some of those that gave up on the first work.
FactValue watchdog_status_only(const Job& job, const Instance&) {
  if (const TimedOutWork* first = first_timeout(job)) {
    FactValue value = yes({});
    for (const WorkProgress* progress : statuses_alone(job, *first)) {
      value.evidence.push_back(progress->line);
      blame_speaker(job, *progress, value);
    }
    if (value.evidence.empty()) return no();
    for (const TimedOutWork& work : timed_out_work(job)) blame_speaker(job, work, value);
    // A line that is cut tells no whole work, and who printed it.
    for_each_said<WatchdogTimeout>(job, [&](const auto& said) {
      blame(said.process, rank_of(job, said.process, said.header()), value);
    });
    return value;
  }
  const FactValue status = first_status(job);
  if (!status.known()) return unknown();
  FactValue value = yes(status.what);
  for (const WorkProgress& progress : work_progress(job)) {
    if (!progress.is_timeout) continue;
    value.evidence.push_back(progress.line);
    blame_speaker(job, progress, value);
  }
  if (value.evidence.empty()) value.evidence = status.evidence;
  return value;
}

/// ", but given up only after 7.1 h": a watchdog that looks once a second was held up itself, by a
/// process that stood still. Empty: it fired in time.
std::string overdue_words(const TimedOutWork& work) {
  constexpr int64_t kLeastMs = 60 * 1000;
  const bool is_overdue = work.timeout_ms > 0 && work.ran_ms - work.timeout_ms > kLeastMs &&
                          work.ran_ms > 2 * work.timeout_ms;
  if (!is_overdue) return {};
  return fmt::format(", but its watchdog fired only after {:.1f} hours",
                     static_cast<double>(work.ran_ms) / (3600 * 1000));
}

/// Those whose watchdogs gave up on the same work.
std::set<int> ranks_giving_up(const Job& job, const TimedOutWork& work) {
  std::set<int> ranks;
  for_those_giving_up(job, work,
                      [&](const std::set<int>& some) { ranks.insert(some.begin(), some.end()); });
  ranks.erase(-1);
  return ranks;
}

/// "ranks 1,2", "7 of 8 ranks"; empty: unknown.
std::string giving_up_phrase(const Job& job, const std::set<int>& ranks) {
  constexpr size_t kLongest = 24;
  std::string names = ranks.empty() ? "" : ranks_phrase({ranks.begin(), ranks.end()});
  const auto all = static_cast<size_t>(told_ranks(job));
  if (ranks.size() > 2 && ranks.size() == all) return fmt::format("all {} ranks", all);
  if (names.size() <= kLongest) return names;
  return all == 0 ? fmt::format("{} ranks", ranks.size())
                  : fmt::format("{} of {} ranks", ranks.size(), all);
}

/// "ALLREDUCE 315".
std::string work_words(const TimedOutWork& work) {
  return work.seq < 0 ? work.op : fmt::format("{} {}", work.op, work.seq);
}

/// "ALLREDUCE 315 on rank 0": what those gave up on that did not give up on the first. Of those
/// behind the first kMostNamed it is only said that they are there.
std::vector<std::string> given_up_elsewhere(const Job& job, const TimedOutWork& first) {
  std::set<int> told;
  std::set<const std::set<int>*> known;  // Of which all are told.
  const auto tell = [&](const std::set<int>& ranks) {
    if (known.insert(&ranks).second) told.insert(ranks.begin(), ranks.end());
  };
  for_those_giving_up(job, first, tell);
  std::vector<std::string> parts;
  const bool is_message = is_point_to_point(first.op);
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.rank < 0 || told.contains(work.rank)) continue;
    const bool is_alike =
        is_point_to_point(work.op) == is_message && may_be_of_one_group(work.group, first.group);
    if (!is_alike) continue;
    parts.emplace_back();
    if (parts.size() <= kMostNamed)
      parts.back() = fmt::format("{} on {}", work_words(work),
                                 giving_up_phrase(job, ranks_giving_up(job, work)));
    for_those_giving_up(job, work, tell);
  }
  return parts;
}

/// The group of a work. Where its own lines name none, that which all others name that gave up on the
/// same number, operation and size; empty: not told.
std::string group_of(const Job& job, const TimedOutWork& work) {
  std::set<std::string> groups;
  for (const TimedOutWork& other : timed_out_work(job)) {
    const bool is_same = other.seq == work.seq && other.op == work.op && other.size == work.size;
    if (is_same && !other.group.empty()) groups.insert(other.group);
  }
  if (!work.group.empty()) return work.group;
  return groups.size() == 1 && !work.size.empty() ? *groups.begin() : std::string();
}

/// " of the default group", " of process group 112"; empty: `group` is.
std::string of_group(const Job& job, const std::string& group) {
  if (group.empty()) return {};
  return " of " + (is_default_group(group) ? "the default group" : process_group_words(job, group));
}

/// "ALLREDUCE 56731 of the default group timed out after 600 s on rank 6".
std::string timeout_words(const Job& job, const TimedOutWork& timeout) {
  const std::string after =
      timeout.timeout_ms > 0 ? fmt::format(" after {} s", timeout.timeout_ms / 1000) : "";
  const std::set<int> who = ranks_giving_up(job, timeout);
  const int process = who.size() == 1 ? process_of_rank(job, *who.begin()) : -1;
  const int64_t pid = process < 0 ? -1 : nth_process(job, process).pid;
  const std::string ranks = pid < 0 ? giving_up_phrase(job, who)
                                    : name_of(job, {.pid = pid, .rank = *who.begin(), .line = {}});
  return fmt::format("{}{} timed out{}{}{}", work_words(timeout),
                     of_group(job, group_of(job, timeout)), after,
                     ranks.empty() ? "" : " on " + ranks, overdue_words(timeout));
}

/// " Its stack is printed: forward (model.py:41).": where the program called the collective that timed
/// out, by its innermost frame outside torch's own packages; else the names of the innermost ones.
std::string stack_words(const Job& job) {
  constexpr size_t kFrames = 4;
  std::vector<std::string> inner;
  std::string own;
  for_each_said<FailedStackFrame>(job, [&](const Said<FailedStackFrame>& said) {
    const FailedStackFrame& frame = said.message;
    const std::string_view file = frame.file.substr(frame.file.rfind('/') + 1);
    const std::string place = fmt::format("{} ({}:{})", frame.function, file, frame.line);
    if (inner.size() < kFrames) inner.push_back(place);
    if (own.empty() && frame.file.find("/torch/") == frame.file.npos) own = place;
  });
  if (inner.empty()) return {};
  return fmt::format(" The stack of the failed collective is printed: {}.",
                     to_valid_utf8(own.empty() ? join(inner, ", ") : own));
}

/// The same, and how the job stalled. In words: who is quiet, and of which size it was.
FactValue watchdog_first(const Job& job, const Instance&) {
  const TimedOutWork* timeout = first_timeout(job);
  if (timeout == nullptr) {
    FactValue status = first_status(job);
    return status.known() ? status : first_hearsay(job);
  }
  const Stall& stall = stall_of(job);
  FactValue value;
  value.value = timeout_words(job, *timeout) + stall_words(stall);
  value.what = waited_for_phrase(job);
  if (!timeout->size.empty()) value.what += fmt::format(" The work's size: {}.", timeout->size);
  value.what += stack_words(job);
  const auto others = given_up_elsewhere(job, *timeout);
  const auto is_again = [&](const TimedOutWork& work) {
    return timeout->in_unnamed_group && work.rank == timeout->rank && work.seq != timeout->seq &&
           work.group.empty() && work.process == timeout->process && !is_point_to_point(work.op);
  };
  if (timeout->rank >= 0 && std::ranges::any_of(timed_out_work(job), is_again)) {
    value.what += fmt::format(
        " Rank {} alone gave up on several calls, so these lines are of several groups: ranks are "
        "those inside a group, and numbers are not compared.",
        timeout->rank);
  } else if (stall.account == nullptr && !others.empty() && !is_point_to_point(timeout->op)) {
    value.what += fmt::format(
        " Others gave up on other calls, {}: if all are of one group, the program may have "
        "diverged.",
        few_of(others, kMostNamed, ", "));
  }
  value.evidence = {timeout->line};
  return value;
}

/// "; so did ALLREDUCE 57 of process group 112 on rank 15", "; so did calls in 3 other groups": what
/// was given up in groups that certainly are others; empty: nothing.
std::string other_groups_words(const Job& job, const TimedOutWork& first) {
  std::set<std::string> groups;
  const TimedOutWork* other = nullptr;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool is_other = work.rank >= 0 && !work.group.empty() && !first.group.empty() &&
                          !may_be_of_one_group(work.group, first.group);
    if (is_other && groups.insert(work.group).second && other == nullptr) other = &work;
  }
  if (other == nullptr) return {};
  if (groups.size() > 1) return fmt::format("; so did calls in {} other groups", groups.size());
  return fmt::format("; so did {}{} on {}", work_words(*other), of_group(job, other->group),
                     giving_up_phrase(job, ranks_giving_up(job, *other)));
}

/// As short as a headline, with what other ranks gave up on in place of the stall.
FactValue watchdog_timeouts(const Job& job, const Instance& instance) {
  FactValue value = watchdog_first(job, instance);
  if (const TimedOutWork* timeout = first_timeout(job)) {
    const std::string meaning = meaning_of(stall_of(job)).headline;
    std::vector<std::string> parts = given_up_elsewhere(job, *timeout);
    // What it means matters more than the group and the limit.
    parts.insert(parts.begin(),
                 meaning.empty()
                     ? timeout_words(job, *timeout)
                     : fmt::format("{} timed out on {}", work_words(*timeout),
                                   giving_up_phrase(job, ranks_giving_up(job, *timeout))));
    value.value =
        few_of(parts, 3, ", ") + (meaning.empty() ? other_groups_words(job, *timeout) : meaning);
  }
  return value;
}

// Had the group of a work that timed out never completed any?
//
//   last completed work: -1                          → it was the first, whatever its size
//   last completed work: 12                          → it was not, whatever its number
//   no status, SeqNum=1; or one of the first five, of one element as a barrier has     → yes

/// The last that its rank had completed in its group before, if a status says so.
std::optional<int64_t> completed_before(const Job& job, const TimedOutWork& work) {
  for (const WorkProgress& progress : work_progress(job)) {
    const bool is_its = progress.seq == work.seq && progress.process == work.process &&
                        progress.rank == work.rank && progress.group == work.group;
    if (is_its) return progress.last_completed;
  }
  return std::nullopt;
}

bool is_first_call(const Job& job, const TimedOutWork& work) {
  constexpr int64_t kFew = 5;
  if (const auto completed = completed_before(job, work)) return *completed < 1;
  const bool is_barrier = work.numel_in == 1 || work.op == "BARRIER";
  return work.seq == 1 || (work.seq >= 1 && work.seq <= kFew && is_barrier);
}

/// Why no call of the group ended, as a clause; `in_it` names those that are in the first.
std::string never_worked_because(const Job& job, const std::string& waited_for,
                                 const FactValue& in_it) {
  std::set<int> ranks(in_it.ranks.begin(), in_it.ranks.end());
  for (const int process : in_it.processes) ranks.insert(nth_process(job, process).rank);
  const bool are_all = ranks.size() > 1 && *ranks.begin() == 0 &&
                       std::cmp_equal(known_ranks(job, ranks), ranks.size()) && !is_torn(job);
  if (!are_all) return "its communicator did not come up, or a rank never arrived; " + waited_for;
  return fmt::format(
      "{} are all in it, and none that is known is missing. What is left is the path between them, "
      "between GPUs or hosts, over which the communicator did not come up or no data passes.{}",
      ranks_phrase({ranks.begin(), ranks.end()}),
      job.nranks ? "" : " Whether there are more ranks, these logs do not show.");
}

FactValue watchdog_first_call(const Job& job, const Instance& instance) {
  FactValue value = yes({});
  const auto add = [&](const auto& said) {
    value.evidence.push_back(said.line);
    blame_speaker(job, said, value);
  };
  if (const TimedOutWork* first = first_timeout(job)) {
    if (!is_first_call(job, *first)) return no();
    for (const TimedOutWork& work : timed_out_work(job)) {
      if (work.group == first->group && is_first_call(job, work)) add(work);
    }
    // Others say only that they have it in flight.
    for (const WorkProgress& progress : work_progress(job)) {
      const bool is_in_it = !progress.seq && progress.last_completed < 1 &&
                            progress.last_enqueued >= first->seq &&
                            is_default_group(progress.group) && is_default_group(first->group);
      if (is_in_it) add(progress);
    }
  } else if (is_yes(watchdog_status_only(job, instance))) {
    for (const WorkProgress& progress : work_progress(job)) {
      if (progress.seq && progress.last_completed < 1) add(progress);
    }
  }
  if (value.evidence.empty()) return no();
  value.what = never_worked_because(job, watchdog_first(job, instance).what, value);
  return value;
}

/// "ALLREDUCE 6 timed out after 600 s on rank 6", "nothing was printed for 17 s before …".
FactValue standstill(const Job& job, const Instance& instance) {
  FactValue value = watchdog_first(job, instance);
  if (const auto* first = std::get_if<std::string>(&value.value)) {
    return {*first, {}, value.evidence, {}, {}};
  }
  const auto& stop = stop_evidence(job);
  if (!stop || !stood_still(job)) return unknown();
  return {stop->what, {}, {stop->line}, {}, {}};
}

constexpr std::array kWatchdogFacts = {
    // Evaluation or checkpoint output stands shortly before the first timeout.
    job_fact("job.watchdog_at_eval", watchdog_at_eval),
    // A few ranks' own lines show that they had not come to the work the others timed
    // out in.
    comparing_fact("job.watchdog_behind", watchdog_behind),
    // How it is known that the job stood still: a clause.
    job_fact("job.standstill", standstill, FactType::Text),
    // The collective that timed out first, or in which those furthest back gave up, in words.
    job_fact("job.watchdog_first", watchdog_first, FactType::Text),
    // The same with what other ranks gave up on, as short as a headline.
    job_fact("job.watchdog_timeouts", watchdog_timeouts, FactType::Text),
    // Of all ranks one alone reports no time-out: in words, the end of a headline.
    comparing_fact("job.watchdog_quiet", watchdog_quiet),
    // A watchdog says how far its work came when it timed out, and no line names the
    // operation.
    job_fact("job.watchdog_status_only", watchdog_status_only),
    // Every rank of the job gave up on the same collective, so all had entered it.
    comparing_fact("job.watchdog_all_alike", watchdog_all_alike),
    // A process group timed out in its first collective.
    job_fact("job.watchdog_first_call", watchdog_first_call),
    // Ranks of one process group timed out in different collectives at one SeqNum.
    comparing_fact("job.watchdog_mismatch", watchdog_mismatch),
};

}  // namespace

std::span<const Fact> watchdog_facts() { return kWatchdogFacts; }

}  // namespace ncclog
