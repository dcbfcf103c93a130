// Whatever logs a plan is made of: it passes the check, its clean run comes to its end, fewer GPUs
// change nothing of that, and the order in which processes' lines come changes nothing at all.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "app/commands/replay.h"
#include "base/error.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "support/call_log.h"
#include "support/paths.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

/// Complaints that refuse the plan, a line each.
std::string refusals(const ReplayPlan& plan) {
  std::string text;
  for (const PlanComplaint& complaint : check_plan(plan)) {
    if (!complaint.is_refusal) continue;
    text += complaint.where + ": " + complaint.what + "\n";
  }
  return text;
}

void expect_sound(const ReplayPlan& plan, const std::string& name) {
  EXPECT_EQ(refusals(plan), "") << name;
  EXPECT_TRUE(testing::clean_run_completes(plan)) << name;
  EXPECT_EQ(parse_plan(write_plan(plan), "plan.json"), plan) << name;
}

TEST(ReplayPlanProperty, PlansOfAllSampleLogsAreSoundAtAnySize) {
  size_t plans = 0;
  for (const std::string& name : testing::sample_log_names()) {
    const std::string folder = testing::sample_logs(name).string();
    PlanRequest request{.input = {.paths = {folder}}};
    try {
      Console console;
      const ReplayPlan plan = make_plan(request, console).plan;
      ++plans;
      expect_sound(plan, folder);
      for (const int gpus : {2, 3, 5}) {
        expect_sound(shrink_plan(plan, gpus), folder + " on fewer GPUs");
      }
    } catch (const Error& error) {
      EXPECT_FALSE(error.hint().empty()) << folder << ": " << error.what();
    }
  }
  EXPECT_GE(plans, 7u);
}

TEST(ReplayPlanProperty, ThreadsChangeNothing) {
  const std::string folder = testing::sample_logs("timeout-rank-skips").string();
  Console console;
  const auto plan_with = [&](int threads) {
    return write_plan(make_plan({.input = {.paths = {folder}, .threads = threads}}, console).plan);
  };
  EXPECT_EQ(plan_with(1), plan_with(4));
}

/// A job that goes wrong at random: three groups, and a rank that leaves a call out.
std::vector<std::string> random_job(std::mt19937& random) {
  constexpr int kRanks = 4;
  constexpr const char* kOps[] = {"AllReduce", "AllGather", "ReduceScatter"};
  testing::CallLog log;
  for (int rank = 0; rank < kRanks; ++rank) {
    log.init(rank, kRanks, 0x77).init(rank, 2, rank < 2 ? 0x81u : 0x82u, rank % 2);
  }
  const auto upto = [&](unsigned most) { return static_cast<int>(random() % most); };
  const int skips = upto(kRanks + 1);
  const int skipped = upto(12);
  for (int i = 0; i < 12; ++i) {
    const int kind = upto(4);
    const auto* op = kOps[upto(3)];
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == skips && i == skipped) continue;
      if (kind == 0) log.call(rank, 0x77, op, 8 << upto(2) * (i == 7 ? 1 : 0));
      if (kind == 1) log.call(rank, rank < 2 ? 0x81u : 0x82u, op);
      if (kind > 1) {
        log.call(rank, 0x77, "Send", 8, (rank + 1) % kRanks);
        log.call(rank, 0x77, "Recv", 8, (rank + kRanks - 1) % kRanks);
      }
    }
  }
  log.timeout(0, 3);
  std::vector<std::string> lines;
  for (size_t at = 0; at < log.text().size();) {
    const size_t end = log.text().find('\n', at);
    lines.push_back(log.text().substr(at, end + 1 - at));
    at = end + 1;
  }
  return lines;
}

/// The lines in another order; each process keeps its own.
std::string interleaved(const std::vector<std::string>& lines, std::mt19937& random) {
  std::map<std::string, std::vector<std::string>> queues;
  for (const std::string& line : lines) queues[line.substr(0, 6)].push_back(line);
  std::string text;
  std::map<std::string, size_t> next;
  for (size_t left = lines.size(); left > 0;) {
    auto queue = std::next(queues.begin(), static_cast<long>(random() % queues.size()));
    size_t& at = next[queue->first];
    if (at == queue->second.size()) continue;
    text += queue->second[at++];
    --left;
  }
  return text;
}

constexpr std::string_view kNoneInCommon = "the ranks of these logs have no call in common";
constexpr std::string_view kEndsBefore =
    "the clean run ends before the call in question, and all ranks made no call of it";

/// nullopt: what is kept of the ranks' calls is nothing that two of them made, or the clean run
/// does not come to the call in question.
std::optional<ReplayPlan> plan_of(const std::string& text, const PlanOptions& options) {
  try {
    return testing::plan_of_text(text, options);
  } catch (const Error& error) {
    const std::string_view why = error.what();
    EXPECT_TRUE(why == kNoneInCommon || why == kEndsBefore) << why << '\n' << text;
    return std::nullopt;
  }
}

/// Unless the two ranks that are kept made no call with each other.
void expect_sound_on_two(const ReplayPlan& plan, const std::string& text) {
  try {
    expect_sound(shrink_plan(plan, 2), text);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "with 2 GPUs no call is left: those of the ranks that are kept name others")
        << text;
  }
}

TEST(ReplayPlanProperty, RandomJobsGiveSoundPlansWhateverTheOrderOfTheirLines) {
  std::mt19937 random(20261121);
  int planned = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::string> lines = random_job(random);
    std::string text;
    for (const std::string& line : lines) text += line;
    const PlanOptions options{.last = 1 + random() % 8};
    const std::optional<ReplayPlan> plan = plan_of(text, options);
    EXPECT_EQ(plan_of(interleaved(lines, random), options), plan) << text;
    if (!plan) continue;
    ++planned;
    expect_sound(*plan, text);
    expect_sound_on_two(*plan, text);
  }
  EXPECT_GE(planned, 180);
}

}  // namespace
}  // namespace ncclog
