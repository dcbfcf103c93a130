#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kPerhaps = "job.device_changed_perhaps";

/// A line of rank's process, which has pid 100 + rank.
std::string line(int rank, int dev, std::string_view message) {
  return fmt::format("n1:{0}:{0} [{1}] NCCL INFO {2}\n", 100 + rank, dev, message);
}

std::string phase(int rank, int dev, int id, std::string_view phase) {
  return line(rank, dev,
              fmt::format("ncclCommInitRankConfig comm {:#x} rank {} nranks 3 cudaDev {} nvmlDev "
                          "{} busId {}000 commId {:#x} - Init {}",
                          0x7000 + id * 16 + rank, rank, dev, dev, dev + 1, id, phase));
}

std::string complete(int rank, int dev, int id) {
  return phase(rank, dev, id, "START") + phase(rank, dev, id, "COMPLETE");
}

const std::string kAll = complete(0, 0, 0x51) + complete(1, 1, 0x51) + complete(2, 2, 0x51);
const std::string kTimeout =
    "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600019 milliseconds before timing out.\n";
const std::string kClosing = "ENV/Plugin: Closing env plugin ncclEnvDefault";

const GuiltyCase kRows[] = {
    {"the job may only start, so it is told", kPerhaps, kAll + phase(2, 5, 0x61, "START"), "yes 2"},
    {"all ranks change, so it is told", kPerhaps,
     kAll + complete(0, 3, 0x61) + complete(1, 4, 0x61) + complete(2, 5, 0x61), "yes 0-2"},
    {"the main thread shows another GPU, so it is told", kPerhaps,
     kAll + kTimeout + line(2, 5, kClosing), "yes 2"},
};

TEST(DeviceFacts, ARankThatMayHaveAnotherGpuIsTold) {
  for (const GuiltyCase& row : kRows) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

}  // namespace

}  // namespace ncclog
