#include "replay/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/built_in.h"
#include "base/collectives.h"
#include "base/text.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

bool is_fault(const RunReading& reading) {
  return reading.shows == RunShows::AsRecorded || reading.shows == RunShows::Elsewhere;
}

/// The run of a pair in which all ranks behaved: the clean one; of a plan without a defect,
/// whose two modes make the same calls, the one that shows a fault.
const RunReading& behaving_run(const ReplayPlan& plan, const RunReading& defect,
                               const RunReading& clean) {
  const bool use_defect =
      !has_defect(plan) && (is_fault(defect) || clean.shows == RunShows::NotRun);
  return use_defect ? defect : clean;
}

/// True if that run of a defect hung, and could only end so: wherever a call or a message is left
/// out, the others wait for it. It tests the plan and the machine, not who left it out. `defect`
/// may be nullptr: there is none.
bool proves_little(const ReplayPlan& plan, const RunOutcome* defect) {
  const DefectKind kind = plan.hypothesis.kind;
  return defect != nullptr && defect->end == RunEnd::Hung &&
         (kind == DefectKind::MissingCall || kind == DefectKind::Message);
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

/// What the runs of a variation have in common with the record and what not, each said once. Where
/// no log of theirs could be read, nothing is known of the replay.
Comparison compare_runs(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        std::span<const ReadBack> seen, const std::string& settings) {
  std::optional<Comparison> all;
  for (size_t r = 0; r < std::min(seen.size(), outcome.runs.size()); ++r) {
    if (!seen[r].readable || variation_text(outcome.runs[r]) != settings) continue;
    Comparison one = compare_with_record(plan, outcome, seen[r]);
    if (!all) {
      all = std::move(one);
      continue;
    }
    for (ReplayDifference& row : one.differences) {
      auto& known = all->differences;
      if (std::ranges::find(known, row) == known.end()) known.push_back(std::move(row));
    }
  }
  return all ? std::move(*all) : compare_with_record(plan, outcome, ReadBack());
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

std::string completed_text(const ReplayOutcome& outcome, const ReplayPair& pair) {
  Verification all;
  for (const RunOutcome& run : outcome.runs) {
    const bool is_of_pair = variation_text(run) == pair.settings;
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

// The sentences are rows of a table; what their conditions and braces mean stands here.

constexpr SentenceRow kWordings[] = {
#include "replay/judge/verdict_words.inc"
};

/// What stands in the braces of the sentences. `reading` and `run` are of the run that the headline
/// is about; nullptr: it was not made.
void add_phrases(const ReplayPlan& plan, const ReplayOutcome& outcome, const ReplayPair& pair,
                 const RunReading& reading, const RunOutcome* run, Telling& telling) {
  const std::string stop = reading.stop ? place_text(plan, *reading.stop) : "the replay";
  const std::optional<FrontLine> front = expected_place(plan);
  const std::string place = front ? place_text(plan, place_of(*front)) : "the recorded call";
  const std::string completed = completed_text(outcome, pair);
  const std::vector<int>& diverged = plan.hypothesis.diverged;
  telling.add("who", diverged.empty() ? "a rank" : ranks_phrase(plan, diverged));
  telling.add("odd", std::string(odd_argument(plan)));
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
}

Telling telling_of(const ReplayPlan& plan, const ReplayOutcome& outcome, const ReplayPair& pair) {
  // The run that the headline is about: of a fault without need of the defect the one in which all
  // ranks behave.
  const bool is_fault = pair.kind == ReplayVerdictKind::ReproducedFault;
  const RunReading& reading = is_fault ? behaving_run(plan, pair.defect, pair.clean) : pair.defect;
  const RunOutcome* defect_run = find_run(outcome, MadeIn::Defect, pair.settings);
  const RunOutcome* run =
      &reading == &pair.defect ? defect_run : find_run(outcome, MadeIn::Clean, pair.settings);
  const bool clean_useless = pair.clean.shows == RunShows::Useless;
  const auto differs_in = [&](std::string_view what) {
    return std::ranges::any_of(pair.differences, [&](const ReplayDifference& row) {
      return row.matters && row.what.starts_with(what);
    });
  };
  Telling telling;
  telling.table = kWordings;
  telling.conditions = {
      {"healthy", plan.hypothesis.kind == DefectKind::None},
      {"defect", has_defect(plan)},
      {"front", plan.hypothesis.front.has_value()},
      {"one", plan.hypothesis.diverged.size() < 2},
      {"odd", !odd_argument(plan).empty()},
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
      {"other-nccl", differs_in("NCCL")},
      {"other-hosts", differs_in("hosts")},
      {"other-size", differs_in("ranks") || differs_in("size")},
      {"other-algorithm", differs_in("algorithm")}};
  add_phrases(plan, outcome, pair, reading, run, telling);
  telling.add("departure", telling.say("departure", to_string(plan.hypothesis.kind)).front());
  return telling;
}

// What can a replay not show, whatever it came to?
//
//   "The record does not tell: the release of NCCL."
//   "A collective that a CUDA graph captured is logged once and may have run many times; the replay
//    makes it once."

/// Of the plan first, then of the record, of the replay's log, of the runs. A sentence each.
std::vector<std::string> verdict_limits(const ReplayPlan& plan, const ReplayOutcome& outcome,
                                        const Comparison& comparison) {
  Texts out;
  for (const std::string& limit : plan.limits) out.push_back(printable(limit));
  for (const std::string& what : comparison.unknown) {
    out.push_back(fmt::format("The record does not tell: {}.", what));
  }
  for (const ReplayDifference& row : comparison.differences) {
    if (!row.replayed.empty()) continue;
    out.push_back(
        fmt::format("The replay's log does not tell: {} (recorded {}).", row.what, row.recorded));
  }
  const bool speaks_of_graphs = std::ranges::any_of(
      out, [](const std::string& text) { return text.find("CUDA graph") != std::string::npos; });
  const std::vector<RunOutcome>& runs = outcome.runs;
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
void add_other_end(const ReplayPlan& plan, const ReplayOutcome& outcome, RunEnd end,
                   std::string_view did, Texts& out) {
  bool any = false;
  Texts varied;
  for (const RunOutcome& run : outcome.runs) {
    const bool is_meant = run.end == end && (run.mode == MadeIn::Defect || !has_defect(plan));
    if (!is_meant || read_run(plan, &run).shows != RunShows::AsRecorded) continue;
    any = true;
    if (!run.settings.empty()) varied.push_back("with " + variation_text(run));
  }
  if (!any) return;
  out.push_back(fmt::format(
      "The recorded job stood still at that call, the replay {} there{}{}{}.", did,
      varied.empty() ? "" : " ", join(varied, " and "),
      has_defect(plan) ? ": which of them a mismatch leads to depends on protocol, sizes and "
                         "number of ranks"
                       : ""));
}

/// Fills the sentences of a verdict whose kind and confidence stand, for the pair that was judged.
void say_what_was_shown(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        const ReplayPair& pair, const Comparison& comparison,
                        ReplayVerdict& verdict) {
  const Telling telling = telling_of(plan, outcome, pair);
  const std::string_view kind = to_string(verdict.kind);
  verdict.headline = telling.say("headline", kind).front();
  verdict.must_not_conclude = telling.say("forbidden", kind);
  verdict.next = telling.say("next", kind);
  verdict.limits = verdict_limits(plan, outcome, comparison);
  const bool are_alike = std::ranges::all_of(
      verdict.pairs, [&](const ReplayPair& one) { return one.kind == verdict.kind; });
  if (!are_alike) {
    Texts parts;
    for (const ReplayPair& one : verdict.pairs) {
      parts.push_back(fmt::format("{}: {}", one.settings, to_string(one.kind)));
    }
    verdict.limits.push_back("The outcome depends on what was varied: " + join(parts, "; ") + ".");
  }
  // What was as recorded, and what was not.
  Texts& changed = verdict.changed;
  verdict.held = comparison.same;
  // Where the job stood still, runs may end in another way at the same call.
  if (plan.hypothesis.front) {
    add_other_end(plan, outcome, RunEnd::Wrong, "computed wrong data", changed);
    add_other_end(plan, outcome, RunEnd::Failed, "failed", changed);
  }
  for (const ReplayDifference& row : comparison.differences) {
    if (row.replayed.empty()) continue;
    changed.push_back(fmt::format("{}: recorded {}, replayed {}{}", row.what, row.recorded,
                                  row.replayed, row.matters ? "" : " (matters less)"));
  }
  const RunOutcome* run = find_run(outcome, MadeIn::Defect, pair.settings);
  if (run == nullptr) run = find_run(outcome, MadeIn::Clean, pair.settings);
  compare_settings(plan, outcome, *run, verdict.held, changed);
  for (const std::string& loss : plan.losses) changed.push_back(printable(loss));
}

}  // namespace

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
  if (!outcome.refused.empty() || outcome.runs.empty()) {
    const bool refused = !outcome.refused.empty();
    verdict.kind = refused ? ReplayVerdictKind::Refused : ReplayVerdictKind::Inconclusive;
    verdict.headline = refused ? printable(outcome.refused) : "No run was made.";
    verdict.must_not_conclude = {"Anything about the recorded job."};
    if (!outcome.hint.empty()) verdict.next.push_back(printable(outcome.hint));
    return verdict;
  }
  std::vector<ReplayPair>& pairs = verdict.pairs;
  std::vector<Comparison> comparisons;  // Of each pair.
  for (const RunOutcome& run : outcome.runs) {
    const std::string settings = variation_text(run);
    if (std::ranges::find(pairs, settings, &ReplayPair::settings) != pairs.end()) continue;
    const Comparison& compared =
        comparisons.emplace_back(compare_runs(plan, outcome, seen, settings));
    ReplayPair pair{.settings = settings,
                    .defect = read_run(plan, find_run(outcome, MadeIn::Defect, settings)),
                    .clean = read_run(plan, find_run(outcome, MadeIn::Clean, settings)),
                    .differences = compared.differences};
    pair.kind = judge_pair(plan, pair.defect, pair.clean,
                           std::ranges::none_of(pair.differences, &ReplayDifference::matters));
    pairs.push_back(std::move(pair));
  }
  const auto telling = std::ranges::min_element(pairs, {}, &ReplayPair::kind);
  verdict.kind = telling->kind;
  verdict.confidence = confidence_of(plan, *telling);
  const bool all_alike =
      std::ranges::all_of(pairs, [&](const ReplayPair& one) { return one.kind == verdict.kind; });
  if (verdict.confidence && !all_alike) {
    verdict.confidence = std::max(*verdict.confidence, ReplayConfidence::Likely);
  }
  verdict.differences = telling->differences;
  say_what_was_shown(plan, outcome, *telling, comparisons[telling - pairs.begin()], verdict);
  return verdict;
}

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
      ReplayTiming& row = result.timings.emplace_back();
      row.settings = variation_text(outcome.runs[r]);
      row.timing = timing;
      if (r >= seen.size() || seen[r].path.bw <= 0) continue;
      row.link_bw = seen[r].path.bw;
      row.link_type = seen[r].path.type;
      row.share = (timing.series_busbw > 0 ? timing.series_busbw : timing.busbw) / row.link_bw;
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

/// The ranks of a call, by what its two bandwidths make of each other; -1: the operation's factor
/// is the same for all numbers.
int ranks_of(const CallTiming& timing) {
  const Operation operation = operation_of(timing.op);
  if (timing.algbw <= 0 || bus_factor(operation, 2) == bus_factor(operation, 3)) return -1;
  constexpr int kMostRanks = 1024;  ///< Of one machine.
  constexpr double kExact = 1e-3;
  const double factor = timing.busbw / timing.algbw;
  for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
    if (std::abs(bus_factor(operation, ranks) - factor) <= kExact / ranks) return ranks;
  }
  return -1;
}

MeasuredPoint measured_point(const CallTiming& timing) {
  const bool has_series = timing.series_us > 0 && timing.series_busbw > 0;
  MeasuredPoint point;
  point.bytes = timing.bytes;
  point.out_of_place.time_us = has_series ? timing.series_us : timing.median_us;
  point.out_of_place.busbw = has_series ? timing.series_busbw : timing.busbw;
  const double by_time = has_series ? timing.median_us / timing.series_us : 1;
  point.out_of_place.algbw = timing.algbw * by_time;
  point.text = fmt::format("{} {} bytes: {:.1f} us, busbw {:.2f} GB/s", timing.op, timing.bytes,
                           point.out_of_place.time_us, point.out_of_place.busbw);
  return point;
}

/// "NCCL_ALGO=Ring NCCL_PROTO=LL" as names and values.
std::vector<std::pair<std::string, std::string>> settings_of(const ReplayResult& result,
                                                             const std::string& varied) {
  auto settings = result.outcome.settings;
  for (const std::string_view word : split_blanks(varied)) {
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return settings;
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

std::vector<Measurement> replay_measurements(const ReplayResult& result) {
  std::set<std::string> gpus;
  for (const ReplayGpu& gpu : result.outcome.gpus) gpus.insert(gpu.name);
  gpus.erase("");
  std::vector<Measurement> all;
  std::vector<std::tuple<std::string, Operation, int>> keys;
  for (const ReplayTiming& row : result.timings) {
    const Operation op = measured_as(operation_of(row.timing.op));
    const auto key = std::tuple(row.settings, op, ranks_of(row.timing));
    const auto known = std::ranges::find(keys, key);
    const auto place = static_cast<size_t>(known - keys.begin());
    if (known == keys.end()) {
      keys.push_back(key);
      Measurement& fresh = all.emplace_back();
      fresh.by = MeasuredBy::Replay;
      fresh.name = "replay run --time";
      fresh.op = op;
      fresh.nranks = std::get<int>(key);
      fresh.nhosts = result.outcome.pseudo_hosts;
      fresh.gpus.assign(gpus.begin(), gpus.end());
      fresh.settings = settings_of(result, row.settings);
    }
    all[place].points.push_back(measured_point(row.timing));
  }
  for (Measurement& measurement : all) {
    std::ranges::stable_sort(measurement.points, {}, &MeasuredPoint::bytes);
  }
  return all;
}

}  // namespace ncclog
