#include "diagnose/calls/diverged.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "model/derive/build_job.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

/// Rank `rank` of four, on the world and on a communicator of a pair, and what it calls: "w" and
/// "W" are calls on the world, "p" and "P" others on its pair.
std::string rank_calls(int rank, std::string_view calls) {
  const std::string at = fmt::format("n:{0}:{0} [{1}] NCCL INFO ", 40 + rank, rank);
  std::string text;
  const auto init = [&](std::string_view comm, int own, int nranks, int id) {
    text += fmt::format(
        "{}ncclCommInitRank comm {} rank {} nranks {} cudaDev {} nvmlDev {} busId {}000 commId "
        "{:#x} - Init COMPLETE\n",
        at, comm, own, nranks, rank, rank, rank + 1, id);
  };
  init("0xa0", rank, 4, 0x77);
  init("0xb0", rank % 2, 2, 0x80 + rank / 2);
  for (const char call : calls) {
    const bool on_world = call == 'w' || call == 'W';
    const bool is_long = call == 'W' || call == 'P';
    text += fmt::format(
        "{}AllReduce: opCount 0 sendbuff 0x7 recvbuff 0x7 count {} datatype 7 op 0 root 0 comm {} "
        "[nranks={}] stream 0x6\n",
        at, is_long ? 4096 : 8, on_world ? "0xa0" : "0xb0", on_world ? 4 : 2);
  }
  return text;
}

std::string ranks_of(const Job& job, const std::vector<Divergence>& divergences) {
  std::vector<int> ranks;
  for (const Divergence& divergence : divergences) {
    ranks.push_back(job.processes[static_cast<size_t>(divergence.waiter.process)].rank);
  }
  return ranges_text(ranks);
}

struct DivergedRow {
  std::string_view what;
  std::string_view calls[4];
  std::string_view odd;
  std::string_view unprecedented;
  std::string_view undecided;
};

constexpr DivergedRow kDiverged[] = {
    {"all the same", {"wppwppw", "wppwppw", "wppwppw", "wppwppw"}, "", "", ""},
    {"one left a call out", {"wppwpp", "wppwpp", "wppwpw", "wppwpp"}, "2", "", ""},
    {"one made a call more", {"wppwpppw", "wppwppw", "wppwppw", "wppwppw"}, "0", "", ""},
    {"one swapped two calls for the first time", {"wppWP", "wppWP", "wppWP", "wppPW"}, "3", "", ""},
    {"who ends earlier waits", {"wppwpp", "wppwp", "wpp", "wppwppw"}, "", "", ""},
    {"the many go where they never were", {"wppW", "wppW", "wppW", "wppP"}, "", "3", ""},
    {"two against two, swapped", {"wppwp", "wppwp", "wpppw", "wpppw"}, "", "", "0,2"},
    {"two against two", {"wppwP", "wppwP", "wppPP", "wppPP"}, "", "", ""},
};

TEST(CallDivergences, TheFewThatLeaveTheProgramOfTheManyAreNamed) {
  for (const DivergedRow& row : kDiverged) {
    std::string text;
    for (int rank = 0; rank < 4; ++rank) text += rank_calls(rank, row.calls[rank]);
    const Job job = job_from_text(text);
    const Divergences found = find_divergences(job);
    EXPECT_EQ(ranks_of(job, found.odd), row.odd) << row.what;
    EXPECT_EQ(ranks_of(job, found.unprecedented), row.unprecedented) << row.what;
    EXPECT_EQ(ranks_of(job, found.undecided), row.undecided) << row.what;
  }
}

TEST(CallDivergences, WhatCameLongBeforeTheEndIsAnotherRole) {
  const std::string rest(80, 'w');
  std::string text;
  for (int rank = 0; rank < 3; ++rank) text += rank_calls(rank, "ww" + rest);
  text += rank_calls(3, "wp" + rest);
  EXPECT_TRUE(find_divergences(job_from_text(text)).odd.empty());
}

TEST(CallDivergences, ARankWhoseCallsAreNotAllKnownIsLeftOut) {
  std::string text;
  for (int rank = 0; rank < 3; ++rank) text += rank_calls(rank, "wppwpp");
  const std::string other = rank_calls(3, "wppwpw");
  text += other.substr(other.find("AllReduce"));  // Its initialisation is missing.
  EXPECT_TRUE(find_divergences(job_from_text(text)).odd.empty());
}

using testing::CallLog;

void all_reduce(CallLog& log) { log.call(0, 1).call(1, 1); }

CallLog two_ranks() {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1).init(1, 1, 2, 0);
  all_reduce(log);
  return log;
}

/// Rank 1 computes on a communicator of its own.
void compute(CallLog& log) {
  for (int call = 0; call < 7; ++call) log.call(1, 2);
}

/// Rank 0 sends to rank 1, which computes with it; `times` times.
void add_loop(CallLog& log, int times) {
  for (int i = 0; i < times; ++i) {
    log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    compute(log);
  }
}

/// Four times the same, each with an AllReduce at its end.
CallLog four_steps() {
  CallLog log = two_ranks();
  for (int i = 0; i < 4; ++i) {
    add_loop(log, 1);
    all_reduce(log);
  }
  return log;
}

std::optional<ProgramDivergence> divergence_of(const CallLog& log) {
  const Job job = job_from_text(log.text());
  const auto unmatched = unmatched_messages(job, 0);
  EXPECT_EQ(unmatched.size(), 1u) << log.text();
  return unmatched.empty() ? std::nullopt : message_divergence(job, unmatched[0]);
}

TEST(MessageDivergence, IsWhereAMessageAlwaysStood) {
  CallLog log = four_steps();
  log.call(0, 1, "Send", 8, 1);
  compute(log);
  all_reduce(log);
  const auto divergence = divergence_of(log);
  ASSERT_TRUE(divergence.has_value());
  EXPECT_EQ(divergence->waiter.cuda_dev, 1);
  EXPECT_EQ(divergence->made.line.communicator, 1);
  EXPECT_EQ(divergence->made.index, 28u);
  EXPECT_EQ(divergence->usual.index, 4u);
}

/// Three ranks exchange messages and then compute together; in the last of five steps only ranks 0
/// and 1 exchange some, and all but rank 2 wait in that.
CallLog without_exchange() {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1).call(rank, 1);
  for (int i = 0; i < 5; ++i) {
    for (int rank = 0; rank < 3; ++rank) {
      for (int peer = 0; peer < 3 && (i < 4 || rank < 2); ++peer) {
        if (peer != rank) log.call(rank, 1, "Send", 8, peer).call(rank, 1, "Recv", 8, peer);
      }
      if (i < 4 || rank == 2) log.call(rank, 1);
    }
  }
  return log;
}

TEST(MessageDivergence, MayBeOfSeveralMessages) {
  const Job job = job_from_text(without_exchange().text());
  for (const UnmatchedMessages& messages : unmatched_messages(job, 0)) {
    const auto divergence = message_divergence(job, messages);
    const bool is_first = std::min(messages.sender, messages.receiver) == 0;
    EXPECT_EQ(divergence.has_value(), is_first && messages.sent < messages.received);
    if (divergence) {
      EXPECT_EQ(divergence->waiter.cuda_dev, 2);
    }
  }
}

TEST(MessageDivergence, IsNotTheEndOfALoopThatBothEndsMadeAlike) {
  CallLog log = two_ranks();
  add_loop(log, 4);
  all_reduce(log);
  log.call(0, 1, "Send", 8, 1);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWhereALoopEndsForTheFirstTime) {
  // Rank 0 may as well have sent once too often.
  CallLog log = two_ranks();
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1);
  all_reduce(log);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWhereTheEndOfARunIsSeenForTheFirstTime) {
  CallLog log = two_ranks();
  for (int i = 0; i < 40; ++i) log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
  log.call(1, 1, "Recv", 8, 0);
  for (int i = 0; i < 40; ++i) log.call(0, 1, "Recv", 8, 1).call(1, 1, "Send", 8, 0);
  log.call(0, 1);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWhereTheRankOnlyCameNoFurther) {
  CallLog log = two_ranks();
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownUntilTheRankComesToTheNextCollective) {
  CallLog log = four_steps();
  log.call(0, 1, "Send", 8, 1);
  compute(log);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWhereSomethingElseTookThePlaceOfTheMessage) {
  CallLog log = four_steps();
  log.call(0, 1, "Send", 8, 1).call(1, 2, "Broadcast");
  compute(log);
  all_reduce(log);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWhereTheOtherEndLeftSuchAMessageOut) {
  // Rank 0 has nothing to send, so that neither of them does anything, and then sends nevertheless.
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1).init(0, 1, 3, 0).init(1, 1, 2, 0);
  for (int i = 0; i < 5; ++i) {
    all_reduce(log);
    if (i < 4) log.call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0);
    compute(log);
    for (int call = 0; call < 7; ++call) log.call(0, 3);
  }
  log.call(0, 1, "Send", 8, 1);
  all_reduce(log);
  EXPECT_FALSE(divergence_of(log).has_value());
}

TEST(MessageDivergence, IsUnknownWithoutACollectiveOfBothEnds) {
  CallLog log;
  log.init(0, 2, 1).init(1, 2, 1).init(1, 1, 2, 0);
  add_loop(log, 4);
  log.call(0, 1, "Send", 8, 1).call(1, 2);
  EXPECT_FALSE(divergence_of(log).has_value());
}

}  // namespace

}  // namespace ncclog
