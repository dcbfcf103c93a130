#include "replay/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "replay/forbidden_conclusions.h"
#include "replay/headline.h"
#include "replay/judged_replay.h"
#include "replay/next_steps.h"
#include "replay/settings_kept.h"
#include "replay/verdict_limits.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

/// "the replay failed there", for the runs with such an end where the job stood still.
void add_other_end(const JudgedReplay& judged, RunEnd end, std::string_view did, Texts& out) {
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
void add_other_ends(const JudgedReplay& judged, Texts& out) {
  if (!judged.plan.hypothesis.front) return;
  add_other_end(judged, RunEnd::Wrong, "computed wrong data", out);
  add_other_end(judged, RunEnd::Failed, "failed", out);
}

/// Of the runs that were judged.
SettingsKept settings_of(const JudgedReplay& judged) {
  const RunOutcome* run = find_run(judged.outcome, MadeIn::Defect, judged.pair.settings);
  if (run == nullptr) run = find_run(judged.outcome, MadeIn::Clean, judged.pair.settings);
  return settings_kept(judged.plan, judged.outcome, run == nullptr ? RunOutcome() : *run);
}

Texts changed(const JudgedReplay& judged) {
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

Texts held(const JudgedReplay& judged) {
  Texts out = judged.comparison.same;
  const Texts settings = settings_of(judged).held;
  out.insert(out.end(), settings.begin(), settings.end());
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
  const JudgedReplay judged{plan, outcome, pair, comparison};
  verdict.headline = verdict_headline(plan, outcome, pair, verdict.kind);
  verdict.held = held(judged);
  verdict.changed = changed(judged);
  verdict.limits = verdict_limits(judged);
  add_variations(verdict);
  verdict.must_not_conclude = forbidden_conclusions(judged, verdict.kind);
  verdict.next = next_steps(judged, verdict.kind);
}

void say_nothing_was_run(const ReplayOutcome& outcome, ReplayVerdict& verdict) {
  const bool refused = verdict.kind == ReplayVerdictKind::Refused;
  verdict.headline = refused ? printable(outcome.refused) : "No run was made.";
  verdict.must_not_conclude = {"Anything about the recorded job."};
  if (!outcome.hint.empty()) verdict.next.push_back(printable(outcome.hint));
}

}  // namespace ncclog
