#include "app/join_replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/judge/differences.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

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
