#include "app/make_plan.h"

#include <algorithm>
#include <iterator>

#include "app/analyze.h"
#include "app/event_walk.h"
#include "base/error.h"
#include "replay/plan/recorded_calls.h"
#include "replay/plan/dump_plan.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
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

void refuse_standard_input(const std::vector<std::string>& inputs) {
  if (std::find(inputs.begin(), inputs.end(), "-") == inputs.end()) return;
  throw Error("standard input can be read once, and a plan takes two readings", "replay plan",
              "save the log to a file first");
}

}  // namespace

MadePlan make_plan(const PlanRequest& request, Console& console) {
  refuse_standard_input(wanted_inputs(request.input));
  const AnalyzedLogs logs = analyze_logs({.input = request.input, .rules = request.rules});
  const Job& job = logs.report.job;
  const std::vector<Suspicion> suspicions = suspicions_of(logs.report.diagnosis);
  const std::vector<Membership> covered = covered_members(job);
  if (covered.empty() && dumps_hold_calls(job)) {
    const Suspicion tested = choose_suspicion(suspicions, request.options.finding);
    return {plan_of_dumps(job, tested, request.options, request.input.paths), exit_status(job)};
  }
  refuse_unknown_calls(job, covered, suspicions);
  const Suspicion tested = choose_suspicion(suspicions, request.options.finding);
  const std::vector<Membership> members = members_of_one_run(job, covered, tested.communicator);
  CallRecorder recorder(job, call_windows(job, members, request.options.last));
  const EventTaker taker = {
      [&](const WalkedEvent& walked) {
        recorder.add(walked.event);
        return true;
      },
      [](std::string_view, const FlightRecorderDump&, size_t) { return true; }};
  MadePlan made;
  made.status = walk_events(logs.inputs, taker, console);
  const RecordedCalls recorded = recorder.take();
  made.plan = build_plan({job, recorded, suspicions, request.input.paths}, request.options);
  return made;
}

}  // namespace ncclog
