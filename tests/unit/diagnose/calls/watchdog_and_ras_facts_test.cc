#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/flight_recorder.h"
#include "support/call_log.h"
#include "support/fact_of.h"
#include "support/guilty.h"

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

using testing::answer_of;
using testing::CallLog;
using testing::fact_of;

constexpr std::string_view kOnCall = "job.watchdogs_on_call";
constexpr std::string_view kDisagrees = "job.watchdog_disagrees";

struct FitCase {
  std::string_view what;
  CallSignature call;
  std::string_view op;
  int64_t in;
  int64_t out;
  bool fits;
};

const FitCase kFits[] = {
    {"what all give", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, true},
    {"another size", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", 9, 9, false},
    {"another function", {"Broadcast", 8, 7, 0, 0}, "ALLREDUCE", 8, 8, false},
    {"an AllGather counts what one rank gives",
     {"AllGather", 8, 7, 0, 0},
     "_ALLGATHER_BASE",
     8,
     64,
     true},
    {"up to 2.21 in bytes", {"AllGather", 32, 0, 0, 0}, "_ALLGATHER_BASE", 8, 64, true},
    {"a ReduceScatter counts what one rank gets",
     {"ReduceScatter", 8, 7, 0, 0},
     "_REDUCE_SCATTER_BASE",
     64,
     8,
     true},
    {"an all-to-all is many calls", {"Send", 8, 7, 0, 0}, "ALLTOALL_BASE", 8, 8, false},
    {"no size printed", {"AllReduce", 8, 7, 0, 0}, "ALLREDUCE", -1, -1, false},
};

TEST(WatchdogCalls, FitByOperationAndSize) {
  for (const FitCase& row : kFits) {
    EXPECT_EQ(is_call_of_work(row.call, row.op, row.in, row.out), row.fits) << row.what;
  }
}

/// `nranks` ranks that made one AllReduce of 512 together.
CallLog world(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 1);
  return log;
}

std::string call_timeout(int rank, int seq, std::string_view op, int64_t numel) {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, seq, op, numel);
}

TEST(WatchdogCalls, AreTiedToTheCallOfTheFinding) {
  const std::string missing = world(3).call(0, 1).call(2, 1).text();
  EXPECT_EQ(fact_of(kOnCall, missing + call_timeout(0, 2, "ALLREDUCE", 512) +
                                 call_timeout(2, 2, "ALLREDUCE", 512))
                .what,
            ". The watchdogs of ranks 0,2 gave up on it as SeqNum 2");
  EXPECT_EQ(fact_of(kOnCall, missing + call_timeout(0, 2, "ALLREDUCE", 64)).what, "");
  const std::string differ = world(3).call(0, 1).call(1, 1).call(2, 1, "AllReduce", 64).text();
  EXPECT_EQ(fact_of(kOnCall, differ + call_timeout(0, 2, "ALLREDUCE", 512) +
                                 call_timeout(2, 2, "ALLREDUCE", 64))
                .what,
            ". The watchdogs of ranks 0,2 gave up on it as SeqNum 2");
  EXPECT_EQ(fact_of(kOnCall, world(3).text() + call_timeout(1, 1, "ALLREDUCE", 512)).what,
            ". The watchdogs of rank 1 gave up on it as SeqNum 1");
}

TEST(WatchdogCalls, DisagreeOnlyWhereTheLogShowsAllCalls) {
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + call_timeout(0, 1, "ALLREDUCE", 512)), "no");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + call_timeout(0, 1, "BROADCAST", 512)), "yes");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + call_timeout(0, 1, "ALLREDUCE", 5000)), "yes");
  EXPECT_EQ(answer_of(kDisagrees, world(3).text() + call_timeout(0, 1, "ALLTOALL_BASE", 4096)),
            "no");
  EXPECT_EQ(answer_of(kDisagrees, call_timeout(0, 1, "BROADCAST", 512)), "no");
}

using testing::guilty_answer;
using testing::GuiltyCase;

/// The two lines with which a rank gives up on a work of PyTorch 2.6 and later.
std::string timeout(int rank, int seq, std::string_view op, int64_t numel,
                    std::string_view group = "0(default_pg)") {
  return fmt::format(
      "[rank{0}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n"
      "[rank{0}]:[E209 11:22:33.123456799 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID {4} Rank "
      "{0}]  failure detected by watchdog at work sequence id: {1} PG status: last enqueued work: "
      "{1}, last completed work: {5}\n",
      rank, seq, op, numel, group, seq - 1);
}

/// What a rank says when another one's timeout makes it dump.
std::string dump(int rank, int last_enqueued) {
  return fmt::format(
      "[rank{0}]:[E209 11:22:37.123456799 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID "
      "0(default_pg) Rank {0}] Received a dump signal due to a collective timeout from  rank 0 and "
      "we will try our best to dump the debug info. Last enqueued NCCL work: {1}, last completed "
      "NCCL work: {1}.This is most likely caused by incorrect usages of collectives\n",
      rank, last_enqueued);
}

/// PyTorch up to 2.1 names only the rank inside the group.
std::string old_timeout(int rank, int seq, std::string_view op, std::string_view shape) {
  return fmt::format(
      "[E ProcessGroupNCCL.cpp:828] [Rank {0}] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum={1}, OpType={2}, TensorShape=[{3}], Timeout(ms)=1800000) ran for 180010{0} "
      "milliseconds before timing out.\n",
      rank, seq, op, shape);
}

std::string peer_closed() {
  return "n1:7:9 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
         "n2<41822>\n";
}

/// Rank 2 of 3 receives from rank 1, which sends nothing.
std::string waits_for_message() {
  testing::CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 1).call(rank, 1);
  return log.call(2, 1, "Recv", 8, 1).text();
}

constexpr std::string_view kMismatch = "job.watchdog_mismatch";
constexpr std::string_view kBehind = "job.watchdog_behind";

const GuiltyCase kMismatches[] = {
    {"three against one", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
         timeout(2, 20, "ALLREDUCE", 8) + timeout(3, 20, "ALLREDUCE", 4),
     "yes 3"},
    {"two against two", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
         timeout(2, 20, "ALLREDUCE", 4) + timeout(3, 20, "ALLREDUCE", 4),
     "yes 0-3"},
    {"one against one", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "BROADCAST", 8) +
         timeout(2, 20, "ALLREDUCE", 8, "3(dp)"),
     "yes 0,1"},
    {"all the same", kMismatch, timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8),
     "unknown"},
    {"other groups", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8, "3(dp)") + timeout(1, 20, "ALLREDUCE", 4, "4(tp)"), "unknown"},
    {"uneven all-to-all", kMismatch,
     timeout(0, 20, "ALLTOALL_BASE", 8) + timeout(1, 20, "ALLTOALL_BASE", 4), "unknown"},
    {"both ends of a transfer", kMismatch, timeout(0, 20, "SEND", 8) + timeout(1, 20, "RECV", 8),
     "unknown"},
    {"neighbouring numbers, other sizes", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 21, "ALLREDUCE", 1), "yes 0,1"},
    {"neighbouring numbers after a lost peer", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 21, "ALLREDUCE", 1) + peer_closed(), "unknown"},
    {"up to 2.0", kMismatch,
     old_timeout(0, 7, "ALLREDUCE", "64") + old_timeout(1, 7, "ALLREDUCE", "64") +
         old_timeout(2, 7, "BROADCAST", "64"),
     "yes 2"},
    {"one group rank twice: several groups", kMismatch,
     old_timeout(0, 7, "ALLREDUCE", "64") + old_timeout(0, 7, "BROADCAST", "64") +
         old_timeout(1, 7, "ALLREDUCE", "64"),
     "unknown"},
};

const GuiltyCase kLate[] = {
    {"one whose calls show that it waits for a message", kBehind,
     waits_for_message() + timeout(0, 31, "ALLREDUCE", 8) + timeout(1, 31, "ALLREDUCE", 8) +
         dump(2, 30),
     "unknown"},
    {"its own numbers", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8) + dump(2, 28), "yes 2"},
    {"as far as the others", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8) + dump(2, 29), "unknown"},
    {"it waits in another group itself", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8) +
         timeout(2, 7, "ALLREDUCE", 8, "3(dp)") + dump(2, 28) + dump(3, 28),
     "yes 3"},
    {"silence", kBehind, timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "unknown"},
    {"one has run ahead", kBehind,
     timeout(0, 29, "ALLREDUCE", 8) + dump(1, 28) + dump(2, 28) + dump(3, 28), "unknown"},
    {"a dump speaks of the default group only", kBehind,
     timeout(0, 29, "ALLREDUCE", 8, "3(dp)") + timeout(1, 29, "ALLREDUCE", 8, "3(dp)") +
         dump(2, 11),
     "unknown"},
    {"it failed in NCCL before", kBehind,
     "[rank2]: torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error (run with "
     "NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n" +
         timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "yes 2"},
    {"it lost a peer before", kBehind,
     "[rank2]: torch.distributed.DistBackendError: NCCL error in: "
     "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, remote process exited or there was a "
     "network error, NCCL version 2.21.5\n" +
         timeout(0, 29, "ALLREDUCE", 8) + timeout(1, 29, "ALLREDUCE", 8),
     "unknown"},
};

/// A global rank with the rank that the work's tag claims: frozen at the first group that logged.
std::string frozen_tag(int rank, int tag, int seq, std::string_view op) {
  return fmt::format(
      "[rank{}]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:563] [Rank {}] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum={}, OpType={}, NumelIn=8, NumelOut=8, "
      "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n",
      rank, tag, seq, op);
}

/// What NCCL says about its calls: opCount counts otherwise than SeqNum.
std::string nccl_call(int rank, std::string_view op_count) {
  return fmt::format(
      "n1:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm 0x5a rank {1} nranks 4 cudaDev {1} nvmlDev "
      "{1} busId {2}d000 commId 0x77 - Init COMPLETE\n"
      "n1:{0}:{0} [{1}] NCCL INFO AllReduce: opCount {3} sendbuff 0x7 recvbuff 0x7 count 8 "
      "datatype "
      "7 op 0 root 0 comm 0x5a [nranks=4] stream 0x6\n",
      4000 + rank, rank, rank + 1, op_count);
}

/// A communicator of two of the ranks that nccl_call makes.
std::string nccl_pair(int rank) {
  return fmt::format(
      "n1:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm 0x6b rank {1} nranks 2 cudaDev {1} nvmlDev "
      "{1} busId {2}d000 commId 0x78 - Init COMPLETE\n",
      4000 + rank, rank, rank + 1);
}

const GuiltyCase kTraps[] = {
    {"up to 2.1 in a job with several groups", kMismatch,
     nccl_call(0, "1") + nccl_call(1, "1") + nccl_pair(0) + nccl_pair(1) +
         old_timeout(0, 7, "ALLREDUCE", "64") + old_timeout(1, 7, "ALLREDUCE", "64") +
         old_timeout(2, 7, "BROADCAST", "64"),
     "unknown"},
    {"a rank inside the group is no global rank", kMismatch,
     frozen_tag(16, 0, 20, "ALLREDUCE") + frozen_tag(17, 1, 20, "ALLREDUCE") +
         frozen_tag(18, 2, 20, "BROADCAST"),
     "unknown"},
    {"two groups at one SeqNum, tags frozen", kMismatch,
     frozen_tag(0, 0, 20, "ALLREDUCE") + frozen_tag(1, 1, 20, "ALLREDUCE") +
         frozen_tag(2, 0, 20, "BROADCAST") + frozen_tag(3, 1, 20, "BROADCAST"),
     "unknown"},
    {"the global rank is named, not the group's", kMismatch,
     timeout(16, 20, "ALLREDUCE", 8) + timeout(17, 20, "ALLREDUCE", 8) +
         timeout(18, 20, "BROADCAST", 8),
     "yes 18"},
    {"sizes that are not set say nothing", kMismatch,
     timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
         timeout(2, 20, "ALLREDUCE", -1),
     "unknown"},
    {"NCCL's opCount is no SeqNum", kBehind,
     nccl_call(0, "1f") + nccl_call(1, "1f") + nccl_call(2, "3") + timeout(0, 29, "ALLREDUCE", 8) +
         timeout(1, 29, "ALLREDUCE", 8) + dump(2, 29),
     "unknown"},
    {"the default group by its description", kBehind,
     timeout(0, 29, "ALLREDUCE", 8, "5f2c(default_pg)") +
         timeout(1, 29, "ALLREDUCE", 8, "5f2c(default_pg)") + dump(2, 28),
     "yes 2"},
};

TEST(WatchdogFacts, FallIntoNoTrapOfCounters) {
  for (const GuiltyCase& row : kTraps) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The nine digits are a monotonic clock's nanoseconds: they run backwards within one second.
TEST(WatchdogFacts, DoNotOrderRecordsByTheirNanoseconds) {
  const std::string log = timeout(1, 20, "ALLREDUCE", 8) + timeout(0, 20, "ALLREDUCE", 8);
  const std::string backwards = replaced(timeout(1, 20, "ALLREDUCE", 8), "33.1234", "33.9876") +
                                timeout(0, 20, "ALLREDUCE", 8);
  const auto first = [](std::string_view text) {
    return testing::answer_of("job.watchdog_first", text);
  };
  EXPECT_EQ(first(backwards), first(log));
  EXPECT_NE(first(log).find("rank 1"), std::string::npos);
}

TEST(WatchdogFacts, ReadUnsetSizesAsUnknown) {
  const std::string wrapped = replaced(
      replaced(timeout(0, 20, "COALESCED", 8), "NumelIn=8", "NumelIn=18446744073709551615"),
      "NumelOut=8", "NumelOut=18446744073709551615");
  for (const std::string& log : {wrapped, timeout(0, 20, "COALESCED", -1)}) {
    EXPECT_EQ(testing::answer_of("job.watchdog_first", log).find("Numel"), std::string::npos)
        << log;
  }
}

TEST(WatchdogFacts, SayWhoseTimeOutIsNotThere) {
  const auto quiet = [](std::string_view log) {
    return testing::fact_of("job.watchdog_first", log).what;
  };
  const std::string nobody = "which one, this log does not show.";
  const std::string three =
      "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0xa0 rank 0 nranks 3 cudaDev 0 nvmlDev 0 busId "
      "1000 commId 0x51 - Init COMPLETE\n";
  const std::string two = timeout(0, 20, "ALLREDUCE", 8) + timeout(2, 20, "ALLREDUCE", 8);
  EXPECT_EQ(quiet(three + two),
            "no time-out of rank 1 is in these logs. It ended, hangs elsewhere, or its output is "
            "missing.");
  // Without NCCL's lines, a rank of each number below one that is there.
  EXPECT_EQ(quiet(two), quiet(three + two));
  EXPECT_EQ(quiet(three + timeout(0, 20, "ALLREDUCE", 8)), nobody);
  EXPECT_EQ(quiet(three + two + timeout(1, 20, "ALLREDUCE", 8)), nobody);
}

// The default differs between releases and frameworks: 30 minutes to 2.1, 10 from 2.2.
TEST(WatchdogFacts, QuoteTheLimitOfTheLine) {
  const std::string log = replaced(timeout(0, 20, "ALLREDUCE", 8), "(ms)=600000", "(ms)=1800000");
  EXPECT_NE(testing::answer_of("job.watchdog_first", log).find("limit 1800 s"), std::string::npos);
}

TEST(WatchdogFacts, NameTheOddRankOnlyAgainstAClearMajority) {
  for (const GuiltyCase& row : kMismatches) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(WatchdogFacts, NameARankAsBehindByItsOwnLinesOnly) {
  for (const GuiltyCase& row : kLate) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(WatchdogFacts, SayWhoWaitsInWhat) {
  const FactValue value =
      testing::fact_of(kMismatch, timeout(0, 20, "ALLREDUCE", 8) + timeout(1, 20, "ALLREDUCE", 8) +
                                      timeout(2, 20, "BROADCAST", 8));
  EXPECT_EQ(value.what,
            "SeqNum 20: ranks 0,1 called ALLREDUCE NumelIn=8, NumelOut=8, rank 2 called BROADCAST "
            "NumelIn=8, NumelOut=8 (operation or size differs)");
}

struct PhaseCase {
  std::string_view what;
  std::string log;
  std::string_view phase;
};

TEST(WatchdogFacts, SeeAnEvaluationOnlyWhereNoTrainingFollowed) {
  const std::string eval = "Validation:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string train = "Training:   1%|1         | 2/210 [00:01<02:58,  1.16it/s]\n";
  const std::string far(800, '\n');
  const std::string late = timeout(0, 5, "ALLREDUCE", 1);
  const PhaseCase cases[] = {
      {"just before", eval + late, "Validation"},
      {"without newline", eval.substr(0, eval.size() - 1) + late, "Validation"},
      {"training goes on", eval + train + late, ""},
      {"afterwards", late + eval, ""},
      {"long ago", eval + far + late, ""},
      {"a checkpoint", "Saving checkpoint at step 500\n" + late, "Saving checkpoint at step 500"},
  };
  for (const PhaseCase& row : cases) {
    EXPECT_EQ(testing::fact_of("job.watchdog_at_eval", row.log).what, row.phase) << row.what;
  }
}

}  // namespace

}  // namespace ncclog
