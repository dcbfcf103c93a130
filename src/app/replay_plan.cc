// ncclog replay plan PATH… [-o PLAN] [--last N] [--only failing] [--gpus N] [--finding ID]
//                          [--outcome WORD] [--nccl-tests]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/analyze.h"
#include "app/make_plan.h"
#include "app/number_flag.h"
#include "app/output_file.h"
#include "app/part_file.h"
#include "app/replay_actions.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

struct ReplayPlanOptions {
  PlanRequest request;
  std::string output;       ///< A file; empty or "-": standard output.
  bool nccl_tests = false;  ///< Write command lines of nccl-tests instead.
};

int recorded_rank(const ReplayPlan& plan, int rank) {
  return plan.ranks[static_cast<size_t>(rank)].recorded_rank;
}

/// The message that the missing rank makes in the clean run only; nullptr: the front is none.
const PlannedCall* owed_message(const ReplayPlan& plan) {
  const auto& front = plan.hypothesis.front;
  const bool is_owed = plan.hypothesis.kind == DefectKind::Message && front;
  if (!is_owed || front->missing.empty()) return nullptr;
  const auto& calls = plan.ranks[static_cast<size_t>(front->missing.front())].calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
    return call.communicator == front->communicator && call.index == front->index &&
           is_message(call.op) && call.made_in == MadeIn::Clean;
  });
  return found == calls.end() ? nullptr : &*found;
}

/// "message: Send 7 of rank 2 to rank 3 of communicator 0x9c1b…", and who else may have departed.
std::string message_line(const ReplayPlan& plan, const PlannedCall& owed) {
  const int owner = plan.hypothesis.front->missing.front();
  const PlannedCommunicator& comm = plan.communicators[static_cast<size_t>(owed.communicator)];
  std::string line =
      fmt::format("message: {} {} of rank {} {} rank {} of communicator {}", owed.op,
                  owed.index + 1, recorded_rank(plan, owner), owed.op == "Send" ? "to" : "from",
                  recorded_rank(plan, comm.ranks[static_cast<size_t>(owed.root)]), comm.id);
  if (plan.hypothesis.departed == std::vector{owner}) return line;
  std::vector<int> departed;
  for (const int rank : plan.hypothesis.departed) departed.push_back(recorded_rank(plan, rank));
  return line + fmt::format("; any of ranks {} may have departed", ranges_text(departed));
}

/// "missing-call, ranks 5: The ranks do not call the same".
std::string hypothesis_line(const ReplayPlan& plan) {
  const Hypothesis& hypothesis = plan.hypothesis;
  if (hypothesis.kind == DefectKind::None) {
    return "nothing; the planned calls are those of a healthy stretch";
  }
  std::vector<int> departed;
  for (const int rank : hypothesis.departed) departed.push_back(recorded_rank(plan, rank));
  const PlannedCall* owed = owed_message(plan);
  std::string line =
      owed == nullptr ? std::string(to_string(hypothesis.kind)) : message_line(plan, *owed);
  if (owed == nullptr && !departed.empty())
    line += fmt::format(" of rank {}", ranges_text(departed));
  if (owed == nullptr && hypothesis.front) {
    const FrontLine& front = *hypothesis.front;
    line += fmt::format(
        " at {} {} of communicator {}", hypothesis.kind == DefectKind::Message ? "message" : "call",
        front.index + 1, plan.communicators[static_cast<size_t>(front.communicator)].id);
  }
  if (hypothesis.kind == DefectKind::Stall && !hypothesis.front) {
    line += "; at which call is not known";
  }
  return hypothesis.finding.empty() ? line : line + fmt::format(" [{}]", hypothesis.finding);
}

size_t calls_made(const ReplayPlan& plan, MadeIn mode) {
  size_t calls = 0;
  for (const PlannedRank& rank : plan.ranks) {
    calls += static_cast<size_t>(
        std::count_if(rank.calls.begin(), rank.calls.end(), [mode](const PlannedCall& call) {
          return call.made_in == MadeIn::Both || call.made_in == mode;
        }));
  }
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

ExitStatus run_plan(const ReplayPlanOptions& options, Console& console) {
  if (!options.output.empty() && options.output != kStandardOutput) {
    check_output_file(options.output, wanted_inputs(options.request.input));
  }
  return run_into(options.output, console, [&](Console& to) {
    const MadePlan made = make_plan(options.request, console);
    to.out += options.nccl_tests ? nccl_tests_lines(made.plan) : write_plan(made.plan);
    if (!console.quiet) console.err += summary(made.plan);
    return made.status;
  });
}

/// What `--finding ''` asks for cannot be told.
void set_finding(const std::string& word, PlanOptions& options) {
  if (word.empty()) {
    throw Error("no finding named", "--finding",
                "'ncclog analyze' lists them; leave the flag out "
                "for the first that fits");
  }
  options.finding = word;
}

void set_only(const std::string& word, PlanOptions& options) {
  if (word != "failing") {
    throw Error(fmt::format("'{}' is nothing that a plan can be limited to", printable(word)),
                "--only", "failing: only the communicator that stands still");
  }
  options.only_failing = true;
}

void add_flags(CLI::App& app, ReplayPlanOptions& options) {
  PlanOptions& plan = options.request.options;
  add_input_flags(app, options.request.input);
  add_outcome_flag(app, options.request.input);
  add_rules_flag(app, options.request.rules);
  add_number_flag(app, "--last", {1, 4096}, plan.last,
                  "calls of each communicator before it stands still (default: 32)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--only", [&plan](const std::string& word) { set_only(word, plan); },
         "failing: only the communicator that stands still")
      ->type_name("failing");
  add_number_flag(app, "--gpus", {2, 1 << 20}, plan.gpus,
                  "ranks at most, those that departed among them; the plan says what is lost")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--finding", [&plan](const std::string& word) { set_finding(word, plan); },
         "what is to be tested (default: the first that fits)")
      ->type_name("ID");
  app.add_flag("--nccl-tests", options.nccl_tests,
               "write command lines of nccl-tests for the failing call instead");
  app.add_option("-o,--output", options.output, "write this file instead of standard output")
      ->type_name("FILE")
      ->expected(1);
}

}  // namespace

RunCommand declare_replay_plan(CLI::App& app) {
  const auto options = std::make_shared<ReplayPlanOptions>();
  add_flags(app, *options);
  return [options](Console& console) { return run_plan(*options, console); };
}

}  // namespace ncclog
