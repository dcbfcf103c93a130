#include "diagnose/rank_programs.h"

#include <gtest/gtest.h>

#include "model/calls.h"
#include "model/build/build_job.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

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
  constexpr int kPeers = static_cast<int>(CollectiveCalls::kMaxPeers) + 4;
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

}  // namespace
}  // namespace ncclog
