#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "replay/judge/differences.h"
#include "replay/judge/verdict.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

/// A replay and the pair of its runs that is judged. All of it outlives this.
struct JudgedReplay {
  const ReplayPlan& plan;
  const ReplayOutcome& outcome;
  const ReplayPair& pair;
  const Comparison& comparison;
};

/// The call of a diverged rank at the front, in one of the two runs; nullptr: it makes none.
const PlannedCall* call_at_front(const ReplayPlan& plan, MadeIn mode) {
  const Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front || hypothesis.diverged.empty()) return nullptr;
  const auto& calls = plan.ranks[hypothesis.diverged.front()].calls;
  const auto found = std::ranges::find_if(calls, [&](const PlannedCall& call) {
    return call.communicator == hypothesis.front->communicator &&
           call.index == hypothesis.front->index && call.made_in == mode;
  });
  return found == calls.end() ? nullptr : &*found;
}

/// "makes it with another count"; empty if more than one argument is another, or cannot be told.
std::string_view odd_argument(const ReplayPlan& plan) {
  const PlannedCall* wrong = call_at_front(plan, MadeIn::Defect);
  const PlannedCall* right = call_at_front(plan, MadeIn::Clean);
  if (wrong == nullptr || right == nullptr || wrong->op != right->op) return {};
  const std::pair<bool, std::string_view> rows[] = {
      {wrong->count != right->count, "with another count"},
      {wrong->datatype != right->datatype, "with another datatype"},
      {wrong->redop != right->redop, "with another reduction"},
      {wrong->root != right->root, "with another root"}};
  const auto differ = [](const auto& row) { return row.first; };
  if (std::ranges::count_if(rows, differ) != 1) return {};
  return std::ranges::find_if(rows, differ)->second;
}

std::string completed_text(const JudgedReplay& judged) {
  Verification all;
  for (const RunOutcome& run : judged.outcome.runs) {
    const bool is_of_pair = variation_text(run) == judged.pair.settings;
    if (run.end == RunEnd::Completed && is_of_pair) all = verified_by_all(run);
  }
  if (all.calls == 0) return "all calls completed; no result was compared";
  return fmt::format("all calls completed and their data are right ({} elements were compared)",
                     all.elements);
}

std::string differences_phrase(const std::vector<ReplayDifference>& differences) {
  std::vector<std::string> parts;
  for (const ReplayDifference& row : differences) {
    if (!row.matters) continue;
    parts.push_back(
        row.replayed.empty()
            ? fmt::format("{} (recorded {}, not told by the replay's log)", row.what, row.recorded)
            : fmt::format("{} ({} instead of {})", row.what, row.replayed, row.recorded));
  }
  return join(parts, ", ");
}

bool differs_in(const JudgedReplay& judged, std::string_view what) {
  return std::ranges::any_of(judged.pair.differences, [&](const ReplayDifference& row) {
    return row.matters && row.what.starts_with(what);
  });
}

// The sentences are rows of a table; what their conditions and braces mean stands here.

constexpr SentenceRow kWordings[] = {
#include "replay/judge/verdict_words.inc"
};

Telling telling_of(const JudgedReplay& judged, ReplayVerdictKind kind) {
  const auto& [plan, outcome, pair, comparison] = judged;
  // The run that the headline is about: of a fault without need of the defect the one in which all
  // ranks behave.
  const bool is_fault = kind == ReplayVerdictKind::ReproducedFault;
  const RunReading& reading = is_fault ? behaving_run(plan, pair.defect, pair.clean) : pair.defect;
  const RunOutcome* defect_run = find_run(outcome, MadeIn::Defect, pair.settings);
  const RunOutcome* run =
      &reading == &pair.defect ? defect_run : find_run(outcome, MadeIn::Clean, pair.settings);
  const std::string_view odd = odd_argument(plan);
  const bool clean_useless = pair.clean.shows == RunShows::Useless;
  Telling telling;
  telling.table = kWordings;
  telling.conditions = {
      {"healthy", plan.hypothesis.kind == DefectKind::None},
      {"defect", has_defect(plan)},
      {"front", plan.hypothesis.front.has_value()},
      {"one", plan.hypothesis.diverged.size() < 2},
      {"odd", !odd.empty()},
      {"elsewhere", reading.shows == RunShows::Elsewhere},
      {"as-recorded",
       defect_run != nullptr && stood_still_as_recorded(plan.hypothesis, *defect_run)},
      {"little", proves_little(plan, defect_run)},
      {"defect-useless", pair.defect.shows == RunShows::Useless},
      {"clean-useless", clean_useless},
      {"clean-missing", pair.clean.shows == RunShows::NotRun},
      {"buffers", clean_useless && leans_on_buffers(plan)},
      {"many-hosts", plan.recorded_nhosts > 1},
      {"timed", std::ranges::any_of(outcome.runs,
                                    [](const RunOutcome& one) { return !one.timings.empty(); })},
      {"other-nccl", differs_in(judged, "NCCL")},
      {"other-hosts", differs_in(judged, "hosts")},
      {"other-size", differs_in(judged, "ranks") || differs_in(judged, "size")},
      {"other-algorithm", differs_in(judged, "algorithm")}};
  const std::string stop = reading.stop ? place_text(plan, *reading.stop) : "the replay";
  const std::optional<FrontLine> front = expected_place(plan);
  const std::string place = front ? place_text(plan, place_of(*front)) : "the recorded call";
  const std::string completed = completed_text(judged);
  const std::vector<int>& diverged = plan.hypothesis.diverged;
  telling.add("who", diverged.empty() ? "a rank" : ranks_phrase(plan, diverged));
  telling.add("odd", std::string(odd));
  telling.add("stop", stop);
  telling.add("Stop", capitalised(stop));
  // What the run did at the call where it came to its end.
  const bool has_failed = run == nullptr || run->end == RunEnd::Failed;
  const bool has_hung = run != nullptr && run->end == RunEnd::Hung;
  telling.add("did", has_failed ? "fails"
                     : has_hung ? "does not complete"
                                : "completes with wrong data");
  telling.add("place", place);
  telling.add("Place", capitalised(place));
  telling.add("completed", completed);
  telling.add("Completed", capitalised(completed));
  telling.add("differences", differences_phrase(pair.differences));
  telling.add("why_defect", pair.defect.why);
  telling.add("why_clean", pair.clean.why);
  telling.add("hosts", std::to_string(plan.recorded_nhosts));
  telling.add("ranks", std::to_string(plan.recorded_nranks));
  telling.add("departure", telling.say("departure", to_string(plan.hypothesis.kind)).front());
  return telling;
}

// What can a replay not show, whatever it came to?
//
//   "The record does not tell: the release of NCCL."
//   "A collective that a CUDA graph captured is logged once and may have run many times; the replay
//    makes it once."

/// Of the plan first, then of the record, of the replay's log, of the runs. A sentence each.
std::vector<std::string> verdict_limits(const JudgedReplay& judged) {
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
  const bool speaks_of_graphs = std::ranges::any_of(
      out, [](const std::string& text) { return text.find("CUDA graph") != std::string::npos; });
  const std::vector<RunOutcome>& runs = judged.outcome.runs;
  const auto uncompared = std::ranges::find_if(
      runs, [](const RunOutcome& run) { return verified_by_all(run).shape_only > 0; });
  Telling telling{.table = kWordings, .conditions = {{"graphs", speaks_of_graphs}}};
  telling.add_count("uncompared",
                    uncompared == runs.end() ? 0 : verified_by_all(*uncompared).shape_only);
  for (std::string& sentence : telling.say("limit")) out.push_back(std::move(sentence));
  for (const RunOutcome& run : runs) {
    for (const std::string& left : run.leftovers) {
      out.push_back("Left behind by a run: " + printable(left));
    }
  }
  constexpr int64_t kNoise = int64_t{256} << 20;
  for (const RunOutcome& run : runs) {
    for (const GpuCheck& gpu : run.gpus) {
      const int64_t lost = gpu.free_before - gpu.free_after;
      if (gpu.free_before < 0 || gpu.free_after < 0 || lost < kNoise) continue;
      out.push_back(
          fmt::format("After a run GPU {} had {} MiB less than before; somebody else may use it.",
                      gpu.gpu, lost >> 20));
    }
  }
  return out;
}

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

/// What was as recorded, and what was not, in the pair of runs that was judged.
void add_comparison(const JudgedReplay& judged, ReplayVerdict& verdict) {
  const RunOutcome* run = find_run(judged.outcome, MadeIn::Defect, judged.pair.settings);
  if (run == nullptr) run = find_run(judged.outcome, MadeIn::Clean, judged.pair.settings);
  const SettingsKept settings =
      settings_kept(judged.plan, judged.outcome, run == nullptr ? RunOutcome() : *run);
  verdict.held = judged.comparison.same;
  verdict.held.insert(verdict.held.end(), settings.held.begin(), settings.held.end());
  Texts& changed = verdict.changed;
  // Where the job stood still, runs may end in another way at the same call.
  if (judged.plan.hypothesis.front) {
    add_other_end(judged, RunEnd::Wrong, "computed wrong data", changed);
    add_other_end(judged, RunEnd::Failed, "failed", changed);
  }
  for (const ReplayDifference& row : judged.pair.differences) {
    if (row.replayed.empty()) continue;
    changed.push_back(fmt::format("{}: recorded {}, replayed {}{}", row.what, row.recorded,
                                  row.replayed, row.matters ? "" : " (matters less)"));
  }
  changed.insert(changed.end(), settings.changed.begin(), settings.changed.end());
  for (const std::string& loss : judged.plan.losses) changed.push_back(printable(loss));
}

/// Which variations came out as the verdict says, where not all did.
void add_variations(ReplayVerdict& verdict) {
  const bool alike = std::ranges::all_of(
      verdict.pairs, [&](const ReplayPair& pair) { return pair.kind == verdict.kind; });
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
  const Telling telling = telling_of(judged, verdict.kind);
  const std::string_view kind = to_string(verdict.kind);
  verdict.headline = telling.say("headline", kind).front();
  add_comparison(judged, verdict);
  verdict.limits = verdict_limits(judged);
  add_variations(verdict);
  verdict.must_not_conclude = telling.say("forbidden", kind);
  verdict.next = telling.say("next", kind);
}

}  // namespace ncclog
