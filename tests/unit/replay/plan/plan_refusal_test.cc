#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "model/build/build_job.h"
#include "replay/plan/build_plan.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

std::string refusal_of(const std::string& text, const std::vector<Suspicion>& suspicions = {}) {
  const Job job = job_from_text(text);
  try {
    refuse_unknown_calls(job, covered_members(job), suspicions);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RefuseUnknownCalls, SaysWhatIsMissing) {
  testing::CallLog silent;
  silent.init(0, 2, 0x77).init(1, 2, 0x77);
  testing::CallLog nameless;
  nameless.size(0x77, 2).call(0, 0x77).call(1, 0x77);
  testing::CallLog alone;
  alone.init(0, 2, 0x77).call(0, 0x77);
  testing::CallLog enough;
  enough.init(0, 2, 0x77).init(1, 2, 0x77).call(0, 0x77).call(1, 0x77);
  EXPECT_EQ(refusal_of("iteration: 1\n"),
            "no line of these logs was printed by NCCL, so there is nothing to replay");
  EXPECT_EQ(refusal_of(silent.text()),
            "these logs have no line about a call of NCCL, so nobody knows what the ranks called "
            "in which order");
  EXPECT_EQ(refusal_of(nameless.text()),
            "no line says which ranks the communicators of these calls have (Init START and "
            "COMPLETE)");
  EXPECT_EQ(refusal_of(alone.text()),
            "only 1 of a communicator's ranks has its calls in these logs; a replay needs those "
            "of two at least");
  EXPECT_EQ(refusal_of(enough.text()), "");
}

constexpr const char* kShmFailed =
    "n0:50:50 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n0:50:50 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>\n"
    "n0:50:60 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - "
    "Init START\n"
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, "
    "unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9\n";

TEST(RefuseUnknownCalls, SaysThatAJobFailedBeforeItsFirstCall) {
  const Suspicion advice = {
      .id = "hint", .title = "A hint", .communicator = "", .is_testable = false};
  const Suspicion cause = {.id = "shm-no-space", .title = "/dev/shm is full", .communicator = ""};
  const std::string said =
      "the job failed before its first call of NCCL, so there is nothing to replay";
  EXPECT_EQ(refusal_of(kShmFailed, {advice, cause}), said + ": /dev/shm is full [shm-no-space]");
  EXPECT_EQ(refusal_of(kShmFailed, {advice}), said);
}

TEST(FailedBeforeCalls, IsSaidOnlyWhereItIsKnown) {
  const std::string failed = kShmFailed;
  const std::string complete =
      "n0:50:60 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 "
      "- Init COMPLETE\n";
  const std::string only_warns =
      "n0:51:61 [1] misc/socket.cc:1 NCCL WARN Net : Call to recv from 192.0.2.3<4> failed : "
      "Connection reset by peer\n";
  EXPECT_TRUE(failed_before_calls(job_from_text(failed)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed.substr(0, failed.find("[rank0]")))));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + complete)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + only_warns)));
  const std::string only_settings =
      "n0:50:50 [0] NCCL INFO NCCL_DEBUG_SUBSYS set by environment to ENV\n"
      "n0:51:51 [1] NCCL INFO NCCL_DEBUG_SUBSYS set by environment to ENV\n";
  const std::string watchdog =
      "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=40, OpType=ALLREDUCE, NumelIn=512, "
      "NumelOut=512, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
  EXPECT_FALSE(failed_before_calls(job_from_text(only_settings + watchdog)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + watchdog)));
  EXPECT_FALSE(failed_before_calls(job_from_text("")));
}

}  // namespace
}  // namespace ncclog
