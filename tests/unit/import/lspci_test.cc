#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diagnose/hardware/pci_links.h"
#include "import/import.h"

namespace ncclog {
namespace {

constexpr uint64_t kUnit = 7;

/// One line for each device: "node-a GPU 17:00.0 16x16 8x8 (3/5)", with what both lines of its link
/// say, where they stand, and what a bridge leads to.
std::string summary(const Imported<std::vector<PciListing>>& import) {
  std::string text;
  for (const PciListing& host : import.value) {
    for (const PciDevice& device : host.devices) {
      const char* kind = device.kind == PciKind::GPU   ? "GPU"
                         : device.kind == PciKind::NIC ? device.is_fabric ? "fabric" : "NIC"
                                                       : "bridge";
      text += fmt::format("{}{}{} {} {:g}x{} {:g}x{}", host.host, host.host.empty() ? "" : " ",
                          kind, pci_address(device.bus_id), device.can.speed, device.can.width,
                          device.runs.speed, device.runs.width);
      if (device.bus_below >= 0) text += fmt::format(" -> {:02x}", device.bus_below);
      text += "\n";
    }
  }
  return text + import.problem;
}

constexpr std::string_view kHost =
    "00:1f.0 ISA bridge: Intel Corporation Device a245\n"
    "\tControl: I/O+ Mem+ BusMaster+ SpecCycle-\n"
    "16:02.0 PCI bridge: Intel Corporation Sky Lake-E PCI Express Root Port C (rev 07) (prog-if "
    "00)\n"
    "\tBus: primary=16, secondary=17, subordinate=19, sec-latency=0\n"
    "\tCapabilities: [90] Express (v2) Root Port (Slot+), MSI 00\n"
    "\t\tLnkCap:\tPort #9, Speed 8GT/s, Width x16, ASPM L1, Exit Latency L1 <16us\n"
    "\t\tLnkSta:\tSpeed 8GT/s (ok), Width x8 (downgraded)\n"
    "\t\tLnkCap2: Supported Link Speeds: 2.5-8GT/s, Crosslink- Retimer-\n"
    "\n"
    "17:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
    "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n"
    "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)\n"
    "\t\tLnkSta2: Current De-emphasis Level: -6dB\n"
    "18:00.0 Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n"
    "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n"
    "\t\tLnkSta:\tSpeed 16GT/s (ok), Width x16 (ok)\n"
    "19:00.0 Ethernet controller: Intel Corporation I350 Gigabit Network Connection (rev 01)\n"
    "\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x4, ASPM L0s L1\n"
    "\t\tLnkSta:\tSpeed 5GT/s, Width x4, TrErr- Train- SlotClk+ DLActive-\n"
    "1a:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 41)\n"
    "\t\tLnkSta:\tSpeed 5GT/s, Width x1\n";

TEST(Lspci, ListsGpusNicsAndBridgesWithTheirLinks) {
  const auto import = import_lspci(kHost, kUnit);
  EXPECT_EQ(summary(import),
            "bridge 0000:16:02.0 8x16 8x8 -> 17\n"
            "GPU 0000:17:00.0 16x16 2.5x8\n"
            "fabric 0000:18:00.0 16x16 16x16\n"
            "NIC 0000:19:00.0 5x4 5x4\n");
  const PciDevice& gpu = import.value.at(0).devices.at(1);
  EXPECT_EQ(gpu.name, "NVIDIA Corporation GA100 [A100 PCIe 40GB]");
  EXPECT_EQ(gpu.where, (SourceRef{kUnit, 10}));
  EXPECT_EQ(gpu.runs.where, (SourceRef{kUnit, 12}));
  EXPECT_EQ(gpu.runs.text, "LnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)");
  EXPECT_EQ(port_above(import.value.at(0), gpu), &import.value.at(0).devices.at(0));
  EXPECT_EQ(port_above(import.value.at(0), import.value.at(0).devices.at(2)), nullptr);
}

struct ListingRow {
  const char* name;
  std::string_view text;
  std::string_view devices;
};

constexpr std::string_view kNoLink =
    "it shows the link of no GPU, NIC or bridge; lspci -vv shows links to root alone";

constexpr ListingRow kListings[] = {
    {"by class and number, with a domain",
     "0001:41:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)\r\n"
     "\tLnkSta:\tSpeed 32GT/s, Width x16\r\n",
     "GPU 0001:41:00.0 -1x-1 32x16\n"},
    {"numbers alone", "41:00.0 0302: 10de:2330 (rev a1)\n\tLnkSta:\tSpeed 32GT/s, Width x16\n",
     "GPU 0000:41:00.0 -1x-1 32x16\n"},
    {"hosts below lines that name them",
     "==== node-a ====\n41:00.0 0302: 10de:1\n\tLnkSta: Speed 8GT/s, Width x8\n"
     "----------------\nnode-b\n----------------\n41:00.0 0302: 10de:1\n\tLnkSta: Speed 8GT/s, "
     "Width x4\n"
     "Host: node-c\n41:00.0 0302: 10de:1\n\tLnkSta: Speed 8GT/s, Width x2\n"
     "[root@node-d ~]# lspci -vvv\n41:00.0 0302: 10de:1\n\tLnkSta: Speed 8GT/s, Width x1\n",
     "node-a GPU 0000:41:00.0 -1x-1 8x8\nnode-b GPU 0000:41:00.0 -1x-1 8x4\n"
     "node-c GPU 0000:41:00.0 -1x-1 8x2\nnode-d GPU 0000:41:00.0 -1x-1 8x1\n"},
    {"hosts in front of lines, in turns",
     "n1: 41:00.0 0302: 10de:1\nn2: 42:00.0 0302: 10de:1\nn2: \tLnkSta: Speed 8GT/s, Width x4\n"
     "n1: \tLnkSta: Speed 8GT/s, Width x8\n",
     "n1 GPU 0000:41:00.0 -1x-1 8x8\nn2 GPU 0000:42:00.0 -1x-1 8x4\n"},
    {"a virtual function has no lanes",
     "41:00.1 Infiniband controller: Mellanox MT28908 Family [ConnectX-6 Virtual Function]\n"
     "\tLnkSta: Speed unknown (downgraded), Width x0 (downgraded)\n",
     "fabric 0000:41:00.1 -1x-1 -1x-1\n"},
    {"links of devices that matter to nobody here",
     "41:00.0 0302: 10de:1\n41:00.1 Audio device: NVIDIA Corporation Device 22bb\n"
     "\tLnkSta: Speed 8GT/s, Width x8\n",
     kNoLink},
    {"not root", "41:00.0 0302: 10de:1\n\tCapabilities: <access denied>\n", kNoLink},
    {"nothing", "", kNoLink},
    {"numbers that no link has",
     "41:00.0 0302: 10de:1\n\tLnkCap: Speed -8GT/s, Width x99\n\tLnkSta: Speed 1e999GT/s, Width "
     "x99999999999999999999\n",
     "GPU 0000:41:00.0 -1x-1 -1x-1\n"},
    {"the first of several",
     "41:00.0 0302: 10de:1\n\tLnkSta: Speed 8GT/s, Width x8\n\tLnkSta: Width x1\n",
     "GPU 0000:41:00.0 -1x-1 8x8\n"},
};

TEST(Lspci, ReadsAllFormsInWhichPeopleHaveIt) {
  for (const ListingRow& row : kListings) {
    EXPECT_EQ(summary(import_lspci(row.text, kUnit)), row.devices) << row.name;
  }
}

TEST(Lspci, IsReadUpToAnyByteAndWithAnyByteBroken) {
  const std::string whole(kHost);
  for (size_t end = 0; end <= whole.size(); ++end) {
    for (const PciListing& host : import_lspci(whole.substr(0, end), kUnit).value) {
      EXPECT_LE(host.devices.size(), 4U);
    }
    std::string broken = whole;
    if (end < whole.size()) broken[end] = '\xff';
    EXPECT_LE(import_lspci(broken, kUnit).value.size(), 1U);
  }
}

TEST(Lspci, KeepsBoundedParts) {
  std::string text;
  for (int i = 0; i < 70000; ++i) {
    text += fmt::format("{:04x}:41:00.0 0302: 10de:{}\n\tLnkSta: Speed 8GT/s, Width x8\n",
                        i % 65536, i == 0 ? std::string(100000, 'x') : std::string());
  }
  const auto import = import_lspci(text, kUnit);
  ASSERT_EQ(import.value.size(), 1U);
  EXPECT_EQ(import.value[0].devices.size(), 65536U);
  EXPECT_EQ(import.value[0].devices[0].name.size(), 128U);
  EXPECT_EQ(import.value[0].devices[0].text.size(), 512U);
  std::string hosts;
  for (int i = 0; i < 5000; ++i)
    hosts += fmt::format("n{}: 41:00.0 0302: 10de:1\nn{}: \tLnkSta: x\n", i, i);
  EXPECT_EQ(import_lspci(hosts, kUnit).value.size(), 4096U);
}

}  // namespace
}  // namespace ncclog
