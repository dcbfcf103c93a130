#include "app/commands/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/commands/analyze.h"
#include "app/commands/events.h"
#include "app/read/read_document.h"
#include "base/collectives.h"
#include "base/error.h"
#include "base/text.h"
#include "model/derive/split_runs.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan_json.h"
#include "replay/plan/recorded_calls.h"
#include "report/document/report_document.h"
#include "report/tables/table.h"

namespace ncclog {
PlanFile load_plan(const std::string& path) {
  const std::string text = read_file_up_to(path, kMaxReplayText);
  return {path, plan_hash(text), parse_plan(text, path == "-" ? "standard input" : path)};
}

namespace {

/// A symptom names those that show it, who are the ones that wait: they are blamed by a cause only.
Suspicion suspicion_of(const Finding& finding) {
  const bool blames = finding.role == Role::Cause;
  return {.id = finding.id,
          .title = finding.title,
          .communicator = finding.subject.communicator,
          .ranks = blames ? finding.ranks : std::vector<int>{},
          .is_testable = finding.role != Role::Advice && finding.severity != Severity::Info};
}

/// Causes before others, advice last.
std::vector<Suspicion> suspicions_of(const Diagnosis& diagnosis) {
  std::vector<Suspicion> suspicions;
  for (const Role role : {Role::Cause, Role::Symptom, Role::Advice}) {
    for (const Finding& finding : diagnosis.findings) {
      if (finding.role == role) suspicions.push_back(suspicion_of(finding));
    }
  }
  return suspicions;
}

/// Of several runs the one that is planned: that in which the suspicion was found, the one that the
/// verdict is about before others; where it is of none of them, or of one without calls, that of
/// which most calls are known.
const Job& planned_run(const SplitRuns& split, const Diagnosis& diagnosis,
                       const Suspicion& tested) {
  std::vector<size_t> found;
  for (size_t r = 0; r < split.runs.size(); ++r) {
    const std::vector<std::string>& findings = diagnosis.runs[r].findings;
    const bool has_calls =
        !covered_members(split.runs[r]).empty() || dumps_hold_calls(split.runs[r]);
    if (has_calls && std::ranges::find(findings, tested.id) != findings.end()) found.push_back(r);
  }
  if (std::ranges::find(found, diagnosis.leading_run) != found.end()) {
    return split.runs[diagnosis.leading_run];
  }
  if (!found.empty()) return split.runs[found.front()];
  return *std::ranges::max_element(split.runs, {},
                                   [](const Job& run) { return covered_members(run).size(); });
}

// A result where it belongs: words for people, a file, an exit status, a place in the report.

/// "reproduced-hypothesis (likely)".
std::string kind_text(const ReplayVerdict& verdict) {
  std::string text(to_string(verdict.kind));
  if (verdict.confidence) text += fmt::format(" ({})", to_string(*verdict.confidence));
  return text;
}

/// How the run of that mode ended, for people.
Cell end_cell(const ReplayResult& result, const ReplayPair& pair, MadeIn mode) {
  const RunReading& reading = mode == MadeIn::Defect ? pair.defect : pair.clean;
  const RunOutcome* run = find_run(result.outcome, mode, pair.settings);
  if (run == nullptr) return text_cell(to_string(reading.shows));
  return text_cell(end_word(result.hypothesis, *run, reading.shows));
}

Table variations(const ReplayResult& result) {
  const ReplayVerdict& verdict = result.verdict;
  Table table{.name = "variations", .columns = {"setting", "outcome", "defect", "clean"}};
  if (verdict.pairs.size() < 2) return table;
  for (const ReplayPair& pair : verdict.pairs) {
    table.add(pair.settings, to_string(pair.kind), end_cell(result, pair, MadeIn::Defect),
              end_cell(result, pair, MadeIn::Clean));
  }
  return table;
}

Cell rounded(double value) { return text_cell(fmt::format("{:.1f}", value)); }

Table times(const ReplayResult& result) {
  Table table{.name = "times",
              .columns = {"call", "bytes", "runs", "cold us", "median us", "spread us", "busbw",
                          "in series", "link", "of it", "setting"}};
  for (const ReplayTiming& row : result.timings) {
    const CallTiming& timing = row.timing;
    const bool known = row.share >= 0;
    table.add(timing.op, timing.bytes, timing.runs, rounded(timing.cold_us),
              rounded(timing.median_us),
              fmt::format("{:.1f}-{:.1f}", timing.least_us, timing.most_us), rounded(timing.busbw),
              timing.series_busbw > 0 ? rounded(timing.series_busbw) : Cell(),
              known ? fmt::format("{:.1f} {}", row.link_bw, printable(row.link_type)) : "",
              known ? fmt::format("{:.0f} %", 100 * row.share) : "", row.settings);
  }
  if (!table.rows.empty()) {
    table.notes.push_back(
        "Bandwidths in GB/s as nccl-tests defines them; in series: of runs back "
        "to back, as it measures, all else of single ones. The link "
        "is the slowest path between the GPUs as NCCL's own topology lists it: "
        "large buffers come near to it, small ones do not, and NVLink SHARP can "
        "exceed it.");
  }
  return table;
}

void add_table(Document& document, std::string heading, const Table& table) {
  if (!table.rows.empty()) add_section(document, std::move(heading), {table});
}

void add_text(Document& document, std::string heading, const std::string& text) {
  if (!text.empty()) add_section(document, std::move(heading), {Paragraph{text, 1}});
}

/// "2 x NVIDIA H200": the GPUs by name; empty: none.
std::string gpus_phrase(const ReplayOutcome& outcome) {
  std::map<std::string, size_t> names;
  for (const ReplayGpu& gpu : outcome.gpus) ++names[gpu.name];
  std::vector<std::string> parts;
  for (const auto& [name, n] : names) parts.push_back(fmt::format("{} x {}", n, name));
  return join(parts, ", ");
}

/// Empty if nothing is known of it.
std::string machine_text(const ReplayOutcome& outcome) {
  std::vector<std::string> parts;
  if (!outcome.gpus.empty()) parts.push_back(gpus_phrase(outcome));
  if (!outcome.nccl_version.empty()) {
    parts.push_back(fmt::format("NCCL {} ({})", outcome.nccl_version, outcome.nccl_library));
  }
  if (!outcome.cuda_version.empty()) parts.push_back("CUDA " + outcome.cuda_version);
  if (!outcome.driver.empty()) parts.push_back("driver for CUDA " + outcome.driver);
  return join(parts, ", ");
}

/// Why the result is of other logs; empty: nothing speaks against these. The Flight Recorder's
/// dumps, of which plans can be made, too, may name a communicator that no log does.
std::string why_unfit(const Report& report, const ReplayResult& result) {
  const Job& job = report.job;
  const auto& groups = call_ledger(job, CallSource::Recorder);
  for (const std::string& id : result.communicators) {
    const auto is_it = [&](const CallAccount& group) { return communicator_of(job, group) == id; };
    if (std::ranges::find(job.communicators, id, &Communicator::id) == job.communicators.end() &&
        std::ranges::none_of(groups, is_it)) {
      return fmt::format("they know no communicator {}", id);
    }
  }
  const std::string& finding = result.hypothesis.finding;
  if (!finding.empty() && find_finding(report, finding) == nullptr) {
    return fmt::format("it tests the finding {}, which they do not show", finding);
  }
  return {};
}

// ncclog replay plan PATH… [-o PLAN] [--last N] [--only failing] [--gpus N] [--finding ID]
//                          [--outcome WORD] [--nccl-tests]

int recorded_rank(const ReplayPlan& plan, int rank) { return plan.ranks[rank].recorded_rank; }

/// "message: Send 7 of rank 2 to rank 3 of communicator 0x9c1b…", and who else may have diverged.
std::string message_line(const ReplayPlan& plan, const PlannedCall& owed) {
  const int owner = plan.hypothesis.front->missing.front();
  const PlannedCommunicator& comm = plan.communicators[owed.communicator];
  std::string line = fmt::format("message: {} {} of rank {} {} rank {} of communicator {}", owed.op,
                                 owed.index + 1, recorded_rank(plan, owner),
                                 operation_of(owed.op) == Operation::Send ? "to" : "from",
                                 recorded_rank(plan, comm.ranks[owed.root]), comm.id);
  if (plan.hypothesis.diverged == std::vector{owner}) return line;
  std::vector<int> diverged;
  for (const int rank : plan.hypothesis.diverged) diverged.push_back(recorded_rank(plan, rank));
  return line + fmt::format("; any of ranks {} may have diverged", ranges_text(diverged));
}

/// "missing-call, ranks 5: The ranks do not call the same".
std::string hypothesis_line(const ReplayPlan& plan) {
  const Hypothesis& hypothesis = plan.hypothesis;
  if (hypothesis.kind == DefectKind::None) {
    return "nothing; the planned calls are those of a healthy stretch";
  }
  std::vector<int> diverged;
  for (const int rank : hypothesis.diverged) diverged.push_back(recorded_rank(plan, rank));
  const PlannedCall* owed = owed_message(plan);
  std::string line =
      owed == nullptr ? std::string(to_string(hypothesis.kind)) : message_line(plan, *owed);
  if (owed == nullptr && !diverged.empty())
    line += fmt::format(" of rank {}", ranges_text(diverged));
  if (owed == nullptr && hypothesis.front) {
    const FrontLine& front = *hypothesis.front;
    line += fmt::format(" at {} {} of communicator {}",
                        hypothesis.kind == DefectKind::Message ? "message" : "call",
                        front.index + 1, plan.communicators[front.communicator].id);
  }
  if (hypothesis.kind == DefectKind::Stall && !hypothesis.front) {
    line += "; at which call is not known";
  }
  return hypothesis.finding.empty() ? line : line + fmt::format(" [{}]", hypothesis.finding);
}

size_t calls_made(const ReplayPlan& plan, MadeIn mode) {
  size_t calls = 0;
  for (const PlannedRank& rank : plan.ranks) calls += calls_in(rank, mode).size();
  return calls;
}

/// What people see of a plan beside the file.
std::string summary(const ReplayPlan& plan) {
  std::string text =
      fmt::format("plan    {} of {} recorded, {}\n", plural(plan.ranks.size(), "rank"),
                  plan.recorded_nranks, plural(plan.communicators.size(), "communicator"));
  text += fmt::format("tests   {}\n", hypothesis_line(plan));
  text += fmt::format("calls   {} in the clean run", calls_made(plan, MadeIn::Clean));
  if (has_defect(plan))
    text += fmt::format(", {} in the defect run", calls_made(plan, MadeIn::Defect));
  text += "\n";
  for (const std::string& loss : plan.losses) text += fmt::format("loss    {}\n", loss);
  return text;
}

ExitStatus run_plan(const PlanRequest& request, Console& console) {
  if (!request.output.empty() && request.output != kStandardOutput) {
    check_output_file(request.output, wanted_inputs(request.input));
  }
  return run_into(request.output, console, [&](Console& to) {
    const MadePlan made = make_plan(request, console);
    to.out += request.nccl_tests ? nccl_tests_lines(made.plan) : write_plan(made.plan);
    if (!console.quiet) console.err += summary(made.plan);
    return made.status;
  });
}

// ncclog replay check PLAN…

struct ReplayCheckOptions {
  std::vector<std::string> plans;  ///< Files, "-"; empty: a mistake.
  bool nccl_tests = false;         ///< Print command lines of nccl-tests instead.
};

/// "refused  ranks[1].calls[4].count: -3 is below 0", and the hint below.
std::string complaint_text(const PlanComplaint& complaint) {
  std::string text = fmt::format("  {}  {}: {}\n", complaint.is_refusal ? "refused" : "remark ",
                                 complaint.where, complaint.what);
  if (!complaint.hint.empty()) text += fmt::format("           hint: {}\n", complaint.hint);
  return text;
}

ExitStatus check_plans(const ReplayCheckOptions& options, Console& console) {
  if (options.plans.empty()) {
    throw Error("no plan named", "replay check", "'ncclog replay plan' makes one of logs");
  }
  bool fine = true;
  for (const std::string& path : options.plans) {
    const ReplayPlan plan = load_plan(path).plan;
    const std::vector<PlanComplaint> complaints = check_plan(plan);
    const bool refused = is_refused(complaints);
    fine = fine && !refused;
    if (options.nccl_tests && !refused) {
      console.out += nccl_tests_lines(plan);
      continue;
    }
    size_t calls = 0;
    for (const PlannedRank& rank : plan.ranks) calls += rank.calls.size();
    console.out +=
        fmt::format("{}: {} ({}, {}, {})\n", printable(path), refused ? "refused" : "fine",
                    plural(plan.ranks.size(), "rank"),
                    plural(plan.communicators.size(), "communicator"), plural(calls, "call"));
    for (const PlanComplaint& complaint : complaints) console.out += complaint_text(complaint);
    if (!refused) console.out += fmt::format("  needs    {}\n", cost_words(plan, runs_of(plan)));
  }
  return fine ? ExitStatus::Fine : ExitStatus::Findings;
}

// ncclog replay judge FOLDER
//
// The second half of `replay run`, for runs that somebody else carried out: ncclog-replay under
// srun or mpirun, or on a machine without ncclog.

struct ReplayJudgeOptions {
  std::string folder;  ///< With outcome.json and the runs' logs; empty: a mistake.
  std::string plan;    ///< Empty: plan.json in the folder.
  std::string result;  ///< Where the result goes; empty: nowhere.
};

ExitStatus judge(const ReplayJudgeOptions& options, Console& console) {
  if (options.folder.empty()) {
    throw Error("no folder named", "replay judge", "name what ncclog-replay wrote with --out");
  }
  const std::filesystem::path folder = options.folder;
  const PlanFile file =
      load_plan(options.plan.empty() ? (folder / "plan.json").string() : options.plan);
  const ReplayResult result = result_in(folder, file.plan, file.hash, console.progress);
  tell_replay(result, options.result, console);
  return status_of(result.verdict.kind);
}

void declare_plan(CommandRow& command) {
  PlanRequest& request = options_of(command, run_plan);
  PlanOptions& plan = request.options;
  add_input_flags(command, request.input);
  add_outcome_flag(command, request.input);
  add_rules_flag(command, request.rules);
  add_number(command, kPlanFlags, "--last N", {1, 4096}, plan.last,
             "calls of each communicator before it stands still (default: 32)");
  add_choice(command, kPlanFlags, "--only", plan.only_failing,
             std::vector<Choice<bool>>{{"failing", true}},
             "failing: only the communicator that stands still");
  add_number(command, kPlanFlags, "--gpus N", {2, 1 << 20}, plan.gpus,
             "ranks at most, those that diverged among them; the plan says what is lost");
  add_flag_by(
      command, kPlanFlags, "--finding ID",
      [&plan](const std::string& word) {
        plan.finding = word;
        if (!word.empty()) return;
        throw Error("no finding named", "--finding",
                    "'ncclog analyze' lists them; leave the flag out for the first that fits");
      },
      "what is to be tested (default: the first that fits)");
  add_flag(command, kPlanFlags, "--nccl-tests", request.nccl_tests,
           "write command lines of nccl-tests for the failing call instead");
  add_flag(command, kOutputFlags, "-o,--output FILE", request.output,
           "write this file instead of standard output");
}

void declare_check(CommandRow& command) {
  ReplayCheckOptions& options = options_of(command, check_plans);
  add_argument(command, "PLAN", options.plans, "plans, '-' for stdin");
  add_flag(command, kPlanFlags, "--nccl-tests", options.nccl_tests,
           "print command lines of nccl-tests for the failing call instead");
}

void declare_judge(CommandRow& command) {
  ReplayJudgeOptions& options = options_of(command, judge);
  add_argument(command, "FOLDER", options.folder, "what ncclog-replay wrote with --out");
  add_flag(command, kFurtherFlags, "--plan FILE", options.plan,
           "the plan that it carried out (default: FOLDER/plan.json)");
  add_flag(command, kOutputFlags, "-o,--output FILE", options.result,
           "where the result goes (default: nowhere; '-': standard output)");
}

}  // namespace

MadePlan make_plan(const PlanRequest& request, Console& console) {
  const std::vector<std::string> inputs = wanted_inputs(request.input);
  if (std::ranges::find(inputs, "-") != inputs.end()) {
    throw Error("standard input can be read once, and a plan takes two readings", "replay plan",
                "save the log to a file first");
  }
  const AnalyzedLogs logs =
      analyze_logs({.input = request.input, .rules = request.rules}, console.progress);
  const Job& read = logs.report.job;
  const Diagnosis& diagnosis = logs.report.diagnosis;
  const std::vector<Suspicion> suspicions = suspicions_of(diagnosis);
  const auto tested = [&] { return choose_suspicion(suspicions, request.options.finding); };
  const SplitRuns split = split_runs(read);
  // Ranks of several runs make no plan together.
  if (split.runs.empty() && read.runs > 1) {
    throw Error(fmt::format("the logs hold {} runs that cannot be taken apart", read.runs),
                "replay plan", "name the logs of one run");
  }
  const Job& job = split.runs.empty() ? read : planned_run(split, diagnosis, tested());
  const PlanSource source{job, suspicions, request.input.paths, read.runs};
  const std::vector<Membership> members = covered_members(job);
  if (members.empty() && dumps_hold_calls(job)) {
    return {plan_of_dumps(source, request.options), exit_status(read)};
  }
  refuse_unknown_calls(job, members, suspicions);
  static_cast<void>(tested());  // A finding that is misspelt is not worth a second reading.
  CallRecorder recorder(job, call_windows(job, members, request.options.last));
  const EventTaker taker = {
      [&](const WalkedEvent& walked) {
        recorder.add(walked.event);
        return true;
      },
      [](std::string_view, const FlightRecorderDump&, size_t) { return true; }};
  MadePlan made;
  made.status = walk_events(logs.read.inputs, taker, console);
  made.plan = build_plan(source, recorder.take(), request.options);
  return made;
}

std::string replay_headline(const ReplayResult& result, const TextStyle& style) {
  const ReplayVerdict& verdict = result.verdict;
  const Tone tone = tone_of(to_string(verdict.kind), Tone::Strong);
  return fmt::format("{}: {}\n", paint(kind_text(verdict), tone, style),
                     printable(verdict.headline));
}

Document replay_document(const ReplayResult& result) {
  const ReplayVerdict& verdict = result.verdict;
  Document document{{{.heading = kind_text(verdict), .blocks = {Paragraph{verdict.headline, 1}}}}};
  add_points(document, "Runs", verdict.runs);
  add_table(document, "By setting", variations(result));
  add_table(document, "Times", times(result));
  add_points(document, "By times", time_comparisons(result.timings));
  // What was as recorded is told in one paragraph: it is what readers expect.
  add_text(document, "As recorded", join(verdict.held, "; "));
  add_points(document, "Not as recorded", verdict.changed);
  add_points(document, "What this cannot show", verdict.limits);
  add_points(document, "Do not conclude", verdict.must_not_conclude);
  add_points(document, "Next", verdict.next);
  add_text(document, "Replayed on", machine_text(result.outcome));
  return document;
}

void tell_replay(const ReplayResult& result, const std::string& path, Console& console) {
  const std::string text = write_result(result);
  if (path == kStandardOutput) {
    console.out += text;
    return;
  }
  if (!path.empty()) write_output_file(path, text);
  const TextStyle style = console.style(ColorChoice::Auto);
  console.out +=
      console.quiet ? replay_headline(result, style) : render_text(replay_document(result), style);
  if (!path.empty()) console.err += fmt::format("wrote {}\n", printable(path));
}

ExitStatus status_of(ReplayVerdictKind kind) {
  using enum ReplayVerdictKind;
  if (kind == ReproducedHypothesis || kind == CleanWithoutDefect) return ExitStatus::Fine;
  if (kind == ReproducedFault || kind == NotReproduced) return ExitStatus::Findings;
  return kind == Refused ? ExitStatus::CannotDo : ExitStatus::Partial;
}

ReplayResult load_replay_result(const std::string& path) {
  return parse_result(read_file_up_to(path, kMaxReplayText), path);
}

ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path) {
  const ReplayVerdict& verdict = result.verdict;
  ReplaySummary replay;
  replay.file = path;
  replay.unfit = why_unfit(report, result);
  replay.finding = result.hypothesis.finding;
  replay.kind = to_string(verdict.kind);
  if (verdict.confidence) replay.confidence = to_string(*verdict.confidence);
  replay.headline = verdict.headline;
  replay.machine = gpus_phrase(result.outcome);
  if (!result.outcome.nccl_version.empty()) {
    replay.machine +=
        (replay.machine.empty() ? "" : ", ") + ("NCCL " + result.outcome.nccl_version);
  }
  replay.runs = verdict.runs;
  replay.changed = verdict.changed;
  replay.limits = verdict.limits;
  replay.must_not_conclude = verdict.must_not_conclude;
  return replay;
}

void declare_replay(CommandRow& command) {
  declare_plan(
      add_command(command, "plan", "write what is to be replayed of a job, from its logs"));
  declare_check(
      add_command(command, "check", "say what is wrong with plans; exit 1 if one is refused"));
  declare_replay_run(add_command(
      command, "run", "carry a plan out on this machine's GPUs, and judge what it proves"));
  declare_judge(add_command(command, "judge", "judge what ncclog-replay left in a folder"));
}

}  // namespace ncclog
