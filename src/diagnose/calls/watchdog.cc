#include "diagnose/calls/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "log/messages.h"

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

/// The status of the same rank and SeqNum that was printed next names the group.
std::string group_of(const Job& job, const TimedOutWork& work) {
  for (const WorkProgress& status : work_progress(job)) {
    const bool is_behind = work.line.where < status.line.where;
    if (is_behind && status.seq == work.seq && status.process == work.process &&
        status.rank == work.rank) {
      return status.group;
    }
  }
  return {};
}

std::vector<WorkProgress> find_work_progress(const Job& job) {
  std::vector<WorkProgress> result;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    result.push_back({said.process, rank_of(job, said.process, said.header), group_in(said.header),
                      said.message.seq, said.message.last_enqueued, said.message.last_completed,
                      evidence_of(said.record)});
  });
  // The monitor of the default group prints this line, with the default group's numbers.
  for_each_said<DumpSignal>(job, [&](const Said<DumpSignal>& said) {
    result.push_back({said.process, rank_of(job, said.process, said.header), "0", std::nullopt,
                      said.message.last_enqueued, said.message.last_completed,
                      evidence_of(said.record)});
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
  const bool several_groups = has_several_groups(job);
  for_each_said<T>(job, [&](const Said<T>& said) {
    const int rank = rank_of(job, said.process, said.header);
    TimedOutWork work = read_work(said.process, rank, said.message, said.record);
    work.group = group_in(said.header);
    if (work.group.empty()) work.group = group_of(job, work);
    const bool is_other_rank = said.header.group_rank >= 0 && said.header.group_rank != rank;
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
      read_work(said.process, rank, read_message<WatchdogTimeout>(quoted.message), said.record);
  work.in_unnamed_group = true;
  add_work(std::move(work), works);
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
  std::vector<TimedOutWork> works;
  add_timeouts<WatchdogTimeout>(job, works);
  add_timeouts<BlockingWaitTimeout>(job, works);
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

const std::vector<TimedOutWork>& timed_out_work(const Job& job) {
  return job.answers.of<&find_timed_out_work>(job);
}

const std::vector<WorkProgress>& work_progress(const Job& job) {
  return job.answers.of<&find_work_progress>(job);
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

}  // namespace ncclog
