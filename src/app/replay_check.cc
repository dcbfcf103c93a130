// ncclog replay check PLAN…

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/plan_file.h"
#include "app/replay_actions.h"
#include "app/replay_options.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/plan/check_plan.h"
#include "replay/plan/plan.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

/// "refused  ranks[1].calls[4].count: -3 is below 0", and the hint below.
std::string complaint_text(const PlanComplaint& complaint) {
  const bool refuses = complaint.weight == PlanComplaint::Weight::Refusal;
  std::string text = fmt::format("  {}  {}: {}\n", refuses ? "refused" : "remark ", complaint.where,
                                 complaint.what);
  if (!complaint.hint.empty()) text += fmt::format("           hint: {}\n", complaint.hint);
  return text;
}

std::string outline_of(const ReplayPlan& plan) {
  size_t calls = 0;
  for (const PlannedRank& rank : plan.ranks) calls += rank.calls.size();
  return fmt::format("{}, {}, {}", plural(plan.ranks.size(), "rank"),
                     plural(plan.communicators.size(), "communicator"), plural(calls, "call"));
}

/// True if the plan may be carried out.
bool check_one(const std::string& path, Console& console) {
  const PlanFile file = load_plan(path);
  const std::vector<PlanComplaint> complaints = check_plan(file.plan);
  const bool refused = is_refused(complaints);
  console.out += fmt::format("{}: {} ({})\n", printable(path), refused ? "refused" : "fine",
                             outline_of(file.plan));
  for (const PlanComplaint& complaint : complaints) console.out += complaint_text(complaint);
  if (!refused) {
    console.out += fmt::format("  needs    {}\n", cost_words(file.plan, runs_of(file.plan)));
  }
  return !refused;
}

/// Instead of judging, prints what of the plan nccl-tests could do.
bool print_nccl_tests(const std::string& path, Console& console) {
  const PlanFile file = load_plan(path);
  if (is_refused(check_plan(file.plan))) return check_one(path, console);
  console.out += nccl_tests_lines(file.plan);
  return true;
}

ExitStatus check(const ReplayCheckOptions& options, Console& console) {
  if (options.plans.empty()) {
    throw Error("no plan named", "replay check", "'ncclog replay plan' makes one of logs");
  }
  const auto look_at = options.nccl_tests ? print_nccl_tests : check_one;
  bool fine = true;
  for (const std::string& path : options.plans) fine = look_at(path, console) && fine;
  return fine ? ExitStatus::Fine : ExitStatus::Findings;
}

}  // namespace

RunCommand declare_replay_check(CLI::App& app) {
  const auto options = std::make_shared<ReplayCheckOptions>();
  app.add_option("PLAN", options->plans, "plans, '-' for stdin")->type_name("");
  app.add_flag("--nccl-tests", options->nccl_tests,
               "print command lines of nccl-tests for the failing call instead");
  return [options](Console& console) { return check(*options, console); };
}

}  // namespace ncclog
