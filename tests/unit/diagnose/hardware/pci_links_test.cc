#include "diagnose/hardware/pci_links.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "app/read/read_example.h"
#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

std::string link(const char* can, const char* runs) {
  return fmt::format("\t\tLnkCap:\tPort #0, {}, ASPM not supported\n\t\tLnkSta:\t{}\n", can, runs);
}

/// The bridge above bus `bus`.
std::string port(int bus, const char* can) {
  return fmt::format(
             "00:{0:02x}.0 PCI bridge: Intel Corporation Port\n\tBus: primary=00, "
             "secondary={0:02x}, subordinate={0:02x}, sec-latency=0\n",
             bus) +
         link(can, "Speed 8GT/s, Width x16");
}

std::string gpu(int bus, const char* can, const char* runs,
                const char* name = "NVIDIA Corporation GA102 [GeForce RTX 3090]") {
  return fmt::format("{:02x}:00.0 VGA compatible controller: {} (rev a1)\n", bus, name) +
         link(can, runs);
}

std::string nic(int bus, const char* can, const char* runs,
                const char* name = "Mellanox Technologies MT28908 Family [ConnectX-6]") {
  return fmt::format("{:02x}:00.0 Infiniband controller: {}\n", bus, name) + link(can, runs);
}

constexpr const char* kFull = "Speed 16GT/s, Width x16";
constexpr const char* kHalf = "Speed 16GT/s, Width x8";
constexpr const char* kIdle = "Speed 2.5GT/s (downgraded), Width x16";

struct Row {
  const char* name;
  std::string listing;
  const char* answer;
};

const Row kRows[] = {
    {"both ends have more", port(0x41, kFull) + gpu(0x41, kFull, "Speed 16GT/s, Width x4"),
     "GPU 0000:41:00.0 has 4 of 16 lanes"},
    {"on a host that is named", "=== node-a ===\n" + port(0x41, kFull) + gpu(0x41, kFull, kHalf),
     "GPU 0000:41:00.0 on node-a has 8 of 16 lanes"},
    {"an idle GPU runs slowly with all its lanes", port(0x41, kFull) + gpu(0x41, kFull, kIdle),
     "no"},
    {"an idle NVIDIA GPU keeps its lanes",
     port(0x41, kFull) + gpu(0x41, kFull, "Speed 2.5GT/s (downgraded), Width x8 (downgraded)"),
     "GPU 0000:41:00.0 has 8 of 16 lanes"},
    {"an idle AMD GPU may not",
     port(0x41, kFull) + gpu(0x41, kFull, "Speed 2.5GT/s (downgraded), Width x1 (downgraded)",
                             "Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran [MI210]"),
     "unknown"},
    {"a narrow slot is as it was built", port(0x41, kHalf) + gpu(0x41, kFull, kHalf), "no"},
    {"nothing tells what the slot has", gpu(0x41, kFull, kHalf), "unknown"},
    {"one of four alike ones has less",
     gpu(0x41, kFull, kHalf) + gpu(0x42, kFull, kFull) + gpu(0x43, kFull, kFull) +
         gpu(0x44, kFull, kFull),
     "GPU 0000:41:00.0 has 8 of 16 lanes"},
    {"two of four have less: boards are made so",
     gpu(0x41, kFull, kHalf) + gpu(0x42, kFull, kHalf) + gpu(0x43, kFull, kFull) +
         gpu(0x44, kFull, kFull),
     "unknown"},
    {"a NIC", port(0x51, kFull) + nic(0x51, kFull, kHalf), "NIC 0000:51:00.0 has 8 of 16 lanes"},
    {"a slower NIC beside it serves others",
     port(0x51, kFull) + nic(0x51, kFull, kFull) + port(0x52, kFull) +
         nic(0x52, "Speed 8GT/s, Width x8", "Speed 8GT/s, Width x4"),
     "no"},
    {"the bridge of another domain", "0001:" + port(0x41, kFull) + gpu(0x41, kFull, kHalf),
     "unknown"},
};

TEST(PciLinks, AccuseOnlyWhereBothEndsHaveMoreLanes) {
  for (const Row& row : kRows) {
    const Job job = read_example(row.listing, {});
    const FactValue answer = find_fact("job.narrow_pci_link")->derive(job, job_instance(job));
    EXPECT_EQ(is_yes(answer) ? answer.what : fact_text(answer), row.answer) << row.name;
  }
}

TEST(PciLinks, RunUnderLoadAtWhatBothEndsCan) {
  const Job job = read_example(port(0x41, "Speed 8GT/s, Width x16") + gpu(0x41, kFull, kIdle) +
                                   nic(0x51, kFull, "Speed 8GT/s (downgraded), Width x16"),
                               {});
  const std::vector<PciLinkState>& links = pci_links(job);
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].generation, 3);
  EXPECT_EQ(links[0].lanes, 16);
  EXPECT_EQ(links[1].generation, 3) << "NICs do not save power so";
}

}  // namespace
}  // namespace ncclog
