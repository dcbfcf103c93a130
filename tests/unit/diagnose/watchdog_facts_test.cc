#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;

/// The two lines with which a rank gives up on a work of PyTorch 2.6 and later.
std::string timeout(int rank, int seq, std::string_view op, int64_t numel,
                    std::string_view group = "0(default_pg)") {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n"
      "[rank{0}]:[E209 11:22:33.123456799 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID {4} Rank "
      "{0}]  failure detected by watchdog at work sequence id: {1} PG status: last enqueued work: "
      "{1}, last completed work: {5}\n",
      rank, seq, op, numel, group, seq - 1);
}

/// What a rank says when another one's timeout makes it dump.
std::string dump(int rank, int last_enqueued) {
  return fmt::format(
      "[rank{0}]:[E209 11:22:37.123456799 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID "
      "0(default_pg) Rank {0}] Received a dump signal due to a collective timeout from  rank 0 and "
      "we will try our best to dump the debug info. Last enqueued NCCL work: {1}, last completed "
      "NCCL work: {1}.This is most likely caused by incorrect usages of collectives\n",
      rank, last_enqueued);
}

/// PyTorch up to 2.1 names only the rank inside the group.
std::string old_timeout(int rank, int seq, std::string_view op, std::string_view shape) {
  return fmt::format(
      "[E ProcessGroupNCCL.cpp:828] [Rank {0}] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum={1}, OpType={2}, TensorShape=[{3}], Timeout(ms)=1800000) ran for 180010{0} "
      "milliseconds before timing out.\n",
      rank, seq, op, shape);
}

std::string peer_closed() {
  return "n1:7:9 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
         "n2<41822>\n";
}

constexpr std::string_view kMismatch = "job.watchdog_mismatch";
constexpr std::string_view kBehind = "job.watchdog_behind";

const GuiltyCase kMismatches[] = {
    {"three against one", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
         timeout(2, 20, "ALLREDUCE", 8) + timeout(3, 20, "ALLREDUCE", 4),
     "yes 3"},
    {"two against two", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
         timeout(2, 20, "ALLREDUCE", 4) + timeout(3, 20, "ALLREDUCE", 4),
     "yes"},
    {"one against one", kMismatch, timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "BROADCAST", 8),
     "yes"},
    {"all the same", kMismatch, timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8),
     "unknown"},
    {"other groups", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8, "3(dp)") + timeout(1, 20, "ALLREDUCE", 4, "4(tp)"), "unknown"},
    {"uneven all-to-all", kMismatch,
     timeout(0, 20, "ALLTOALL_BASE", 8) + timeout(1, 20, "ALLTOALL_BASE", 4), "unknown"},
    {"both ends of a transfer", kMismatch, timeout(0, 20, "SEND", 8) + timeout(1, 20, "RECV", 8),
     "unknown"},
    {"neighbouring numbers, other sizes", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 21, "ALLREDUCE", 1), "yes"},
    {"neighbouring numbers after a lost peer", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 21, "ALLREDUCE", 1) + peer_closed(), "unknown"},
    {"up to 2.0", kMismatch,
     old_timeout(0, 7, "ALLREDUCE", "64") + old_timeout(1, 7, "ALLREDUCE", "64") +
         old_timeout(2, 7, "BROADCAST", "64"),
     "yes 2"},
    {"one group rank twice: several groups", kMismatch,
     old_timeout(0, 7, "ALLREDUCE", "64") + old_timeout(0, 7, "BROADCAST", "64") +
         old_timeout(1, 7, "ALLREDUCE", "64"),
     "unknown"},
};

const GuiltyCase kLate[] = {
    {"its own numbers", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8) + dump(2, 28), "yes 2"},
    {"as far as the others", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8) + dump(2, 29), "unknown"},
    {"silence", kBehind, timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "unknown"},
    {"one has run ahead", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + dump(1, 28) + dump(2, 28) + dump(3, 28), "unknown"},
    {"a dump speaks of the default group only", kBehind,
     timeout(0, 29, "ALLREDUCE", 8, "3(dp)") + timeout(1, 29, "ALLREDUCE", 8, "3(dp)") +
         dump(2, 11),
     "unknown"},
    {"it failed in NCCL before", kBehind,
     "[rank2]: torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error (run with "
     "NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n" +
         timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "yes 2"},
    {"it lost a peer before", kBehind,
     "[rank2]: torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, remote process exited or there was a "
     "network error, NCCL version 2.21.5\n" +
         timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "unknown"},
};

TEST(WatchdogFacts, NameTheOddRankOnlyAgainstAClearMajority) {
  for (const GuiltyCase& row : kMismatches) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(WatchdogFacts, NameARankAsBehindByItsOwnLinesOnly) {
  for (const GuiltyCase& row : kLate) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(WatchdogFacts, SayWhoWaitsInWhat) {
  const FactValue value =
      testing::fact_of(kMismatch, timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
                                      timeout(2, 20, "BROADCAST", 8));
  EXPECT_EQ(value.what,
            "SeqNum 20: ranks 0,1 in ALLREDUCE NumelIn=8, NumelOut=8, rank 2 in BROADCAST "
            "NumelIn=8, NumelOut=8");
}

struct PhaseCase {
  std::string_view what;
  std::string log;
  std::string_view phase;
};

TEST(WatchdogFacts, SeeAnEvaluationOnlyWhereNoTrainingFollowed) {
  const std::string eval = "Validation:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string train = "Training:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string far(800, '\n');
  const std::string late = timeout(0, 5, "ALLREDUCE", 1);
  const PhaseCase cases[] = {
      {"just before", eval + late, "Validation"},
      {"without newline", eval.substr(0, eval.size() - 1) + late, "Validation"},
      {"training goes on", eval + train + late, ""},
      {"afterwards", late + eval, ""},
      {"long ago", eval + far + late, ""},
      {"a checkpoint", "Saving checkpoint at step 500\n" + late, "Saving checkpoint at step 500"},
  };
  for (const PhaseCase& row : cases) {
    EXPECT_EQ(testing::fact_of("job.watchdog_at_eval", row.log).what, row.phase) << row.what;
  }
}

}  // namespace
}  // namespace ncclog
