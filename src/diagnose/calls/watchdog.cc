#include "diagnose/calls/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/facts/fact.h"
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
  if (work.op.starts_with("ALLTOALL") || is_point_to_point(work.op)) return {};
  if (work.op == "ALLGATHER" || work.op == "SCATTER") {
    return fmt::format("NumelOut={}", work.numel_out);
  }
  if (work.op == "REDUCE_SCATTER" || work.op == "GATHER") {
    return fmt::format("NumelIn={}", work.numel_in);
  }
  return fmt::format("NumelIn={}, NumelOut={}", work.numel_in, work.numel_out);
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

bool same_work(const TimedOutWork& a, const TimedOutWork& b) {
  return a.process == b.process && a.rank == b.rank && a.seq == b.seq && a.op == b.op &&
         a.size == b.size;
}

/// The status of the same rank and SeqNum that was printed next names the group.
std::string group_of(const TimedOutWork& work,
                     const std::vector<std::pair<int64_t, WorkProgress>>& statuses) {
  for (const auto& [seq, status] : statuses) {
    const bool behind = work.line.where < status.line.where;
    if (behind && seq == work.seq && status.process == work.process && status.rank == work.rank) {
      return status.group;
    }
  }
  return {};
}

/// Status lines with the SeqNum that they are about.
std::vector<std::pair<int64_t, WorkProgress>> statuses(const Job& job) {
  std::vector<std::pair<int64_t, WorkProgress>> result;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    WorkProgress status;
    status.process = said.process;
    status.rank = rank_of(job, said.process, said.header);
    status.group = group_in(said.header);
    status.last_enqueued = said.message.last_enqueued;
    status.last_completed = said.message.last_completed;
    status.line = evidence_of(said.record);
    result.emplace_back(said.message.seq, std::move(status));
  });
  return result;
}

/// True if the job has communicators of a part of its ranks: then a line that names no group may
/// be about any of them.
bool has_several_groups(const Job& job) {
  // The largest stands first.
  return !job.communicators.empty() &&
         job.communicators.back().nranks < job.communicators.front().nranks;
}

/// T is one of the two ways in which PyTorch says that a work timed out.
template <typename T>
void add_timeouts(const Job& job, const std::vector<std::pair<int64_t, WorkProgress>>& known,
                  std::vector<TimedOutWork>& works) {
  const bool several_groups = has_several_groups(job);
  for_each_said<T>(job, [&](const Said<T>& said) {
    TimedOutWork work;
    work.process = said.process;
    work.rank = rank_of(job, said.process, said.header);
    work.seq = said.message.seq;
    work.op = said.message.op;
    work.size = agreed_size(said.message);
    work.numel_in =
        said.message.shape.empty() ? said.message.numel_in : elements_in(said.message.shape);
    work.numel_out = said.message.numel_out;
    work.timeout_ms = said.message.timeout_ms;
    work.line = evidence_of(said.record);
    work.group = group_in(said.header);
    if (work.group.empty()) work.group = group_of(work, known);
    const bool is_other_rank = said.header.group_rank >= 0 && said.header.group_rank != work.rank;
    work.in_unnamed_group = work.group.empty() && (is_other_rank || several_groups);
    const auto repeated = [&](const TimedOutWork& other) { return same_work(work, other); };
    if (std::none_of(works.begin(), works.end(), repeated)) works.push_back(std::move(work));
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
  const auto timeout = read_message<WatchdogTimeout>(quoted.message);
  TimedOutWork work;
  work.process = said.process;
  work.rank = rank >= 0 ? rank : rank_before(text.substr(0, begin));
  work.seq = timeout.seq;
  work.op = timeout.op;
  work.size = agreed_size(timeout);
  work.numel_in = timeout.shape.empty() ? timeout.numel_in : elements_in(timeout.shape);
  work.numel_out = timeout.numel_out;
  work.timeout_ms = timeout.timeout_ms;
  work.line = evidence_of(said.record);
  work.in_unnamed_group = true;
  const auto repeated = [&](const TimedOutWork& other) { return same_work(work, other); };
  if (std::none_of(works.begin(), works.end(), repeated)) works.push_back(std::move(work));
}

/// What the watchdog said, as others quote it: who uses a communicator after the watchdog aborted
/// it ("Original reason for failure was: [Rank 0] Watchdog caught …"), and the exception that ends
/// the process ("what():  [Rank 0] Watchdog caught …").
void add_quoted_timeouts(const Job& job, std::vector<TimedOutWork>& works) {
  for_each_said<CommAborted>(job, [&](const Said<CommAborted>& said) {
    const int rank = rank_of(job, said.process, said.header);
    add_quoted(said, rank >= 0 ? rank : said.message.rank, said.message.reason, works);
  });
  for_each_said<WatchdogTerminated>(job, [&](const Said<WatchdogTerminated>& said) {
    add_quoted(said, rank_of(job, said.process, said.header), said.message.reason, works);
  });
  if (!works.empty()) return;  // The same process may have said it before it ended.
  for_each_said<CppWhat>(job, [&](const Said<CppWhat>& said) {
    add_quoted(said, rank_of(job, said.process, said.header), said.message.text, works);
  });
}

std::vector<TimedOutWork> find_timed_out_work(const Job& job) {
  const auto known = statuses(job);
  std::vector<TimedOutWork> works;
  add_timeouts<WatchdogTimeout>(job, known, works);
  add_timeouts<BlockingWaitTimeout>(job, known, works);
  if (works.empty()) add_quoted_timeouts(job, works);
  return works;
}

}  // namespace

bool is_point_to_point(std::string_view op) {
  return op == "SEND" || op == "RECV" || op == "RECVANYSOURCE" || op == "COALESCED";
}

bool is_default_group(std::string_view group) {
  return group.empty() || group == "0" || group == "default_pg";
}

std::vector<TimedOutWork> timed_out_work(const Job& job) {
  return job.answers.of<&find_timed_out_work>(job);
}

std::vector<WorkProgress> work_progress(const Job& job) {
  std::vector<WorkProgress> result;
  for (auto& [seq, status] : statuses(job)) result.push_back(std::move(status));
  for_each_said<DumpSignal>(job, [&](const Said<DumpSignal>& said) {
    WorkProgress progress;
    progress.process = said.process;
    progress.rank = rank_of(job, said.process, said.header);
    // The monitor of the default group prints this line, with the default group's numbers.
    progress.group = "0";
    progress.last_enqueued = said.message.last_enqueued;
    progress.last_completed = said.message.last_completed;
    progress.dump_signal = true;
    progress.line = evidence_of(said.record);
    result.push_back(std::move(progress));
  });
  return result;
}

std::vector<StalledWork> stalled_work(const Job& job) {
  std::map<std::pair<std::string, int64_t>, StalledWork> by_number;
  for (TimedOutWork& work : timed_out_work(job)) {
    if (is_point_to_point(work.op) || work.seq < 0 || work.in_unnamed_group) continue;
    const std::string group = is_default_group(work.group) ? "" : work.group;
    StalledWork& stalled = by_number[{group, work.seq}];
    stalled.group = group;
    stalled.seq = work.seq;
    stalled.reports.push_back(std::move(work));
  }
  std::vector<StalledWork> result;
  for (auto& [number, stalled] : by_number) result.push_back(std::move(stalled));
  return result;
}

namespace {

/// Group and SeqNum of works.
using WorkNumber = std::pair<std::string, int64_t>;

std::string number_words(const WorkNumber& number) {
  if (number.second < 0) return {};
  const std::string group =
      number.first.empty() ? "" : fmt::format(" of process group {}", to_valid_utf8(number.first));
  return fmt::format(" as SeqNum {}{}", number.second, group);
}

/// Everything that its process called is in the log and its calls are all kept by signature.
bool shows_all_calls(const Job& job, int process) {
  bool calls = false;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process != process) continue;
      const CollectiveCalls* made = calls_of(job, rank);
      if (call_coverage(job, comm, rank) != CallCoverage::Counted) return false;
      if (made->by_signature.other > 0) return false;
      calls |= made->total > 0;
    }
  }
  return calls;
}

bool made_a_fitting_call(const Job& job, const TimedOutWork& work) {
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process != work.process) continue;
      const auto& counts = calls_of(job, rank)->by_signature.counts;
      if (std::any_of(counts.begin(), counts.end(),
                      [&](const auto& count) { return fits(count.first, work); })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

bool fits(const CallSignature& call, const TimedOutWork& work) {
  return is_call_of_work(call, work.op, work.numel_in, work.numel_out);
}

std::string waiting_words(const Job& job, int communicator, const std::vector<CallPlace>& places) {
  const Communicator& comm = nth_communicator(job, communicator);
  std::map<WorkNumber, std::vector<int>> waiting;
  for (const TimedOutWork& work : timed_out_work(job)) {
    for (const CallPlace& place : places) {
      for (const int m : place.members) {
        if (comm.ranks[static_cast<size_t>(m)].process != work.process) continue;
        if (fits(place.call, work)) waiting[{work.group, work.seq}].push_back(m);
      }
    }
  }
  const auto most = std::max_element(
      waiting.begin(), waiting.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == waiting.end()) return {};
  std::vector<int> members = most->second;
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return fmt::format("{} gave up on it{}", members_words(job, communicator, members),
                     number_words(most->first));
}

std::vector<TimedOutWork> works_without_call(const Job& job) {
  std::map<int, bool> shows_all;
  std::vector<TimedOutWork> result;
  for (TimedOutWork& work : timed_out_work(job)) {
    const bool has_size = work.numel_in >= 0 && work.numel_out >= 0;
    if (!is_one_call(work.op) || !has_size || work.process < 0) continue;
    const auto [known, is_new] = shows_all.try_emplace(work.process);
    if (is_new) known->second = shows_all_calls(job, work.process);
    if (known->second && !made_a_fitting_call(job, work)) result.push_back(std::move(work));
  }
  return result;
}

}  // namespace ncclog
