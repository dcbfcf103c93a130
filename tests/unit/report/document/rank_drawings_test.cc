#include "report/document/rank_drawings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "model/derive/build_job.h"
#include "report/tables/tables.h"
#include "support/ring_lines.h"

namespace ncclog {
namespace {

/// "node-a: 0o 1A; node-b: 2?": the ranks of each host, and how they stand.
std::string text_of(const RankGrid& grid) {
  std::vector<std::string> hosts;
  for (const RankGrid::Host& host : grid.hosts) {
    std::string text = host.name + ":";
    for (const RankGrid::Cell& cell : host.cells) {
      text += fmt::format(" {}{}", cell.ranks, "AWF?do"[static_cast<size_t>(cell.state)]);
    }
    hosts.push_back(std::move(text));
  }
  return join(hosts, "; ");
}

RankGrid grid_of(std::string_view log, const Finding* main = nullptr) {
  const Job job = job_from_text(log);
  return rank_grid(job, ranks_table(job), main);
}

constexpr std::string_view kPair =
    "[2026-11-20 20:54:52] a:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 3 cudaDev 0 "
    "nvmlDev 0 busId 1000 commId 0x77 - Init START\n"
    "[2026-11-20 20:54:55] a:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 3 cudaDev 0 "
    "nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE\n"
    "[2026-11-20 20:54:53] b:2:2 [0] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 3 cudaDev 0 "
    "nvmlDev 0 busId 2000 commId 0x77 - Init START\n"
    "[2026-11-20 20:55:32] b:2:2 [0] misc/socket.cc:57 NCCL WARN socketProgress: Connection closed "
    "by remote peer a<41822>\n";

TEST(RankGrid, ShowsHowEachRankStandsOnItsHost) {
  Finding finding{.id = "peer-closed", .role = Role::Cause};
  finding.ranks = {1};
  const RankGrid grid = grid_of(kPair, &finding);
  EXPECT_EQ(text_of(grid), "a: 0o; b: 1A; host not known: 2?");
  EXPECT_TRUE(grid.hosts[1].cells[0].reason.starts_with(
      "rank 1 on b, pid 2, GPU 0: named by peer-closed, "))
      << grid.hosts[1].cells[0].reason;
  finding.role = Role::Symptom;
  EXPECT_EQ(text_of(grid_of(kPair, &finding)), "a: 0o; b: 1o; host not known: 2?");
  EXPECT_EQ(grid.hosts[2].cells[0].reason, "rank 2: not seen, no line of it was found");
}

TEST(RankGrid, RanksAndHostsOfALargeJobThatAreAlikeShareACell) {
  std::string log = testing::ring_lines(200, 8);
  // The last rank never came to the end of its initialisation.
  log.erase(log.rfind("rack-199:"));
  const RankGrid grid = grid_of(log);
  ASSERT_EQ(grid.hosts.size(), 2u);
  EXPECT_EQ(text_of(grid),
            "rack-000, rack-001, rack-002 and 196 more: 0-1591o; rack-199: 1592-1598o 1599o");
}

TEST(TimeSection, DrawsALaneForEachProcess) {
  const Job job = job_from_text(kPair);
  const std::vector<Milestone> dated = dated_milestones(job);
  EXPECT_EQ(time_words(dated), "2026-11-20 20:54:52 to 2026-11-20 20:55:32 (40 s)");
  Finding finding{.id = "peer-closed"};
  finding.evidence.push_back({{0, 4}, "[2026-11-20 20:55:32] b:2:2 [0] NCCL WARN x"});
  const Section section = time_section(job, dated, &finding);
  ASSERT_EQ(section.blocks.size(), 2u);
  const auto& chart = std::get<TimeChart>(std::get<Figure>(section.blocks[1]).drawing);
  ASSERT_EQ(chart.lanes.size(), 2u);
  EXPECT_EQ(chart.lanes[0].name, "rank 0");
  ASSERT_FALSE(chart.lanes[0].spans.empty());
  const TimeChart::Span& init = chart.lanes[0].spans[0];
  EXPECT_EQ(init.kind, TimeChart::Kind::Init);
  EXPECT_EQ(init.to - init.from, 3'000'000'000);
  EXPECT_EQ(chart.lanes[1].spans.back().kind, TimeChart::Kind::Failure);
  ASSERT_TRUE(chart.verdict.has_value());
  EXPECT_EQ(chart.verdict->from, chart.lanes[1].last);
}

TEST(TimeSection, OfManyProcessesLanesAreHosts) {
  std::string log;
  for (int rank = 0; rank < 520; ++rank) {
    log += fmt::format(
        "[2026-11-20 20:54:{:02}] h{}:{}:1 [0] NCCL INFO ncclCommInitRank comm 0x{:x} rank {} "
        "nranks 520 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init START\n",
        rank % 60, rank / 4, 100 + rank, 100 + rank, rank);
  }
  const Job job = job_from_text(log);
  const Section section = time_section(job, dated_milestones(job), nullptr);
  const auto& chart = std::get<TimeChart>(std::get<Figure>(section.blocks[1]).drawing);
  ASSERT_EQ(chart.lanes.size(), 64u);
  EXPECT_EQ(chart.lanes[0].name, "h0");
  EXPECT_EQ(chart.lanes[63].name, "67 others");
}

TEST(TimeSection, WithoutTimesIsATable) {
  const Job job = job_from_text("a:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda12.8\n");
  const Section section = time_section(job, dated_milestones(job), nullptr);
  ASSERT_EQ(section.blocks.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Table>(section.blocks[0]));
}

}  // namespace
}  // namespace ncclog
