#include "diagnose/calls/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/messages.h"
#include "model/call_coverage.h"
#include "model/flight_recorder.h"

namespace ncclog {
namespace {

/// The sizes that all ranks must agree on; the others may differ (uneven splits, roots).
template <typename Work>
std::string agreed_size(const Work& work) {
  if (!work.shape.empty()) return fmt::format("TensorShape=[{}]", work.shape);
  // Unset sizes are printed as -1, signed or not.
  if (work.numel_in < 0 || work.numel_out < 0) return {};
  if (is_point_to_point(work.op)) return {};
  const AgreedSizes agreed = agreed_sizes(find_operation_alias(work.op, AliasSource::Watchdog));
  std::vector<std::string> sizes;
  if (agreed.in) sizes.push_back(fmt::format("NumelIn={}", work.numel_in));
  if (agreed.out) sizes.push_back(fmt::format("NumelOut={}", work.numel_out));
  return join(sizes, ", ");
}

/// Elements of a tensor of shape "1024, 16"; -1 if that is no shape, or too many.
int64_t elements_in(std::string_view shape) {
  int64_t elements = 1;
  for (const std::string_view dimension : split(shape, ',')) {
    const auto size = parse_int(trim(dimension));
    if (!size || *size < 0 || (*size > 0 && elements > INT64_MAX / *size)) return -1;
    elements *= *size;
  }
  return elements;
}

/// As the line names its group: newer releases may use a hash for the GUID of the default one.
std::string group_in(const Header& header) {
  return std::string(header.process_group_name == "default_pg" ? "0" : header.process_group);
}

/// The status of the same rank and SeqNum that was printed next names the group.
std::string group_of(const Job& job, const TimedOutWork& work) {
  const auto status = std::ranges::find_if(work_progress(job), [&](const WorkProgress& one) {
    return work.line.where < one.line.where && one.seq == work.seq && one.process == work.process &&
           one.rank == work.rank;
  });
  return status == work_progress(job).end() ? std::string() : status->group;
}

std::vector<WorkProgress> find_work_progress(const Job& job) {
  std::vector<WorkProgress> result;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    result.push_back({said.process, rank_of(job, said.process, said.header()),
                      group_in(said.header()), said.message.seq, said.message.last_enqueued,
                      said.message.last_completed, evidence_of(said.record())});
  });
  // The monitor of the default group prints this line, with the default group's numbers.
  for_each_said<DumpSignal>(job, [&](const Said<DumpSignal>& said) {
    result.push_back({said.process, rank_of(job, said.process, said.header()), "0", std::nullopt,
                      said.message.last_enqueued, said.message.last_completed,
                      evidence_of(said.record())});
  });
  return result;
}

/// What a line of process and rank says, without its group.
template <typename Timeout>
TimedOutWork read_work(int process, int rank, const Timeout& timeout, const Record& record) {
  return {.process = process,
          .rank = rank,
          .group = {},
          .seq = timeout.seq,
          .op = std::string(timeout.op),
          .size = agreed_size(timeout),
          .numel_in = timeout.shape.empty() ? timeout.numel_in : elements_in(timeout.shape),
          .numel_out = timeout.numel_out,
          .timeout_ms = timeout.timeout_ms,
          .line = evidence_of(record)};
}

/// Adds a work, unless its rank has reported it before.
void add_work(TimedOutWork work, std::vector<TimedOutWork>& works) {
  const auto is_it = [&](const TimedOutWork& other) {
    return work.process == other.process && work.rank == other.rank && work.seq == other.seq &&
           work.op == other.op && work.size == other.size;
  };
  if (std::ranges::none_of(works, is_it)) works.push_back(std::move(work));
}

/// T is one of the two ways in which PyTorch says that a work timed out.
template <typename T>
void add_timeouts(const Job& job, std::vector<TimedOutWork>& works) {
  // The job has communicators of a part of its ranks, the largest first: a line that names no group
  // may be about any of them.
  const bool several_groups = !job.communicators.empty() &&
                              job.communicators.back().nranks < job.communicators.front().nranks;
  for_each_said<T>(job, [&](const Said<T>& said) {
    const int rank = rank_of(job, said.process, said.header());
    TimedOutWork work = read_work(said.process, rank, said.message, said.record());
    work.group = group_in(said.header());
    if (work.group.empty()) work.group = group_of(job, work);
    const bool is_other_rank = said.header().group_rank >= 0 && said.header().group_rank != rank;
    work.in_unnamed_group = work.group.empty() && (is_other_rank || several_groups);
    add_work(std::move(work), works);
  });
}

constexpr std::string_view kQuotedTimeout = "Watchdog caught collective operation timeout: ";

/// The number in "[Rank 4] " right before a quotation, which is a rank of its group; -1: none.
int rank_before(std::string_view text) {
  constexpr std::string_view kTag = "[Rank ";
  text = trim(text);
  const size_t at = text.rfind(kTag);
  if (at == text.npos || !text.ends_with(']')) return -1;
  const auto rank = parse_int(text.substr(at + kTag.size(), text.size() - at - kTag.size() - 1));
  return rank ? static_cast<int>(*rank) : -1;
}

/// Adds the timeout that a line of kind T quotes in `text`. Such a quotation names no group, so its
/// rank is the job's only where nothing else says which.
template <typename T>
void add_quoted(const Said<T>& said, int rank, std::string_view text,
                std::vector<TimedOutWork>& works) {
  const size_t begin = text.find(kQuotedTimeout);
  if (begin == text.npos) return;
  const Event quoted = parse_event(text.substr(begin), all_wordings());
  if (quoted.message.kind != &all_kinds()[kKindIndex<WatchdogTimeout>]) return;
  if (rank < 0) rank = rank_before(text.substr(0, begin));
  TimedOutWork work =
      read_work(said.process, rank, read_message<WatchdogTimeout>(quoted.message), said.record());
  work.in_unnamed_group = true;
  add_work(std::move(work), works);
}

/// What the watchdog said, as others quote it: who uses a communicator after the watchdog aborted
/// it ("Original reason for failure was: [Rank 0] Watchdog caught …"), and the exception that ends
/// the process ("what():  [Rank 0] Watchdog caught …").
void add_quoted_timeouts(const Job& job, std::vector<TimedOutWork>& works) {
  for_each_said<CommAborted>(job, [&](const Said<CommAborted>& said) {
    const int rank = rank_of(job, said.process, said.header());
    add_quoted(said, rank >= 0 ? rank : said.message.rank, said.message.reason, works);
  });
  for_each_said<WatchdogTerminated>(job, [&](const Said<WatchdogTerminated>& said) {
    add_quoted(said, rank_of(job, said.process, said.header()), said.message.reason, works);
  });
  if (!works.empty()) return;  // The same process may have said it before it ended.
  for_each_said<CppWhat>(job, [&](const Said<CppWhat>& said) {
    add_quoted(said, rank_of(job, said.process, said.header()), said.message.text, works);
  });
}

std::vector<TimedOutWork> find_timed_out_work(const Job& job) {
  std::vector<TimedOutWork> works;
  add_timeouts<WatchdogTimeout>(job, works);
  add_timeouts<BlockingWaitTimeout>(job, works);
  if (works.empty()) add_quoted_timeouts(job, works);
  return works;
}

std::set<int> find_those_that_gave_up(const Job& job) {
  std::set<int> processes;
  for (const TimedOutWork& work : timed_out_work(job)) processes.insert(work.process);
  return processes;
}

}  // namespace

bool is_point_to_point(std::string_view op) {
  return op == "COALESCED" || traits_of(operation_of(op, AliasSource::Watchdog)).is_message();
}

bool is_default_group(std::string_view group) {
  return group.empty() || group == "0" || group == "default_pg";
}

const std::vector<TimedOutWork>& timed_out_work(const Job& job) {
  return job.answers.of<&find_timed_out_work>(job);
}

const std::vector<WorkProgress>& work_progress(const Job& job) {
  return job.answers.of<&find_work_progress>(job);
}

const std::set<int>& processes_that_gave_up(const Job& job) {
  return job.answers.of<&find_those_that_gave_up>(job);
}

std::vector<StalledWork> stalled_work(const Job& job) {
  std::map<std::pair<std::string, int64_t>, StalledWork> by_number;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (is_point_to_point(work.op) || work.seq < 0 || work.in_unnamed_group) continue;
    const std::string group = is_default_group(work.group) ? "" : work.group;
    StalledWork& stalled = by_number[{group, work.seq}];
    stalled.group = group;
    stalled.seq = work.seq;
    stalled.reports.push_back(work);
  }
  std::vector<StalledWork> result;
  for (auto& [number, stalled] : by_number) result.push_back(std::move(stalled));
  return result;
}

// Who diverged or is behind, as PyTorch's watchdogs tell it, and do they agree with the lines of
// calls?
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

namespace {

/// A reporter: its rank where known, else its process.
using Who = std::pair<int, int>;

/// Of a TimedOutWork or a WorkProgress.
Who who(const auto& said) { return {said.rank, said.rank >= 0 ? -1 : said.process}; }

/// Names who said that.
void blame_speaker(const Job& job, const auto& said, FactValue& value) {
  blame(said.rank >= 0 ? process_of_rank(job, said.rank) : said.process, said.rank, value);
}

using Camps = std::vector<Camp<std::string>>;

/// Reports, as numbers of `works`, by what they wait in; empty if one rank waits in two (then
/// several groups are mixed). A report that names no size fits every size of its operation.
Camps waiting_camps(const std::vector<TimedOutWork>& works) {
  std::set<std::string> sizeless;
  for (const TimedOutWork& work : works) {
    if (work.size.empty()) sizeless.insert(work.op);
  }
  std::map<std::string, std::map<int, std::string>> by_call;
  std::set<Who> seen;
  for (const TimedOutWork& work : works) {
    const auto number = static_cast<int>(seen.size());
    if (!seen.insert(who(work)).second) return {};
    const std::string what =
        sizeless.contains(work.op) ? work.op : fmt::format("{} {}", work.op, work.size);
    by_call[what][number] = what;
  }
  return camps_of(by_call);
}

FactValue mismatch_answer(const Job& job, const std::string& where,
                          const std::vector<TimedOutWork>& works, const Camps& camps) {
  const auto work_of = [&](int number) -> const TimedOutWork& {
    return works[static_cast<size_t>(number)];
  };
  const auto words_of = [&](const Camp<std::string>& camp) {
    std::set<int> ranks;
    for (const int number : camp.members) ranks.insert(work_of(number).rank);
    ranks.erase(-1);
    return ranks.empty() ? fmt::format("{} processes", camp.members.size())
                         : ranks_phrase({ranks.begin(), ranks.end()});
  };
  FactValue value = yes(where + ": " +
                        camps_words(camps, "operation or size", words_of,
                                    [](const std::string& what) { return what; }));
  for (const auto& camp : camps) value.evidence.push_back(work_of(camp.members.front()).line);
  const std::vector<int> odd = outvoted(CallSource::Watchdog, camps, 0);
  for (const int number : odd) blame_speaker(job, work_of(number), value);
  // Where reports of other ranks may be lost, two sides do not tell which of them is the odd one.
  if (!odd.empty() || is_torn(job)) return value;
  for (const TimedOutWork& work : works) blame_speaker(job, work, value);
  return value;
}

std::string place(const StalledWork& stalled) {
  const std::string group =
      stalled.group.empty() ? "" : fmt::format(" of process group {}", stalled.group);
  return fmt::format("SeqNum {}{}", stalled.seq, group);
}

FactValue watchdog_mismatch(const Job& job, const Instance&) {
  const std::vector<StalledWork> all = stalled_work(job);
  if (all.empty()) return unknown();
  for (const StalledWork& stalled : all) {
    const Camps camps = waiting_camps(stalled.reports);
    if (camps.size() > 1) return mismatch_answer(job, place(stalled), stalled.reports, camps);
  }
  // A peer that went away lets collectives end on some ranks only; then SeqNums mean less.
  if (any_said<PeerClosed, WorkException, IbCompletion>(job)) return unknown();
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].group != all[i + 1].group || all[i].seq + 1 != all[i + 1].seq) continue;
    std::vector<TimedOutWork> works = all[i].reports;
    works.insert(works.end(), all[i + 1].reports.begin(), all[i + 1].reports.end());
    // Each rank appears once and nothing is the same.
    const Camps camps = waiting_camps(works);
    const size_t apart =
        waiting_camps(all[i].reports).size() + waiting_camps(all[i + 1].reports).size();
    if (camps.size() < 2 || camps.size() != apart) continue;
    return mismatch_answer(job, fmt::format("{} and {}", place(all[i]), all[i + 1].seq), works,
                           camps);
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

/// Ranks whose own lines say that they had enqueued less than `stalled`. One that gave up on a work
/// of another group itself waits there for somebody, and is late only because of that.
std::map<Who, Behind> behind_by_progress(const Job& job, const StalledWork& stalled) {
  const auto is_elsewhere = [&](std::string_view group) {
    return (is_default_group(group) ? "" : group) != stalled.group;
  };
  std::set<Who> elsewhere;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (is_elsewhere(work.group) || is_point_to_point(work.op)) elsewhere.insert(who(work));
  }
  std::map<Who, Behind> result;
  for (const WorkProgress& progress : work_progress(job)) {
    if (is_elsewhere(progress.group) || elsewhere.contains(who(progress))) continue;
    if (progress.last_enqueued < 0 || progress.last_enqueued >= stalled.seq) continue;
    result.try_emplace(
        who(progress),
        Behind{progress.rank, progress.process,
               fmt::format("had enqueued {} as last work", progress.last_enqueued), progress.line});
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
  const Process& speaker = nth_process(job, process);
  for_each_record(job, speaker, kKindIndex<StoreWaitFailed>, add);
  for_each_record(job, speaker, kKindIndex<NcclException>, [&](const Record& record) {
    if (record.text().find("remote process exited") == std::string::npos) add(record);
  });
  return first;
}

/// Processes that failed by themselves and report no timeout.
std::map<Who, Behind> behind_by_failure(const Job& job, const StalledWork& stalled) {
  std::map<Who, Behind> result;
  SourceRef first = stalled.reports.front().line.where;
  for (const TimedOutWork& work : stalled.reports) first = std::min(first, work.line.where);
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const int process = static_cast<int>(p);
    const int rank = job.processes[p].rank;
    if (rank < 0 || processes_that_gave_up(job).contains(process)) continue;
    if (auto line = own_failure(job, process, first)) {
      result.try_emplace({rank, -1}, Behind{rank, process, "had failed in a call of its own before",
                                            std::move(*line)});
    }
  }
  return result;
}

FactValue watchdog_behind(const Job& job, const Instance&) {
  const std::vector<StalledWork> all = stalled_work(job);
  if (all.empty()) return unknown();
  const StalledWork& stalled =
      *std::ranges::max_element(all, {}, [](const StalledWork& one) { return one.reports.size(); });
  std::map<Who, Behind> behind = behind_by_progress(job, stalled);
  if (behind.empty() && is_default_group(stalled.group)) behind = behind_by_failure(job, stalled);
  // Those whose lines of calls show that they wait for somebody themselves.
  std::erase_if(behind, [&](const auto& entry) {
    const Behind& one = entry.second;
    const int process = one.rank >= 0 ? process_of_rank(job, one.rank) : one.process;
    return std::ranges::count(find_waits(job).waiting, process, &Waiter::process) > 0;
  });
  std::vector<const TimedOutWork*> waiting;
  std::set<int> waiting_ranks;
  for (const TimedOutWork& work : stalled.reports) {
    if (behind.contains(who(work))) continue;
    waiting.push_back(&work);
    if (work.rank >= 0) waiting_ranks.insert(work.rank);
  }
  if (behind.empty() || !are_few(behind.size(), waiting.size())) return unknown();
  FactValue value = yes({});
  std::vector<std::string> parts;
  for (auto& [name, late] : behind) {
    parts.push_back((late.rank >= 0 ? fmt::format("rank {} ", late.rank) : "one process ") +
                    late.what);
    value.evidence.push_back(std::move(late.line));
    blame_speaker(job, late, value);
  }
  const std::string ranks = ranks_phrase({waiting_ranks.begin(), waiting_ranks.end()});
  value.what = fmt::format("{} timed out at {}, but {}", ranks.empty() ? "others" : ranks,
                           place(stalled), join(parts, ", "));
  value.evidence.push_back(waiting.front()->line);
  return value;
}

/// The timeout that was printed first; nullptr if there is none.
const TimedOutWork* first_timeout(const Job& job) {
  const std::vector<TimedOutWork>& works = timed_out_work(job);
  const auto first =
      std::ranges::min_element(works, {}, [](const TimedOutWork& work) { return work.line.where; });
  return first == works.end() ? nullptr : &*first;
}

FactValue watchdog_at_eval(const Job& job, const Instance&) {
  const TimedOutWork* timeout = first_timeout(job);
  const auto phase = timeout == nullptr ? std::nullopt : rare_phase_before(job, timeout->line);
  return phase ? yes(phase->what, {phase->line}) : unknown();
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
  // There is a rank of each number below one that is there.
  const int least = reported.empty() ? 0 : *reported.rbegin() + 1;
  const int nranks = std::max(job.nranks.value_or(0), least);
  for (int rank = 0; rank < nranks && quiet.size() <= reported.size(); ++rank) {
    if (!reported.contains(rank)) quiet.push_back(rank);
  }
  if (quiet.empty() || quiet.size() > reported.size()) return std::string(kNobody);
  const std::string_view why = quiet.size() == 1
                                   ? "It ended, hangs elsewhere, or its output is missing."
                                   : "They ended, hang elsewhere, or their output is missing.";
  return fmt::format("no time-out of {} is in these logs. {}", ranks_phrase(quiet), why);
}

/// What is known where the line that names the operation is not there, and only the status is.
FactValue first_status(const Job& job) {
  FactValue value;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    // A status that says itself that the work timed out; others are printed for any failure.
    const std::string_view message = trim(said.header().message);
    if (!message.starts_with("Timeout at NCCL work: ") &&
        !message.starts_with("Work timeout is detected by watchdog at work: ")) {
      return;
    }
    if (value.known() && !(said.where() < value.evidence.front().where)) return;
    const int rank = rank_of(job, said.process, said.header());
    const std::string on = rank < 0 ? "" : fmt::format(" on rank {}", rank);
    value.value = fmt::format("work {}{}, last completed {}; no line names the operation",
                              said.message.seq, on, said.message.last_completed);
    value.evidence = {evidence_of(said.record())};
  });
  value.what = quiet_ranks_phrase(job);
  return value.known() ? value : unknown();
}

FactValue watchdog_status_only(const Job& job, const Instance&) {
  if (first_timeout(job) != nullptr) return no();
  const FactValue status = first_status(job);
  return status.known() ? yes(status.what, status.evidence) : unknown();
}

/// "ALLREDUCE of 467019003 elements (SeqNum 56731) on rank 6 after 600 s". In words: who is quiet.
FactValue watchdog_first(const Job& job, const Instance&) {
  const TimedOutWork* timeout = first_timeout(job);
  if (timeout == nullptr) return first_status(job);
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
  const auto& stop = stop_evidence(job);
  if (!stop || !stood_still(job)) return unknown();
  return {stop->what, {}, {stop->line}, {}, {}};
}

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

bool fits(const CallSignature& call, const TimedOutWork& work) {
  return is_call_of_work(call, work.op, work.numel_in, work.numel_out);
}

/// Members of a communicator (into its ranks) and the call in which they are.
struct CallPlace {
  std::vector<int> members;
  CallSignature call;
};

std::vector<CallPlace> camp_places(const Job& job, int communicator) {
  std::vector<CallPlace> places;
  const auto& difference = nth_communicator(job, communicator).difference;
  if (!difference) return places;
  for (const CallCamp& camp : difference->camps) places.push_back({camp.members, camp.call.call});
  return places;
}

std::vector<CallPlace> front_places(const Job& job, int communicator) {
  const CallFront front = call_front(job, communicator);
  const PlacedCall* call = open_call(job, front);
  return call == nullptr ? std::vector<CallPlace>{}
                         : std::vector{CallPlace{front.ahead, call->call}};
}

/// All ranks in the communicator's last call.
std::vector<CallPlace> last_places(const Job& job, int communicator) {
  CallPlace place;
  for (const CommRank& rank : nth_communicator(job, communicator).ranks) {
    const uint64_t made = collectives_of(job, rank);
    if (made == 0) return {};
    place.members.push_back(static_cast<int>(place.members.size()));
    place.call = calls_of(job, rank)->collectives.call(made - 1)->call;
  }
  return {place};
}

/// The facts of findings that may be about a watchdog's call, and where their ranks are.
using Places = std::vector<CallPlace> (*)(const Job& job, int communicator);
constexpr std::array<std::pair<std::string_view, Places>, 3> kWaitRows = {{
    {"job.collectives_mismatched", camp_places},
    {"job.rank_missing_in_collective", front_places},
    {"job.collectives_all_entered", last_places},
}};

/// "ranks 0-4,6,7 gave up on it as SeqNum 29 of process group 0": the watchdogs of members whose
/// works fit what they are in, of the one group and SeqNum that most of them have; empty: none.
std::string waiting_words(const Job& job, int communicator, const std::vector<CallPlace>& places) {
  std::map<std::pair<std::string, int64_t>, std::set<int>> waiting;
  for (const TimedOutWork& work : timed_out_work(job)) {
    for (const CallPlace& place : places) {
      if (!fits(place.call, work)) continue;
      for (const int m : place.members) {
        const bool is_its = rank_at(job, communicator, m).process == work.process;
        if (is_its) waiting[{work.group, work.seq}].insert(m);
      }
    }
  }
  const auto most =
      std::ranges::max_element(waiting, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == waiting.end()) return {};
  const auto& [number, members] = *most;
  const std::string words = fmt::format(
      "{} gave up on it", members_words(job, communicator, {members.begin(), members.end()}));
  if (number.second < 0) return words;
  const std::string group =
      number.first.empty() ? "" : " of process group " + to_valid_utf8(number.first);
  return fmt::format("{} as SeqNum {}{}", words, number.second, group);
}

FactValue watchdogs_on_call(const Job& job, const Instance& instance) {
  if (timed_out_work(job).empty()) return unknown();
  for (const auto& [fact, places] : kWaitRows) {
    const FactValue value = find_fact(fact)->ask(job, instance);
    if (!is_yes(value)) continue;
    const auto comm = std::ranges::find(job.communicators, value.communicator, &Communicator::id);
    if (comm == job.communicators.end()) continue;
    const int communicator = static_cast<int>(comm - job.communicators.begin());
    const std::string words = waiting_words(job, communicator, places(job, communicator));
    return words.empty() ? unknown() : yes(fmt::format(". The watchdogs of {}", words));
  }
  return unknown();
}

/// Calls of a process by signature; nullopt if its log need not show all.
std::optional<std::vector<CallSignature>> all_calls(const Job& job, int process) {
  std::vector<CallSignature> all;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process != process) continue;
      if (call_coverage(job, comm, rank) != CallCoverage::Counted) return std::nullopt;
      const auto& made = calls_of(job, rank)->by_signature;
      if (made.other > 0) return std::nullopt;
      for (const auto& [call, count] : made.all) all.push_back(call);
    }
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

constexpr std::array kWatchdogFacts = {
    // Evaluation or checkpoint output stands shortly before the first timeout.
    job_fact("job.watchdog_at_eval", watchdog_at_eval),
    // A few ranks' own lines show that they had not come to the work the others timed
    // out in.
    comparing_fact("job.watchdog_behind", watchdog_behind),
    // How it is known that the job stood still: a clause.
    job_fact("job.standstill", standstill, FactType::Text),
    // The collective that timed out first, in words.
    job_fact("job.watchdog_first", watchdog_first, FactType::Text),
    // A watchdog says how far its work came when it timed out, and no line names the
    // operation.
    job_fact("job.watchdog_status_only", watchdog_status_only),
    // Ranks of one process group timed out in different collectives at one SeqNum.
    comparing_fact("job.watchdog_mismatch", watchdog_mismatch),
    // A watchdog gave up on a collective that its process never called, by its log.
    comparing_fact("job.watchdog_disagrees", watchdog_disagrees),
    // Watchdogs gave up on the call that a finding is about; `what` is a sentence to put
    // behind another.
    comparing_fact("job.watchdogs_on_call", watchdogs_on_call),
};

}  // namespace

std::span<const Fact> watchdog_facts() { return kWatchdogFacts; }

}  // namespace ncclog
