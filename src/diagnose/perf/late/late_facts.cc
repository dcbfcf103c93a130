// Facts about who is late, from the verdicts on each communicator (late_ranks.h).
//
//   job.late_rank      yes, "rank 5 (node-b) enters 92 % of 1,000 calls of … late, by 21 ms …"
//   job.late_by_entry  the same where only times of entry are known: no more than a hint

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/perf/late/late_ranks.h"

namespace ncclog {
namespace {

/// What the figures are held against, and what they rest on.
std::string measure_words(const LateVerdict& verdict) {
  std::string words =
      verdict.by_durations
          ? fmt::format("the median call takes {}", late_time_text(verdict.median_call_us))
          : fmt::format("calls come every {}", late_time_text(verdict.median_call_us));
  if (verdict.clock_error_us > 0) {
    words +=
        fmt::format(", clocks of hosts are known to {}", late_time_text(verdict.clock_error_us));
  }
  if (verdict.ranks_with_times < verdict.nranks) {
    words += fmt::format(", {} of {} ranks have no times",
                         verdict.nranks - verdict.ranks_with_times, verdict.nranks);
  }
  return fmt::format("{} ({})", words, verdict.source);
}

/// The verdicts' parties for which `is_meant` holds, in words, those that cost most first.
template <typename IsMeant>
FactValue late_answer(const Job& job, IsMeant is_meant) {
  constexpr size_t kMostLines = 8;
  const std::vector<LateVerdict>& verdicts = late_verdicts(job);
  if (verdicts.empty()) return unknown("no times of calls of two ranks are in the logs");
  std::vector<std::string> words;
  std::vector<Evidence> evidence;
  std::set<int> ranks;
  std::set<std::string> hosts;
  FactValue answer = no();
  for (const LateVerdict& verdict : verdicts) {
    std::vector<std::string> parties;
    for (const LateParty& party : verdict.late) {
      if (!is_meant(verdict, party)) continue;
      parties.push_back(late_words(verdict, party));
      if (party.rank >= 0) ranks.insert(party.rank);
      if (!party.host.empty()) hosts.insert(party.host);
      for (const Evidence& line : party.evidence) {
        if (evidence.size() < kMostLines) evidence.push_back(line);
      }
    }
    if (parties.empty()) continue;
    words.push_back(few_of(parties, kMostNamed, "; ") + "; " + measure_words(verdict));
    answer.communicator = verdict.communicator;
  }
  if (words.empty()) return answer;
  FactValue found = yes(few_of(words, kMostNamed, ". "), std::move(evidence));
  if (words.size() == 1) found.communicator = answer.communicator;
  for (const int rank : ranks) {
    const int process = process_of_rank(job, rank);
    if (process >= 0) {
      found.processes.push_back(process);
    } else {
      found.ranks.push_back(rank);
    }
  }
  std::ranges::sort(found.processes);
  found.hosts.assign(hosts.begin(), hosts.end());
  return found;
}

FactValue late_rank(const Job& job, const Instance&) {
  return late_answer(job, [](const LateVerdict& verdict, const LateParty& party) {
    return verdict.by_durations && !party.inside_the_call;
  });
}

FactValue late_inside(const Job& job, const Instance&) {
  return late_answer(
      job, [](const LateVerdict&, const LateParty& party) { return party.inside_the_call; });
}

FactValue late_by_entry(const Job& job, const Instance&) {
  return late_answer(
      job, [](const LateVerdict& verdict, const LateParty&) { return !verdict.by_durations; });
}

constexpr std::array kLateFacts = {
    // Somebody enters collectives late by times of entry alone: it may have left the call before
    // late, and hosts may run ahead of their GPUs.
    job_fact("job.late_by_entry", late_by_entry),
    // Somebody leaves collectives later than the others, which it entered with them.
    job_fact("job.late_inside", late_inside),
    // Somebody enters collectives late, by durations: the others wait in them.
    job_fact("job.late_rank", late_rank),
};

}  // namespace

std::span<const Fact> late_facts() { return kLateFacts; }

}  // namespace ncclog
