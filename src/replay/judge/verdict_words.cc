#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "replay/judge/differences.h"
#include "replay/judge/verdict.h"

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

// What did a replay show, in one sentence?
//
//   "As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 does not
//    make it; when all ranks behave, all calls completed and their data are right (…)."
//   "AllReduce, call 3 of communicator 0x9c1b… completes with wrong data on the replaying machine,
//    although the recorded job showed no fault there: look at these GPUs."
//
// "As recorded" is said of a standstill where the job stood still, and of nothing else.

/// "rank 5"; "a rank" where none is named.
std::string diverged_text(const ReplayPlan& plan) {
  const std::vector<int>& ranks = plan.hypothesis.diverged;
  return ranks.empty() ? "a rank" : ranks_phrase(plan, ranks);
}

/// "AllReduce, call 29 of communicator 0x9c1b…": where the defect should show.
std::string recorded_place_text(const ReplayPlan& plan) {
  const std::optional<FrontLine> place = expected_place(plan);
  return place ? place_text(plan, place_of(*place)) : "the recorded call";
}

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

/// "rank 5 does not make it".
std::string defect_text(const ReplayPlan& plan) {
  const bool one = plan.hypothesis.diverged.size() < 2;
  const auto verb = [&](std::string_view singular, std::string_view plural) {
    return fmt::format("{} {}", diverged_text(plan), one ? singular : plural);
  };
  switch (plan.hypothesis.kind) {
    case DefectKind::MissingCall:
      return verb("does not make it", "do not make it");
    case DefectKind::ExtraCall:
      return verb("makes one call more", "make one call more");
    case DefectKind::OtherCall:
      if (const std::string_view odd = odd_argument(plan); !odd.empty()) {
        return fmt::format("{} {}", verb("makes it", "make it"), odd);
      }
      return verb("makes another call in its place", "make another call in its place");
    case DefectKind::Message:
      return verb("does not send or receive what it has to",
                  "do not send or receive what they have to");
    case DefectKind::None:
    case DefectKind::Stall:
      break;
  }
  return "all ranks make it";
}

std::string stop_text(const ReplayPlan& plan, const RunReading& reading) {
  return reading.stop ? place_text(plan, *reading.stop) : "the replay";
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

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
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

/// What a run did at the call where it came to its end.
std::string_view fault_verb(const RunOutcome* run) {
  if (run == nullptr || run->end == RunEnd::Failed) return "fails";
  return run->end == RunEnd::Hung ? "does not complete" : "completes with wrong data";
}

/// All ranks behaved, in the recorded job, too.
std::string bare_fault_headline(const JudgedReplay& judged, bool is_defect_run) {
  const RunReading& reading = is_defect_run ? judged.pair.defect : judged.pair.clean;
  const RunOutcome* run = find_run(judged.outcome, is_defect_run ? MadeIn::Defect : MadeIn::Clean,
                                   judged.pair.settings);
  const std::string what =
      fmt::format("{} {}", capitalised(stop_text(judged.plan, reading)), fault_verb(run));
  if (judged.plan.hypothesis.kind == DefectKind::None) {
    return what +
           " on the replaying machine, although the recorded job showed no fault there: look at "
           "these GPUs.";
  }
  if (reading.shows == RunShows::Elsewhere) {
    return what + " here, not where the job stood still, although all ranks behave.";
  }
  return what + " here either, although all ranks behave.";
}

std::string fault_headline(const JudgedReplay& judged) {
  const RunReading& run = behaving_run(judged.plan, judged.pair.defect, judged.pair.clean);
  if (!has_defect(judged.plan)) return bare_fault_headline(judged, &run == &judged.pair.defect);
  const std::string_view what =
      run.shows == RunShows::Elsewhere ? ", not where it was recorded" : "";
  return fmt::format("{} fails although all ranks behave{}: what {} did is not needed for it.",
                     capitalised(stop_text(judged.plan, run)), what, diverged_text(judged.plan));
}

std::string hypothesis_headline(const JudgedReplay& judged) {
  const RunOutcome* run = find_run(judged.outcome, MadeIn::Defect, judged.pair.settings);
  const bool as_recorded = run != nullptr && stood_still_as_recorded(judged.plan.hypothesis, *run);
  const std::string fault = fmt::format("{}{} {}", as_recorded ? "As recorded, " : "",
                                        recorded_place_text(judged.plan), fault_verb(run));
  const std::string_view instead =
      !as_recorded && judged.plan.hypothesis.front ? ", where the recorded job stood still" : "";
  const std::string_view weak =
      proves_little(judged.plan, run) ? " That proves little: any call left out ends so." : "";
  return fmt::format("{} when {}{}; when all ranks behave, {}.{}", capitalised(fault),
                     defect_text(judged.plan), instead, completed_text(judged), weak);
}

std::string absence_headline(const JudgedReplay& judged) {
  if (!has_defect(judged.plan)) {
    return fmt::format("The recorded standstill at {} did not come back: {}.",
                       recorded_place_text(judged.plan), completed_text(judged));
  }
  return fmt::format("{} completes here although {}: what was recorded did not come back.",
                     capitalised(recorded_place_text(judged.plan)), defect_text(judged.plan));
}

std::string incomparable_headline(const JudgedReplay& judged) {
  const RunReading& defect = judged.pair.defect;
  if (has_defect(judged.plan) && defect.shows == RunShows::Elsewhere) {
    return fmt::format(
        "The departure led to another fault than the recorded one, at {} instead of "
        "{}.",
        stop_text(judged.plan, defect), recorded_place_text(judged.plan));
  }
  return fmt::format(
      "Nothing went wrong here, which proves nothing: the replay differs from the "
      "record in {}.",
      differences_phrase(judged.pair.differences));
}

/// "the defect run shows nothing: rank 1 was killed by signal 9".
std::string open_headline(const JudgedReplay& judged) {
  const ReplayPair& pair = judged.pair;
  if (pair.defect.shows == RunShows::Useless) {
    return fmt::format("The replay shows nothing; of the defect run: {}.", pair.defect.why);
  }
  if (pair.clean.shows == RunShows::Useless) {
    return fmt::format("The replay shows nothing; of the clean run: {}.", pair.clean.why);
  }
  return "Only the defect run was made; without a clean one nobody knows whether the departure is "
         "what it needs.";
}

std::string verdict_headline(const JudgedReplay& judged, ReplayVerdictKind kind) {
  switch (kind) {
    case ReplayVerdictKind::ReproducedFault:
      return fault_headline(judged);
    case ReplayVerdictKind::ReproducedHypothesis:
      return hypothesis_headline(judged);
    case ReplayVerdictKind::NotReproduced:
      return absence_headline(judged);
    case ReplayVerdictKind::CleanWithoutDefect:
      return has_defect(judged.plan)
                 ? fmt::format("When all ranks behave, {}; the recorded departure was not run.",
                               completed_text(judged))
                 : capitalised(completed_text(judged)) + ".";
    case ReplayVerdictKind::NotComparable:
      return incomparable_headline(judged);
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      break;
  }
  return open_headline(judged);
}

// What must nobody conclude from a replay, although it may look like it?
//
//   not-reproduced → "That rank 5 is cleared: what did not come back once, here, may come back
//                     there."

Texts of_hypothesis(const JudgedReplay& judged) {
  const std::string who = diverged_text(judged.plan);
  Texts out;
  if (proves_little(judged.plan, find_run(judged.outcome, MadeIn::Defect, judged.pair.settings))) {
    out.push_back(
        fmt::format("That {} left something out: whoever leaves a call out, the others wait for "
                    "it. The logs say who it was; the replay only that nothing else is needed.",
                    who));
  }
  out.push_back(
      fmt::format("Where in the program it comes from: a departure like that of {} "
                  "suffices, which says nothing about its reason.",
                  who));
  out.push_back("That nothing else was wrong with the job.");
  return out;
}

Texts of_fault(const ReplayPlan& plan) {
  Texts out{
      plan.hypothesis.kind == DefectKind::None
          ? "That the recorded job has this fault: its logs show none, and other GPUs ran the "
            "replay."
          : "That the recorded machines have this fault: other GPUs ran the replay."};
  if (!has_defect(plan)) return out;
  out.push_back(
      fmt::format("That {} did not depart: the log shows it, the fault here only does not need it.",
                  diverged_text(plan)));
  return out;
}

Texts of_kind(const JudgedReplay& judged, ReplayVerdictKind kind) {
  const ReplayPlan& plan = judged.plan;
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      return of_hypothesis(judged);
    case ReplayVerdictKind::ReproducedFault:
      return of_fault(plan);
    case ReplayVerdictKind::NotReproduced:
      return {fmt::format("That {}: what did not come back once, here, may come back there.",
                          has_defect(plan) ? diverged_text(plan) + " is cleared"
                                           : "NCCL, the GPUs or the links of the job are sound")};
    case ReplayVerdictKind::CleanWithoutDefect:
      return {"That the recorded machines are sound: other GPUs ran the replay."};
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      break;
  }
  return {"Anything about the recorded job."};
}

/// Of a verdict of that kind. A sentence each; never empty.
std::vector<std::string> forbidden_conclusions(const JudgedReplay& judged, ReplayVerdictKind kind) {
  Texts out = of_kind(judged, kind);
  if (judged.plan.recorded_nhosts > 1) {
    out.push_back(
        "That the network between the recorded hosts is sound: nothing of this replay "
        "left its machine.");
  }
  const auto was_timed = [](const RunOutcome& run) { return !run.timings.empty(); };
  if (std::ranges::any_of(judged.outcome.runs, was_timed)) {
    out.push_back(
        "That the job's bandwidth is the one measured here: it had other links, other "
        "ranks, and kernels of its own beside NCCL's.");
  }
  return out;
}

// What can a replay not show, whatever it came to?
//
//   "The record does not tell: the release of NCCL."
//   "A collective that a CUDA graph captured is logged once and may have run many times; the replay
//    makes it once."

/// GPUs that have a quarter of a gigabyte less than before the run.
void add_lost_memory(const RunOutcome& run, Texts& out) {
  constexpr int64_t kNoise = int64_t{256} << 20;
  for (const GpuCheck& gpu : run.gpus) {
    const int64_t lost = gpu.free_before - gpu.free_after;
    if (gpu.free_before < 0 || gpu.free_after < 0 || lost < kNoise) continue;
    out.push_back(
        fmt::format("After a run GPU {} had {} MiB less than before; somebody else may use it.",
                    gpu.gpu, lost >> 20));
  }
}

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
  const auto speaks_of_graphs = [](const std::string& text) {
    return text.find("CUDA graph") != std::string::npos;
  };
  if (std::ranges::none_of(out, speaks_of_graphs)) {
    out.push_back(
        "A collective that a CUDA graph captured is logged once and may have run many "
        "times; the replay makes it once.");
  }
  const std::vector<RunOutcome>& runs = judged.outcome.runs;
  const auto uncompared = std::ranges::find_if(
      runs, [](const RunOutcome& run) { return verified_by_all(run).shape_only > 0; });
  if (uncompared != runs.end()) {
    out.push_back(
        fmt::format("{} results of the job's own reductions were not compared: their "
                    "function is in no log.",
                    verified_by_all(*uncompared).shape_only));
  }
  for (const RunOutcome& run : runs) {
    for (const std::string& left : run.leftovers) {
      out.push_back("Left behind by a run: " + printable(left));
    }
  }
  for (const RunOutcome& run : runs) add_lost_memory(run, out);
  return out;
}

// What to do after a replay?
//
//   reproduced-hypothesis → "Look at what the program of rank 5 does before AllReduce, call 29 …"
//   not-comparable        → "Give the recorded release of NCCL with --nccl LIBRARY."

bool differs_in(const JudgedReplay& judged, std::string_view what) {
  return std::ranges::any_of(judged.pair.differences, [&](const ReplayDifference& row) {
    return row.matters && row.what.starts_with(what);
  });
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

/// After a verdict of that kind. A sentence each; may be empty.
std::vector<std::string> next_steps(const JudgedReplay& judged, ReplayVerdictKind kind) {
  switch (kind) {
    case ReplayVerdictKind::ReproducedHypothesis:
      return {fmt::format("Look at what the program of {} does before {}.",
                          diverged_text(judged.plan), recorded_place_text(judged.plan))};
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
  verdict.headline = verdict_headline(judged, verdict.kind);
  add_comparison(judged, verdict);
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
