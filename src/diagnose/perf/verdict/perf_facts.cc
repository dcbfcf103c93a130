// What verdicts on measurements say to rules.
//
//   job.perf_limited   yes, "AllReduce of 16 ranks on 2 hosts: 9.4 GB/s, 74 % below …, limited by …"
//   job.perf_below     yes, the same where no stage is known
//   job.perf_normal    yes, where all measurements are normal
//
// A rule accuses, so that only what is known to be less than the machine gives counts as limited:
// sockets where nothing better is known are no finding.

#include "diagnose/facts/fact.h"
#include "diagnose/perf/measured/measurements.h"
#include "diagnose/perf/verdict/perf_verdict.h"

namespace ncclog {
namespace {

/// Verdicts on measurements that `counts` accepts, as one answer.
template <typename Counts>
FactValue verdicts_answer(const Job& job, Counts counts) {
  // Most jobs measure nothing, and none of them is to pay for it.
  if (measurements(job).empty()) return unknown();
  AnswerParts parts;
  for (const PerfVerdict& verdict : perf_verdicts(job)) {
    if (verdict.measurement == nullptr || !counts(verdict)) continue;
    parts.words.push_back(verdict.headline);
    parts.evidence.insert(parts.evidence.end(), verdict.evidence.begin(), verdict.evidence.end());
  }
  return parts.answer(no(), "; ", kMostNamed);
}

bool is_less_than_machine(const PerfVerdict& verdict) {
  return verdict.machine_ceiling > 0 && verdict.reached < verdict.machine_ceiling &&
         !verdict.by_guess;
}

FactValue perf_limited(const Job& job, const Instance&) {
  return verdicts_answer(job, [](const PerfVerdict& verdict) {
    return verdict.answer == PerfAnswer::Limited && is_less_than_machine(verdict);
  });
}

FactValue perf_below(const Job& job, const Instance&) {
  return verdicts_answer(job, [](const PerfVerdict& verdict) {
    return verdict.answer == PerfAnswer::Below && is_less_than_machine(verdict);
  });
}

/// One that is not normal, or below what nccl-tests was asked for, makes it "no".
FactValue perf_normal(const Job& job, const Instance&) {
  if (measurements(job).empty()) return unknown();
  const auto& verdicts = perf_verdicts(job);
  const bool all = std::ranges::all_of(
      verdicts, [](const PerfVerdict& verdict) { return verdict.answer == PerfAnswer::Normal; });
  const bool asked_more = std::ranges::any_of(
      job.nccl_tests, [](const NcclTestsRun& run) { return run.below_expected; });
  if (!all || asked_more) return no();
  return verdicts_answer(job, [](const PerfVerdict&) { return true; });
}

constexpr std::array kPerfFacts = {
    // Some measurement is below what its machine gives, and no line tells why.
    job_fact("job.perf_below", perf_below),
    // Some measurement is below what its machine gives, and lines show the stage that limits it.
    job_fact("job.perf_limited", perf_limited),
    // Every measurement is what its machine gives.
    job_fact("job.perf_normal", perf_normal),
};

}  // namespace

std::span<const Fact> perf_facts() { return kPerfFacts; }

}  // namespace ncclog
