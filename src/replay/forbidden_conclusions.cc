#include "replay/forbidden_conclusions.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/headline.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

Texts of_hypothesis(const JudgedReplay& judged) {
  const ReplayPlan& plan = judged.plan;
  Texts out;
  if (proves_little(plan, find_run(judged.outcome, MadeIn::Defect, judged.pair.settings))) {
    out.push_back(
        fmt::format("That {} left something out: whoever leaves a call out, the others wait for "
                    "it. The logs say who it was; the replay only that nothing else is needed.",
                    departed_text(plan)));
  }
  out.push_back(
      fmt::format("Where in the program it comes from: a departure like that of {} "
                  "suffices, which says nothing about its reason.",
                  departed_text(plan)));
  out.push_back("That nothing else was wrong with the job.");
  return out;
}

Texts of_fault(const ReplayPlan& plan) {
  Texts out;
  out.push_back(plan.hypothesis.kind == DefectKind::None
                    ? "That the recorded job has this fault: its logs show none, and other GPUs "
                      "ran the replay."
                    : "That the recorded machines have this fault: other GPUs ran the replay.");
  if (has_defect(plan)) {
    out.push_back(
        fmt::format("That {} did not depart: the log shows it, the fault here only "
                    "does not need it.",
                    departed_text(plan)));
  }
  return out;
}

Texts of_no_fault(const ReplayPlan& plan) {
  if (!has_defect(plan)) {
    return {
        "That NCCL, the GPUs or the links of the job are sound: what did not come "
        "back once, here, may come back there."};
  }
  return {
      fmt::format("That {} is cleared: what did not come back once, here, may "
                  "come back there.",
                  departed_text(plan))};
}

Texts of_kind(const JudgedReplay& judged, ReplayVerdictKind kind) {
  const ReplayPlan& plan = judged.plan;
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      return of_hypothesis(judged);
    case ReplayVerdictKind::ReproducedFault:
      return of_fault(plan);
    case ReplayVerdictKind::NotReproduced:
      return of_no_fault(plan);
    case ReplayVerdictKind::CleanWithoutDefect:
      return {"That the recorded machines are sound: other GPUs ran the replay."};
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      break;
  }
  return {"Anything about the recorded job."};
}

bool was_timed(const ReplayOutcome& outcome) {
  return std::any_of(outcome.runs.begin(), outcome.runs.end(),
                     [](const RunOutcome& run) { return !run.timings.empty(); });
}

}  // namespace

std::vector<std::string> forbidden_conclusions(const JudgedReplay& judged, ReplayVerdictKind kind) {
  Texts out = of_kind(judged, kind);
  if (judged.plan.recorded_nhosts > 1) {
    out.push_back(
        "That the network between the recorded hosts is sound: nothing of this replay "
        "left its machine.");
  }
  if (was_timed(judged.outcome)) {
    out.push_back(
        "That the job's bandwidth is the one measured here: it had other links, other "
        "ranks, and kernels of its own beside NCCL's.");
  }
  return out;
}

}  // namespace ncclog
