#include "diagnose/first_transfer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;

struct P2pCase {
  std::string_view what;
  std::string log;
  std::string_view answer;
};

const std::string kConnected =
    "box:9:31 [0] NCCL INFO comm 0x5a rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x51 - "
    "Init START\n"
    "box:9:31 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n";
const std::string kOverShm =
    "box:9:31 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n";

std::string search(std::string_view channels, std::string_view type) {
  return "box:9:31 [0] NCCL INFO Pattern 4, crossNic 0, nChannels " + std::string(channels) +
         ", bw 12.000000/12.000000, type " + std::string(type) + ", sameChannels 1\n";
}

std::string matrix(std::string_view link) {
  const std::string cell(link);
  return "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t" + cell + "\t0-15\nGPU1\t" + cell +
         "\t X \t0-15\n";
}

const P2pCase kWays[] = {
    {"a search over PCIe", kConnected + search("2", "PHB/PIX"), "yes"},
    {"a search over NVLink", kConnected + search("2", "NVL/PIX"), "no"},
    {"a search that found nothing", kConnected + search("0", "SYS/PIX"), "unknown"},
    {"a matrix without NVLink", kConnected + matrix("PHB"), "yes"},
    {"a matrix with NVLink", kConnected + matrix("NV12"), "no"},
    {"both", kConnected + search("2", "PHB/PIX") + matrix("NV12"), "no"},
    {"no word about links", kConnected, "unknown"},
    {"shared memory", kOverShm + matrix("PHB"), "unknown"},
};

TEST(FirstTransfer, TellPcieFromNvlink) {
  for (const P2pCase& row : kWays) {
    EXPECT_EQ(answer_of("job.p2p_over_pcie", row.log), row.answer) << row.what;
  }
}

std::string timeout_of(std::string_view seq) {
  return "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=" +
         std::string(seq) +
         ", OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=1800000) ran for 1800019 "
         "milliseconds before timing out.\n";
}

const std::string kBegun =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n";
const std::string kCancelled =
    "slurmstepd: error: *** STEP 81.0 ON box CANCELLED AT 2026-02-03T04:05:06 DUE TO TIME LIMIT "
    "***\n";

const P2pCase kStalls[] = {
    {"begun, no row, cancelled", kBegun + kCancelled, "yes"},
    {"begun and no row, perhaps not at its end", kBegun, "unknown"},
    {"a row",
     kBegun +
         "     1048576        262144     float     sum      -1    45.31   23.14   40.50     "
         " 0    44.87   23.37   40.90      0\n" +
         kCancelled,
     "unknown"},
    {"the first call", timeout_of("1"), "yes"},
    {"a later call", timeout_of("812"), "no"},
    {"the first call of one group, a later one of another", timeout_of("1") + timeout_of("812"),
     "no"},
    {"nothing", "box:9:31 [0] NCCL INFO Using network Socket\n", "unknown"},
};

TEST(FirstTransfer, SeeAStallFromTheStartOnly) {
  for (const P2pCase& row : kStalls) {
    EXPECT_EQ(answer_of("job.stalled_from_start", row.log), row.answer) << row.what;
  }
}

}  // namespace
}  // namespace ncclog
