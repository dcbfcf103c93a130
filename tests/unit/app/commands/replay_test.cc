#include "app/commands/replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/judge/differences.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

using testing::completed_run;
using testing::hung_run;
using testing::like_the_record;
using testing::outcome_of;
using testing::skipping_plan;

ReplayResult result_of(std::vector<RunOutcome> runs) {
  ReplayPlan plan = skipping_plan();
  plan.recorded_nranks = 8;
  plan.limits = {"What waits between streams is in no log.",
                 "A collective that a CUDA graph captured is logged once."};
  const ReplayOutcome outcome = outcome_of(std::move(runs));
  return make_result(plan, "b", outcome,
                     std::vector<ReadBack>(outcome.runs.size(), like_the_record()));
}

RunOutcome timed_run() {
  RunOutcome run = completed_run(MadeIn::Clean);
  run.timings = {{.op = "AllReduce",
                  .bytes = 67108864,
                  .runs = 20,
                  .cold_us = 900.25,
                  .median_us = 225.5,
                  .least_us = 220,
                  .most_us = 240.04,
                  .algbw = 297.6,
                  .busbw = 297.6,
                  .series_us = 215.5,
                  .series_busbw = 311.4}};
  return run;
}

TEST(ReplayText, BeginsWithTheVerdictAndEndsWithTheMachine) {
  const RunOutcome defect = hung_run(MadeIn::Defect, *skipping_plan().hypothesis.front);
  EXPECT_EQ(render_text(replay_document(result_of({defect, timed_run()})), {.width = 90}),
            R"(reproduced-hypothesis (likely)
  As recorded, AllReduce, call 8 of communicator 0x5ca1e does not complete when rank 5
  does not make it; when all ranks behave, all calls completed and their data are right
  (6144 elements were compared). That proves little: any call left out ends so.

Runs
  - defect: hung in completion at AllReduce, call 8 of communicator 0x5ca1e, entered by
    ranks 0,5: as recorded
  - clean: completed; 4 results compared, 6144 elements, none wrong

Times
call        bytes  runs  cold us  median us  spread us    busbw  in series  link       of it
AllReduce  64 MiB    20  900.2    225.5      220.0-240.0  297.6  311.4      370.8 NVL  84 %

Bandwidths in GB/s as nccl-tests defines them; in series: of runs back to back, as it
measures, all else of single ones. The link is the slowest path between the GPUs as NCCL's
own topology lists it: large buffers come near to it, small ones do not, and NVLink SHARP
can exceed it.

As recorded
  NCCL: 2.28.9; CUDA: 13.0; hosts: 1 host; size of communicator 0x5ca1e: 2 ranks;
  transports of communicator 0x5ca1e: P2P; channels of communicator 0x5ca1e: 8; algorithm
  of AllReduce: RING; protocol of AllReduce: LL

Not as recorded
  - ranks of the job: recorded 8 ranks, replayed 2 ranks

What this cannot show
  - What waits between streams is in no log.
  - A collective that a CUDA graph captured is logged once.

Do not conclude
  - That rank 5 left something out: whoever leaves a call out, the others wait for it. The
    logs say who it was; the replay only that nothing else is needed.
  - Where in the program it comes from: a departure like that of rank 5 suffices, which
    says nothing about its reason.
  - That nothing else was wrong with the job.
  - That the job's bandwidth is the one measured here: it had other links, other ranks,
    and kernels of its own beside NCCL's.

Next
  - Look at what the program of rank 5 does before AllReduce, call 8 of communicator
    0x5ca1e.

Replayed on
  2 x NVIDIA H200, NCCL 2.28.9 (/opt/nccl/libnccl.so.2), CUDA 13.0, driver for CUDA 13.0
)");
}

TEST(ReplayText, ComparesVariationsInATable) {
  RunOutcome off = completed_run(MadeIn::Clean);
  off.settings = {{"NCCL_P2P_DISABLE", "0"}};
  RunOutcome on = hung_run(MadeIn::Clean, {0, 7, {0, 1}, {}});
  on.settings = {{"NCCL_P2P_DISABLE", "1"}};
  const std::string text = render_text(replay_document(result_of({off, on})), {.width = 90});
  EXPECT_NE(text.find("\nBy setting\n"
                      "setting             outcome               defect   clean\n"
                      "NCCL_P2P_DISABLE=0  clean-without-defect  not-run  completed\n"
                      "NCCL_P2P_DISABLE=1  reproduced-fault      not-run  hung-at-the-call\n"),
            std::string::npos)
      << text;
}

TEST(ReplayText, SteersNoTerminal) {
  ReplayOutcome refused;
  refused.refused = "no GPU \x1b[2J here";
  const ReplayResult result = make_result(skipping_plan(), "b", refused, {});
  EXPECT_EQ(replay_headline(result, {}), "refused: no GPU \\x1b[2J here\n");
  EXPECT_EQ(render_text(replay_document(result), {}).find('\x1b'), std::string::npos);
}

using testing::completed_run;
using testing::hung_run;
using testing::outcome_of;
using testing::skipping_plan;

ReplayResult result() {
  return make_result(skipping_plan(), "b",
                     outcome_of({hung_run(MadeIn::Defect, *skipping_plan().hypothesis.front),
                                 completed_run(MadeIn::Clean)}),
                     {});
}

Report report_with(const std::string& finding, const std::string& communicator) {
  Report report;
  report.diagnosis.findings = {{.id = finding}};
  report.job.communicators.resize(1);
  report.job.communicators[0].id = communicator;
  return report;
}

TEST(JoinReplay, TellsWhatWasShownAndWhere) {
  const ReplaySummary replay =
      join_replay(report_with("mismatched-collectives", "0x5ca1e"), result(), "result.json");
  EXPECT_EQ(replay.unfit, "");
  EXPECT_EQ(replay.kind, "reproduced-hypothesis");
  EXPECT_EQ(replay.confidence, "likely");
  EXPECT_EQ(replay.machine, "2 x NVIDIA H200, NCCL 2.28.9");
  EXPECT_EQ(replay_paragraphs(replay).size(), 3u);
}

TEST(JoinReplay, TellsTheOutcomeInASentence) {
  EXPECT_EQ(replay_sentence(join_replay(report_with("mismatched-collectives", "0x5ca1e"), result(),
                                        "result.json")),
            "A replay on 2 x NVIDIA H200, NCCL 2.28.9 came out as reproduced-hypothesis (likely).");
  EXPECT_EQ(replay_sentence({.kind = "refused"}), "A replay came out as refused.");
  EXPECT_EQ(replay_sentence({.file = "r.json", .unfit = "they know no communicator 0x1"}),
            "r.json is not of these logs and is not counted: they know no communicator 0x1.");
}

TEST(JoinReplay, DoesNotCountAResultOfOtherLogs) {
  EXPECT_EQ(
      join_replay(report_with("mismatched-collectives", "0x77"), result(), "result.json").unfit,
      "they know no communicator 0x5ca1e");
  const ReplaySummary replay =
      join_replay(report_with("shm-no-space", "0x5ca1e"), result(), "result.json");
  EXPECT_EQ(
      replay_paragraphs(replay),
      std::vector<std::string>{"result.json is not of these logs and is not counted: it tests "
                               "the finding mismatched-collectives, which they do not "
                               "show."});
}

}  // namespace

}  // namespace ncclog
