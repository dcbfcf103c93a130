#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kChanged = "job.device_changed";
constexpr std::string_view kPerhaps = "job.device_changed_perhaps";

/// A line of rank's process, which has pid 100 + rank, printed by `thread` (0: the main one).
std::string line(int rank, int dev, std::string_view message, int thread = 0) {
  const int pid = 100 + rank;
  return fmt::format("n1:{}:{} [{}] NCCL INFO {}\n", pid, pid + thread, dev, message);
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

std::string store_wait(std::string_view key) {
  return fmt::format(
      "[rank2]: torch.distributed.DistBackendError: [2] is setting up NCCL communicator and "
      "retrieving ncclUniqueId from [0] via c10d key-value store by key '{0}', but "
      "store->get('{0}') got error: wait timeout after 20000ms, keys: /default_pg/0//cuda//{0}\n",
      key);
}

const GuiltyCase kRows[] = {
    {"a second communicator that nobody joins", kChanged,
     kAll + phase(2, 5, 0x61, "START") + kTimeout, "yes 2"},
    {"the job may only start", kChanged, kAll + phase(2, 5, 0x61, "START"), "unknown"},
    {"the job may only start, so it is told", kPerhaps, kAll + phase(2, 5, 0x61, "START"), "yes 2"},
    {"the second communicator came up", kChanged, kAll + complete(2, 5, 0x61) + kTimeout,
     "unknown"},
    {"the same GPU", kPerhaps, kAll + complete(2, 2, 0x61) + kTimeout, "unknown"},
    {"all ranks change", kChanged,
     kAll + phase(0, 3, 0x61, "START") + phase(1, 4, 0x61, "START") + phase(2, 5, 0x61, "START") +
         kTimeout,
     "unknown"},
    {"all ranks change, so it is told", kPerhaps,
     kAll + complete(0, 3, 0x61) + complete(1, 4, 0x61) + complete(2, 5, 0x61), "yes 0-2"},
    {"the main thread shows another GPU, and the rank waits in the store", kChanged,
     kAll + store_wait("1") + line(2, 5, kClosing), "yes 2"},
    {"it waits for the first communicator of a group", kChanged,
     kAll + store_wait("0") + line(2, 5, kClosing), "unknown"},
    {"the main thread shows another GPU", kChanged, kAll + kTimeout + line(2, 5, kClosing),
     "unknown"},
    {"the main thread shows another GPU, so it is told", kPerhaps,
     kAll + kTimeout + line(2, 5, kClosing), "yes 2"},
    {"a service thread shows another GPU", kPerhaps, kAll + line(2, 0, kClosing, 40), "unknown"},
    {"a line before the communicator shows another GPU", kPerhaps,
     line(2, 0, "NCCL_DEBUG set by environment to INFO.") + kAll, "unknown"},
    {"one process drives several GPUs", kPerhaps,
     line(0, 0,
          "ncclCommInitAll comm 0x7f0a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x51 "
          "- Init COMPLETE") +
         line(0, 1,
              "ncclCommInitAll comm 0x7f0b rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2000 commId "
              "0x51 - Init COMPLETE") +
         line(0, 1, kClosing),
     "unknown"},
};

TEST(DeviceFacts, ARankIsNamedWhereItIsLeftBehind) {
  for (const GuiltyCase& row : kRows) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(DeviceFacts, SayOneChangeInFull) {
  const std::string log = kAll + line(1, 4, kClosing) + line(2, 5, kClosing);
  EXPECT_EQ(testing::fact_of(kPerhaps, log).what,
            "rank 1 (n1, pid 101) initialised communicator 0x51 on GPU 1 (bus id 2000) and went on "
            "with GPU 4; rank 2 likewise");
}

}  // namespace
}  // namespace ncclog
