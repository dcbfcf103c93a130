#include "diagnose/calls/rank_programs.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls.h"
#include "model/derive/build_job.h"
#include "model/ledger/call_ledger.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

constexpr int kMost = static_cast<int>(decltype(CollectiveCalls::peers)::kLimit);

/// Rank 0 sends once to each of `peers` others and receives twice from the last one.
Job with_peers(int peers) {
  CallLog log;
  log.init(0, 2000, 1);
  for (int peer = 1; peer <= peers; ++peer) log.call(0, 1, "Send", 8, peer);
  log.call(0, 1, "Recv", 8, peers).call(0, 1, "Recv", 8, peers);
  return job_from_text(log.text());
}

const CommRank& rank_0(const Job& job) { return job.communicators.at(0).ranks.at(0); }

TEST(MessageCounts, AreThoseOfThePeerAndTheDirection) {
  const Job job = with_peers(3);
  EXPECT_EQ(message_count(job, rank_0(job), 2, false), 1u);
  EXPECT_EQ(message_count(job, rank_0(job), 2, true), 0u);
  EXPECT_EQ(message_count(job, rank_0(job), 3, true), 2u);
  EXPECT_EQ(message_count(job, rank_0(job), 4, true), 0u);
  EXPECT_EQ(message_peers(job, rank_0(job)), (std::vector{1, 2, 3}));
  EXPECT_FALSE(has_unknown_peers(job, rank_0(job)));
}

TEST(MessageCounts, OfManyPeersComeFromTheTape) {
  const Job job = with_peers(kMost + 2);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 1, false), 1u);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 2, true), 2u);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 3, true), 0u);
  EXPECT_FALSE(message_sizes(job, rank_0(job), kMost + 2, true).has_value());
  EXPECT_EQ(message_peers(job, rank_0(job)).size(), kMost + 2u);
  EXPECT_FALSE(has_unknown_peers(job, rank_0(job)));
}

TEST(MessageCounts, AreUnknownWhereTheTapeDoesNotKeepAllCalls) {
  const Job job = with_peers(static_cast<int>(CallTape::kMaxKinds) + 1);
  EXPECT_EQ(message_count(job, rank_0(job), kMost, false), 1u);
  EXPECT_FALSE(message_count(job, rank_0(job), kMost + 1, false).has_value());
  EXPECT_EQ(message_peers(job, rank_0(job)).size(), static_cast<size_t>(kMost));
  EXPECT_TRUE(has_unknown_peers(job, rank_0(job)));
}

using testing::CallLog;

const RankProgram* program_of(const Job& job, int cuda_dev) {
  for (const RankProgram& program : rank_programs(job)) {
    if (program.waiter.cuda_dev == cuda_dev) return &program;
  }
  return nullptr;
}

TEST(RankPrograms, NumberCallsByLineAndEnd) {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1);
  for (int i = 0; i < 2; ++i) {
    log.call(0, 1, "Send", 8, 1).call(0, 1, "Recv", 8, 1).call(0, 1);
    log.call(1, 1, "Recv", 8, 0).call(1, 1, "Send", 8, 0).call(1, 1);
  }
  const Job job = job_from_text(log.text());
  const RankProgram* program = program_of(job, 0);
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(program->calls.size(), 6u);
  const RankCall& recv = program->calls[4];
  EXPECT_EQ(recv.line, (CallLine{0, 1, 0}));
  EXPECT_TRUE(recv.receives);
  EXPECT_EQ(recv.index, 1u);
  EXPECT_EQ(recv.kind, program->calls[1].kind);
  EXPECT_FALSE(program->calls[5].line.is_message());
  EXPECT_EQ(program->calls[5].index, 1u);
}

TEST(RankPrograms, KeepTheLastCallsAndTheirNumbers) {
  constexpr uint64_t kCalls = kProgramCalls + 100;
  CallLog log;
  log.init(0, 1, 1);
  for (uint64_t i = 0; i < kCalls; ++i) log.call(0, 1);
  const Job job = job_from_text(log.text());
  const RankProgram* program = program_of(job, 0);
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(program->calls.size(), kProgramCalls);
  EXPECT_EQ(program->calls.front().index, 100u);
  EXPECT_EQ(program->calls.back().index, kCalls - 1);
}

TEST(RankPrograms, NumberMessagesWithPeersThatAreNotCounted) {
  constexpr int kPeers = static_cast<int>(decltype(CollectiveCalls::peers)::kLimit) + 4;
  CallLog log;
  for (int rank = 0; rank <= kPeers; ++rank) log.init(rank, kPeers + 1, 1);
  for (int i = 0; i < 2; ++i) {
    for (int peer = 1; peer <= kPeers; ++peer) {
      log.call(0, 1, "Send", 8, peer).call(peer, 1, "Recv", 8, 0);
    }
  }
  const Job job = job_from_text(log.text());
  const RankProgram* program = program_of(job, 0);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->calls.back().line, (CallLine{0, 0, kPeers}));
  EXPECT_EQ(program->calls.back().index, 1u);
}

/// Of the last letter, where each letter is a step.
StepPast past_of_last(std::string_view letters) {
  const std::vector<int> steps(letters.begin(), letters.end());
  return past_of_step(steps, steps.size() - 1, steps.size() - 1);
}

TEST(PastOfStep, IsOtherWhereAnotherStepAlwaysStood) {
  const StepPast past = past_of_last("abcdefghX abcdefghX abcdefghY");
  EXPECT_EQ(past.past, Past::Other);
  EXPECT_EQ(past.usual, 18u);
}

TEST(PastOfStep, IsTheSameWhereItStoodOnce) {
  EXPECT_EQ(past_of_last("abcdefghY abcdefghX abcdefghX abcdefghY").past, Past::Same);
}

TEST(PastOfStep, IsUnknownAfterOneTimeOrWhereDifferentStepsFollowed) {
  EXPECT_EQ(past_of_last("abcdefghX abcdefghY").past, Past::Unknown);
  EXPECT_EQ(past_of_last("abcdefghX abcdefghZ abcdefghY").past, Past::Unknown);
}

TEST(PastOfStep, NeedsEightEqualStepsBefore) {
  EXPECT_EQ(past_of_last("bcdefghX1bcdefghX2bcdefghY").past, Past::Unknown);
}

TEST(PastOfStep, IsWhatStoodBeforeTheGivenPlace) {
  const std::string_view letters = "abcdefghX abcdefghX abcdefghY";
  const std::vector<int> steps(letters.begin(), letters.end());
  EXPECT_EQ(past_of_step(steps, 28, 19).past, Past::Other);
  EXPECT_EQ(past_of_step(steps, 28, 18).past, Past::Unknown);
}

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
std::string ended(bool streams_are_known, std::initializer_list<std::vector<RankCall>> ranks) {
  std::vector<RankProgram> programs;
  for (const std::vector<RankCall>& calls : ranks) programs.push_back({{}, calls});
  const Simulation simulation(
      programs, streams_are_known,
      [](const MeetingKey&, const auto& calls) { return calls.size() == 2; });
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

constexpr bool kKnown = true;  // Streams and groups.

TEST(Simulation, CallsEndWhereAllComeToThem) {
  EXPECT_EQ(ended(kKnown, {{send(0, 1)}, {recv(0, 1)}}), "1 1");
  EXPECT_EQ(ended(kKnown, {{send(0, 1)}, {}}), "0 0");
}

TEST(Simulation, CirclesWaitOnlyWhereStreamsAreKnown) {
  const std::vector<RankCall> first = {send(0, 1), recv(1, 0)};
  const std::vector<RankCall> second = {send(1, 0), recv(0, 1)};
  EXPECT_EQ(ended(kKnown, {first, second}), "0 0");
  EXPECT_EQ(ended(!kKnown, {first, second}), "2 2");
}

TEST(Simulation, StreamsGroupsAndBuffersBreakCircles) {
  const std::vector<RankCall> other = {send(1, 0), recv(0, 1)};
  EXPECT_EQ(ended(kKnown, {{send(0, 1), on_stream(1, recv(1, 0))}, other}), "2 2");
  EXPECT_EQ(ended(kKnown, {{in_group(3, send(0, 1)), in_group(3, recv(1, 0))}, other}), "2 2");
  EXPECT_EQ(ended(kKnown, {{buffered(send(0, 1)), recv(1, 0)}, other}), "2 2");
}

TEST(Simulation, WhatStandsBehindACallThatSomebodyLacksDoesNotEnd) {
  // Rank 2 left out its Send to rank 1, behind whose Recv stands what rank 0 waits for.
  const std::vector<std::vector<RankCall>> ranks = {
      {recv(1, 0), recv(1, 0, 1)}, {send(1, 0), recv(2, 1), send(1, 0, 1)}, {}};
  for (const bool streams_are_known : {true, false}) {
    EXPECT_EQ(ended(streams_are_known, {ranks[0], ranks[1], ranks[2]}), "1 1 0");
  }
}

}  // namespace

}  // namespace ncclog
