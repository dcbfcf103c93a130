#include <gtest/gtest.h>

#include "model/flight_recorder.h"
#include "support/fact_of.h"

namespace ncclog {
namespace {

struct FitCase {
  std::string_view what;
  CallSignature call;
  std::string_view op;
  int64_t in;
  int64_t out;
  bool fits;
};

const FitCase kFits[] = {
    {"what all give", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, true},
    {"another size", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 9, 9, false},
    {"another function", {"Broadcast", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, false},
    {"an AllGather counts what one rank gives",
     {"AllGather", 8, 7, 0, 0},
     "_ALLGATHER_BASE",
     8,
     64,
     true},
    {"up to 2.21 in bytes", {"AllGather", 32, 0, 0, 0}, "_ALLGATHER_BASE", 8, 64, true},
    {"a ReduceScatter counts what one rank gets",
     {"ReduceScatter", 8, 7, 0, 0},
     "_REDUCE_SCATTER_BASE",
     64,
     8,
     true},
    {"an all-to-all is many calls", {"Send", 8, 7, 0, 0}, "ALLTOALL_BASE", 8, 8, false},
    {"no size printed", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", -1, -1, false},
};

TEST(WatchdogCalls, FitByOperationAndSize) {
  for (const FitCase& row : kFits) {
    EXPECT_EQ(is_call_of_work(row.call, row.op, row.in, row.out), row.fits) << row.what;
  }
}

TEST(WatchdogFacts, SeeNoEvaluationThatIsLongAgo) {
  const std::string eval = "Validation:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string late =
      "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
  EXPECT_EQ(testing::answer_of("job.watchdog_at_eval", eval + late), "yes");
  EXPECT_EQ(testing::answer_of("job.watchdog_at_eval", eval + std::string(800, '\n') + late),
            "unknown");
}

}  // namespace

}  // namespace ncclog
