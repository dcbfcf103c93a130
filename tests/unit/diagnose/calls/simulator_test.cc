#include "diagnose/calls/simulator.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace ncclog {
namespace {

RankCall send(int from, int to, uint64_t index = 0) {
  return {.line = {0, from, to}, .op = "Send", .index = index};
}

RankCall recv(int from, int to, uint64_t index = 0) {
  return {.line = {0, from, to}, .op = "Recv", .receives = true, .index = index};
}

RankCall on_stream(int stream, RankCall call) {
  call.stream = stream;
  return call;
}

RankCall in_group(int group, RankCall call) {
  call.group = group;
  return call;
}

RankCall buffered(RankCall call) {
  call.is_buffered = true;
  return call;
}

/// "2 1": how many calls of each rank end. A message is complete where both ends make it.
std::string ended(Circles circles, std::initializer_list<std::vector<RankCall>> ranks) {
  std::vector<RankProgram> programs;
  for (const std::vector<RankCall>& calls : ranks) programs.push_back({{}, calls});
  const Simulation simulation(
      programs, circles, [](const MeetingKey&, const auto& calls) { return calls.size() == 2; });
  std::string words;
  for (uint32_t p = 0; p < programs.size(); ++p) {
    int count = 0;
    for (uint32_t c = 0; c < programs[p].calls.size(); ++c) {
      count += simulation.has_ended({p, c}) ? 1 : 0;
    }
    words += (p == 0 ? "" : " ") + std::to_string(count);
  }
  return words;
}

TEST(Simulation, CallsEndWhereAllComeToThem) {
  EXPECT_EQ(ended(Circles::Wait, {{send(0, 1)}, {recv(0, 1)}}), "1 1");
  EXPECT_EQ(ended(Circles::Wait, {{send(0, 1)}, {}}), "0 0");
}

TEST(Simulation, CirclesWaitOnlyWhereTheyAreToldTo) {
  const std::vector<RankCall> first = {send(0, 1), recv(1, 0)};
  const std::vector<RankCall> second = {send(1, 0), recv(0, 1)};
  EXPECT_EQ(ended(Circles::Wait, {first, second}), "0 0");
  EXPECT_EQ(ended(Circles::End, {first, second}), "2 2");
}

TEST(Simulation, StreamsGroupsAndBuffersBreakCircles) {
  const std::vector<RankCall> other = {send(1, 0), recv(0, 1)};
  EXPECT_EQ(ended(Circles::Wait, {{send(0, 1), on_stream(1, recv(1, 0))}, other}), "2 2");
  EXPECT_EQ(ended(Circles::Wait, {{in_group(3, send(0, 1)), in_group(3, recv(1, 0))}, other}),
            "2 2");
  EXPECT_EQ(ended(Circles::Wait, {{buffered(send(0, 1)), recv(1, 0)}, other}), "2 2");
}

TEST(Simulation, WhatStandsBehindACallThatSomebodyLacksDoesNotEnd) {
  // Rank 2 left out its Send to rank 1, behind whose Recv stands what rank 0 waits for.
  const std::vector<std::vector<RankCall>> ranks = {
      {recv(1, 0), recv(1, 0, 1)}, {send(1, 0), recv(2, 1), send(1, 0, 1)}, {}};
  for (const Circles circles : {Circles::Wait, Circles::End}) {
    EXPECT_EQ(ended(circles, {ranks[0], ranks[1], ranks[2]}), "1 1 0");
  }
}

}  // namespace
}  // namespace ncclog
