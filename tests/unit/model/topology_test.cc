#include "model/topology.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "model/derive/build_job.h"

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

struct TreesCase {
  const char* text;
  bool cut;
  std::vector<TreePlace> places;
};

const TreesCase kTrees[] = {
    // 2.4: up -> rank -> down.
    {"[0] -1->0->1/4/-1 [1] 2->0->-1/-1/-1", false, {{0, 0, -1, {1, 4}}, {1, 0, 2, {}}}},
    // 2.5 to 2.7: upwards | downwards.
    {"[0] 1/4/-1->0->-1|-1->0->1/4/-1", false, {{0, 0, -1, {1, 4}}}},
    // 2.8 and later: down -> rank -> up.
    {"[0] 1/4/-1->0->-1 [1] 1/-1/-1->0->5", false, {{0, 0, -1, {1, 4}}, {1, 0, 5, {1}}}},
    {"[0] 1/4/-1->0->-1 [1] 1/-1/-1->0->5", true, {{0, 0, -1, {1, 4}}}},
    {"[0] 1/4/-1->0->-1 [1] 1/-1/", false, {{0, 0, -1, {1, 4}}}},
    {"[64] 1/4/-1->0->-1", false, {}},
    {"[0] 1/4/-1->x->-1", false, {}},
    {"", true, {}},
};

TEST(CommGraphs, ReadTreesOfEveryRelease) {
  for (const TreesCase& c : kTrees) EXPECT_EQ(parse_trees(c.text, c.cut), c.places) << c.text;
}

BoundedLines rows(std::initializer_list<const char*> texts) {
  BoundedLines lines;
  for (const char* text : texts) lines.add(0, text);
  return lines;
}

TEST(CommGraphs, ReadTheTuningTableByBlocksOfAlgorithms) {
  const auto cells = parse_tuning(rows({
      "Algorithm   |   Tree     |   Ring    |",
      "Protocol    | LL | LL128 | Simple | LL | LL128 | Simple | LL | LL128 | Simple |",
      "Max NThreads | 512 | 640 | 512 | 512 | 640 | 512 |",
      "AllReduce | 8.8/ 24.0 | 0.0/ 0.0 | 90.4/ 96.0 | 11.2/ 30.0 | 5.0/ 0.0 | oops |",
      "Algorithm   |  PAT  |",
      "Protocol    | LL | LL128 | Simple |",
      "AllGather | 0.0/ 0.0 | 0.0/ 0.0 | 7.0/ 96.5 |",
  }));
  const std::vector<TuningCell> wanted = {{"AllReduce", "Tree", "LL", 8.8, 24},
                                          {"AllReduce", "Tree", "Simple", 90.4, 96},
                                          {"AllReduce", "Ring", "LL", 11.2, 30},
                                          {"AllReduce", "Ring", "LL128", 5, 0},
                                          {"AllGather", "PAT", "Simple", 7, 96.5}};
  EXPECT_EQ(cells, wanted);
}

TEST(CommGraphs, ReadTheTuningTableOfOneHeader) {
  const auto cells = parse_tuning(rows({"Latency/AlgBw |    Tree/    LL |    Tree/ LL128 |",
                                        "Broadcast |  8.8/ 24.0 | 21.3/ 77.1 |"}));
  const std::vector<TuningCell> wanted = {{"Broadcast", "Tree", "LL", 8.8, 24},
                                          {"Broadcast", "Tree", "LL128", 21.3, 77.1}};
  EXPECT_EQ(cells, wanted);
}

std::string init_of(int rank, const char* lines) {
  const std::string head = "h:" + std::to_string(10 + rank) + ":1 [0] NCCL INFO ";
  const std::string id = "comm 0xa rank " + std::to_string(rank) +
                         " nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0xc0 - Init ";
  std::string text = head + id + "START\n";
  for (std::string_view rest = lines; !rest.empty();) {
    const size_t end = rest.find('\n');
    text += head + std::string(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end + 1);
  }
  return text + head + id + "COMPLETE\n";
}

TEST(CommGraphs, JoinWhatTheRanksSay) {
  const Job job = job_from_text(
      init_of(0,
              "Channel 00/02 :    0   1\nChannel 01/02 :    0   1\n"
              "Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1\n"
              "2 coll channels, 0 nvls channels, 4 p2p channels, 2 p2p channels per peer\n") +
      init_of(1,
              "Ring 00 : 0 -> 1 -> 0\nRing 01 : 0 -> 1 -> 0\n"
              "Trees [0] -1/-1/-1->1->0 [1] -1/-1/-1->1->0\n"));
  ASSERT_EQ(job.communicators.size(), 1u);
  const CommGraphs& graphs = job.communicators[0].graphs;
  EXPECT_EQ(graphs.rings, (std::vector<Ring>{{3, {0, 1}, GraphCheck::Sound, ""}}));
  EXPECT_EQ(graphs.trees, (std::vector<Tree>{{3, {-1, 0}, 0, 1, GraphCheck::Sound, ""}}));
  EXPECT_EQ(graphs.channels, (ChannelNumbers{2, 0, 4, 2}));
}

TEST(CommGraphs, KeepChannelsApartWhoseRingsDiffer) {
  const Job job = job_from_text(init_of(0, "Ring 00 : 1 -> 0 -> 1\nRing 01 : 0 -> 0 -> 0\n") +
                                init_of(1, "Ring 00 : 0 -> 1 -> 0\nRing 01 : 1 -> 1 -> 1\n"));
  const auto& rings = job.communicators.at(0).graphs.rings;
  ASSERT_EQ(rings.size(), 2u);
  EXPECT_EQ(rings[0].check, GraphCheck::Sound);
  EXPECT_EQ(rings[1].channels, 2u);
  EXPECT_EQ(rings[1].check, GraphCheck::Broken);
}

TEST(CommGraphs, AreNotCalledBrokenWhereLinesAreTorn) {
  const std::string broken =
      init_of(0, "Ring 00 : 0 -> 0 -> 0\n") + init_of(1, "Ring 00 : 1 -> 1 -> 1\n");
  const Job whole = job_from_text(broken);
  std::string between;
  for (int i = 0; i < 100; ++i) between += "h:10:1 [0] NCCL INFO Connected all rings\n";
  const Job torn = job_from_text(
      broken + between + "h:10:1 [0] NCCL INFO Using netwh:11:1 [0] NCCL INFO Using network IB\n");
  EXPECT_EQ(whole.communicators.at(0).graphs.rings.at(0).check, GraphCheck::Broken);
  EXPECT_EQ(torn.communicators.at(0).graphs.rings.at(0).check, GraphCheck::Unknown);
}

TEST(CommGraphs, AreNotCalledBrokenByALineThatMayLackItsEnd) {
  const std::string text = init_of(0, "Ring 00 : 1 -> 0 -> 1\n") +
                           init_of(1, "Ring 00 : 0 -> 1 -> 9\nRing 01 : 0 -> 1 -> 0\n");
  const size_t end = text.find("Ring 00 : 0 -> 1 -> 9") + 21;
  const Job whole = job_from_text(text);
  const Job cut = job_from_text(text.substr(0, end));
  EXPECT_EQ(whole.communicators.at(0).graphs.rings.at(0).check, GraphCheck::Broken);
  EXPECT_EQ(cut.communicators.at(0).graphs.rings.at(0).check, GraphCheck::Unknown);
}

struct RingCase {
  const char* name;
  RingSayings says;
  GraphCheck check;
  const char* remark;
};

// A list, whether it is whole, whether lines contradict each other, then prev and next by rank.
const RingCase kRings[] = {
    {"whole list", {{0, 2, 1}, true, false, {-1, -1, -1}, {-1, -1, -1}}, GraphCheck::Sound, ""},
    {"list and neighbours agree",
     {{0, 2, 1}, true, false, {1, 2, 0}, {2, 0, 1}},
     GraphCheck::Sound,
     ""},
    {"neighbours alone close", {{}, false, false, {2, 0, 1}, {1, 2, 0}}, GraphCheck::Sound, ""},
    {"one rank alone", {{0}, true, false, {0}, {0}}, GraphCheck::Sound, ""},
    {"rank twice",
     {{0, 1, 1}, true, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Broken,
     "rank 1 is listed twice"},
    {"rank too high",
     {{0, 1, 3}, true, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Broken,
     "rank 3 of 3 is listed"},
    {"neighbours disagree",
     {{}, false, false, {-1, -1, 0}, {2, 2, -1}},
     GraphCheck::Broken,
     "rank 1 passes on to rank 2, which receives from rank 0"},
    {"list and neighbours disagree",
     {{0, 1, 2}, true, false, {-1, -1, 0}, {2, -1, -1}},
     GraphCheck::Broken,
     "rank 0 passes on to rank 2, rank 0 lists rank 1"},
    {"closes too early",
     {{}, false, false, {1, 0, 2}, {1, 0, 2}},
     GraphCheck::Broken,
     "it closes after 2 of 3 ranks"},
    {"cut list",
     {{0, 1}, false, false, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Unknown,
     "the list is cut after 2 ranks"},
    {"ranks not seen",
     {{}, false, false, {2, -1, -1}, {1, -1, -1}},
     GraphCheck::Unknown,
     "1 of 3 ranks tell their neighbours"},
    {"lines contradict",
     {{0, 1, 1}, true, true, {-1, -1, -1}, {-1, -1, -1}},
     GraphCheck::Unknown,
     "its lines contradict each other"},
};

TEST(RingCheck, CallsARingBrokenOnlyWhereWholeLinesSaySo) {
  for (const RingCase& c : kRings) {
    const Ring ring = check_ring(c.says);
    EXPECT_EQ(ring.check, c.check) << c.name;
    EXPECT_EQ(ring.remark, c.remark) << c.name;
  }
}

TEST(RingCheck, FollowsNeighboursFromRankZero) {
  const Ring ring = check_ring({{}, false, false, {1, 2, 0}, {2, 0, 1}});
  EXPECT_EQ(ring.order, (std::vector<int>{0, 2, 1}));
}

struct TreeCase {
  const char* name;
  std::vector<TreePlace> places;  ///< Channel, rank, up, down.
  GraphCheck check;
  int root;
  int depth;
  const char* remark;
};

const TreeCase kTreeCases[] = {
    {"chain", {{0, 0, -1, {1}}, {0, 1, 0, {2}}, {0, 2, 1, {}}}, GraphCheck::Sound, 0, 2, ""},
    {"one rank", {{0, 0, -1, {}}}, GraphCheck::Sound, 0, 0, ""},
    {"parent does not know",
     {{0, 0, -1, {}}, {0, 1, 0, {}}},
     GraphCheck::Broken,
     0,
     -1,
     "rank 1 has parent 0, which does not have it as a child"},
    {"child has another parent",
     {{0, 0, -1, {1}}, {0, 1, -1, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "rank 0 has child 1, whose parent is -1"},
    {"two roots",
     {{0, 0, -1, {}}, {0, 1, -1, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "ranks 0 and 1 are both roots"},
    {"cycle",
     {{0, 0, -1, {}}, {0, 1, 2, {2}}, {0, 2, 1, {1}}},
     GraphCheck::Broken,
     0,
     -1,
     "rank 1 does not reach a root"},
    {"child too high", {{0, 0, -1, {7}}}, GraphCheck::Broken, 0, -1, "a child of rank 0 is rank 7"},
    {"parent too high",
     {{0, 0, 9, {}}},
     GraphCheck::Broken,
     -1,
     -1,
     "the parent of rank 0 is rank 9"},
    {"rank not seen",
     {{0, 0, -1, {1}}, {}},
     GraphCheck::Unknown,
     0,
     -1,
     "1 of 2 ranks tell their place"},
};

TEST(TreeCheck, WantsOneRootNoCycleAndBothEndsOfEveryEdge) {
  for (const TreeCase& c : kTreeCases) {
    const Tree tree = check_tree(c.places);
    EXPECT_EQ(tree.check, c.check) << c.name;
    EXPECT_EQ(tree.root, c.root) << c.name;
    EXPECT_EQ(tree.depth, c.depth) << c.name;
    EXPECT_EQ(tree.remark, c.remark) << c.name;
  }
}

}  // namespace
}  // namespace ncclog
