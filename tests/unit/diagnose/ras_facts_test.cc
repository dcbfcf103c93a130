#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/call_log.h"
#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::CallLog;
using testing::fact_of;

constexpr std::string_view kAgrees = "job.ras_agrees";
constexpr std::string_view kContradicts = "job.ras_contradicts";

/// Four ranks of communicator 0x77, of which the last one did not make the second call.
std::string missing() {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 4, 0x77);
  for (int rank = 0; rank < 4; ++rank) log.call(rank, 0x77);
  for (int rank = 0; rank < 3; ++rank) log.call(rank, 0x77);
  return log.timeout(0, 2).text();
}

/// The answer of RAS: three ranks, then the last one.
std::string answer(int three, int last, std::string_view hash = "0000000000000077",
                   std::string_view function = "AllReduce") {
  return fmt::format(
      "NCCL version 2.28.9 compiled with CUDA 13.0\nJob summary\n===========\n\nErrors\n======\n\n"
      "Warnings\n========\n\n#0-0 ({}) MISMATCH\n  Communicator ranks have different {} operation "
      "counts\n  3 ranks have launched up to operation {}\n  Rank 3 has launched up to operation "
      "{} -- GPU 3 managed by process 53 on node 10.1.2.3\n",
      hash, function, three, last);
}

TEST(RasFacts, ConfirmWhomTheLinesName) {
  EXPECT_EQ(fact_of(kAgrees, missing() + answer(2, 1)).what,
            ". NCCL's RAS service counted the same: 1 AllReduce of the ranks named, 2 of the "
            "others");
  EXPECT_EQ(answer_of(kAgrees, missing() + answer(1, 2)), "unknown");
  EXPECT_EQ(answer_of(kAgrees, missing() + answer(2, 1, "0000000000000078")), "unknown");
  EXPECT_EQ(answer_of(kAgrees, missing()), "unknown");
  EXPECT_EQ(answer_of(kAgrees, answer(2, 1)), "unknown");
}

TEST(RasFacts, ContradictWhereALogShowsFewerCallsThanRasCounted) {
  EXPECT_EQ(fact_of(kContradicts, missing() + answer(2, 9)).what,
            "RAS counted 9 AllReduce of rank 3 on communicator 0x77 (4 ranks), whose log shows 1");
  EXPECT_EQ(answer_of(kContradicts, missing() + answer(2, 1)), "no");
  EXPECT_EQ(answer_of(kContradicts, missing() + answer(7, 9)), "no") << "other counters altogether";
  EXPECT_EQ(answer_of(kContradicts, missing() + answer(2, 9, "0000000000000078")), "no");
  EXPECT_EQ(answer_of(kContradicts, missing() + answer(2, 9, "0000000000000077", "Reduce")), "no");
  EXPECT_EQ(answer_of(kContradicts, answer(2, 9)), "no");
}

}  // namespace
}  // namespace ncclog
