#include "replay/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "replay/headline.h"
#include "replay/settings_kept.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

/// What is judged, handed on as one.
struct Judged {
  const ReplayPlan& plan;
  const ReplayOutcome& outcome;
  const ReplayPair& pair;
  const Comparison& comparison;
};

/// "the replay failed there", for the runs with such an end where the job stood still.
void add_other_end(const Judged& judged, RunEnd end, std::string_view did, Texts& out) {
  bool any = false;
  Texts varied;
  for (const RunOutcome& run : judged.outcome.runs) {
    const bool is_meant =
        run.end == end && (run.mode == MadeIn::Defect || !has_defect(judged.plan));
    if (!is_meant || read_run(judged.plan, &run).shows != RunShows::AsRecorded) continue;
    any = true;
    if (!run.settings.empty()) varied.push_back("with " + variation_text(run));
  }
  if (!any) return;
  out.push_back(
      fmt::format("The recorded job stood still at that call, the replay {} there{}{}{}.", did,
                  varied.empty() ? "" : " ", join(varied, " and "),
                  has_defect(judged.plan)
                      ? ": which of them a mismatch leads to depends on protocol, sizes and "
                        "number of ranks"
                      : ""));
}

/// Where the job stood still, runs may end in another way at the same call.
void add_other_ends(const Judged& judged, Texts& out) {
  if (!judged.plan.hypothesis.front) return;
  add_other_end(judged, RunEnd::Wrong, "computed wrong data", out);
  add_other_end(judged, RunEnd::Failed, "failed", out);
}

/// Of the runs that were judged.
SettingsKept settings_of(const Judged& judged) {
  const RunOutcome* run = find_run(judged.outcome, MadeIn::Defect, judged.pair.settings);
  if (run == nullptr) run = find_run(judged.outcome, MadeIn::Clean, judged.pair.settings);
  return settings_kept(judged.plan, judged.outcome, run == nullptr ? RunOutcome() : *run);
}

Texts changed(const Judged& judged) {
  Texts out;
  add_other_ends(judged, out);
  for (const ReplayDifference& row : judged.pair.differences) {
    if (row.replayed.empty()) continue;
    out.push_back(fmt::format("{}: recorded {}, replayed {}{}", row.what, row.recorded,
                              row.replayed, row.matters ? "" : " (matters less)"));
  }
  const Texts settings = settings_of(judged).changed;
  out.insert(out.end(), settings.begin(), settings.end());
  for (const std::string& loss : judged.plan.losses) out.push_back(printable(loss));
  return out;
}

Texts held(const Judged& judged) {
  Texts out = judged.comparison.same;
  const Texts settings = settings_of(judged).held;
  out.insert(out.end(), settings.begin(), settings.end());
  return out;
}

bool mentions(const Texts& texts, std::string_view words) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

/// GPUs that have a quarter of a gigabyte less than before.
Texts memory_limits(const ReplayOutcome& outcome) {
  constexpr int64_t kNoise = int64_t{256} << 20;
  Texts out;
  for (const RunOutcome& run : outcome.runs) {
    for (const GpuCheck& gpu : run.gpus) {
      if (gpu.free_before < 0 || gpu.free_after < 0) continue;
      const int64_t lost = gpu.free_before - gpu.free_after;
      if (lost < kNoise) continue;
      out.push_back(
          fmt::format("After a run GPU {} had {} MiB less than before; somebody else may "
                      "use it.",
                      gpu.gpu, lost >> 20));
    }
  }
  return out;
}

Texts limits(const Judged& judged) {
  Texts out;
  for (const std::string& limit : judged.plan.limits) out.push_back(printable(limit));
  for (const std::string& what : judged.comparison.unknown) {
    out.push_back(fmt::format("The record does not tell: {}.", what));
  }
  for (const ReplayDifference& row : judged.pair.differences) {
    if (!row.replayed.empty()) continue;
    out.push_back(
        fmt::format("The replay's log does not tell: {} (recorded {}).", row.what, row.recorded));
  }
  if (!mentions(out, "CUDA graph")) {
    out.push_back(
        "A collective that a CUDA graph captured is logged once and may have run many "
        "times; the replay makes it once.");
  }
  for (const RunOutcome& run : judged.outcome.runs) {
    const uint64_t uncompared = verified_by_all(run).shape_only;
    if (uncompared == 0) continue;
    out.push_back(
        fmt::format("{} results of the job's own reductions were not compared: their "
                    "function is in no log.",
                    uncompared));
    break;
  }
  for (const RunOutcome& run : judged.outcome.runs) {
    for (const std::string& left : run.leftovers) {
      out.push_back("Left behind by a run: " + printable(left));
    }
  }
  const Texts memory = memory_limits(judged.outcome);
  out.insert(out.end(), memory.begin(), memory.end());
  return out;
}

bool was_timed(const ReplayOutcome& outcome) {
  return std::any_of(outcome.runs.begin(), outcome.runs.end(),
                     [](const RunOutcome& run) { return !run.timings.empty(); });
}

void forbid_by_kind(const Judged& judged, ReplayVerdictKind kind, Texts& out) {
  const std::string who = departed_text(judged.plan);
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      out.push_back(
          fmt::format("Where in the program it comes from: a departure like that of {} "
                      "suffices, which says nothing about its reason.",
                      who));
      out.push_back("That nothing else was wrong with the job.");
      break;
    case ReplayVerdictKind::ReproducedFault:
      out.push_back(
          judged.plan.hypothesis.kind == DefectKind::None
              ? "That the recorded job has this fault: its logs show none, and other GPUs "
                "ran the replay."
              : "That the recorded machines have this fault: other GPUs ran the replay.");
      if (has_defect(judged.plan)) {
        out.push_back(
            fmt::format("That {} did not depart: the log shows it, the fault here only "
                        "does not need it.",
                        who));
      }
      break;
    case ReplayVerdictKind::NotReproduced:
      out.push_back(
          has_defect(judged.plan)
              ? fmt::format("That {} is cleared: what did not come back once, here, may "
                            "come back there.",
                            who)
              : "That NCCL, the GPUs or the links of the job are sound: what did not come "
                "back once, here, may come back there.");
      break;
    case ReplayVerdictKind::CleanWithoutDefect:
      out.push_back("That the recorded machines are sound: other GPUs ran the replay.");
      break;
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      out.push_back("Anything about the recorded job.");
      break;
  }
}

Texts must_not_conclude(const Judged& judged, ReplayVerdictKind kind) {
  Texts out;
  forbid_by_kind(judged, kind, out);
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

bool differs_in(const Judged& judged, std::string_view what) {
  return std::any_of(
      judged.pair.differences.begin(), judged.pair.differences.end(),
      [&](const ReplayDifference& row) { return row.matters && row.what.starts_with(what); });
}

/// How the replay would come nearer to the record.
void suggest_likeness(const Judged& judged, Texts& out) {
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
}

Texts next(const Judged& judged, ReplayVerdictKind kind) {
  Texts out;
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      out.push_back(fmt::format("Look at what the program of {} does before {}.",
                                departed_text(judged.plan), recorded_place_text(judged.plan)));
      break;
    case ReplayVerdictKind::ReproducedFault:
      if (judged.plan.hypothesis.kind == DefectKind::None) {
        out.push_back("Look for errors of the GPUs that ran the replay: nvidia-smi -q, dmesg.");
      }
      out.push_back(
          "Find the setting that it depends on: --mode clean --vary "
          "NCCL_P2P_DISABLE=0,1, or NCCL_ALGO=Ring,Tree.");
      out.push_back(
          "Run nccl-tests on these GPUs: ncclog replay check PLAN --nccl-tests prints "
          "the lines.");
      break;
    case ReplayVerdictKind::NotReproduced:
      out.push_back(
          "Plan it again with more of the calls that led to it (--last N), and run it "
          "several times.");
      break;
    case ReplayVerdictKind::CleanWithoutDefect:
      if (has_defect(judged.plan)) out.push_back("Run it with --mode both to test the departure.");
      break;
    case ReplayVerdictKind::NotComparable:
      suggest_likeness(judged, out);
      break;
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      out.push_back(judged.pair.clean.shows == RunShows::NotRun
                        ? "Run it with --mode both."
                        : "Remove what stopped it, and run it again.");
      break;
  }
  return out;
}

/// Which variations came out as the verdict says, where not all did.
void add_variations(ReplayVerdict& verdict) {
  const bool alike = std::all_of(verdict.pairs.begin(), verdict.pairs.end(),
                                 [&](const ReplayPair& pair) { return pair.kind == verdict.kind; });
  if (alike) return;
  Texts parts;
  for (const ReplayPair& pair : verdict.pairs) {
    parts.push_back(fmt::format("{}: {}", pair.settings, to_string(pair.kind)));
  }
  verdict.limits.push_back("The outcome depends on what was varied: " + join(parts, "; ") + ".");
}

}  // namespace

void say_what_was_shown(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        const ReplayPair& pair, const Comparison& comparison,
                        ReplayVerdict& verdict) {
  const Judged judged{plan, outcome, pair, comparison};
  verdict.headline = verdict_headline(plan, outcome, pair, verdict.kind);
  verdict.held = held(judged);
  verdict.changed = changed(judged);
  verdict.limits = limits(judged);
  add_variations(verdict);
  verdict.must_not_conclude = must_not_conclude(judged, verdict.kind);
  verdict.next = next(judged, verdict.kind);
}

void say_nothing_was_run(const ReplayOutcome& outcome, ReplayVerdict& verdict) {
  const bool refused = verdict.kind == ReplayVerdictKind::Refused;
  verdict.headline = refused ? printable(outcome.refused) : "No run was made.";
  verdict.must_not_conclude = {"Anything about the recorded job."};
  if (!outcome.hint.empty()) verdict.next.push_back(printable(outcome.hint));
}

}  // namespace ncclog
