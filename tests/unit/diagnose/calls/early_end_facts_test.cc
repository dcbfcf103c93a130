#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kCrossed = "job.inits_crossed";
constexpr std::string_view kAlike = "job.watchdog_all_alike";

const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n";

std::string phase(int rank, int nranks, int id, std::string_view phase) {
  return fmt::format(
      "n1:{}:{} [{}] NCCL INFO ncclCommInitRank comm {:#x} rank {} nranks {} cudaDev {} nvmlDev {} "
      "busId {}000 commId {:#x} - Init {}\n",
      100 + rank, 100 + rank, rank, 0x7000 + id * 16 + rank, rank, nranks, rank, rank, rank + 1, id,
      phase);
}

std::string start(int rank, int nranks, int id) { return phase(rank, nranks, id, "START"); }

std::string complete(int rank, int nranks, int id) {
  return start(rank, nranks, id) + phase(rank, nranks, id, "COMPLETE");
}

/// Four ranks with a communicator of all of them.
std::string four() {
  std::string log;
  for (int rank = 0; rank < 4; ++rank) log += complete(rank, 4, 0x51);
  return log;
}

/// They begin two more, ranks 0 and 2 the one, 1 and 3 the other.
std::string crossed() {
  return four() + start(0, 4, 0x62) + start(2, 4, 0x62) + start(1, 4, 0x63) + start(3, 4, 0x63);
}

std::string gave_up(int rank, int seq, int elements = 512) {
  return fmt::format(
      "[rank{}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, NumelIn={}, "
      "NumelOut={}, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, rank, seq, elements, elements);
}

/// As PyTorch 2.11 prints it where the unique id of another group is not published.
std::string waited_in_store(int rank) {
  return fmt::format(
      "[rank{}]: torch.distributed.DistBackendError: [{}] is setting up NCCL communicator and "
      "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') "
      "got error: wait timeout after 15000ms, keys: /default_pg/0//2//cuda//0\n",
      rank, rank);
}

const GuiltyCase kCases[] = {
    {"one half in the store", kCrossed,
     start(0, 2, 0x62) + "n1:109:109 [1] NCCL INFO ENV/Plugin: Could not find: libnccl-env.so\n" +
         waited_in_store(1),
     "yes 0,1"},
    {"who waits in the store is not missing", "job.rank_missing_at_init",
     start(0, 2, 0x62) + "n1:109:109 [1] NCCL INFO ENV/Plugin: Could not find: libnccl-env.so\n" +
         waited_in_store(1),
     "unknown"},
    {"one rank is neither in the store nor in the initialisation", kCrossed,
     start(0, 3, 0x62) + waited_in_store(1), "unknown"},
    {"the same rank in both", kCrossed, start(0, 2, 0x62) + waited_in_store(0), "unknown"},
    {"two halves", kCrossed, crossed() + kCancelled, "yes 0-3"},
    {"the job may only be starting", kCrossed, crossed(), "unknown"},
    {"one rank alone against three", kCrossed,
     four() + start(0, 4, 0x62) + start(1, 4, 0x62) + start(2, 4, 0x62) + start(3, 4, 0x63) +
         kCancelled,
     "yes 0-3"},
    {"one rank is in neither", kCrossed,
     four() + start(0, 4, 0x62) + start(2, 4, 0x62) + start(1, 4, 0x63) + kCancelled, "unknown"},
    {"the first of them came up", kCrossed, crossed() + phase(0, 4, 0x62, "COMPLETE") + kCancelled,
     "unknown"},
    {"two groups of two that each wait for one", kCrossed,
     four() + start(0, 2, 0x62) + start(1, 2, 0x63) + kCancelled, "unknown"},
    {"a rank failed by itself", kCrossed,
     crossed() + "n1:101:101 [1] init.cc:1104 NCCL WARN Cuda failure 'out of memory'\n" +
         kCancelled,
     "unknown"},
    {"all ranks in one call", kAlike,
     four() + gave_up(0, 31) + gave_up(1, 31) + gave_up(2, 31) + gave_up(3, 31), "yes"},
    {"one rank says nothing", kAlike, four() + gave_up(0, 31) + gave_up(1, 31) + gave_up(2, 31),
     "unknown"},
    {"one rank in another size", kAlike,
     four() + gave_up(0, 31) + gave_up(1, 31) + gave_up(2, 31) + gave_up(3, 31, 8), "unknown"},
    {"one rank a call behind", kAlike,
     four() + gave_up(0, 31) + gave_up(1, 31) + gave_up(2, 31) + gave_up(3, 30), "unknown"},
    {"the number of ranks is not known", kAlike, gave_up(0, 31) + gave_up(1, 31), "unknown"},
};

TEST(DeadlockFacts, AreSaidWhereEveryRankSpeaks) {
  for (const GuiltyCase& c : kCases) {
    EXPECT_EQ(guilty_answer(c.fact, c.log), c.answer) << c.what;
  }
}

TEST(DeadlockFacts, NameBothHalves) {
  EXPECT_EQ(fact_of(kCrossed, crossed() + kCancelled).what,
            "ranks 0,2 in 0x62 and ranks 1,3 in 0x63");
}

TEST(DeadlockFacts, QuoteTheCall) {
  EXPECT_EQ(
      fact_of(kAlike, four() + gave_up(0, 3) + gave_up(1, 3) + gave_up(2, 3) + gave_up(3, 3)).what,
      "all 4 ranks gave up on SeqNum 3, ALLREDUCE with NumelIn=512, NumelOut=512");
}

}  // namespace

}  // namespace ncclog
