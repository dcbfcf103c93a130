#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

using testing::guilty_answer;

std::string line(int host, std::string_view message) {
  return fmt::format("gpu-{0}:{1}:{1} [0] NCCL INFO {2}\n", host, 100 + host, message);
}

/// A GPU of a host and its links, GB/s.
struct GpuLinks {
  double pci = 48;
  double nvlink = 370.8;  ///< 0: its line is lost.
};

std::string host(int number, const std::vector<GpuLinks>& gpus) {
  std::string log = line(number, "=== System : maxBw 370.8 totalBw 370.8 ===");
  log += line(number, "CPU/0-0 (1/1/2)");
  for (size_t g = 0; g < gpus.size(); ++g) {
    log += line(number, fmt::format("+ PCI[{:.1f}] - GPU/0-{}000 ({})", gpus[g].pci, g + 1, g));
    if (gpus[g].nvlink == 0) continue;
    log += line(number, fmt::format("              + NVL[{:.1f}] - NVS/0-0", gpus[g].nvlink));
  }
  log += line(number, "==========================================");
  return log + line(number, fmt::format("ncclCommInitRank comm 0x7a rank 0 nranks {} cudaDev 0 "
                                        "nvmlDev 0 busId 1000 commId 0x7{} - Init COMPLETE",
                                        gpus.size(), number));
}

using Gpus = std::vector<GpuLinks>;

struct LinkCase {
  std::string_view what;
  std::string_view fact;
  std::vector<Gpus> hosts;
  std::string_view answer;
};

const GpuLinks kGood;
const GpuLinks kFewLinks{48, 206};
const GpuLinks kNarrow{12, 370.8};

const LinkCase kTopologyRows[] = {
    {"all alike", "job.odd_nvlink", {Gpus(4, kGood)}, "no"},
    {"the first of four", "job.odd_nvlink", {{kFewLinks, kGood, kGood, kGood}}, "yes 0"},
    {"one of four, whose rank is not seen",
     "job.odd_nvlink",
     {{kGood, kGood, kFewLinks, kGood}},
     "yes"},
    {"a line is lost", "job.odd_nvlink", {{kGood, kGood, {48, 0}, kGood}}, "no"},
    {"more than the others is no fault",
     "job.odd_nvlink",
     {{kFewLinks, kFewLinks, kFewLinks, kGood}},
     "no"},
    {"a little less", "job.odd_nvlink", {{kGood, kGood, {48, 330}, kGood}}, "no"},
    {"three GPUs cannot say", "job.odd_nvlink", {{kGood, kFewLinks, kGood}}, "no"},
    {"the last place is so on both hosts",
     "job.odd_nvlink",
     {{kGood, kGood, kGood, kFewLinks}, {kGood, kGood, kGood, kFewLinks}},
     "no"},
    {"a host of four", "job.odd_nvlink", {{kGood}, {kGood}, {kFewLinks}, {kGood}}, "yes 0"},
    {"a narrow slot", "job.odd_pcie_link", {{kNarrow, kGood, kGood, kGood}}, "yes 0"},
    {"no slot is narrow", "job.odd_pcie_link", {Gpus(4, kFewLinks)}, "no"},
    {"nothing is printed", "job.odd_pcie_link", {}, "unknown"},
};

TEST(OddTopologyFacts, NameGpusWithLessThanTheirPeers) {
  for (const LinkCase& row : kTopologyRows) {
    std::string log;
    for (size_t h = 0; h < row.hosts.size(); ++h) log += host(static_cast<int>(h), row.hosts[h]);
    EXPECT_EQ(guilty_answer(row.fact, log), row.answer) << row.fact << ": " << row.what;
  }
}

}  // namespace

}  // namespace ncclog
