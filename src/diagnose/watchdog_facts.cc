// Who waits for whom when PyTorch's watchdog fires?
//
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
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/call_waits.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/phase.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/watchdog_records.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// A reporter: its rank where known, else its process.
using Who = std::pair<int, int>;

Who who(const TimedOutWork& work) { return {work.rank, work.rank >= 0 ? -1 : work.process}; }

std::string signature(const TimedOutWork& work) {
  return work.size.empty() ? work.op : work.op + " " + work.size;
}

std::vector<int> ranks_of(const std::vector<const TimedOutWork*>& works) {
  std::set<int> ranks;
  for (const TimedOutWork* work : works) {
    if (work->rank >= 0) ranks.insert(work->rank);
  }
  return {ranks.begin(), ranks.end()};
}

/// The guilty as an answer names them: processes of the log, or ranks that have none.
void blame(const Job& job, int rank, int process, FactValue& value) {
  const int known = rank >= 0 ? process_of_rank(job, rank) : process;
  if (known >= 0) {
    value.processes.push_back(known);
  } else if (rank >= 0) {
    value.ranks.push_back(rank);
  }
}

using Camps = std::map<std::string, std::vector<const TimedOutWork*>>;

/// Operations of which a report names no size: such a report fits every size of it.
std::set<std::string> ops_without_size(std::initializer_list<const StalledWork*> stalled) {
  std::set<std::string> ops;
  for (const StalledWork* one : stalled) {
    for (const TimedOutWork& work : one->reports) {
      if (work.size.empty()) ops.insert(work.op);
    }
  }
  return ops;
}

/// Reports by what they wait in; empty if one rank waits in two (then several groups are mixed).
/// The camps point into the reports.
Camps camps_of(std::initializer_list<const StalledWork*> stalled) {
  Camps camps;
  std::set<Who> seen;
  const std::set<std::string> sizeless = ops_without_size(stalled);
  for (const StalledWork* one : stalled) {
    for (const TimedOutWork& work : one->reports) {
      if (!seen.insert(who(work)).second) return {};
      camps[sizeless.contains(work.op) ? work.op : signature(work)].push_back(&work);
    }
  }
  return camps;
}

/// "ranks 0-2 in ALLREDUCE NumelIn=8, rank 3 in ALLREDUCE NumelIn=4", by first rank.
std::string camps_phrase(const Camps& camps) {
  std::map<std::pair<std::vector<int>, std::string>, std::string> parts;
  for (const auto& [what, works] : camps) {
    const std::vector<int> ranks = ranks_of(works);
    const std::string who =
        ranks.empty() ? fmt::format("{} processes", works.size()) : ranks_phrase(ranks);
    parts[{ranks, what}] = fmt::format("{} in {}", who, what);
  }
  std::vector<std::string> phrases;
  for (const auto& [order, phrase] : parts) phrases.push_back(phrase);
  return join(phrases, ", ");
}

/// The camps outvoted two to one or better; none if there is no such majority.
std::vector<const TimedOutWork*> outvoted(const Camps& camps) {
  size_t all = 0;
  size_t most = 0;
  for (const auto& [what, works] : camps) {
    all += works.size();
    most = std::max(most, works.size());
  }
  std::vector<const TimedOutWork*> result;
  if (most < 2 || most < 2 * (all - most)) return result;
  for (const auto& [what, works] : camps) {
    if (works.size() != most) result.insert(result.end(), works.begin(), works.end());
  }
  return result;
}

FactValue mismatch_answer(const Job& job, const std::string& where, const Camps& camps) {
  FactValue value = yes(where + ": " + camps_phrase(camps));
  for (const auto& [what, works] : camps) value.evidence.push_back(works.front()->line);
  std::vector<const TimedOutWork*> named = outvoted(camps);
  // Where reports of other ranks may be lost, two sides do not tell which of them is the odd one.
  if (named.empty() && !is_torn(job)) {
    for (const auto& [what, works] : camps) named.insert(named.end(), works.begin(), works.end());
  }
  for (const TimedOutWork* work : named) blame(job, work->rank, work->process, value);
  return value;
}

std::string place(const StalledWork& stalled) {
  const std::string group =
      stalled.group.empty() ? "" : fmt::format(" of process group {}", stalled.group);
  return fmt::format("SeqNum {}{}", stalled.seq, group);
}

/// Reports of two neighbouring SeqNums in which each rank appears once and nothing is the same.
Camps neighbouring_camps(const StalledWork& first, const StalledWork& second) {
  Camps camps = camps_of({&first, &second});
  const bool apart = camps.size() == camps_of({&first}).size() + camps_of({&second}).size();
  return apart ? camps : Camps{};
}

/// A peer that went away lets collectives end on some ranks only; then SeqNums mean less.
bool lost_a_peer(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return log.records.contains(kKindIndex<PeerClosed>) ||
           log.records.contains(kKindIndex<WorkException>) ||
           log.records.contains(kKindIndex<IbCompletion>);
  });
}

FactValue watchdog_mismatch(const Job& job, const Instance&) {
  const std::vector<StalledWork> all = stalled_work(job);
  if (all.empty()) return unknown();
  for (const StalledWork& stalled : all) {
    const Camps camps = camps_of({&stalled});
    if (camps.size() > 1) return mismatch_answer(job, place(stalled), camps);
  }
  if (lost_a_peer(job)) return unknown();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].group != all[i + 1].group || all[i].seq + 1 != all[i + 1].seq) continue;
    const Camps camps = neighbouring_camps(all[i], all[i + 1]);
    if (camps.size() < 2) continue;
    return mismatch_answer(job, place(all[i]) + fmt::format(" and {}", all[i + 1].seq), camps);
  }
  return unknown();
}

/// A rank that had not come as far as the work in which others wait.
struct Behind {
  int rank = -1;
  int process = -1;
  std::string what;
  Evidence line;
};

/// The work that most ranks gave up on; nullptr if there is none.
const StalledWork* most_reported(const std::vector<StalledWork>& all) {
  const StalledWork* most = nullptr;
  for (const StalledWork& stalled : all) {
    if (most == nullptr || stalled.reports.size() > most->reports.size()) most = &stalled;
  }
  return most;
}

/// Ranks whose own lines say that they had enqueued less than `stalled`. One that gave up on a work
/// of another group itself waits there for somebody, and is late only because of that.
std::map<Who, Behind> behind_by_progress(const Job& job, const StalledWork& stalled) {
  std::map<Who, Behind> result;
  std::set<Who> elsewhere;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const std::string group = is_default_group(work.group) ? "" : work.group;
    if (group != stalled.group || is_point_to_point(work.op)) elsewhere.insert(who(work));
  }
  for (WorkProgress& progress : work_progress(job)) {
    const std::string group = is_default_group(progress.group) ? "" : progress.group;
    if (group != stalled.group || progress.last_enqueued < 0) continue;
    if (progress.last_enqueued >= stalled.seq) continue;
    const Who name{progress.rank, progress.rank >= 0 ? -1 : progress.process};
    if (elsewhere.contains(name)) continue;
    result.try_emplace(name,
                       Behind{progress.rank, progress.process,
                              fmt::format("had enqueued {} as last work", progress.last_enqueued),
                              std::move(progress.line)});
  }
  return result;
}

/// An NCCL call of this process failed before the others gave up, by itself and not because a peer
/// had gone.
std::optional<Evidence> own_failure(const Job& job, int process, SourceRef before) {
  std::optional<Evidence> first;
  const auto add = [&](const Record& record) {
    const bool earlier = record.where.unit != before.unit || record.where < before;
    if (earlier && (!first || record.where < first->where)) first = evidence_of(record);
  };
  const Process& speaker = job.processes[static_cast<size_t>(process)];
  for_each_record(job, speaker, kKindIndex<StoreWaitFailed>, add);
  for_each_record(job, speaker, kKindIndex<NcclException>, [&](const Record& record) {
    if (record.text.find("remote process exited") == std::string::npos) add(record);
  });
  return first;
}

/// Processes that failed by themselves and report no timeout.
std::map<Who, Behind> behind_by_failure(const Job& job, const StalledWork& stalled) {
  std::map<Who, Behind> result;
  std::set<int> reporters;
  SourceRef first = stalled.reports.front().line.where;
  for (const TimedOutWork& work : timed_out_work(job)) reporters.insert(work.process);
  for (const TimedOutWork& work : stalled.reports) first = std::min(first, work.line.where);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const int process = static_cast<int>(p);
    const int rank = job.processes[p].rank;
    if (rank < 0 || reporters.contains(process)) continue;
    if (auto line = own_failure(job, process, first)) {
      result.try_emplace({rank, -1}, Behind{rank, process, "had failed in a call of its own before",
                                            std::move(*line)});
    }
  }
  return result;
}

/// Those whose lines of calls show that they wait for somebody themselves.
std::set<int> processes_that_wait(const Job& job) {
  std::set<int> processes;
  for (const Waiter& waiter : find_waits(job).waiting) processes.insert(waiter.process);
  return processes;
}

/// Those behind must be the few: where most ranks are "behind", one rank has run ahead.
bool few_enough(size_t behind, size_t waiting) {
  return behind > 0 && (behind < waiting || (behind == 1 && waiting == 1));
}

FactValue watchdog_behind(const Job& job, const Instance&) {
  const std::vector<StalledWork> all = stalled_work(job);
  const StalledWork* stalled = most_reported(all);
  if (stalled == nullptr) return unknown();
  std::map<Who, Behind> behind = behind_by_progress(job, *stalled);
  if (behind.empty() && is_default_group(stalled->group)) {
    behind = behind_by_failure(job, *stalled);
  }
  const std::set<int> waiting_in_calls = processes_that_wait(job);
  std::erase_if(behind, [&](const auto& entry) {
    const Behind& one = entry.second;
    const int known = one.rank >= 0 ? process_of_rank(job, one.rank) : one.process;
    return waiting_in_calls.contains(known);
  });
  std::vector<const TimedOutWork*> waiting;
  for (const TimedOutWork& work : stalled->reports) {
    if (!behind.contains(who(work))) waiting.push_back(&work);
  }
  if (!few_enough(behind.size(), waiting.size())) return unknown();
  FactValue value = yes({});
  std::vector<std::string> parts;
  for (auto& [name, late] : behind) {
    parts.push_back((late.rank >= 0 ? fmt::format("rank {} ", late.rank) : "one process ") +
                    late.what);
    value.evidence.push_back(std::move(late.line));
    blame(job, late.rank, late.process, value);
  }
  const std::string ranks = ranks_phrase(ranks_of(waiting));
  value.what = fmt::format("{} timed out at {}, but {}", ranks.empty() ? "others" : ranks,
                           place(*stalled), join(parts, ", "));
  value.evidence.push_back(waiting.front()->line);
  return value;
}

/// The timeout that was printed first.
std::optional<TimedOutWork> first_timeout(const Job& job) {
  std::optional<TimedOutWork> first;
  for (TimedOutWork& work : timed_out_work(job)) {
    if (!first || work.line.where < first->line.where) first = std::move(work);
  }
  return first;
}

FactValue watchdog_at_eval(const Job& job, const Instance&) {
  const auto timeout = first_timeout(job);
  if (!timeout) return unknown();
  const auto phase = rare_phase_before(job, timeout->line);
  if (!phase) return unknown();
  return yes(phase->what, {phase->line});
}

/// Where to look if all but a few ranks report that a work of all of them timed out. That no line
/// of a rank is there accuses nobody.
std::string quiet_ranks_phrase(const Job& job) {
  constexpr std::string_view kNobody = "which one, this log does not show.";
  std::set<int> reported;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.rank < 0 || work.in_unnamed_group || !is_default_group(work.group)) {
      return std::string(kNobody);
    }
    reported.insert(work.rank);
  }
  std::vector<int> quiet;
  const int nranks = job.nranks.value_or(0);
  for (int rank = 0; rank < nranks && quiet.size() <= reported.size(); ++rank) {
    if (!reported.contains(rank)) quiet.push_back(rank);
  }
  if (quiet.empty() || quiet.size() > reported.size()) return std::string(kNobody);
  const std::string_view why = quiet.size() == 1
                                   ? "It ended, hangs elsewhere, or its output is missing."
                                   : "They ended, hang elsewhere, or their output is missing.";
  return fmt::format("no time-out of {} is in these logs. {}", ranks_phrase(quiet), why);
}

/// A status that says itself that the work timed out; others are printed for any failure.
bool tells_timeout(std::string_view message) {
  message = trim(message);
  return message.starts_with("Timeout at NCCL work: ") ||
         message.starts_with("Work timeout is detected by watchdog at work: ");
}

/// What is known where the line that names the operation is not there, and only the status is.
FactValue first_status(const Job& job) {
  FactValue value;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    if (!tells_timeout(said.header.message)) return;
    if (value.known() && !(said.record.where < value.evidence.front().where)) return;
    const int rank = rank_of(job, said.process, said.header);
    const std::string on = rank < 0 ? "" : fmt::format(" on rank {}", rank);
    value.value = fmt::format("work {}{}, last completed {}; no line names the operation",
                              said.message.seq, on, said.message.last_completed);
    value.evidence = {evidence_of(said.record)};
  });
  value.what = quiet_ranks_phrase(job);
  return value.known() ? value : unknown();
}

FactValue watchdog_status_only(const Job& job, const Instance&) {
  if (first_timeout(job)) return no();
  const FactValue status = first_status(job);
  return status.known() ? yes(status.what, status.evidence) : unknown();
}

/// "ALLREDUCE of 467019003 elements (SeqNum 56731) on rank 6 after 600 s". In words: who is quiet.
FactValue watchdog_first(const Job& job, const Instance&) {
  const auto timeout = first_timeout(job);
  if (!timeout) return first_status(job);
  const std::string seq = timeout->seq < 0 ? "" : fmt::format(", SeqNum {}", timeout->seq);
  const std::string size = timeout->size.empty() ? "" : ", " + timeout->size;
  const std::string group =
      timeout->group.empty() ? "" : fmt::format(", process group {}", timeout->group);
  const std::string rank = timeout->rank < 0 ? "" : fmt::format(" on rank {}", timeout->rank);
  FactValue value;
  value.value = fmt::format("{}{}{}{}{}, limit {} s", timeout->op, rank, seq, size, group,
                            timeout->timeout_ms / 1000);
  value.what = quiet_ranks_phrase(job);
  value.evidence = {timeout->line};
  return value;
}

/// "a collective timed out (ALLREDUCE on rank 6, …)", "nothing was printed for 17 s before …".
FactValue standstill(const Job& job, const Instance& instance) {
  FactValue value = watchdog_first(job, instance);
  if (const auto* first = std::get_if<std::string>(&value.value)) {
    return {fmt::format("a collective timed out ({})", *first), {}, value.evidence, {}, {}};
  }
  const auto stop = stop_evidence(job);
  if (!stop || !stood_still(job)) return unknown();
  return {stop->what, {}, {stop->line}, {}, {}};
}

constexpr std::array kFacts = {
    Fact{"job.watchdog_at_eval", Scope::Job, FactType::Bool,
         "Evaluation or checkpoint output stands shortly before the first timeout.",
         watchdog_at_eval},
    Fact{"job.watchdog_behind", Scope::Job, FactType::Bool,
         "A few ranks' own lines show that they had not come to the work the others timed out in.",
         within_runs<watchdog_behind>},
    Fact{"job.standstill", Scope::Job, FactType::Text,
         "How it is known that the job stood still: a clause.", standstill},
    Fact{"job.watchdog_first", Scope::Job, FactType::Text,
         "The collective that timed out first, in words.", watchdog_first},
    Fact{
        "job.watchdog_status_only", Scope::Job, FactType::Bool,
        "A watchdog says how far its work came when it timed out, and no line names the operation.",
        watchdog_status_only},
    Fact{"job.watchdog_mismatch", Scope::Job, FactType::Bool,
         "Ranks of one process group timed out in different collectives at one SeqNum.",
         within_runs<watchdog_mismatch>},
};

}  // namespace

std::span<const Fact> watchdog_facts() { return kFacts; }

}  // namespace ncclog
