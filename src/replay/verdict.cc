#include "replay/verdict.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "replay/read_back.h"
#include "replay/verdict_words.h"

namespace ncclog {
namespace {

constexpr std::string_view kKinds[] = {
    "reproduced-fault", "reproduced-hypothesis", "not-reproduced", "clean-without-defect",
    "not-comparable",   "inconclusive",          "refused"};
constexpr std::string_view kConfidences[] = {"certain", "likely", "possible"};

template <typename Enum, size_t n>
std::optional<Enum> parse_word(const std::string_view (&words)[n], std::string_view word) {
  const auto* found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(words));
}

bool is_fault(const RunReading& reading) {
  return reading.shows == RunShows::AsRecorded || reading.shows == RunShows::Elsewhere;
}

/// The pair of a plan without a departure: every run is a clean one.
ReplayVerdictKind judge_clean(const ReplayPlan& plan, const RunReading& clean, bool comparable) {
  if (is_fault(clean)) return ReplayVerdictKind::ReproducedFault;
  if (clean.shows != RunShows::Completed) return ReplayVerdictKind::Inconclusive;
  if (plan.hypothesis.kind != DefectKind::Stall) return ReplayVerdictKind::CleanWithoutDefect;
  return comparable ? ReplayVerdictKind::NotReproduced : ReplayVerdictKind::NotComparable;
}

/// A defect run whose clean counterpart completed.
ReplayVerdictKind judge_defect(const RunReading& defect, bool comparable) {
  switch (defect.shows) {
    case RunShows::NotRun:
      return ReplayVerdictKind::CleanWithoutDefect;
    case RunShows::Useless:
      return ReplayVerdictKind::Inconclusive;
    case RunShows::AsRecorded:
      return ReplayVerdictKind::ReproducedHypothesis;
    case RunShows::Elsewhere:
      return ReplayVerdictKind::NotComparable;
    case RunShows::Completed:
      return comparable ? ReplayVerdictKind::NotReproduced : ReplayVerdictKind::NotComparable;
  }
  return ReplayVerdictKind::Inconclusive;
}

ReplayConfidence weaker(ReplayConfidence a, ReplayConfidence b) { return std::max(a, b); }

/// What the differences leave of a claim that would be certain without any.
ReplayConfidence cap_of(const ReplayPair& pair) {
  return pair.differences.empty() ? ReplayConfidence::Certain : ReplayConfidence::Likely;
}

ReplayConfidence sure_of_hypothesis(const ReplayPlan& plan, const ReplayPair& pair) {
  ReplayConfidence sure = cap_of(pair);
  if (!plan.hypothesis.front) sure = weaker(sure, ReplayConfidence::Likely);
  if (!pair.clean.compared) sure = weaker(sure, ReplayConfidence::Possible);
  return sure;
}

/// Where the other run completed, the fault comes and goes.
ReplayConfidence sure_of_fault(const ReplayPlan& plan, const ReplayPair& pair) {
  const RunReading& behaving = behaving_run(plan, pair.defect, pair.clean);
  const RunReading& other = &behaving == &pair.clean ? pair.defect : pair.clean;
  const bool elsewhere = expected_place(plan) && behaving.shows == RunShows::Elsewhere;
  const bool comes_and_goes = other.shows == RunShows::Completed;
  const bool doubtful = elsewhere || comes_and_goes || other.shows == RunShows::Useless;
  return doubtful ? ReplayConfidence::Possible : cap_of(pair);
}

/// That something did not come back is never certain.
ReplayConfidence sure_of_absence(const ReplayPlan& plan, const ReplayPair& pair) {
  const bool compared = behaving_run(plan, pair.defect, pair.clean).compared;
  const bool firm = pair.differences.empty() && compared;
  return firm ? ReplayConfidence::Likely : ReplayConfidence::Possible;
}

/// The differences are no reason to doubt that what ran here is right.
ReplayConfidence sure_of_clean(const ReplayPlan& plan, const ReplayPair& pair) {
  const bool compared = behaving_run(plan, pair.defect, pair.clean).compared;
  return compared ? ReplayConfidence::Certain : ReplayConfidence::Possible;
}

std::optional<ReplayConfidence> confidence_of(const ReplayPlan& plan, const ReplayPair& pair) {
  switch (pair.kind) {
    case ReplayVerdictKind::ReproducedFault:
      return sure_of_fault(plan, pair);
    case ReplayVerdictKind::ReproducedHypothesis:
      return sure_of_hypothesis(plan, pair);
    case ReplayVerdictKind::NotReproduced:
      return sure_of_absence(plan, pair);
    case ReplayVerdictKind::CleanWithoutDefect:
      return sure_of_clean(plan, pair);
    case ReplayVerdictKind::NotComparable:
    case ReplayVerdictKind::Inconclusive:
    case ReplayVerdictKind::Refused:
      break;
  }
  return std::nullopt;
}

/// The runs of one variation, and what their logs say.
struct PairOfRuns {
  const RunOutcome* defect = nullptr;
  const RunOutcome* clean = nullptr;
  std::vector<const ReadBack*> seen;
};

using Variation = std::vector<std::pair<std::string, std::string>>;

std::vector<std::pair<Variation, PairOfRuns>> pairs_of_runs(const ReplayOutcome& outcome,
                                                            std::span<const ReadBack> seen) {
  std::vector<std::pair<Variation, PairOfRuns>> all;
  for (size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const auto& one) { return one.first == run.settings; });
    if (found == all.end()) found = all.insert(all.end(), {run.settings, {}});
    (run.mode == MadeIn::Defect ? found->second.defect : found->second.clean) = &run;
    if (r < seen.size()) found->second.seen.push_back(&seen[r]);
  }
  return all;
}

/// What the runs of a pair have in common with the record and what not, each said once.
Comparison compare_pair(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        const PairOfRuns& runs) {
  std::vector<const ReadBack*> readable;
  std::copy_if(runs.seen.begin(), runs.seen.end(), std::back_inserter(readable),
               [](const ReadBack* one) { return one->readable; });
  static const ReadBack kNothing;
  if (readable.empty()) readable.push_back(&kNothing);
  Comparison all = compare_with_record(plan, outcome, *readable.front());
  for (size_t i = 1; i < readable.size(); ++i) {
    for (ReplayDifference& row : compare_with_record(plan, outcome, *readable[i]).differences) {
      const auto& known = all.differences;
      const bool is_new = std::find(known.begin(), known.end(), row) == known.end();
      if (is_new) all.differences.push_back(std::move(row));
    }
  }
  return all;
}

struct JudgedPair {
  ReplayPair pair;
  Comparison comparison;
};

JudgedPair judge(const ReplayPlan& plan, const ReplayOutcome& outcome, const PairOfRuns& runs) {
  JudgedPair judged;
  judged.comparison = compare_pair(plan, outcome, runs);
  ReplayPair& pair = judged.pair;
  const RunOutcome* any = runs.clean != nullptr ? runs.clean : runs.defect;
  pair.settings = variation_text(*any);
  pair.differences = judged.comparison.differences;
  pair.defect = read_run(plan, runs.defect);
  pair.clean = read_run(plan, runs.clean);
  pair.kind = judge_pair(plan, pair.defect, pair.clean, !differs_in_what_matters(pair.differences));
  return judged;
}

bool all_alike(const std::vector<JudgedPair>& judged) {
  return std::all_of(judged.begin(), judged.end(), [&](const JudgedPair& one) {
    return one.pair.kind == judged.front().pair.kind;
  });
}

}  // namespace

std::string_view to_string(ReplayVerdictKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<ReplayVerdictKind> parse_replay_verdict_kind(std::string_view word) {
  return parse_word<ReplayVerdictKind>(kKinds, word);
}

std::string_view to_string(ReplayConfidence confidence) {
  return kConfidences[static_cast<size_t>(confidence)];
}

std::optional<ReplayConfidence> parse_replay_confidence(std::string_view word) {
  return parse_word<ReplayConfidence>(kConfidences, word);
}

const RunReading& behaving_run(const ReplayPlan& plan, const RunReading& defect,
                               const RunReading& clean) {
  const bool use_defect =
      !has_defect(plan) && (is_fault(defect) || clean.shows == RunShows::NotRun);
  return use_defect ? defect : clean;
}

bool proves_little(const ReplayPlan& plan, const RunOutcome* defect) {
  const DefectKind kind = plan.hypothesis.kind;
  return defect != nullptr && defect->end == RunEnd::Hung &&
         (kind == DefectKind::MissingCall || kind == DefectKind::Message);
}

ReplayVerdictKind judge_pair(const ReplayPlan& plan, const RunReading& defect,
                             const RunReading& clean, bool comparable) {
  if (!has_defect(plan)) {
    return judge_clean(plan, behaving_run(plan, defect, clean), comparable);
  }
  if (is_fault(clean) && !defect.lost_gpu) return ReplayVerdictKind::ReproducedFault;
  if (clean.shows != RunShows::Completed) return ReplayVerdictKind::Inconclusive;
  return judge_defect(defect, comparable);
}

ReplayVerdict judge_replay(const ReplayPlan& plan, const ReplayOutcome& outcome,
                           std::span<const ReadBack> seen) {
  ReplayVerdict verdict;
  for (const RunOutcome& run : outcome.runs) verdict.runs.push_back(run_line(plan, run));
  std::vector<JudgedPair> judged;
  for (const auto& [settings, runs] : pairs_of_runs(outcome, seen)) {
    judged.push_back(judge(plan, outcome, runs));
  }
  if (!outcome.refused.empty() || judged.empty()) {
    const bool refused = !outcome.refused.empty();
    verdict.kind = refused ? ReplayVerdictKind::Refused : ReplayVerdictKind::Inconclusive;
    say_nothing_was_run(outcome, verdict);
    return verdict;
  }
  const auto telling = std::min_element(
      judged.begin(), judged.end(),
      [](const JudgedPair& a, const JudgedPair& b) { return a.pair.kind < b.pair.kind; });
  verdict.kind = telling->pair.kind;
  verdict.confidence = confidence_of(plan, telling->pair);
  if (verdict.confidence && !all_alike(judged)) {
    verdict.confidence = weaker(*verdict.confidence, ReplayConfidence::Likely);
  }
  verdict.differences = telling->pair.differences;
  for (const JudgedPair& one : judged) verdict.pairs.push_back(one.pair);
  say_what_was_shown(plan, outcome, telling->pair, telling->comparison, verdict);
  return verdict;
}

}  // namespace ncclog
