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
