#include "report/graph/graph.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/build/build_job.h"
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
    const Drawing drawing = find_drawing_kind(name)->build(job_from_text(""), 4);
    EXPECT_TRUE(drawing.graphs.empty());
    EXPECT_EQ(drawing.notes.size(), 1u);
    EXPECT_EQ(markup_faults(write_svg(drawing)), "");
  }
  EXPECT_EQ(find_drawing_kind("ranks"), nullptr);
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
  Graph graph{.title = labels.front(), .shape = GraphShape::Ring};
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

}  // namespace
}  // namespace ncclog
