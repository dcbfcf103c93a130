#include "model/ledger/watchdog_works.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "log/messages.h"
#include "model/flight_recorder.h"
#include "model/ledger/call_ledger.h"

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

/// By group, how the program calls it; empty: lines disagree.
using Descriptions = std::map<std::string, std::string>;

template <typename T>
void add_descriptions(const Job& job, Descriptions& names) {
  for_each_said<T>(job, [&](const Said<T>& said) {
    const std::string name(said.header().process_group_name);
    if (name.empty() || name == "undefined") return;
    const auto [known, is_new] = names.try_emplace(group_in(said.header()), name);
    if (!is_new && known->second != name) known->second.clear();
  });
}

Descriptions find_descriptions(const Job& job) {
  Descriptions names;
  add_descriptions<WorkStatus>(job, names);
  add_descriptions<WatchdogTimeout>(job, names);
  add_descriptions<WatchdogTerminated>(job, names);
  return names;
}

std::vector<WorkProgress> find_work_progress(const Job& job) {
  std::vector<WorkProgress> result;
  for_each_said<WorkStatus>(job, [&](const Said<WorkStatus>& said) {
    // Others are printed for any failure.
    const std::string_view message = trim(said.header().message);
    const bool is_timeout = message.starts_with("Timeout at NCCL work: ") ||
                            message.starts_with("Work timeout is detected by watchdog at work: ");
    result.push_back({said.process, rank_of(job, said.process, said.header()),
                      group_in(said.header()), said.message.seq, is_timeout,
                      said.message.last_enqueued, said.message.last_completed,
                      evidence_of(said.record())});
  });
  // The monitor of the default group prints this line, with the default group's numbers.
  for_each_said<DumpSignal>(job, [&](const Said<DumpSignal>& said) {
    result.push_back({said.process, rank_of(job, said.process, said.header()), "0", std::nullopt,
                      false, said.message.last_enqueued, said.message.last_completed,
                      evidence_of(said.record())});
  });
  return result;
}

/// Statements by process, rank and SeqNum.
using ProgressByWork = std::map<std::tuple<int, int, int64_t>, std::vector<const WorkProgress*>>;

ProgressByWork find_progress_by_work(const Job& job) {
  ProgressByWork all;
  for (const WorkProgress& one : work_progress(job)) {
    if (one.seq) all[{one.process, one.rank, *one.seq}].push_back(&one);
  }
  return all;
}

/// The status of the same rank and SeqNum that was printed next, perhaps on the same line, names the
/// group.
std::string group_of(const Job& job, const TimedOutWork& work) {
  const ProgressByWork& all = job.answers.of<&find_progress_by_work>(job);
  const auto own = all.find({work.process, work.rank, work.seq});
  if (own == all.end()) return {};
  const auto status = std::ranges::find_if(
      own->second, [&](const WorkProgress* one) { return !(one->line.where < work.line.where); });
  return status == own->second.end() ? std::string() : (*status)->group;
}

int64_t ran_of(const WatchdogTimeout& timeout) { return timeout.ran_ms; }
int64_t ran_of(const BlockingWaitTimeout&) { return -1; }

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
          .ran_ms = ran_of(timeout),
          .line = evidence_of(record)};
}

/// Works, each once.
struct WorkList {
  std::vector<TimedOutWork> works;
  std::set<std::tuple<int, int, int64_t, std::string, std::string>> known = {};

  /// Adds a work, unless its rank has reported it before.
  void add(TimedOutWork work) {
    if (known.emplace(work.process, work.rank, work.seq, work.op, work.size).second)
      works.push_back(std::move(work));
  }
};

/// T is one of the two ways in which PyTorch says that a work timed out.
template <typename T>
void add_timeouts(const Job& job, WorkList& works) {
  // The job has communicators of a part of its ranks, the largest first: a line that names no group
  // may be about any of them.
  const bool several_groups = !job.communicators.empty() &&
                              job.communicators.back().nranks < job.communicators.front().nranks;
  for_each_said<T>(job, [&](const Said<T>& said) {
    if (said.message.op.empty()) return;  // Another record cut the line off.
    const int rank = rank_of(job, said.process, said.header());
    TimedOutWork work = read_work(said.process, rank, said.message, said.record());
    work.group = group_in(said.header());
    if (work.group.empty()) work.group = group_of(job, work);
    const bool is_other_rank = said.header().group_rank >= 0 && said.header().group_rank != rank;
    work.in_unnamed_group = work.group.empty() && (is_other_rank || several_groups);
    works.add(std::move(work));
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
void add_quoted(const Said<T>& said, int rank, std::string_view text, WorkList& works) {
  const size_t begin = text.find(kQuotedTimeout);
  if (begin == text.npos) return;
  const Event quoted = parse_event(text.substr(begin), all_wordings());
  if (quoted.message.kind != &all_kinds()[kKindIndex<WatchdogTimeout>] ||
      quoted.message.wording->general)
    return;
  if (rank < 0) rank = rank_before(text.substr(0, begin));
  TimedOutWork work =
      read_work(said.process, rank, read_message<WatchdogTimeout>(quoted.message), said.record());
  work.in_unnamed_group = true;
  works.add(std::move(work));
}

/// What the watchdog said, as others quote it: who uses a communicator after the watchdog aborted
/// it ("Original reason for failure was: [Rank 0] Watchdog caught …"), and the exception that ends
/// the process ("what():  [Rank 0] Watchdog caught …").
void add_quoted_timeouts(const Job& job, WorkList& works) {
  for_each_said<CommAborted>(job, [&](const Said<CommAborted>& said) {
    const int rank = rank_of(job, said.process, said.header());
    add_quoted(said, rank >= 0 ? rank : said.message.rank, said.message.reason, works);
  });
  for_each_said<WatchdogTerminated>(job, [&](const Said<WatchdogTerminated>& said) {
    add_quoted(said, rank_of(job, said.process, said.header()), said.message.error, works);
  });
  if (!works.works.empty()) return;  // The same process has said it before it ended.
  for_each_said<CppWhat>(job, [&](const Said<CppWhat>& said) {
    add_quoted(said, rank_of(job, said.process, said.header()), said.message.text, works);
  });
}

/// Who gave up on several collectives did so in several groups: a group's watchdog ends with the first.
/// Lines that name none may be of any of them.
void mark_several_groups(std::vector<TimedOutWork>& works) {
  std::map<std::pair<int, int>, std::set<int64_t>> numbers;
  bool are_several = false;
  for (const TimedOutWork& work : works) {
    if (work.rank < 0 || !work.group.empty() || is_point_to_point(work.op)) continue;
    auto& seen = numbers[{work.process, work.rank}];
    seen.insert(work.seq);
    are_several |= seen.size() > 1;
  }
  for (TimedOutWork& work : works) work.in_unnamed_group |= are_several && work.group.empty();
}

std::vector<TimedOutWork> find_timed_out_work(const Job& job) {
  WorkList works;
  add_timeouts<WatchdogTimeout>(job, works);
  add_timeouts<BlockingWaitTimeout>(job, works);
  // Who has a line of its own quotes no other work. Who has none gave up all the same.
  WorkList quoted;
  add_quoted_timeouts(job, quoted);
  std::set<int> processes;
  std::set<int> ranks;
  for (const TimedOutWork& own : works.works) {
    processes.insert(own.process);
    if (own.rank >= 0) ranks.insert(own.rank);
  }
  for (TimedOutWork& work : quoted.works) {
    const bool is_told = processes.contains(work.process) || ranks.contains(work.rank);
    if (processes.empty() || (!is_told && work.rank >= 0)) works.add(std::move(work));
  }
  mark_several_groups(works.works);
  return std::move(works.works);
}

std::set<int> find_those_that_gave_up(const Job& job) {
  std::set<int> processes;
  for (const TimedOutWork& work : timed_out_work(job)) processes.insert(work.process);
  for_each_said<WatchdogTimeout>(
      job, [&](const Said<WatchdogTimeout>& said) { processes.insert(said.process); });
  return processes;
}

/// The group of all ranks has one name here: "".
std::string account_name(const std::string& group) { return is_default_group(group) ? "" : group; }

/// A rank is told by its number or, where that is not known, by its process.
std::pair<int, int> key_of(const auto& said) {
  return {said.rank, said.rank >= 0 ? -1 : said.process};
}

/// What watchdogs say of one group.
using WatchedRanks = std::map<std::pair<int, int>, LedgerRank>;

LedgerRank& rank_in(WatchedRanks& ranks, const auto& said) {
  return ranks.try_emplace(key_of(said), LedgerRank{.rank = said.rank, .process = said.process})
      .first->second;
}

void add_work(const TimedOutWork& work, WatchedRanks& ranks) {
  LedgerRank& rank = rank_in(ranks, work);
  const auto number = static_cast<uint64_t>(work.seq);
  if (rank.coverage == CallCoverage::Unknown) {
    rank.coverage = CallCoverage::AtLeast;
    rank.entered = number;
  }
  rank.calls.push_back({number, CallState::TimedOut, nullptr, &work});
}

/// `is_of_message`: its rank gave up on a message, whose numbers are others.
void add_progress(const WorkProgress& progress, bool is_of_message, WatchedRanks& ranks) {
  if (progress.last_enqueued < 0) return;
  LedgerRank& rank = rank_in(ranks, progress);
  const auto enqueued = static_cast<uint64_t>(progress.last_enqueued);
  // The first statement is of the moment in which the others gave up; later it may have gone on.
  if (rank.progress == nullptr || enqueued < rank.entered) {
    rank.progress = &progress;
    rank.entered = enqueued;
  }
  rank.coverage = CallCoverage::Counted;
  const auto completed = static_cast<uint64_t>(std::max<int64_t>(progress.last_completed, 0));
  rank.completed = std::max(rank.completed.value_or(0), completed);
  // The line that names the operation is not there.
  const bool is_alone =
      progress.is_timeout && *progress.seq > 0 && rank.calls.empty() && !is_of_message;
  if (is_alone) rank.calls.push_back({static_cast<uint64_t>(*progress.seq), CallState::TimedOut});
}

// What PyTorch's desync report tells (TORCH_NCCL_DESYNC_DEBUG): where all ranks of one process group
// stood when a watchdog of one of them fired.
//
//   - [0] Timeout at collective: ALLREDUCE, #9
//   - [0, 2] joined but didn't finish collective #9 (count from 1)
//     [3] finished collective #8, but didn't join collective #9 (count from 1)
//   - To our best knowledge, ranks [1] are the lagging ranks … They never joined any collectives
//   - Snapshot of ranks' latest states:
//     #9 started ranks:
//       [0, 2] started ALLREDUCE
//
// From torch/csrc/distributed/c10d/TraceUtils.h. Ranks are those inside the group. The sentences list
// those furthest back alone, the snapshot lists all. Each rank whose watchdog fires prints a report:
// the earliest standing of a rank is that of the moment in which the others gave up.

/// "1, 3", or "0, ..., 15" where somebody shortened it: no list of ranks is longer than a line that
/// is kept.
std::vector<int> ranks_in(std::string_view list) {
  constexpr int kMostLeftOut = 1 << 16;
  std::vector<int> ranks;
  bool is_shortened = false;
  for (const std::string_view word : split(list, ',')) {
    const std::string_view text = trim(word);
    const auto rank = parse_int(text);
    if (rank && *rank >= 0 && *rank <= INT32_MAX) {
      const int last = static_cast<int>(*rank);
      const bool may_fill = is_shortened && !ranks.empty() && last - ranks.back() < kMostLeftOut;
      while (may_fill && ranks.back() + 1 < last) ranks.push_back(ranks.back() + 1);
      ranks.push_back(last);
    }
    is_shortened = text == "..." || text == "\xe2\x80\xa6";
  }
  return ranks;
}

/// What the reports of one group say, by rank in it.
struct DesyncGroup {
  std::map<int, LedgerRank> ranks;
  std::set<uint64_t> joined;  ///< Numbers of the collectives that ranks joined.
  SourceRef line;             ///< The first that tells who joined, or who did not.
  std::set<std::tuple<std::string_view, uint64_t, bool, std::string_view>> said = {};

  void add(std::string_view list, uint64_t entered, bool is_open, SourceRef where,
           std::string_view op = {}) {
    if (!line.is_known() || where < line) line = where;
    if (is_open) joined.insert(entered);
    // All ranks may print the same report.
    if (!said.emplace(list, entered, is_open, op).second) return;
    for (const int number : ranks_in(list)) {
      LedgerRank standing{.rank = number,
                          .coverage = CallCoverage::Counted,
                          .is_idle = !is_open,
                          .entered = entered,
                          .completed = is_open ? entered - 1 : entered};
      if (is_open) {
        standing.calls.push_back(
            {.number = entered, .state = CallState::TimedOut, .op = std::string(op)});
      }
      const auto [known, is_new] = ranks.try_emplace(number, standing);
      if (!is_new && entered < known->second.entered) known->second = standing;
    }
  }

  /// The lines of no rank between 0 and the last one are lost.
  bool lists_all() const {
    return !ranks.empty() && ranks.begin()->first == 0 &&
           ranks.rbegin()->first + 1 == static_cast<int>(ranks.size());
  }
};

/// Names of groups by the lines on works that name them.
std::map<SourceRef, std::string_view> groups_by_line(const Job& job) {
  std::map<SourceRef, std::string_view> groups;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (!work.group.empty()) groups[work.line.where] = work.group;
  }
  for (const WorkProgress& progress : work_progress(job)) {
    const bool is_named = progress.seq && !progress.group.empty();
    if (is_named) groups[progress.line.where] = progress.group;
  }
  return groups;
}

}  // namespace

bool is_point_to_point(std::string_view op) {
  return op == "COALESCED" || traits_of(operation_of(op, AliasSource::Watchdog)).is_message();
}

bool is_default_group(std::string_view group) {
  return group.empty() || group == "0" || group == "default_pg";
}

std::string process_group_words(const Job& job, const std::string& group) {
  const Descriptions& names = job.answers.of<&find_descriptions>(job);
  const auto known = names.find(group);
  const bool is_described = known != names.end() && !known->second.empty();
  return to_valid_utf8(is_described ? fmt::format("process group {} ({})", group, known->second)
                                    : "process group " + group);
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

std::vector<CallAccount> watchdog_accounts(const Job& job) {
  std::map<std::string, WatchedRanks> groups;
  // Where NCCL made one communicator a line that names no group is about that one's.
  const bool is_one_group = job.communicators.size() == 1;
  // In which groups ranks gave up; nullopt: on a message.
  std::map<std::pair<int, int>, std::set<std::optional<std::string>>> waits_in;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool is_message = is_point_to_point(work.op);
    waits_in[key_of(work)].insert(is_message ? std::nullopt
                                             : std::optional(account_name(work.group)));
    const bool is_named = !work.group.empty() || (is_one_group && !work.in_unnamed_group);
    if (is_message || work.seq < 0 || !is_named) continue;
    add_work(work, groups[account_name(work.group)]);
  }
  for (const WorkProgress& progress : work_progress(job)) {
    auto& waits = waits_in[key_of(progress)];
    if (progress.is_timeout) waits.insert(account_name(progress.group));
    add_progress(progress, waits.contains(std::nullopt), groups[account_name(progress.group)]);
  }
  std::vector<CallAccount> accounts;
  for (auto& [name, ranks] : groups) {
    CallAccount& account = accounts.emplace_back();
    account.source = CallSource::Watchdog;
    account.group = name;
    for (auto& [key, rank] : ranks) {
      std::ranges::stable_sort(rank.calls, {}, &LedgerCall::number);
      // Who gave up on a work of another group, or on a message, waits there for somebody itself.
      rank.is_idle =
          std::ranges::all_of(waits_in[key], [&](const auto& where) { return where == name; });
      account.ranks.push_back(std::move(rank));
    }
    // How many ranks a group has only a communicator says: more may be than ever speak.
    account.unseen = 1;
    if (name.empty() && !job.communicators.empty()) {
      const int all = job.communicators.front().nranks;
      if (job.runs <= 1) {
        account.communicator = find_only(job.communicators, [&](const Communicator& comm) {
          return !comm.inferred && comm.nranks == all;
        });
      }
      const int heard = static_cast<int>(account.ranks.size());
      account.unseen = all < 0 ? 1 : std::max(0, all - heard);
    }
  }
  return accounts;
}

CallAccount account_of(const Job& job, const std::string& name, DesyncGroup group) {
  CallAccount account{.source = CallSource::Desync, .group = name};
  account.line = group.line;
  const bool is_of_all = !name.empty() && is_default_group(name);
  account.unseen = group.lists_all() ? 0 : 1;
  // Reports of groups that no line names may be of several.
  account.is_numbered_alike = !name.empty() || group.joined.size() < 2;
  for (auto& [number, rank] : group.ranks) {
    if (is_of_all) rank.process = process_of_rank(job, number);
    account.ranks.push_back(std::move(rank));
  }
  return account;
}

std::vector<CallAccount> desync_accounts(const Job& job) {
  // A report names no group: it is that of the work of which the line before it in the same input
  // tells. Empty: none is known.
  const std::map<SourceRef, std::string_view> named = groups_by_line(job);
  std::map<std::string, DesyncGroup> groups;
  const auto group_of = [&](const auto& said) -> DesyncGroup& {
    const auto behind = named.lower_bound(said.where());
    const bool is_known =
        behind != named.begin() && std::prev(behind)->first.unit == said.where().unit;
    return groups[is_known ? std::string(std::prev(behind)->second) : std::string()];
  };
  const auto add = [&](const auto& said, bool is_open) {
    if (said.message.seq < 1) return;
    group_of(said).add(said.message.ranks, static_cast<uint64_t>(said.message.seq), is_open,
                       said.where());
  };
  // The snapshot tells the number once for all operations that began, or ended, with it.
  struct Section {
    std::string state;
    int64_t seq = -1;
  };
  std::map<SourceRef, Section> sections;
  for_each_said<DesyncSection>(job, [&](const Said<DesyncSection>& said) {
    sections[said.where()] = {std::string(said.message.section), said.message.seq};
  });
  for_each_said<DesyncState>(job, [&](const Said<DesyncState>& said) {
    const auto behind = sections.lower_bound(said.where());
    if (behind == sections.begin()) return;
    const auto& [where, section] = *std::prev(behind);
    const bool is_its = where.unit == said.where().unit && section.state == said.message.state;
    if (!is_its || section.seq < 1) return;
    group_of(said).add(said.message.ranks, static_cast<uint64_t>(section.seq),
                       section.state == "started", said.where(), said.message.op);
  });
  for_each_said<DesyncJoined>(job, [&](const auto& said) { add(said, true); });
  for_each_said<DesyncFinished>(job, [&](const auto& said) { add(said, false); });
  for_each_said<DesyncLagging>(job, [&](const Said<DesyncLagging>& said) {
    group_of(said).add(said.message.ranks, 0, false, said.where());
  });
  // Who timed out need not be listed below, where those stand that it waits for.
  for_each_said<DesyncTimeout>(job, [&](const Said<DesyncTimeout>& said) {
    if (said.message.seq < 1) return;
    DesyncGroup& group = group_of(said);
    group.add(said.message.ranks, static_cast<uint64_t>(said.message.seq), true,
              group.line.is_known() ? group.line : said.where());
  });
  std::vector<CallAccount> accounts;
  for (auto& [name, group] : groups) accounts.push_back(account_of(job, name, std::move(group)));
  return accounts;
}

}  // namespace ncclog
