#include "diagnose/calls/quiet_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/outcome/job_span.h"
#include "log/messages.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

/// The ranks that report a time-out of a work of all ranks; nullopt: somebody whose rank is not known
/// reports one, or one of another group.
std::optional<std::set<int>> ranks_that_report(const Job& job) {
  std::set<int> reported;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool is_of_all = !work.in_unnamed_group && is_default_group(work.group);
    if (work.rank < 0 || !is_of_all) return std::nullopt;
    reported.insert(work.rank);
  }
  // A line that another record cut off names no work, and its rank may be lost with it. Who raised an
  // error of NCCL reports that.
  bool is_any_unknown = false;
  std::set<int> failed;
  for_each_said<WorkException>(job, [&](const auto& said) { failed.insert(said.process); });
  const auto add_speaker = [&](const auto& said) {
    if (failed.contains(said.process)) return;
    const int rank = rank_of(job, said.process, said.header());
    is_any_unknown |= rank < 0;
    reported.insert(rank);
  };
  for_each_said<WatchdogTimeout>(job, add_speaker);
  for_each_said<WorkStatus>(job, add_speaker);
  for_each_said<WatchdogTerminated>(job, add_speaker);
  if (is_any_unknown) return std::nullopt;
  return reported;
}

/// Who reports another error of the same work later, as those do whose peers have left by then:
/// " Rank 16 reports no time-out but, 25 s later, an error of NCCL. …"; empty: nobody.
std::string failed_later_words(const Job& job) {
  constexpr int64_t kLeast = 5'000'000'000;
  const auto& works = timed_out_work(job);
  std::map<int, int64_t> late;  // By rank, how much later than the first who gave up.
  for_each_said<WorkException>(job, [&](const Said<WorkException>& said) {
    const int rank = rank_of(job, said.process, said.header());
    const auto of_work = [&](const TimedOutWork& work) {
      return work.seq >= 0 && work.seq == said.message.seq && work.op == said.message.op &&
             work.timeout_ms == said.message.timeout_ms;
    };
    const auto first = std::ranges::find_if(works, of_work);
    const bool gave_up =
        std::ranges::any_of(works, [&](const TimedOutWork& work) { return work.rank == rank; });
    if (rank < 0 || gave_up || first == works.end()) return;
    const auto between = nanoseconds_between(first->line.text, said.record().text());
    if (between && *between >= kLeast) late.emplace(rank, *between);
  });
  if (late.empty()) return {};
  std::vector<int> ranks;
  int64_t least = INT64_MAX;
  for (const auto& [rank, time] : late) {
    ranks.push_back(rank);
    least = std::min(least, time);
  }
  const std::string who = ranks_phrase(ranks);
  return fmt::format(
      " {} did not time out: {} later {} an error of NCCL in the same work, whose limit was not "
      "reached. So {} called it at least that much later than those that gave up, if the clocks "
      "agree.",
      capitalised(who), duration_words(least), ranks.size() == 1 ? "it reports" : "they report",
      ranks.size() == 1 ? "it" : "they");
}

/// The local ranks of one node that report a time-out, where nothing tells their ranks; empty:
/// somebody has no number, or several have the same.
std::set<int> local_ranks_that_report(const Job& job) {
  std::set<int> reported;
  bool are_all_known = job.nhosts <= 1;
  for_each_said<WatchdogTimeout>(job, [&](const auto& said) {
    const int local = said.header().prefix.local_rank;
    are_all_known &= local >= 0 && reported.insert(local).second;
  });
  return are_all_known ? reported : std::set<int>();
}

constexpr std::string_view kNobody = "which one, this log does not show.";

}  // namespace

FactValue watchdog_quiet(const Job& job, const Instance&) {
  const auto reported = ranks_that_report(job);
  if (is_torn(job)) return unknown();
  if (!reported) {
    const std::set<int> local = local_ranks_that_report(job);
    if (local.size() < 2 || std::cmp_not_equal(*local.rbegin(), local.size())) return unknown();
    int rank = 0;
    while (local.contains(rank)) ++rank;
    return yes(
        fmt::format("; of the node's local ranks 0-{} only {} reports none", local.size(), rank));
  }
  if (reported->size() < 2) return unknown();
  const int nranks = known_ranks(job, *reported);
  if (std::cmp_not_equal(nranks, reported->size() + 1)) return unknown();
  int rank = 0;
  while (reported->contains(rank)) ++rank;
  // Whether there are more, which report none either, is not known.
  return yes(job.nranks ? fmt::format("; rank {} reports none", rank)
                        : fmt::format("; of ranks 0-{} only {} reports none", nranks - 1, rank));
}

static std::string quiet_phrase(const Job& job) {
  const auto known = ranks_that_report(job);
  if (!known) return std::string(kNobody);
  const std::set<int>& reported = *known;
  std::vector<int> quiet;
  const int nranks = known_ranks(job, reported);
  const size_t count = static_cast<size_t>(nranks) - reported.size();
  for (int rank = 0; rank < nranks && quiet.size() <= reported.size(); ++rank) {
    if (!reported.contains(rank)) quiet.push_back(rank);
  }
  if (quiet.empty()) return std::string(kNobody);
  const std::string_view more =
      job.nranks || blocks_gathered(job, true) == nranks
          ? ""
          : " Whether there are ranks above those, these logs do not show.";
  const bool is_told = job.nranks || blocks_gathered(job, false) == nranks;
  if (!is_told && reported.size() == 1)
    return fmt::format(
        "which one, this log does not show: rank {} is the only one whose time-out is here.",
        *reported.begin());
  if (quiet.size() > reported.size()) {
    return fmt::format("which one, this log does not show: {} of {} ranks report no time-out.{}",
                       count, nranks, more);
  }
  std::string why = quiet.size() == 1 ? "It ended, hangs elsewhere, or its output is missing."
                                      : "They ended, hang elsewhere, or their output is missing.";
  const JobInput* file = quiet.size() == 1 ? file_of_rank(job, quiet.front()) : nullptr;
  if (file != nullptr) {
    const int process = process_of_rank(job, quiet.front());
    const std::string_view last = process < 0 ? "" : last_text(job, nth_process(job, process));
    why = fmt::format(
        "Its own file, {}, {}.", printable(file->path.substr(file->path.rfind('/') + 1)),
        last.empty() ? "says nothing" : fmt::format("ends with \"{}\"", line_words(last, 120)));
  }
  return fmt::format("no time-out of {} is in these logs. {}{}", ranks_phrase(quiet), why, more);
}

std::string quiet_ranks_phrase(const Job& job) {
  return quiet_phrase(job) + failed_later_words(job);
}

}  // namespace ncclog
