#include "replay/plan_refusal.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "model/job_from_text.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

std::string refusal_of(const std::string& text) {
  const Job job = job_from_text(text);
  try {
    refuse_unknown_calls(job, covered_members(job));
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

}  // namespace
}  // namespace ncclog
