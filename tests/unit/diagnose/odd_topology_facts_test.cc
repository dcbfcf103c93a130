#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/guilty.h"

namespace ncclog {
namespace {

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

const LinkCase kRows[] = {
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
  for (const LinkCase& row : kRows) {
    std::string log;
    for (size_t h = 0; h < row.hosts.size(); ++h) log += host(static_cast<int>(h), row.hosts[h]);
    EXPECT_EQ(guilty_answer(row.fact, log), row.answer) << row.fact << ": " << row.what;
  }
}

}  // namespace
}  // namespace ncclog
