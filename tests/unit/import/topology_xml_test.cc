#include <gtest/gtest.h>

#include <string>

#include "import/import.h"

namespace ncclog {
namespace {

constexpr std::string_view kFile = R"(<?xml version="1.0"?>
<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" modelid="143">
    <pci busid="0000:17:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:19:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="3" gdr="1">
          <nvlink target="0000:05:00.0" count="10" tclass="0x068000"/>
          <nvlink target="0000:06:00.0" count="8" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:18:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="0">
        <nic>
          <net name="mlx5_0" dev="1" speed="400000" port="1" guid="0x9c" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <nic><net name="eth0" dev="0" speed="10000"/></nic>
  </cpu>
</system>
)";

TEST(TopologyXml, GivesTheNodesThatALogPrints) {
  const auto import = import_topology(kFile);
  EXPECT_EQ(import.problem, "");
  const std::vector<SystemNode> nodes = {
      {{"CPU", 0, 0}, -1, "", -1, -1, -1, "x86_64 GenuineIntel", "", -1},
      {{"PCI", 0, 0x17000}, 0, "PCI", 48, -1, -1, "", "", -1},
      {{"GPU", 0, 0x19000}, 1, "PCI", 24, 3, 0, "sm 90", "", -1},
      {{"NIC", 0, 0x18000}, 1, "PCI", 48, -1, -1, "", "", -1},
      {{"NET", 0, 1}, 3, "NET", 50, -1, 1, "port 1, guid 0x9c, gdr 1", "mlx5_0", 50},
      {{"NIC", 0, 0}, 0, "PCI", -1, -1, -1, "", "", -1},
      {{"NET", 0, 0}, 5, "NET", 1.25, -1, 0, "", "eth0", 1.25},
      {{"NVS", 0, 0}, -1, "", -1, -1, -1, "", "", -1}};
  EXPECT_EQ(import.value.nodes, nodes);
  ASSERT_EQ(import.value.links.size(), 1u);
  EXPECT_EQ(import.value.links[0].from, 2);
  EXPECT_EQ(import.value.links[0].to, 7);
  EXPECT_NEAR(import.value.links[0].bw, 18 * 20.6, 1e-9);
}

TEST(TopologyXml, LinksGpusThatNvlinkJoinsDirectly) {
  const auto import = import_topology(
      "<system version='1'><cpu numaid='-1'>"
      "<pci busid='0000:01:00.0'><gpu dev='0' sm='70'>"
      "<nvlink target='0000:02:00.0' count='2' tclass='0x030200'/></gpu></pci>"
      "<pci busid='0000:02:00.0'><gpu dev='1' sm='70'>"
      "<nvlink target='0000:09:00.0' count='2' tclass='0x030200'/></gpu></pci></cpu></system>");
  EXPECT_EQ(import.value.links, (std::vector<SystemLink>{{1, 2, "NVL", 40}}));
  EXPECT_EQ(to_string(import.value.nodes.at(0).name), "CPU/0-ffffffffffffff");
}

std::string nested(size_t levels) {
  std::string text = "<system>";
  for (size_t i = 0; i < levels; ++i) text += "<pci>";
  for (size_t i = 0; i < levels; ++i) text += "</pci>";
  return text + "</system>";
}

std::string many(size_t count) {
  std::string text = "<system>";
  for (size_t i = 0; i < count; ++i) text += "<cpu/>";
  return text + "</system>";
}

TEST(TopologyXml, RefusesWhatIsNoTopologyOrCostsTooMuch) {
  EXPECT_EQ(import_topology("").problem, "no element found in line 1");
  EXPECT_EQ(import_topology("<graphs version='1'/>").problem, "it is no topology");
  EXPECT_EQ(import_topology("<!DOCTYPE a [<!ENTITY x 'y'>]><system>&x;</system>").problem,
            "it declares a document type");
  EXPECT_EQ(import_topology(nested(70)).problem, "it nests more than 64 levels");
  EXPECT_EQ(import_topology(nested(60)).problem, "");
  EXPECT_EQ(import_topology(many(10'001)).problem, "it has more than 10000 elements");
}

TEST(TopologyXml, RefusesAFileThatIsCutAnywhere) {
  const std::string_view whole = kFile.substr(0, kFile.rfind('>') + 1);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(import_topology(whole.substr(0, size)).problem, "") << size;
  }
}

TEST(TopologyXml, BearsAnyBytes) {
  for (size_t at = 0; at < kFile.size(); at += 3) {
    for (const char c : {'\0', '<', '"', '\xff'}) {
      std::string bytes(kFile);
      bytes[at] = c;
      import_topology(bytes);
    }
  }
}

}  // namespace
}  // namespace ncclog
