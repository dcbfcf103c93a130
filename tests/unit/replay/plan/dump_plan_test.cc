#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/collectives.h"
#include "base/error.h"
#include "import/import.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "support/dump_line.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::DumpLine;
using testing::plan_words;

constexpr const char* kGaveUp = ",\"retired\":true";

/// A job of which only these dumps are there, by rank.
Job job_of(const std::vector<DumpLine>& dumps) {
  Job job;
  for (size_t rank = 0; rank < dumps.size(); ++rank) {
    const std::string name = "fr_" + std::to_string(rank);
    job.flight_recorders.push_back(import_flight_recorder(dumps[rank].text(), name).value);
  }
  return job;
}

/// The plan, which is sound and whose clean run completes.
ReplayPlan sound_plan(const Job& job, const PlanOptions& options = {}) {
  const ReplayPlan plan = plan_of_dumps(
      {job, {{.id = "watchdog-rank-behind", .title = "t", .communicator = ""}}, {"logs"}}, options);
  for (const PlanComplaint& complaint : check_plan(plan)) {
    if (!complaint.is_refusal) continue;
    ADD_FAILURE() << complaint.where << ": " << complaint.what;
  }
  EXPECT_TRUE(testing::clean_run_completes(plan));
  return plan;
}

DumpLine caller() { return DumpLine(3).done(1).open(2).with(kGaveUp); }

TEST(PlanOfDumps, ALateRankMakesTheCallInTheCleanRun) {
  const ReplayPlan plan = sound_plan(job_of({caller(), caller(), DumpLine(3).done(1)}));
  EXPECT_EQ(plan_words(plan),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "2: AllReduce#0 +AllReduce#1\n"
            "missing-call by 2 at 0#1, entered 0,1, missing 2\n");
  EXPECT_EQ(plan.hypothesis.finding, "watchdog-rank-behind");
  EXPECT_EQ(plan.ranks[2].recorded_rank, 2);
  EXPECT_EQ(plan.communicators[0].id, "default_pg");
  EXPECT_EQ(plan.communicators[0].recorded_nranks, 3);
  EXPECT_EQ(plan.losses.front(),
            "The calls are those of the Flight Recorder's dumps, which name no reduction, root, "
            "stream or buffer: they are replayed as sums, with root 0, on a stream for each "
            "group.");
}

TEST(PlanOfDumps, ARankWithAnotherSizeMakesTheMajoritysCallInTheCleanRun) {
  const Job job =
      job_of({caller(), caller(), DumpLine(3).done(1).open(2, 256).with(kGaveUp).open(3)});
  const ReplayPlan plan = sound_plan(job);
  EXPECT_EQ(plan_words(plan),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "2: AllReduce#0 +AllReduce#1 -AllReduce#1\n"
            "other-call by 2 at 0#1, entered 0,1,2, missing \n");
  EXPECT_EQ(plan.ranks[2].calls[1].count, 512);
  EXPECT_EQ(plan.ranks[2].calls[2].count, 256);
}

TEST(PlanOfDumps, TwoCampsAlikeAccuseNobody) {
  const Job job = job_of(
      {DumpLine(2).done(1).open(2).with(kGaveUp), DumpLine(2).done(1).open(2, 256).with(kGaveUp)});
  const ReplayPlan plan = sound_plan(job);
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0\n1: AllReduce#0\n");
  EXPECT_EQ(plan.losses.back(),
            "The dumps differ in a call, and no majority says who is right: the plan ends before "
            "it.");
}

TEST(PlanOfDumps, SaysWhoLeftNoDump) {
  const ReplayPlan plan = sound_plan(job_of({DumpLine(3).done(1), DumpLine(3).done(1)}));
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0\n1: AllReduce#0\n");
  EXPECT_EQ(plan.recorded_nranks, 3);
  EXPECT_EQ(plan.losses.front(),
            "Communicator default_pg is made without rank 2: the logs do not show what it called.");
  EXPECT_EQ(plan.losses.back(),
            "Nothing tells on which host a rank ran: all are replayed as ranks of one host.");
}

TEST(PlanOfDumps, ACallThatAllEnteredIsAStall) {
  EXPECT_EQ(plan_words(sound_plan(job_of({caller(), caller(), caller()}))),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "2: AllReduce#0 AllReduce#1\n"
            "stall by  at 0#1, entered 0,1,2, missing \n");
}

TEST(PlanOfDumps, BeginsWhereAllDumpsHoldTheCalls) {
  DumpLine whole(2);
  for (int n = 1; n <= 6; ++n) whole.done(n);
  const Job job = job_of({whole, DumpLine(2).done(3).done(4).done(5).done(6)});
  EXPECT_EQ(plan_words(sound_plan(job)),
            "0: AllReduce#2 AllReduce#3 AllReduce#4 AllReduce#5\n"
            "1: AllReduce#2 AllReduce#3 AllReduce#4 AllReduce#5\n");
  const ReplayPlan two = sound_plan(job, {.last = 2});
  EXPECT_EQ(plan_words(two), "0: AllReduce#4 AllReduce#5\n1: AllReduce#4 AllReduce#5\n");
  EXPECT_EQ(two.ranks[1].left_out, 4u);
}

TEST(PlanOfDumps, LeavesOutWhatNoReplayCanMake) {
  const DumpLine dump = DumpLine(2).done(1).done(2, 8, "allreduce_of_mine").done(3);
  const ReplayPlan plan = sound_plan(job_of({dump, dump}));
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0 AllReduce#2\n1: AllReduce#0 AllReduce#2\n");
  EXPECT_EQ(plan.losses.front(),
            "1 call is left out: their function, datatype or count is none that a replay can "
            "make.");
}

TEST(PlanOfDumps, MakesNoPlanWithoutTheFindingThatIsNamed) {
  const Job job = job_of({DumpLine(2).done(1), DumpLine(2).done(1)});
  EXPECT_THROW(plan_of_dumps({job, {{.id = "watchdog-rank-behind"}}, {}},
                             {.finding = "watchdog-rank-behind"}),
               Error);
  EXPECT_THROW(plan_of_dumps({job, {}, {}}, {.only_failing = true}), Error);
}

TEST(DumpsHoldCalls, NeedTwoRanksWithNumberedCalls) {
  const DumpLine one = DumpLine(2).done(1);
  EXPECT_TRUE(dumps_hold_calls(job_of({one, one})));
  EXPECT_FALSE(dumps_hold_calls(job_of({one})));
  EXPECT_FALSE(dumps_hold_calls(job_of({one, DumpLine(2)})));
  EXPECT_FALSE(dumps_hold_calls(job_of({one, DumpLine(2).done(1).with(",\"p2p_seq_id\":1")})));
  EXPECT_FALSE(dumps_hold_calls({}));
}

struct EntryRow {
  const char* name;
  TensorSizes in;
  TensorSizes out;
  const char* type;
  const char* call;  ///< "AllReduce 8 float32"; empty: none.
};

const EntryRow kEntries[] = {
    {"nccl:all_reduce", {{2, 4}}, {{2, 4}}, "Float", "AllReduce 8 float32 in place"},
    {"nccl:all_reduce_barrier", {{1}}, {{1}}, "Byte", "AllReduce 1 uint8 in place"},
    {"nccl:_all_gather_base", {{8}}, {{32}}, "BFloat16", "AllGather 8 bfloat16"},
    {"nccl:_reduce_scatter_base", {{32}}, {{8}}, "Half", "ReduceScatter 8 float16"},
    {"nccl:broadcast", {{8}}, {{8}}, "Long", "Broadcast 8 int64 in place"},
    {"nccl:all_to_all", {{32}}, {{32}}, "Int", "AlltoAll 8 int32"},
    {"nccl:all_to_all", {{32}}, {{28}}, "Int", ""},
    {"nccl:all_to_all", {{30}}, {{30}}, "Int", ""},
    {"nccl:all_reduce", {{8}}, {{8}}, "ComplexFloat", ""},
    {"nccl:all_reduce", {}, {}, "Float", ""},
    {"nccl:send 0->1", {{8}}, {}, "Float", ""},
    {"gloo:all_reduce", {{8}}, {{8}}, "Float", ""},
};

TEST(CallOfEntry, CountsAsNcclDoes) {
  for (const EntryRow& row : kEntries) {
    FlightRecorderEntry entry{.collective_seq_id = 5, .profiling_name = row.name};
    entry.input_sizes = row.in;
    entry.output_sizes = row.out;
    entry.input_dtypes = {row.type};
    const auto call = call_of_entry(entry, 4);
    const std::string words = !call ? ""
                                    : call->op + " " + std::to_string(call->count) + " " +
                                          std::string(datatype_name(call->datatype)) +
                                          (call->in_place ? " in place" : "");
    EXPECT_EQ(words, row.call) << row.name;
    EXPECT_EQ(call ? call->index : 4, 4u) << row.name;
  }
}

}  // namespace
}  // namespace ncclog
