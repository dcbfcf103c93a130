#include "replay/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "replay/call_place.h"
#include "replay/run_reading.h"

namespace ncclog {
namespace {

/// What is judged, handed on as one.
struct Judged {
  const ReplayPlan& plan;
  const ReplayOutcome& outcome;
  const ReplayPair& pair;
};

/// The call of a departed rank at the front, in one of the two runs; nullptr: it makes none.
const PlannedCall* call_at_front(const ReplayPlan& plan, MadeIn mode) {
  const Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front || hypothesis.departed.empty()) return nullptr;
  const auto& calls = plan.ranks[static_cast<size_t>(hypothesis.departed.front())].calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
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
  if (std::count_if(std::begin(rows), std::end(rows), differ) != 1) return {};
  return std::find_if(std::begin(rows), std::end(rows), differ)->second;
}

/// "rank 5 does not make it".
std::string departure(const ReplayPlan& plan) {
  const bool one = plan.hypothesis.departed.size() < 2;
  const auto verb = [&](std::string_view singular, std::string_view plural) {
    return fmt::format("{} {}", departed_text(plan), one ? singular : plural);
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

Verification verified_in(const ReplayOutcome& outcome, std::string_view settings) {
  Verification all;
  for (const RunOutcome& run : outcome.runs) {
    if (run.end == RunEnd::Completed && variation_text(run) == settings) all = verified_by_all(run);
  }
  return all;
}

std::string completed_text(const Judged& judged) {
  const Verification all = verified_in(judged.outcome, judged.pair.settings);
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
std::string bare_fault_headline(const Judged& judged, bool is_defect_run) {
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

std::string fault_headline(const Judged& judged) {
  const RunReading& run = behaving_run(judged.plan, judged.pair.defect, judged.pair.clean);
  if (!has_defect(judged.plan)) return bare_fault_headline(judged, &run == &judged.pair.defect);
  const std::string_view what =
      run.shows == RunShows::Elsewhere ? ", not where it was recorded" : "";
  return fmt::format("{} fails although all ranks behave{}: what {} did is not needed for it.",
                     capitalised(stop_text(judged.plan, run)), what, departed_text(judged.plan));
}

std::string hypothesis_headline(const Judged& judged) {
  const RunOutcome* run = find_run(judged.outcome, MadeIn::Defect, judged.pair.settings);
  const bool as_recorded = run != nullptr && stood_still_as_recorded(judged.plan.hypothesis, *run);
  const std::string fault = fmt::format("{}{} {}", as_recorded ? "As recorded, " : "",
                                        recorded_place_text(judged.plan), fault_verb(run));
  const std::string_view instead =
      !as_recorded && judged.plan.hypothesis.front ? ", where the recorded job stood still" : "";
  const std::string_view weak =
      proves_little(judged.plan, run) ? " That proves little: any call left out ends so." : "";
  return fmt::format("{} when {}{}; when all ranks behave, {}.{}", capitalised(fault),
                     departure(judged.plan), instead, completed_text(judged), weak);
}

std::string absence_headline(const Judged& judged) {
  if (!has_defect(judged.plan)) {
    return fmt::format("The recorded standstill at {} did not come back: {}.",
                       recorded_place_text(judged.plan), completed_text(judged));
  }
  return fmt::format("{} completes here although {}: what was recorded did not come back.",
                     capitalised(recorded_place_text(judged.plan)), departure(judged.plan));
}

std::string incomparable_headline(const Judged& judged) {
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
std::string open_headline(const Judged& judged) {
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

}  // namespace

std::string departed_text(const ReplayPlan& plan) {
  const std::vector<int>& ranks = plan.hypothesis.departed;
  return ranks.empty() ? "a rank" : ranks_phrase(plan, ranks);
}

std::string recorded_place_text(const ReplayPlan& plan) {
  const std::optional<FrontLine> place = expected_place(plan);
  return place ? place_text(plan, place_of(*place)) : "the recorded call";
}

std::string verdict_headline(const ReplayPlan& plan, const ReplayOutcome& outcome,
                             const ReplayPair& pair, ReplayVerdictKind kind) {
  const Judged judged{plan, outcome, pair};
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

}  // namespace ncclog
