#include "model/topology.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "model/build/build_job.h"

namespace ncclog {
namespace {

BoundedLines lines_of(std::initializer_list<const char*> texts) {
  BoundedLines lines;
  for (std::string_view text : texts) {
    const size_t indent = text.find_first_not_of(' ');
    lines.add(static_cast<int>(indent), text.substr(indent));
  }
  return lines;
}

struct NameCase {
  const char* text;
  std::optional<NodeName> name;
};

TEST(SystemTopology, NamesNodesAlikeInEveryRelease) {
  const NameCase cases[] = {
      {"GPU/0-a1000", NodeName{"GPU", 0, 0xa1000}},
      {"GPU/A1000", NodeName{"GPU", 0, 0xa1000}},
      {"GPU/2-60", NodeName{"GPU", 2, 0x60}},
      {"NET/10", NodeName{"NET", 0, 10}},
      {"NET/0-1f", NodeName{"NET", 0, 0x1f}},
      {"CPU/0-ffffffffffffff", NodeName{"CPU", 0, 0xffffffffffffff}},
      {"GPU/", std::nullopt},
      {"GPU/0-", std::nullopt},
      {"FOO/0-1", std::nullopt},
      {"GPU", std::nullopt},
  };
  for (const NameCase& c : cases) EXPECT_EQ(parse_node_name(c.text), c.name) << c.text;
}

TEST(SystemTopology, ReadsTheTreeFromItsIndents) {
  const SystemTopology system = parse_system(lines_of({
      "=== System : maxBw 48.0 totalBw 240.0 ===",
      "CPU/0-0 (1/1/2)",
      "+ PCI[48.0] - PCI/0-90000 (1000c0301000ffff)",
      "              + PCI[24.0] - GPU/0-a1000 (3)",
      "                            + NVL[240.0] - NVS/0-0",
      "              + PCI[48.0] - NIC/0-b2000",
      "                            + NET[50.0] - NET/0-1 (1/9c63c003005f4a1/1/50.000000)",
      "+ SYS[10.0] - CPU/0-1",
      "CPU/0-1 (1/1/2)",
      "==========================================",
      "GPU/0-a1000 :GPU/0-a1000 (0/5000.0/LOC) CPU/0-1 (3/10.0/SYS) NET/0-1 (3/48.0/P",
  }));
  EXPECT_EQ(system.max_bw, 48);
  EXPECT_EQ(system.total_bw, 240);
  const std::vector<SystemNode> nodes = {
      {{"CPU", 0, 0}, -1, "", -1, -1, -1, "1/1/2", "", -1},
      {{"PCI", 0, 0x90000}, 0, "PCI", 48, -1, -1, "1000c0301000ffff", "", -1},
      {{"GPU", 0, 0xa1000}, 1, "PCI", 24, 3, -1, "3", "", -1},
      {{"NVS", 0, 0}, -1, "", -1, -1, -1, "", "", -1},
      {{"NIC", 0, 0xb2000}, 1, "PCI", 48, -1, -1, "", "", -1},
      {{"NET", 0, 1}, 4, "NET", 50, -1, -1, "1/9c63c003005f4a1/1/50.000000", "", 50},
      {{"CPU", 0, 1}, -1, "", -1, -1, -1, "1/1/2", "", -1}};
  EXPECT_EQ(system.nodes, nodes);
  EXPECT_EQ(system.links, (std::vector<SystemLink>{{2, 3, "NVL", 240}, {0, 6, "SYS", 10}}));
  EXPECT_EQ(system.paths, (std::vector<SystemPath>{{2, 6, 3, 10, "SYS"}}));
  EXPECT_TRUE(system.cut) << "the last path is incomplete";
}

TEST(SystemTopology, ReadsTheRankOfAPartOfAGpu) {
  const SystemTopology system =
      parse_system(lines_of({"CPU/0-0 (1/1/2)", "+ PCI[48.0] - GPU/0-60 (3) [MLOPart 1]"}));
  EXPECT_EQ(system.nodes.at(1).rank, 3);
  EXPECT_FALSE(system.cut);
}

TEST(SystemTopology, LeavesOutWhatDoesNotFit) {
  // A line without its parent, and one that would hang a node below itself.
  const SystemTopology orphan = parse_system(lines_of({"      + PCI[48.0] - GPU/0-60 (3)"}));
  EXPECT_TRUE(orphan.nodes.empty());
  EXPECT_TRUE(orphan.cut);
  const SystemTopology loop = parse_system(lines_of(
      {"PCI/0-1 (0)", "+ PCI[48.0] - PCI/0-2 (0)", "              + PCI[48.0] - PCI/0-1 (0)"}));
  ASSERT_EQ(loop.nodes.size(), 2u);
  EXPECT_EQ(loop.nodes[0].parent, -1);
  EXPECT_EQ(loop.nodes[1].parent, 0);
}

TEST(SystemTopology, JoinsTheDevicesThatDifferentProcessesUse) {
  SystemTopology first = parse_system(lines_of(
      {"CPU/0-0 (1/1/2)", "+ PCI[48.0] - GPU/0-60 (0)", "              + NVL[240.0] - NVS/0-0"}));
  const SystemTopology second = parse_system(lines_of(
      {"CPU/0-0 (1/1/2)", "+ PCI[48.0] - GPU/0-70 (0)", "              + NVL[240.0] - NVS/0-0"}));
  add_system(first, second);
  ASSERT_EQ(first.nodes.size(), 4u);
  EXPECT_EQ(to_string(first.nodes[3].name), "GPU/0-70");
  EXPECT_EQ(first.nodes[3].parent, 0);
  EXPECT_EQ(first.links, (std::vector<SystemLink>{{1, 2, "NVL", 240}, {3, 2, "NVL", 240}}));
}

std::string process_lines(int rank, const char* host, const char* bus_id) {
  const std::string head =
      std::string(host) + ":" + std::to_string(10 + rank) + ":1 [0] NCCL INFO ";
  const std::string id = "comm 0xa rank " + std::to_string(rank) +
                         " nranks 2 cudaDev 0 nvmlDev 0 busId " + bus_id + " commId 0xc0 - Init ";
  return head + "MNNVL busId 0x60 fabric UUID 12ab.34cd cliqueId 0x7 state 3 healthMask 0x0\n" +
         head + "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.1<0>\n" + head +
         "Using network IB\n" + head + id + "START\n" + head + "CPU/0-0 (1/1/2)\n" + head +
         "+ PCI[48.0] - GPU/0-60 (0)\n" + head + "CPU/1-0 (1/1/2)\n" + head +
         "+ PCI[48.0] - GPU/1-60 (1)\n" + head + "+ PCI[48.0] - NIC/1-90\n" + head +
         "              + NET[50.0] - NET/1-0 (1/1/1/50.000000)\n" + head + id + "COMPLETE\n";
}

TEST(SystemTopology, OfAHostLeavesOutTheOtherHostsOfItsNvlinkDomain) {
  const Job job = job_from_text(process_lines(0, "a", "60") + process_lines(1, "b", "60"));
  ASSERT_EQ(job.topologies.size(), 2u);
  EXPECT_EQ(job.topologies[0].host, "a");
  ASSERT_EQ(job.topologies[0].system.nodes.size(), 2u);
  EXPECT_EQ(to_string(job.topologies[0].system.nodes[1].name), "GPU/0-60");
  EXPECT_EQ(job.topologies[0].ranks, (std::vector<int>{-1, 0}));
  EXPECT_EQ(job.topologies[0].system.nodes[1].dev, 0);
  EXPECT_EQ(job.topologies[0].system.nodes[1].detail, "fabric 12ab.34cd, clique 0x7");
  ASSERT_EQ(job.topologies[1].system.nodes.size(), 4u);
  EXPECT_EQ(job.topologies[1].ranks, (std::vector<int>{-1, 1, -1, -1}));
  EXPECT_EQ(job.topologies[1].system.nodes[3].device, "mlx5_0");
}

}  // namespace

}  // namespace ncclog
