#include "report/graph/graph.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/derive/build_job.h"
#include "report/document/report_document.h"
#include "report/html/figures.h"
#include "support/markup_check.h"
#include "support/process.h"
#include "support/ring_lines.h"

namespace ncclog {
namespace {

using testing::markup_faults;
using testing::ring_lines;

constexpr std::string_view kDevices =
    "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "1b000 commId 0xa - Init START\n"
    "n1:1:1 [0] NCCL INFO === System : maxBw 240.0 totalBw 240.0 ===\n"
    "n1:1:1 [0] NCCL INFO CPU/0-0 (1/1/2)\n"
    "n1:1:1 [0] NCCL INFO + PCI[48.0] - GPU/0-1b000 (0)\n"
    "n1:1:1 [0] NCCL INFO               + NVL[240.0] - NVS/0-0\n"
    "n1:1:1 [0] NCCL INFO + PCI[48.0] - NIC/0-c000\n"
    "n1:1:1 [0] NCCL INFO               + NET[25.0] - NET/0-0 (0/0/25.000000)\n"
    "n1:1:1 [0] NCCL INFO ==========================================\n";

TEST(Graph, ARingHasARankANodeAndTheWayToTheNext) {
  const Drawing drawing = channels_drawing(job_from_text(ring_lines(2, 2)), 8);
  ASSERT_EQ(drawing.graphs.size(), 2u);
  const Graph& ring = drawing.graphs[0];
  EXPECT_EQ(ring.title, "Communicator 0x77ab: ring of channels 0,1");
  ASSERT_EQ(ring.nodes.size(), 4u);
  EXPECT_EQ(ring.nodes[1].host, "rack-000");
  EXPECT_EQ(ring.nodes[2].host, "rack-001");
  EXPECT_TRUE(ring.closed);
  EXPECT_EQ(ring.nodes[1].label, "1");
  EXPECT_EQ(ring.nodes[1].detail, "rank 1, rack-000, pid 3001");
  EXPECT_EQ(ring.nodes[1].link, "NET/IB/0");
  EXPECT_EQ(ring.nodes[3].link, "NET/IB/0");
  EXPECT_EQ(ring.nodes[0].transport, TransportClass::P2P);
  EXPECT_EQ(ring.remarks, std::vector<std::string>());
}

TEST(Graph, ATreeNamesTheHostsOfItsNodes) {
  const Drawing drawing = channels_drawing(job_from_text(ring_lines(2, 2)), 8);
  const Graph& tree = drawing.graphs[1];
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(tree.nodes[2].label, "2 rack-001");
  EXPECT_EQ(tree.nodes[2].parent, 1);
  EXPECT_EQ(tree.nodes[0].parent, -1);
}

TEST(Graph, ManyRanksShareTheBoxesOfTheirHosts) {
  const Drawing drawing = channels_drawing(job_from_text(ring_lines(10, 8)), 8);
  for (const Graph& graph : drawing.graphs) {
    ASSERT_EQ(graph.nodes.size(), 10u) << graph.title;
    EXPECT_EQ(graph.nodes[9].label, "rack-009: 72-79");
    EXPECT_EQ(graph.remarks,
              std::vector<std::string>{
                  "80 ranks: those that follow each other on one host share a box."});
  }
  EXPECT_EQ(drawing.graphs[0].nodes[9].transport, TransportClass::IB);
}

TEST(Graph, WhatDoesNotFitIsCounted) {
  const Job job = job_from_text(ring_lines(70, 1));
  const Drawing drawing = channels_drawing(job, 1);
  ASSERT_EQ(drawing.graphs.size(), 1u);
  EXPECT_EQ(drawing.graphs[0].nodes.size(), Graph::kMaxNodes);
  EXPECT_FALSE(drawing.graphs[0].closed);
  EXPECT_EQ(drawing.graphs[0].remarks.back(), "6 more boxes are left out.");
  EXPECT_EQ(drawing.notes, std::vector<std::string>{"1 of 2 rings and trees are drawn; 'ncclog "
                                                    "show topology' lists all."});
}

TEST(Graph, DevicesHangOnWhatTheLogSays) {
  const Drawing drawing = topology_drawing(job_from_text(kDevices), 4);
  ASSERT_EQ(drawing.graphs.size(), 1u);
  const Graph& graph = drawing.graphs[0];
  EXPECT_EQ(graph.title, "n1");
  ASSERT_EQ(graph.nodes.size(), 5u);
  EXPECT_EQ(graph.nodes[0].label, "CPU/0-0");
  EXPECT_EQ(graph.nodes[1].label, "GPU/0-1b000 rank 0");
  EXPECT_EQ(graph.nodes[1].link, "PCI 48.0");
  EXPECT_EQ(graph.nodes[3].parent, 2);
  ASSERT_EQ(graph.links.size(), 1u);
  EXPECT_EQ(graph.links[0].label, "NVL 240.0");
}

TEST(Graph, HostsOfOneMakeAreDrawnOnce) {
  std::string two(kDevices);
  std::string other(kDevices);
  for (size_t at; (at = other.find("n1:1:1")) != other.npos;) other.replace(at, 2, "n2");
  for (size_t at; (at = other.find("rank 0 nranks")) != other.npos;) other.replace(at + 5, 1, "1");
  const Drawing drawing = topology_drawing(job_from_text(two + other), 4);
  ASSERT_EQ(drawing.graphs.size(), 1u);
  EXPECT_EQ(drawing.graphs[0].title, "n1 and 1 more host alike");
  EXPECT_EQ(drawing.graphs[0].nodes[1].label, "GPU/0-1b000");
}

TEST(Graph, EmptyDrawingsSayWhy) {
  for (const char* name : {"channels", "topology"}) {
    const Drawing drawing = find_drawing(name)(job_from_text(""), 4);
    EXPECT_TRUE(drawing.graphs.empty());
    EXPECT_EQ(drawing.notes.size(), 1u);
    EXPECT_EQ(markup_faults(write_svg(drawing)), "");
  }
  EXPECT_EQ(find_drawing("ranks"), nullptr);
}

TEST(GraphLayout, BoxesStandInsideAndApart) {
  const Job ranks = job_from_text(ring_lines(3, 9));
  std::vector<Graph> graphs = channels_drawing(ranks, 8).graphs;
  graphs.push_back(topology_drawing(job_from_text(kDevices), 1).graphs[0]);
  for (const Graph& graph : graphs) {
    const GraphLayout layout = lay_out(graph);
    ASSERT_EQ(layout.nodes.size(), graph.nodes.size());
    for (size_t a = 0; a < layout.nodes.size(); ++a) {
      const Box& box = layout.nodes[a];
      EXPECT_GE(box.x, 0);
      EXPECT_GE(box.y, 0);
      EXPECT_LE(box.right(), layout.width) << graph.title;
      EXPECT_LE(box.bottom(), layout.height) << graph.title;
      for (size_t b = 0; b < a; ++b) {
        const Box& other = layout.nodes[b];
        const bool apart = box.x >= other.right() || other.x >= box.right() ||
                           box.y >= other.bottom() || other.y >= box.bottom();
        EXPECT_TRUE(apart) << graph.title << ": " << graph.nodes[a].label << " on "
                           << graph.nodes[b].label;
      }
    }
  }
}

TEST(GraphSvg, IsAFileOfItsOwn) {
  const std::string svg = write_svg(channels_drawing(job_from_text(ring_lines(2, 2)), 8));
  EXPECT_EQ(markup_faults(svg), "");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  EXPECT_EQ(svg.find("<script"), svg.npos);
  EXPECT_NE(testing::text_in(svg, "title").find("rank 1, rack-000, pid 3001"), std::string::npos);
}

/// One box after another, labels as given.
Drawing drawing_of(const std::vector<std::string>& labels) {
  Graph graph{.title = labels.front(), .is_ring = true};
  for (const std::string& label : labels) {
    graph.nodes.push_back({.label = label, .detail = label, .host = labels.front(), .link = label});
  }
  graph.links.push_back({0, 1, labels.back()});
  graph.remarks = {labels.front()};
  return {.title = labels.front(), .graphs = {graph}, .notes = {labels.back()}};
}

const std::vector<std::string> kHostile = {"\"]; } <script>x</script>",
                                           "\\N\\G\\\"",
                                           "]]>&amp;&lt;",
                                           "\x1b[31m\r\n",
                                           "\u202e\u05d0",
                                           "\xff\xfe",
                                           std::string(100'000, 'A'),
                                           ""};

TEST(GraphSvg, HostileTextStaysText) {
  const std::string svg = write_svg(drawing_of(kHostile));
  EXPECT_EQ(markup_faults(svg), "");
  EXPECT_LT(svg.size(), 30'000u);
}

std::string letters(const TransportMatrix& matrix, size_t row, size_t column) {
  const auto cell = matrix.cells.find({row, column});
  std::string out;
  if (cell == matrix.cells.end()) return out;
  for (const TransportClass value : cell->second.classes) out += row_of(value).letter;
  return out;
}

TransportMatrix matrix_of(std::string_view log) {
  return transport_matrix(rank_paths(job_from_text(log)));
}

TEST(TransportMatrix, HasARowForEachRank) {
  const TransportMatrix matrix = matrix_of(testing::ring_lines(2, 2));
  EXPECT_EQ(matrix.names, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_FALSE(matrix.by_host);
  EXPECT_EQ(letters(matrix, 0, 1), "P");
  EXPECT_EQ(letters(matrix, 1, 2), "I");
  EXPECT_EQ(letters(matrix, 3, 0), "I");
  EXPECT_EQ(letters(matrix, 1, 0), "");
  EXPECT_EQ((matrix.cells.at({0, 1}).detail), "rank 0 to rank 1: P2P/CUMEM on channels 0");
}

TEST(TransportMatrix, ManyRanksShareTheRowsOfTheirHosts) {
  const TransportMatrix matrix = matrix_of(testing::ring_lines(9, 8));
  EXPECT_EQ(matrix.ranks, 72u);
  EXPECT_TRUE(matrix.by_host);
  ASSERT_EQ(matrix.names.size(), 9u);
  EXPECT_EQ(matrix.names[8], "rack-008");
  EXPECT_EQ(letters(matrix, 0, 0), "P");
  EXPECT_EQ((matrix.cells.at({0, 0}).pairs), 7u);
  EXPECT_EQ(letters(matrix, 8, 0), "I");
}

TEST(TransportMatrix, OfMoreHostsThanRowsIsLeftOutOfThePage) {
  for (const Section& section : job_sections(job_from_text(testing::ring_lines(65, 1)))) {
    if (section.id != "transports") continue;
    ASSERT_EQ(section.blocks.size(), 1u);
    EXPECT_EQ(std::get<Paragraph>(section.blocks[0]).text,
              "The matrix is left out: 65 hosts. 'ncclog show channels' lists connections.");
  }
}

TEST(TransportMatrix, OfSeveralCommunicatorsOnlyCertainEndsCount) {
  // Two groups whose ranks have the same numbers: 0 -> 1 is another pair in each of them.
  const char* kLog =
      "n1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
      "commId 0xa - Init START\n"
      "n1:2:2 [1] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 2 "
      "commId 0xa - Init START\n"
      "n1:3:3 [2] NCCL INFO ncclCommInitRank comm 0x3 rank 0 nranks 2 cudaDev 2 nvmlDev 2 busId 3 "
      "commId 0xb - Init START\n"
      "n1:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
      "n1:3:3 [2] NCCL INFO Channel 00/0 : 0[2] -> 1[3] via SHM/direct\n";
  const RankPaths paths = rank_paths(job_from_text(kLog));
  ASSERT_EQ(paths.pairs.size(), 1u);
  EXPECT_EQ(paths.pairs.begin()->first, std::pair(0, 1));
  EXPECT_EQ(paths.pairs.begin()->second.text, "P2P/IPC");
  EXPECT_EQ(paths.unplaced, 1u);
}

TEST(TransportClass, EachHasALetterOfItsOwn) {
  std::set<char> letters;
  for (size_t i = 0; i < std::size(kTransportClasses); ++i) {
    EXPECT_EQ(static_cast<size_t>(kTransportClasses[i].value), i);
    EXPECT_TRUE(letters.insert(kTransportClasses[i].letter).second);
  }
}

}  // namespace
}  // namespace ncclog
