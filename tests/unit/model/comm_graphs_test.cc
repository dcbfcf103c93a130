#include "model/comm_graphs.h"

#include <gtest/gtest.h>

#include "model/job_from_text.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
