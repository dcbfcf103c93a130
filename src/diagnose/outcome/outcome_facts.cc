// How the job ended, as rules ask for it.
//
//   job.outcome = "finished", "nccl-tests printed its summary"
//   job.noise_after_end = yes, "740 lines of WARN"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/outcome/outcome.h"

namespace ncclog {
namespace {

FactValue outcome(const Job& job, const Instance&) {
  const EndOf& end = outcome_of(job).job;
  if (end.state == EndState::Unknown) return unknown();
  return {std::string(to_string(end.state)), end.what, end.evidence, {}, {}};
}

bool may_warn(const Kind& kind) {
  return std::any_of(kind.wordings.begin(), kind.wordings.end(),
                     [&](const Wording& wording) { return warning_of(wording) != nullptr; });
}

/// WARN lines after the end of the work, and the first few of them.
struct Noise {
  uint64_t lines = 0;
  std::vector<Evidence> first;

  void add(const Job& job, const RecordList& list) {
    uint64_t after = 0;
    for (const Record& record : list.kept) {
      const Evidence line = evidence_of(record);
      if (parse_record(record).header.level != Level::Warn || !is_after_end(job, line)) continue;
      ++after;
      first.push_back(line);
    }
    // Equal lines are kept once: where all that are kept are noise, so are the others.
    lines += after == list.kept.size() ? list.total : after;
  }
};

FactValue noise_after_end(const Job& job, const Instance&) {
  constexpr size_t kShown = 8;
  if (outcome_of(job).job.state != EndState::Finished) return unknown();
  Noise noise;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (may_warn(all_kinds()[kind])) noise.add(job, list);
    }
    noise.add(job, log.unrecognised);
  }
  if (noise.lines == 0) return no();
  std::stable_sort(noise.first.begin(), noise.first.end(),
                   [](const Evidence& a, const Evidence& b) { return a.where < b.where; });
  if (noise.first.size() > kShown) noise.first.resize(kShown);
  return yes(noise.lines == 1 ? "a line of WARN" : fmt::format("{} lines of WARN", noise.lines),
             std::move(noise.first));
}

constexpr Fact kFacts[] = {
    {"job.noise_after_end", Scope::Job, FactType::Bool,
     "The job finished, and NCCL warns after that: its processes leave one after the other.",
     noise_after_end},
    {"job.outcome", Scope::Job, FactType::Text,
     "How the job ended: finished, failed, stopped, or unfinished, where no end is in the logs.",
     outcome},
};

}  // namespace

std::span<const Fact> outcome_facts() { return kFacts; }

}  // namespace ncclog
