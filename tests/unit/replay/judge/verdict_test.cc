#include "replay/judge/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "support/json_schema.h"
#include "support/paths.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

using nlohmann::json;
using testing::completed_run;
using testing::healthy_plan;
using testing::hung_run;
using testing::like_the_record;
using testing::outcome_of;
using testing::skipping_plan;

using Kind = ReplayVerdictKind;
using Shows = RunShows;

constexpr Shows kAllShows[] = {Shows::NotRun, Shows::Useless, Shows::AsRecorded, Shows::Elsewhere,
                               Shows::Completed};

struct PairRow {
  Shows defect;
  Shows clean;
  Kind like_record;    ///< Where the replay is like the record in what matters.
  Kind unlike_record;  ///< Where it is not.
};

constexpr PairRow kWithDeparture[] = {
    {Shows::NotRun, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::NotRun, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::NotRun, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::NotRun, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::NotRun, Shows::Completed, Kind::CleanWithoutDefect, Kind::CleanWithoutDefect},
    {Shows::Useless, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Useless, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Useless, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Useless, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Useless, Shows::Completed, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::AsRecorded, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::AsRecorded, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::AsRecorded, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::Completed, Kind::ReproducedHypothesis, Kind::ReproducedHypothesis},
    {Shows::Elsewhere, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Elsewhere, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Elsewhere, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::Completed, Kind::NotComparable, Kind::NotComparable},
    {Shows::Completed, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Completed, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Completed, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Completed, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Completed, Shows::Completed, Kind::NotReproduced, Kind::NotComparable},
};

/// Of a stall both modes make the same calls.
constexpr PairRow kStall[] = {
    {Shows::NotRun, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::NotRun, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::NotRun, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::NotRun, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::NotRun, Shows::Completed, Kind::NotReproduced, Kind::NotComparable},
    {Shows::Useless, Shows::NotRun, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Useless, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Useless, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Useless, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Useless, Shows::Completed, Kind::NotReproduced, Kind::NotComparable},
    {Shows::AsRecorded, Shows::NotRun, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::Useless, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::AsRecorded, Shows::Completed, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::NotRun, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::Useless, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Elsewhere, Shows::Completed, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Completed, Shows::NotRun, Kind::NotReproduced, Kind::NotComparable},
    {Shows::Completed, Shows::Useless, Kind::Inconclusive, Kind::Inconclusive},
    {Shows::Completed, Shows::AsRecorded, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Completed, Shows::Elsewhere, Kind::ReproducedFault, Kind::ReproducedFault},
    {Shows::Completed, Shows::Completed, Kind::NotReproduced, Kind::NotComparable},
};

/// Without a hypothesis nothing can fail to come back.
Kind healthy_kind(Kind of_stall) {
  const bool completes = of_stall == Kind::NotReproduced || of_stall == Kind::NotComparable;
  return completes ? Kind::CleanWithoutDefect : of_stall;
}

ReplayPlan stalled_plan() {
  ReplayPlan plan = healthy_plan();
  plan.hypothesis.kind = DefectKind::Stall;
  plan.hypothesis.front = FrontLine{.communicator = 0, .index = 7, .entered = {0, 1}};
  return plan;
}

Kind kind_of(const ReplayPlan& plan, const PairRow& row, bool comparable) {
  return judge_pair(plan, {.shows = row.defect}, {.shows = row.clean}, comparable);
}

std::string row_name(const PairRow& row) {
  return "defect shows " + std::to_string(static_cast<int>(row.defect)) + ", clean " +
         std::to_string(static_cast<int>(row.clean));
}

template <size_t n>
void expect_complete(const PairRow (&rows)[n]) {
  size_t at = 0;
  for (const Shows defect : kAllShows) {
    for (const Shows clean : kAllShows) {
      ASSERT_LT(at, n);
      EXPECT_TRUE(rows[at].defect == defect && rows[at].clean == clean) << row_name(rows[at]);
      ++at;
    }
  }
  EXPECT_EQ(at, n);
}

TEST(JudgePair, EveryCombinationHasOneKind) {
  expect_complete(kWithDeparture);
  for (const PairRow& row : kWithDeparture) {
    EXPECT_EQ(kind_of(skipping_plan(), row, true), row.like_record) << row_name(row);
    EXPECT_EQ(kind_of(skipping_plan(), row, false), row.unlike_record) << row_name(row);
  }
}

TEST(JudgePair, WithoutADepartureBothModesAreCleanRuns) {
  expect_complete(kStall);
  for (const PairRow& row : kStall) {
    EXPECT_EQ(kind_of(stalled_plan(), row, true), row.like_record) << row_name(row);
    EXPECT_EQ(kind_of(stalled_plan(), row, false), row.unlike_record) << row_name(row);
    for (const bool comparable : {true, false}) {
      const Kind of_stall = comparable ? row.like_record : row.unlike_record;
      EXPECT_EQ(kind_of(healthy_plan(), row, comparable), healthy_kind(of_stall)) << row_name(row);
    }
  }
}

TEST(JudgePair, AFaultAfterAGpuWasLostIsNoFaultOfTheJob) {
  const RunReading lost{.shows = Shows::Useless, .lost_gpu = true};
  EXPECT_EQ(judge_pair(skipping_plan(), lost, {.shows = Shows::AsRecorded}, true),
            Kind::Inconclusive);
}

FrontLine recorded_front() { return *skipping_plan().hypothesis.front; }

RunOutcome failed_at(uint64_t completed, const char* error) {
  RunOutcome run = completed_run(MadeIn::Defect);
  run.end = RunEnd::Failed;
  run.phase = ReplayPhase::Completion;
  run.reason = error;
  run.ranks[1].error = error;
  run.ranks[1].completed = completed;
  return run;
}

RunOutcome wrong_at(uint64_t call) {
  RunOutcome run = completed_run(MadeIn::Defect);
  run.end = RunEnd::Wrong;
  run.ranks[0].verified.wrong = 3;
  run.ranks[0].verified.first = WrongElement{call, 17, "6", "2"};
  return run;
}

RunOutcome with(RunOutcome run, const std::function<void(RunOutcome&)>& change) {
  change(run);
  return run;
}

struct ReadingRow {
  const char* name;
  RunOutcome run;
  Shows shows;
};

TEST(ReadRun, HoldsTheEndAgainstTheRecord) {
  const FrontLine front = recorded_front();
  const std::vector<ReadingRow> rows = {
      {"the recorded front", hung_run(MadeIn::Defect, front), Shows::AsRecorded},
      {"another call", hung_run(MadeIn::Defect, {0, 8, {0, 1}, {}}), Shows::Elsewhere},
      {"another communicator", hung_run(MadeIn::Defect, {1, 7, {0, 1}, {}}), Shows::Elsewhere},
      {"other ranks", hung_run(MadeIn::Defect, {0, 7, {1}, {0}}), Shows::Elsewhere},
      {"ranks in another order", hung_run(MadeIn::Defect, {0, 7, {1, 0}, {}}), Shows::AsRecorded},
      {"a clean run: who came is another question", hung_run(MadeIn::Clean, {0, 7, {0}, {1}}),
       Shows::AsRecorded},
      {"an error at the call", failed_at(0, "ncclAllGather: invalid usage"), Shows::AsRecorded},
      {"an error after it", failed_at(1, "ncclAllGather: internal error"), Shows::Elsewhere},
      {"wrong data at the call", wrong_at(0), Shows::AsRecorded},
      {"wrong data after it", wrong_at(1), Shows::Elsewhere},
      {"wrong data of no call", wrong_at(99), Shows::Elsewhere},
      {"completed", completed_run(MadeIn::Defect), Shows::Completed},
      {"a process died",
       with(completed_run(MadeIn::Defect),
            [](RunOutcome& run) {
              run.end = RunEnd::Died;
              run.reason = "rank 1 was killed by signal 9.";
            }),
       Shows::Useless},
      {"not started",
       with(completed_run(MadeIn::Defect), [](RunOutcome& run) { run.end = RunEnd::NotStarted; }),
       Shows::Useless},
      {"hung while it is initialised",
       with(hung_run(MadeIn::Defect, front),
            [](RunOutcome& run) {
              run.phase = ReplayPhase::Init;
              run.front.reset();
            }),
       Shows::Useless},
      {"out of memory", failed_at(0, "cudaMalloc: out of memory"), Shows::Useless},
      {"a process that cannot be ended",
       with(hung_run(MadeIn::Defect, front),
            [](RunOutcome& run) { run.ranks[1].end = ProcessEnd::Lost; }),
       Shows::Useless},
      {"a GPU is gone",
       with(hung_run(MadeIn::Defect, front),
            [](RunOutcome& run) {
              run.gpus[1] = {.gpu = 1, .error = "unspecified launch failure"};
            }),
       Shows::Useless},
  };
  for (const ReadingRow& row : rows) {
    EXPECT_EQ(read_run(skipping_plan(), &row.run).shows, row.shows) << row.name;
  }
  EXPECT_EQ(read_run(skipping_plan(), nullptr).shows, Shows::NotRun);
}

TEST(RunLine, SaysWhatHappenedAndWhetherItIsWhatWasRecorded) {
  EXPECT_EQ(run_line(skipping_plan(), hung_run(MadeIn::Defect, recorded_front())),
            "defect: hung in completion at AllReduce, call 8 of communicator 0x5ca1e, entered by "
            "ranks 0,5: as recorded");
  EXPECT_EQ(run_line(skipping_plan(), completed_run(MadeIn::Clean)),
            "clean: completed; 4 results compared, 6144 elements, none wrong");
  EXPECT_EQ(run_line(skipping_plan(), wrong_at(0)),
            "defect: completed with wrong data at AllReduce, call 8 of communicator 0x5ca1e; 4 "
            "results compared, 6144 elements, 3 wrong; rank 0: element 17, expected 6, found 2: at "
            "the recorded call");
  RunOutcome killed = completed_run(MadeIn::Clean);
  killed.end = RunEnd::Died;
  killed.reason = "rank 5 was killed by signal 9.";
  killed.settings = {{"NCCL_P2P_DISABLE", "1"}};
  EXPECT_EQ(run_line(skipping_plan(), killed),
            "NCCL_P2P_DISABLE=1, clean: useless: rank 5 was killed by signal 9");
}

ReplayVerdict judged(const ReplayPlan& plan, std::vector<RunOutcome> runs,
                     const std::function<void(ReplayOutcome&, ReadBack&)>& change = {}) {
  ReplayOutcome outcome = outcome_of(std::move(runs));
  ReadBack seen = like_the_record();
  if (change) change(outcome, seen);
  return judge_replay(plan, outcome, std::vector<ReadBack>(outcome.runs.size(), seen));
}

std::vector<RunOutcome> hang_and_clean() {
  return {hung_run(MadeIn::Defect, recorded_front()), completed_run(MadeIn::Clean)};
}

TEST(JudgeReplay, SupportsADiagnosisWhoseDefectHangsAsRecorded) {
  const ReplayVerdict verdict = judged(skipping_plan(), hang_and_clean());
  EXPECT_EQ(verdict.kind, Kind::ReproducedHypothesis);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Certain);
  EXPECT_EQ(
      verdict.headline,
      "As recorded, AllReduce, call 8 of communicator 0x5ca1e does not complete when rank 5 "
      "does not make it; when all ranks behave, all calls completed and their data "
      "are right (6144 elements were compared). That proves little: any call left out ends so.");
  EXPECT_EQ(verdict.must_not_conclude.front(),
            "That rank 5 left something out: whoever leaves a call out, the others wait for it. "
            "The logs say who it was; the replay only that nothing else is needed.");
  EXPECT_EQ(verdict.held.front(), "NCCL: 2.28.9");
  EXPECT_EQ(verdict.changed, std::vector<std::string>());
  EXPECT_EQ(verdict.runs.size(), 2u);
  EXPECT_EQ(verdict.next.front(),
            "Look at what the program of rank 5 does before AllReduce, call 8 of communicator "
            "0x5ca1e.");
}

struct CapRow {
  const char* name;
  std::function<void(ReplayOutcome&, ReadBack&)> change;
  ReplayConfidence hypothesis;  ///< Of a defect that hangs as recorded.
  Kind absence;                 ///< Of a defect that completes.
};

TEST(JudgeReplay, ADifferenceCapsWhatIsClaimedAndEndsWhatIsNot) {
  using Sure = ReplayConfidence;
  const std::vector<CapRow> rows = {
      {"none", [](ReplayOutcome&, ReadBack&) {}, Sure::Certain, Kind::NotReproduced},
      {"patch release", [](ReplayOutcome&, ReadBack& seen) { seen.nccl_versions = {"2.28.3"}; },
       Sure::Likely, Kind::NotReproduced},
      {"channels", [](ReplayOutcome&, ReadBack& seen) { seen.communicators[0].channels = 4; },
       Sure::Likely, Kind::NotReproduced},
      {"protocol", [](ReplayOutcome&, ReadBack& seen) { seen.tuning[0].protocol = "SIMPLE"; },
       Sure::Likely, Kind::NotReproduced},
      {"release", [](ReplayOutcome&, ReadBack& seen) { seen.nccl_versions = {"2.27.3"}; },
       Sure::Likely, Kind::NotComparable},
      {"transport",
       [](ReplayOutcome&, ReadBack& seen) {
         seen.communicators[0].transports = {{"SHM", 2}};
       },
       Sure::Likely, Kind::NotComparable},
      {"algorithm", [](ReplayOutcome&, ReadBack& seen) { seen.tuning[0].algorithm = "TREE"; },
       Sure::Likely, Kind::NotComparable},
      {"hosts", [](ReplayOutcome& outcome, ReadBack&) { outcome.pseudo_hosts = 2; }, Sure::Likely,
       Kind::NotComparable},
      {"nothing readable", [](ReplayOutcome&, ReadBack& seen) { seen = {}; }, Sure::Likely,
       Kind::NotComparable},
  };
  for (const CapRow& row : rows) {
    EXPECT_EQ(judged(skipping_plan(), hang_and_clean(), row.change).confidence, row.hypothesis)
        << row.name;
    EXPECT_EQ(judged(skipping_plan(), {completed_run(MadeIn::Defect), completed_run(MadeIn::Clean)},
                     row.change)
                  .kind,
              row.absence)
        << row.name;
  }
}

TEST(JudgeReplay, FewerRanksMatter) {
  ReplayPlan plan = skipping_plan();
  plan.recorded_nranks = 8;
  plan.communicators[0].recorded_nranks = 8;
  EXPECT_EQ(judged(plan, {completed_run(MadeIn::Defect), completed_run(MadeIn::Clean)}).kind,
            Kind::NotComparable);
  const ReplayVerdict verdict = judged(plan, hang_and_clean());
  EXPECT_EQ(verdict.kind, Kind::ReproducedHypothesis);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Likely);
  EXPECT_EQ(verdict.changed.front(), "ranks of the job: recorded 8 ranks, replayed 2 ranks");
}

TEST(JudgeReplay, ThatNothingCameBackIsNeverCertain) {
  const ReplayVerdict verdict =
      judged(skipping_plan(), {completed_run(MadeIn::Defect), completed_run(MadeIn::Clean)});
  EXPECT_EQ(verdict.kind, Kind::NotReproduced);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Likely);
  EXPECT_EQ(verdict.must_not_conclude.front(),
            "That rank 5 is cleared: what did not come back once, here, may come back there.");
}

TEST(JudgeReplay, ACleanRunThatHangsNeedsNoDeparture) {
  const ReplayVerdict verdict = judged(
      skipping_plan(),
      {hung_run(MadeIn::Defect, recorded_front()), hung_run(MadeIn::Clean, {0, 7, {0, 1}, {}})});
  EXPECT_EQ(verdict.kind, Kind::ReproducedFault);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Certain);
  EXPECT_EQ(
      verdict.headline,
      "AllReduce, call 8 of communicator 0x5ca1e fails although all ranks behave: what rank 5 "
      "did is not needed for it.");
}

TEST(JudgeReplay, AFaultThatComesAndGoesIsPossible) {
  const ReplayVerdict verdict = judged(
      stalled_plan(), {hung_run(MadeIn::Defect, recorded_front()), completed_run(MadeIn::Clean)});
  EXPECT_EQ(verdict.kind, Kind::ReproducedFault);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Possible);
}

TEST(JudgeReplay, AHealthyPlanThatCompletesIsClean) {
  const ReplayVerdict verdict = judged(healthy_plan(), {completed_run(MadeIn::Clean)});
  EXPECT_EQ(verdict.kind, Kind::CleanWithoutDefect);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Certain);
  EXPECT_EQ(verdict.headline,
            "All calls completed and their data are right (6144 elements were compared).");
}

TEST(JudgeReplay, DataThatNobodyComparedAreNotCalledRight) {
  RunOutcome run = completed_run(MadeIn::Clean);
  for (RankOutcome& rank : run.ranks) rank.verified = {.shape_only = 2};
  const ReplayVerdict verdict = judged(healthy_plan(), {run});
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Possible);
  EXPECT_EQ(verdict.headline, "All calls completed; no result was compared.");
}

TEST(JudgeReplay, ClaimsNothingFromHalfAReplay) {
  const ReplayVerdict half = judged(skipping_plan(), {hung_run(MadeIn::Defect, recorded_front())});
  EXPECT_EQ(half.kind, Kind::Inconclusive);
  EXPECT_EQ(half.confidence, std::nullopt);
  EXPECT_EQ(half.next, std::vector<std::string>{"Run it with --mode both."});
  EXPECT_EQ(half.must_not_conclude.front(), "Anything about the recorded job.");
}

TEST(JudgeReplay, PassesARefusalOn) {
  ReplayOutcome outcome;
  outcome.refused = "the plan needs 8 GPUs, this machine has 2";
  outcome.hint = "give --gpus 2";
  const ReplayVerdict verdict = judge_replay(skipping_plan(), outcome, {});
  EXPECT_EQ(verdict.kind, Kind::Refused);
  EXPECT_EQ(verdict.headline, outcome.refused);
  EXPECT_EQ(verdict.next, std::vector<std::string>{"give --gpus 2"});
  EXPECT_EQ(judge_replay(skipping_plan(), {}, {}).kind, Kind::Inconclusive);
}

TEST(JudgeReplay, JudgesEachVariationAndSaysWhereTheyDiffer) {
  std::vector<RunOutcome> runs = hang_and_clean();
  for (RunOutcome& run : runs) run.settings = {{"NCCL_P2P_DISABLE", "0"}};
  runs.push_back(completed_run(MadeIn::Defect));
  runs.push_back(completed_run(MadeIn::Clean));
  runs[2].settings = runs[3].settings = {{"NCCL_P2P_DISABLE", "1"}};
  const ReplayVerdict verdict = judged(skipping_plan(), runs);
  ASSERT_EQ(verdict.pairs.size(), 2u);
  EXPECT_EQ(verdict.pairs[0].kind, Kind::ReproducedHypothesis);
  EXPECT_EQ(verdict.pairs[1].kind, Kind::NotReproduced);
  EXPECT_EQ(verdict.kind, Kind::ReproducedHypothesis);
  EXPECT_EQ(verdict.confidence, ReplayConfidence::Likely);
  EXPECT_EQ(verdict.limits.back(),
            "The outcome depends on what was varied: NCCL_P2P_DISABLE=0: reproduced-hypothesis; "
            "NCCL_P2P_DISABLE=1: not-reproduced.");
}

TEST(JudgeReplay, SaysWhereTheSameCallEndsInAnotherWay) {
  const ReplayVerdict verdict =
      judged(skipping_plan(), {wrong_at(0), completed_run(MadeIn::Clean)});
  EXPECT_EQ(verdict.kind, Kind::ReproducedHypothesis);
  EXPECT_EQ(verdict.changed,
            std::vector<std::string>{
                "The recorded job stood still at that call, the replay computed wrong data there: "
                "which of them a mismatch leads to depends on protocol, sizes and number of "
                "ranks."});
}

TEST(JudgeReplay, SaysItOfEachVariationThatEndsInAnotherWay) {
  std::vector<RunOutcome> runs = {hung_run(MadeIn::Defect, recorded_front()),
                                  completed_run(MadeIn::Clean), wrong_at(0),
                                  completed_run(MadeIn::Clean)};
  runs[0].settings = runs[1].settings = {{"NCCL_PROTO", "LL128"}};
  runs[2].settings = runs[3].settings = {{"NCCL_PROTO", "Simple"}};
  const ReplayVerdict verdict = judged(skipping_plan(), runs);
  ASSERT_FALSE(verdict.changed.empty());
  EXPECT_EQ(verdict.changed.front(),
            "The recorded job stood still at that call, the replay computed wrong data there with "
            "NCCL_PROTO=Simple: which of them a mismatch leads to depends on protocol, sizes and "
            "number of ranks.");
}

/// Both ranks send to each other before either of them receives.
ReplayPlan crossing_plan(int group) {
  ReplayPlan plan = healthy_plan();
  for (int rank = 0; rank < 2; ++rank) {
    for (const char* op : {"Send", "Recv"}) {
      plan.ranks[static_cast<size_t>(rank)].calls.push_back({.communicator = 0,
                                                             .op = op,
                                                             .count = 1024,
                                                             .datatype = 7,
                                                             .root = 1 - rank,
                                                             .group = group});
    }
  }
  return plan;
}

TEST(JudgeReplay, MessagesThatCrossWithoutAGroupAccuseNobody) {
  const std::vector<RunOutcome> runs = {hung_run(MadeIn::Clean, {0, 8, {0, 1}, {}})};
  const ReplayVerdict verdict = judged(crossing_plan(-1), runs);
  EXPECT_EQ(verdict.kind, Kind::Inconclusive);
  EXPECT_NE(verdict.headline.find("does not promise to complete"), std::string::npos)
      << verdict.headline;
  ASSERT_EQ(verdict.next.size(), 1u);
  EXPECT_NE(verdict.next.front().find("CALL"), std::string::npos);
  EXPECT_EQ(judged(crossing_plan(0), runs).kind, Kind::ReproducedFault);
}

TEST(JudgeReplay, WrongDataAreNotTheRecordedStandstill) {
  EXPECT_EQ(judged(skipping_plan(), {wrong_at(0), completed_run(MadeIn::Clean)}).headline,
            "AllReduce, call 8 of communicator 0x5ca1e completes with wrong data when rank 5 does "
            "not make it, where the recorded job stood still; when all ranks behave, all calls "
            "completed and their data are right (6144 elements were compared).");
}

TEST(JudgeReplay, AFaultThatNobodyRecordedIsOfTheReplayingMachine) {
  RunOutcome wrong = wrong_at(0);
  wrong.mode = MadeIn::Clean;
  const ReplayVerdict verdict = judged(healthy_plan(), {wrong});
  EXPECT_EQ(verdict.kind, Kind::ReproducedFault);
  EXPECT_EQ(verdict.headline,
            "AllReduce, call 8 of communicator 0x5ca1e completes with wrong data on the replaying "
            "machine, although the recorded job showed no fault there: look at these GPUs.");
  EXPECT_EQ(verdict.next.front(),
            "Look for errors of the GPUs that ran the replay: nvidia-smi -q, dmesg.");
  EXPECT_EQ(verdict.must_not_conclude.front(),
            "That the recorded job has this fault: its logs show none, and other GPUs ran the "
            "replay.");
}

TEST(JudgeReplay, WhatTheReplaysLogDoesNotTellIsNoDifference) {
  const ReplayVerdict verdict =
      judged(skipping_plan(), hang_and_clean(),
             [](ReplayOutcome&, ReadBack& seen) { seen.communicators[0].transports.clear(); });
  EXPECT_EQ(verdict.changed, std::vector<std::string>());
  EXPECT_NE(std::find(verdict.limits.begin(), verdict.limits.end(),
                      "The replay's log does not tell: transports of communicator 0x5ca1e "
                      "(recorded P2P)."),
            verdict.limits.end());
}

TEST(JudgeReplay, NobodyConcludesFromOneMachineToTheNetwork) {
  ReplayPlan plan = skipping_plan();
  plan.recorded_nhosts = 2;
  const ReplayVerdict verdict = judged(
      plan, hang_and_clean(), [](ReplayOutcome& outcome, ReadBack&) { outcome.pseudo_hosts = 2; });
  EXPECT_EQ(verdict.must_not_conclude.back(),
            "That the network between the recorded hosts is sound: nothing of this replay left its "
            "machine.");
}

json schema_of(const char* name) {
  return json::parse(testing::read_file(testing::source_dir() / "src/replay" / name));
}

std::string schema_complaints(const std::string& text) {
  return join(testing::schema_errors(schema_of("judge/result.schema.json"), json::parse(text)),
              "\n");
}

ReplayResult timed_result() {
  const ReplayPlan plan = skipping_plan();
  RunOutcome clean = completed_run(MadeIn::Clean);
  clean.settings = {{"NCCL_ALGO", "Ring"}};
  clean.timings = {{.call = 0,
                    .op = "AllReduce",
                    .bytes = 4096,
                    .runs = 20,
                    .cold_us = 90,
                    .median_us = 20,
                    .least_us = 18,
                    .most_us = 30,
                    .algbw = 92.7,
                    .busbw = 92.7}};
  RunOutcome defect = hung_run(MadeIn::Defect, *plan.hypothesis.front);
  defect.settings = clean.settings;
  return make_result(plan, std::string(64, 'b'), outcome_of({defect, clean}),
                     std::vector<ReadBack>(2, like_the_record()));
}

TEST(MakeResult, HoldsATimeAgainstTheSlowestPathBetweenTheGpus) {
  const ReplayResult result = timed_result();
  ASSERT_EQ(result.timings.size(), 1u);
  EXPECT_EQ(result.timings[0].settings, "NCCL_ALGO=Ring");
  EXPECT_EQ(result.timings[0].link_type, "NVL");
  EXPECT_DOUBLE_EQ(result.timings[0].share, 92.7 / 370.8);
  EXPECT_EQ(result.verdict.kind, ReplayVerdictKind::ReproducedHypothesis);
  EXPECT_EQ(result.communicators, std::vector<std::string>{"0x5ca1e"});
}

TEST(MakeResult, KnowsNoShareOfALinkThatNoLineNames) {
  RunOutcome clean = completed_run(MadeIn::Clean);
  clean.timings = {{.op = "AllReduce", .busbw = 5}};
  const ReplayResult result = make_result(skipping_plan(), "b", outcome_of({clean}), {});
  EXPECT_EQ(result.timings.at(0).share, -1);
}

TEST(ResultSchema, HasTheOutcomesOwnParts) {
  const json result = schema_of("judge/result.schema.json");
  const json outcome = schema_of("judge/outcome.schema.json");
  for (const auto& [name, part] : outcome["$defs"].items()) {
    EXPECT_EQ(result["$defs"].value(name, json()), part) << name;
  }
  EXPECT_EQ(result["$defs"]["outcome"]["properties"], outcome["properties"]);
  EXPECT_EQ(result["properties"]["hypothesis"],
            schema_of("plan/plan.schema.json")["properties"]["hypothesis"]);
}

TEST(WriteResult, FitsItsSchemaAndIsReadAsItWasWritten) {
  for (const ReplayResult& result :
       {timed_result(), make_result(skipping_plan(), "b", outcome_of({}), {})}) {
    const std::string text = write_result(result);
    EXPECT_EQ(schema_complaints(text), "");
    EXPECT_EQ(parse_result(text, "result.json"), result);
    EXPECT_EQ(write_result(parse_result(text, "result.json")), text);
  }
}

TEST(ParseResult, NamesThePlaceOfWhatIsNoResult) {
  json document = json::parse(write_result(timed_result()));
  document["verdict"]["kind"] = "reproduced-hypothesys";
  try {
    parse_result(document.dump(), "result.json");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "result.json: verdict.kind");
    EXPECT_EQ(error.what(), std::string("unknown kind of verdict 'reproduced-hypothesys'"));
    EXPECT_EQ(error.hint(), "did you mean 'reproduced-hypothesis'?");
  }
  EXPECT_THROW(parse_result("{\"schema\": \"ncclog.replay/1\"}", "plan.json"), Error);
}

using Texts = std::vector<std::string>;

ReplayTiming row(const char* settings, double median, double least, double most) {
  ReplayTiming row{.settings = settings};
  row.timing.op = "AllReduce";
  row.timing.bytes = 4096;
  row.timing.median_us = median;
  row.timing.least_us = least;
  row.timing.most_us = most;
  return row;
}

TEST(TimeComparisons, ConcludeWhereSpreadsDoNotOverlap) {
  const ReplayTiming rows[] = {row("NCCL_P2P_DISABLE=0", 897.9, 880, 910),
                               row("NCCL_P2P_DISABLE=1", 9651.9, 9600, 9700)};
  EXPECT_EQ(time_comparisons(rows),
            Texts{"AllReduce of 4096 bytes: NCCL_P2P_DISABLE=1 takes 10.7 times as long as "
                  "NCCL_P2P_DISABLE=0 (9651.9 against 897.9 us)."});
}

TEST(TimeComparisons, ShowNothingWithinTheSpread) {
  const ReplayTiming rows[] = {row("NCCL_ALGO=Ring", 20, 18, 24),
                               row("NCCL_ALGO=Tree", 25, 24, 30)};
  EXPECT_EQ(time_comparisons(rows),
            Texts{"AllReduce of 4096 bytes: no difference beyond the spread between "
                  "NCCL_ALGO=Tree and NCCL_ALGO=Ring."});
}

TEST(TimeComparisons, AreOfVariedSettingsOnly) {
  const ReplayTiming rows[] = {row("", 20, 18, 24), row("", 50, 48, 60)};
  EXPECT_EQ(time_comparisons(rows), Texts{});
}

ReplayTiming timing_of(std::string op, int64_t bytes, double median_us, double factor) {
  ReplayTiming row;
  row.timing.op = std::move(op);
  row.timing.bytes = bytes;
  row.timing.median_us = median_us;
  row.timing.algbw = static_cast<double>(bytes) / median_us / 1e3;
  row.timing.busbw = row.timing.algbw * factor;
  return row;
}

TEST(ReplayMeasurements, TimesOfOneOperationAreACurve) {
  ReplayResult result;
  result.outcome.gpus = {{.gpu = 0, .name = "NVIDIA H200"}, {.gpu = 1, .name = "NVIDIA H200"}};
  result.outcome.settings = {{"NCCL_ALGO", "Ring"}};
  result.timings = {timing_of("AllReduce", 1 << 26, 400, 1.5), timing_of("Send", 1 << 20, 50, 1),
                    timing_of("AllReduce", 1 << 20, 40, 1.5)};
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].by, MeasuredBy::Replay);
  EXPECT_EQ(all[0].op, Operation::AllReduce);
  EXPECT_EQ(all[0].nranks, 4);
  EXPECT_EQ(all[0].gpus, std::vector<std::string>{"NVIDIA H200"});
  EXPECT_EQ(all[0].settings.size(), 1U);
  ASSERT_EQ(all[0].points.size(), 2U);
  EXPECT_EQ(all[0].points[0].bytes, 1 << 20);
  EXPECT_NEAR(all[0].points[1].busbw(), 251.66, 0.01);
  EXPECT_EQ(all[1].op, Operation::SendRecv);
  EXPECT_EQ(all[1].nranks, -1);
}

TEST(ReplayMeasurements, TheSeriesCountsAndVariedSettingsAreMeasurementsOfTheirOwn) {
  ReplayResult result;
  ReplayTiming first = timing_of("AllReduce", 1 << 20, 40, 1);
  first.timing.series_us = 20;
  first.timing.series_busbw = 52.4;
  ReplayTiming second = timing_of("AllReduce", 1 << 20, 80, 1);
  second.settings = "NCCL_PROTO=LL";
  result.timings = {first, second};
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].points[0].busbw(), 52.4);
  EXPECT_DOUBLE_EQ(all[0].points[0].out_of_place.time_us, 20);
  EXPECT_EQ(all[0].nranks, 2);
  ASSERT_EQ(all[1].settings.size(), 1U);
  EXPECT_EQ(all[1].settings[0].second, "LL");
}

TEST(ReplayMeasurements, ARealResultIsReadBack) {
  const auto file = testing::source_dir() / "sample_logs/replay/healthy/result.json";
  const ReplayResult result = parse_result(testing::read_file(file), "result.json");
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].op, Operation::AllReduce);
  EXPECT_EQ(all[0].nranks, 2);
  EXPECT_EQ(all[0].nhosts, 1);
  EXPECT_NEAR(all[0].points.at(0).busbw(), 300.15, 0.01);
}

}  // namespace
}  // namespace ncclog
