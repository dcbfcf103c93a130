#include "diagnose/call_departures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.h"
#include "model/build/build_job.h"

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

std::string ranks_of(const Job& job, const std::vector<Departure>& departures) {
  std::vector<int> ranks;
  for (const Departure& departure : departures) {
    ranks.push_back(job.processes[static_cast<size_t>(departure.waiter.process)].rank);
  }
  return ranges_text(ranks);
}

struct Row {
  std::string_view what;
  std::string_view calls[4];
  std::string_view odd;
  std::string_view unheard_of;
  std::string_view undecided;
};

constexpr Row kRows[] = {
    {"all the same", {"wppwppw", "wppwppw", "wppwppw", "wppwppw"}, "", "", ""},
    {"one left a call out", {"wppwpp", "wppwpp", "wppwpw", "wppwpp"}, "2", "", ""},
    {"one made a call more", {"wppwpppw", "wppwppw", "wppwppw", "wppwppw"}, "0", "", ""},
    {"one swapped two calls for the first time", {"wppWP", "wppWP", "wppWP", "wppPW"}, "3", "", ""},
    {"who ends earlier waits", {"wppwpp", "wppwp", "wpp", "wppwppw"}, "", "", ""},
    {"the many go where they never were", {"wppW", "wppW", "wppW", "wppP"}, "", "3", ""},
    {"two against two, swapped", {"wppwp", "wppwp", "wpppw", "wpppw"}, "", "", "0,2"},
    {"two against two", {"wppwP", "wppwP", "wppPP", "wppPP"}, "", "", ""},
};

TEST(CallDepartures, TheFewThatLeaveTheProgramOfTheManyAreNamed) {
  for (const Row& row : kRows) {
    std::string text;
    for (int rank = 0; rank < 4; ++rank) text += rank_calls(rank, row.calls[rank]);
    const Job job = job_from_text(text);
    const Departures found = find_departures(job);
    EXPECT_EQ(ranks_of(job, found.odd), row.odd) << row.what;
    EXPECT_EQ(ranks_of(job, found.unheard_of), row.unheard_of) << row.what;
    EXPECT_EQ(ranks_of(job, found.undecided), row.undecided) << row.what;
  }
}

TEST(CallDepartures, WhatCameLongBeforeTheEndIsAnotherRole) {
  const std::string rest(80, 'w');
  std::string text;
  for (int rank = 0; rank < 3; ++rank) text += rank_calls(rank, "ww" + rest);
  text += rank_calls(3, "wp" + rest);
  EXPECT_TRUE(find_departures(job_from_text(text)).odd.empty());
}

TEST(CallDepartures, ARankWhoseCallsAreNotAllKnownIsLeftOut) {
  std::string text;
  for (int rank = 0; rank < 3; ++rank) text += rank_calls(rank, "wppwpp");
  const std::string other = rank_calls(3, "wppwpw");
  text += other.substr(other.find("AllReduce"));  // Its initialisation is missing.
  EXPECT_TRUE(find_departures(job_from_text(text)).odd.empty());
}

}  // namespace
}  // namespace ncclog
