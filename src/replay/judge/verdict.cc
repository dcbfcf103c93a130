#include "replay/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "base/version.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

bool is_fault(const RunReading& reading) {
  return reading.shows == RunShows::AsRecorded || reading.shows == RunShows::Elsewhere;
}

/// How sure a claim about the job is; the differences leave it likely where it would be certain
/// without any.
std::optional<ReplayConfidence> confidence_of(const ReplayPlan& plan, const ReplayPair& pair) {
  using enum ReplayConfidence;
  const RunReading& behaving = behaving_run(plan, pair.defect, pair.clean);
  const RunReading& other = &behaving == &pair.clean ? pair.defect : pair.clean;
  const ReplayConfidence most = pair.differences.empty() ? Certain : Likely;
  switch (pair.kind) {
    case ReplayVerdictKind::ReproducedFault: {
      // Where the other run completed, the fault comes and goes.
      const bool elsewhere = expected_place(plan) && behaving.shows == RunShows::Elsewhere;
      const bool doubtful =
          elsewhere || other.shows == RunShows::Completed || other.shows == RunShows::Useless;
      return doubtful ? Possible : most;
    }
    case ReplayVerdictKind::ReproducedHypothesis:
      if (!pair.clean.compared) return Possible;
      return plan.hypothesis.front ? most : Likely;
    case ReplayVerdictKind::NotReproduced:
      // That something did not come back is never certain.
      return behaving.compared && pair.differences.empty() ? Likely : Possible;
    case ReplayVerdictKind::CleanWithoutDefect:
      // The differences are no reason to doubt that what ran here is right.
      return behaving.compared ? Certain : Possible;
    default:
      return std::nullopt;
  }
}

/// The runs of one variation, and what their logs say.
struct PairOfRuns {
  const RunOutcome* defect = nullptr;
  const RunOutcome* clean = nullptr;
  std::vector<const ReadBack*> seen;  ///< Of those that could be read.
};

using Variation = std::vector<std::pair<std::string, std::string>>;

std::vector<std::pair<Variation, PairOfRuns>> pairs_of_runs(const ReplayOutcome& outcome,
                                                            std::span<const ReadBack> seen) {
  std::vector<std::pair<Variation, PairOfRuns>> all;
  for (size_t r = 0; r < outcome.runs.size(); ++r) {
    const RunOutcome& run = outcome.runs[r];
    auto found =
        std::ranges::find_if(all, [&](const auto& one) { return one.first == run.settings; });
    if (found == all.end()) found = all.insert(all.end(), {run.settings, {}});
    (run.mode == MadeIn::Defect ? found->second.defect : found->second.clean) = &run;
    if (r < seen.size() && seen[r].readable) found->second.seen.push_back(&seen[r]);
  }
  return all;
}

/// What the runs of a pair have in common with the record and what not, each said once.
Comparison compare_pair(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        const PairOfRuns& runs) {
  Comparison all =
      compare_with_record(plan, outcome, runs.seen.empty() ? ReadBack() : *runs.seen.front());
  for (size_t i = 1; i < runs.seen.size(); ++i) {
    for (ReplayDifference& row : compare_with_record(plan, outcome, *runs.seen[i]).differences) {
      auto& known = all.differences;
      if (std::ranges::find(known, row) == known.end()) known.push_back(std::move(row));
    }
  }
  return all;
}

/// Both runs of a variation, judged by themselves.
ReplayPair judge(const ReplayPlan& plan, const ReplayOutcome& outcome, const PairOfRuns& runs) {
  ReplayPair pair{.settings = variation_text(runs.clean != nullptr ? *runs.clean : *runs.defect),
                  .defect = read_run(plan, runs.defect),
                  .clean = read_run(plan, runs.clean),
                  .differences = compare_pair(plan, outcome, runs).differences};
  pair.kind = judge_pair(plan, pair.defect, pair.clean,
                         std::ranges::none_of(pair.differences, &ReplayDifference::matters));
  return pair;
}

}  // namespace

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
  using enum ReplayVerdictKind;
  // Of a plan without a defect every run is a clean one.
  const RunReading& behaving = behaving_run(plan, defect, clean);
  if (is_fault(behaving) && !(has_defect(plan) && defect.lost_gpu)) return ReproducedFault;
  if (behaving.shows != RunShows::Completed) return Inconclusive;
  const ReplayVerdictKind without_fault = comparable ? NotReproduced : NotComparable;
  if (!has_defect(plan)) {
    return plan.hypothesis.kind == DefectKind::Stall ? without_fault : CleanWithoutDefect;
  }
  const ReplayVerdictKind by_defect_run[] = {CleanWithoutDefect, Inconclusive, ReproducedHypothesis,
                                             NotComparable, without_fault};  // By RunShows.
  return by_defect_run[static_cast<size_t>(defect.shows)];
}

ReplayVerdict judge_replay(const ReplayPlan& plan, const ReplayOutcome& outcome,
                           std::span<const ReadBack> seen) {
  ReplayVerdict verdict;
  for (const RunOutcome& run : outcome.runs) verdict.runs.push_back(run_line(plan, run));
  const auto all_runs = pairs_of_runs(outcome, seen);
  if (!outcome.refused.empty() || all_runs.empty()) {
    const bool refused = !outcome.refused.empty();
    verdict.kind = refused ? ReplayVerdictKind::Refused : ReplayVerdictKind::Inconclusive;
    verdict.headline = refused ? printable(outcome.refused) : "No run was made.";
    verdict.must_not_conclude = {"Anything about the recorded job."};
    if (!outcome.hint.empty()) verdict.next.push_back(printable(outcome.hint));
    return verdict;
  }
  std::vector<ReplayPair>& pairs = verdict.pairs;
  for (const auto& [settings, runs] : all_runs) pairs.push_back(judge(plan, outcome, runs));
  const auto telling = std::ranges::min_element(pairs, {}, &ReplayPair::kind);
  verdict.kind = telling->kind;
  verdict.confidence = confidence_of(plan, *telling);
  const bool all_alike =
      std::ranges::all_of(pairs, [&](const ReplayPair& one) { return one.kind == verdict.kind; });
  if (verdict.confidence && !all_alike) {
    verdict.confidence = std::max(*verdict.confidence, ReplayConfidence::Likely);
  }
  verdict.differences = telling->differences;
  const PairOfRuns& told = all_runs[telling - pairs.begin()].second;
  say_what_was_shown(plan, outcome, *telling, compare_pair(plan, outcome, told), verdict);
  return verdict;
}

namespace {

/// `seen`: what the run's log says; nullptr: it was not read.
ReplayTiming timing_of(const RunOutcome& run, const CallTiming& timing, const ReadBack* seen) {
  ReplayTiming row{.settings = variation_text(run), .timing = timing};
  if (seen == nullptr || seen->path.bw <= 0) return row;
  row.link_bw = seen->path.bw;
  row.link_type = seen->path.type;
  row.share = (timing.series_busbw > 0 ? timing.series_busbw : timing.busbw) / row.link_bw;
  return row;
}

}  // namespace

ReplayResult make_result(const ReplayPlan& plan, std::string_view plan_hash,
                         const ReplayOutcome& outcome, std::span<const ReadBack> seen) {
  ReplayResult result;
  result.tool_version = version();
  result.plan = plan_hash;
  result.logs = plan.logs;
  result.nccl_versions = plan.nccl_versions;
  result.cuda_version = plan.cuda_version;
  result.recorded_nranks = plan.recorded_nranks;
  result.recorded_nhosts = plan.recorded_nhosts;
  result.hypothesis = plan.hypothesis;
  for (const PlannedCommunicator& comm : plan.communicators) {
    result.communicators.push_back(comm.id);
  }
  result.verdict = judge_replay(plan, outcome, seen);
  for (size_t r = 0; r < outcome.runs.size(); ++r) {
    for (const CallTiming& timing : outcome.runs[r].timings) {
      const ReadBack* own = r < seen.size() ? &seen[r] : nullptr;
      result.timings.push_back(timing_of(outcome.runs[r], timing, own));
    }
  }
  result.outcome = outcome;
  return result;
}

NCCLOG_JSON_FIELDS(CallPlace, communicator, index)

NCCLOG_JSON_FIELDS(RunReading, shows, compared, lost_gpu, why, stop)

NCCLOG_JSON_FIELDS(ReplayDifference, what, recorded, replayed, matters)

NCCLOG_JSON_FIELDS(ReplayPair, settings, kind, defect, clean, differences)

NCCLOG_JSON_FIELDS(ReplayVerdict, kind, confidence, headline, held, changed, runs, limits,
                   must_not_conclude, next, differences, pairs)

NCCLOG_JSON_FIELDS(ReplayTiming, settings, timing, link_bw, link_type, share)
NCCLOG_MAY_LACK(ReplayTiming, link_bw, link_type, share)

NCCLOG_JSON_FIELDS(ReplayResult, tool_version, plan, logs, nccl_versions, cuda_version,
                   recorded_nranks, recorded_nhosts, hypothesis, communicators, verdict, timings,
                   outcome)

std::string write_result(const ReplayResult& result) {
  return write_json_document(to_json_value(result));
}

ReplayResult parse_result(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayResult>(text, source, "replay result");
}

namespace {

/// The fastest row of the same call under some setting; nullptr: there is no time of it.
const ReplayTiming* fastest_of(std::span<const ReplayTiming> timings, const CallTiming& call) {
  const ReplayTiming* fastest = nullptr;
  for (const ReplayTiming& row : timings) {
    const CallTiming& timing = row.timing;
    const bool is_same =
        std::tie(timing.call, timing.op, timing.bytes) == std::tie(call.call, call.op, call.bytes);
    if (!is_same || row.settings.empty() || timing.median_us <= 0) continue;
    if (fastest == nullptr || timing.median_us < fastest->timing.median_us) fastest = &row;
  }
  return fastest;
}

/// "10.7", "1.04": a small difference needs a digit more.
std::string comparison(const ReplayTiming& slow, const ReplayTiming& fast) {
  const std::string call =
      fmt::format("{} of {} bytes", printable(slow.timing.op), slow.timing.bytes);
  if (slow.timing.least_us <= fast.timing.most_us) {
    return fmt::format("{}: no difference beyond the spread between {} and {}.", call,
                       printable(slow.settings), printable(fast.settings));
  }
  const double ratio = slow.timing.median_us / fast.timing.median_us;
  return fmt::format("{}: {} takes {:.{}f} times as long as {} ({:.1f} against {:.1f} us).", call,
                     printable(slow.settings), ratio, ratio < 1.1 ? 2 : 1, printable(fast.settings),
                     slow.timing.median_us, fast.timing.median_us);
}

}  // namespace

std::vector<std::string> time_comparisons(std::span<const ReplayTiming> timings) {
  std::vector<std::string> out;
  for (const ReplayTiming& row : timings) {
    const ReplayTiming* fastest = fastest_of(timings, row.timing);
    const bool is_timed = !row.settings.empty() && row.timing.median_us > 0;
    if (is_timed && fastest != &row) out.push_back(comparison(row, *fastest));
  }
  return out;
}

}  // namespace ncclog
