#include "replay/next_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "replay/headline.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

bool differs_in(const JudgedReplay& judged, std::string_view what) {
  return std::any_of(
      judged.pair.differences.begin(), judged.pair.differences.end(),
      [&](const ReplayDifference& row) { return row.matters && row.what.starts_with(what); });
}

/// How the replay would come nearer to the record.
Texts steps_to_likeness(const JudgedReplay& judged) {
  Texts out;
  if (differs_in(judged, "NCCL")) {
    out.push_back("Give the recorded release of NCCL with --nccl LIBRARY.");
  }
  if (differs_in(judged, "hosts")) {
    out.push_back(
        fmt::format("Split the GPUs into as many pseudo-hosts as were recorded: --hosts "
                    "{}.",
                    judged.plan.recorded_nhosts));
  }
  if (differs_in(judged, "ranks") || differs_in(judged, "size")) {
    out.push_back(
        fmt::format("Replay more of its ranks: {} GPUs would do for all of them, and any more than "
                    "now (replay plan --gpus N) come nearer to the job.",
                    judged.plan.recorded_nranks));
  }
  if (differs_in(judged, "algorithm")) {
    out.push_back("Set the recorded algorithm with --set NCCL_ALGO=…");
  }
  return out;
}

Texts steps_to_fault(const ReplayPlan& plan) {
  Texts out;
  if (plan.hypothesis.kind == DefectKind::None) {
    out.push_back("Look for errors of the GPUs that ran the replay: nvidia-smi -q, dmesg.");
  }
  out.push_back(
      "Find the setting that it depends on: --mode clean --vary "
      "NCCL_P2P_DISABLE=0,1, or NCCL_ALGO=Ring,Tree.");
  out.push_back(
      "Run nccl-tests on these GPUs: ncclog replay check PLAN --nccl-tests prints "
      "the lines.");
  return out;
}

}  // namespace

std::vector<std::string> next_steps(const JudgedReplay& judged, ReplayVerdictKind kind) {
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      return {fmt::format("Look at what the program of {} does before {}.",
                          departed_text(judged.plan), recorded_place_text(judged.plan))};
    case ReplayVerdictKind::ReproducedFault:
      return steps_to_fault(judged.plan);
    case ReplayVerdictKind::NotReproduced:
      return {
          "Plan it again with more of the calls that led to it (--last N), and run it "
          "several times."};
    case ReplayVerdictKind::CleanWithoutDefect:
      if (!has_defect(judged.plan)) return {};
      return {"Run it with --mode both to test the departure."};
    case ReplayVerdictKind::NotComparable:
      return steps_to_likeness(judged);
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      break;
  }
  if (judged.pair.clean.shows == RunShows::Useless && leans_on_buffers(judged.plan)) {
    return {
        "Record the job again with NCCL_DEBUG=TRACE and CALL in NCCL_DEBUG_SUBSYS (2.13.4 and "
        "later): its lines tell which messages are one group."};
  }
  return {judged.pair.clean.shows == RunShows::NotRun
              ? "Run it with --mode both."
              : "Remove what stopped it, and run it again."};
}

}  // namespace ncclog
