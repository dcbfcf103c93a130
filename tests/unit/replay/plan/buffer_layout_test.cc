#include <gtest/gtest.h>

#include "replay/plan/plan.h"

namespace ncclog {
namespace {

ReplayPlan four_ranks() {
  ReplayPlan plan;
  plan.ranks.resize(4);
  plan.communicators.push_back({.id = "0x1", .ranks = {0, 1, 2, 3}});
  return plan;
}

PlannedCall call(const char* op, int64_t count) {
  return {.communicator = 0, .op = op, .count = count, .datatype = 7, .root = 1};
}

TEST(BufferLayout, CallsOfAStreamBeginAtItsStart) {
  const std::vector<PlannedCall> calls{call("AllReduce", 100), call("AllGather", 10)};
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls, (std::vector<BufferPlace>{{false, 0, 0}, {false, 0, 0}}));
  EXPECT_EQ(layout.streams, (std::vector<StreamArenas>{{400, 400}}));
}

TEST(BufferLayout, CallsOfAGroupLieSideBySide) {
  std::vector<PlannedCall> calls{call("Send", 10), call("Recv", 10), call("Recv", 100),
                                 call("AllReduce", 1)};
  for (size_t i = 0; i < 3; ++i) calls[i].group = 0;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls,
            (std::vector<BufferPlace>{{false, 0, 0}, {false, 256, 0}, {false, 256, 256}, {}}));
  EXPECT_EQ(layout.streams, (std::vector<StreamArenas>{{256, 656}}));
}

TEST(BufferLayout, OtherStreamsHaveOtherArenas) {
  std::vector<PlannedCall> calls{call("AllReduce", 10), call("AllReduce", 20)};
  calls[1].stream = 2;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.streams, (std::vector<StreamArenas>{{40, 40}, {0, 0}, {80, 80}}));
}

TEST(BufferLayout, OffsetsAreKeptButOnElements) {
  std::vector<PlannedCall> calls{call("AllReduce", 10)};
  calls[0].send_offset = 16;
  calls[0].recv_offset = 7;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 0, calls);
  EXPECT_EQ(layout.calls[0], (BufferPlace{false, 16, 4}));
  EXPECT_EQ(layout.streams[0], (StreamArenas{56, 44}));
}

struct InPlaceRow {
  const char* op;
  int rank;
  int64_t send;
  int64_t receive;
  int64_t end;
};

/// Blocks of 40 bytes, root 1; the region begins at 16.
TEST(BufferLayout, InPlaceIsAsNcclHHasIt) {
  const InPlaceRow rows[] = {{"AllReduce", 2, 16, 16, 56},      {"Broadcast", 2, 16, 16, 56},
                             {"Reduce", 2, 16, 16, 56},         {"AllGather", 2, 96, 16, 176},
                             {"ReduceScatter", 2, 16, 96, 176}, {"Gather", 1, 56, 16, 176},
                             {"Scatter", 1, 16, 56, 176}};
  for (const InPlaceRow& row : rows) {
    std::vector<PlannedCall> calls{call(row.op, 10)};
    calls[0].in_place = true;
    calls[0].send_offset = calls[0].recv_offset = 16;
    const BufferLayout layout = lay_out_buffers(four_ranks(), row.rank, calls);
    EXPECT_EQ(layout.calls[0], (BufferPlace{true, row.send, row.receive})) << row.op;
    EXPECT_EQ(layout.streams[0], (StreamArenas{0, row.end})) << row.op;
  }
}

TEST(BufferLayout, ARankThatDoesNotReceiveHasNoBlocks) {
  std::vector<PlannedCall> calls{call("Gather", 10)};
  calls[0].in_place = true;
  const BufferLayout layout = lay_out_buffers(four_ranks(), 3, calls);
  EXPECT_EQ(layout.calls[0], (BufferPlace{true, 0, 0}));
  EXPECT_EQ(layout.streams[0], (StreamArenas{0, 40}));
}

TEST(BufferLayout, AGroupEndsWhereAnotherOneBegins) {
  std::vector<PlannedCall> calls{call("Send", 1), call("Recv", 1), call("Send", 1)};
  calls[0].group = calls[1].group = 4;
  calls[2].group = 5;
  EXPECT_EQ(group_end(calls, 0), 2U);
  EXPECT_EQ(group_end(calls, 2), 3U);
  calls[0].group = calls[1].group = -1;
  EXPECT_EQ(group_end(calls, 0), 1U);
}

}  // namespace
}  // namespace ncclog
