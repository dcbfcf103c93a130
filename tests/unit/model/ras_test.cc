#include "model/ras.h"

#include <gtest/gtest.h>

#include <string>

#include "model/derive/build_job.h"
#include "model/shard/shard.h"
#include "support/describe_ras.h"

namespace ncclog {
namespace {

using testing::describe_ras;

std::string described(std::string_view text) {
  const Job job = job_from_text(text);
  std::string out;
  for (const RasReport& report : job.ras_reports) out += describe_ras(report);
  return out;
}

constexpr std::string_view kHealthy = R"(NCCL version 2.28.9 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13010

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32        32   RUNNING      OK
    1         8         4         1         4        32   RUNNING      OK

Errors
======

Warnings
========

)";

TEST(RasText, ReadsAHealthyAnswer) {
  EXPECT_EQ(described(kHealthy),
            "version=2.28.9 cuda=13000/13010 time= timeouts=0\n"
            "communicators  x1 nodes=4 per_node=8 nranks=32 missing=-1 RUNNING OK\n"
            "communicators  x8 nodes=4 per_node=1 nranks=4 missing=-1 RUNNING OK\n"
            "world of 32 ranks on 4 nodes:\n");
}

constexpr std::string_view kIll = R"(NCCL version 2.24.3 compiled with CUDA 12.6
Job summary
===========

  Nodes  Processes         GPUs
          per node  per process
      3          8            1
      1          7            1

  Nodes  Processes         GPUs
(total)    (total)      (total)
      4         31           31

Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4       7-8        32        31   RUNNING  INCOMPLETE,ERROR,MISMATCH

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 3487984 on node 10.1.2.3 managing GPU 5

DEAD
  2 job processes are considered dead (unreachable via the RAS network)
  Process 3487985 on node 10.1.2.3 managing GPUs 6,7 (NVML 4,5)
  [could not find information on 1 process]

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 21 -- GPU 5 managed by process 3487984 on node 10.1.2.3

#0-0 (cf264af53edbe986) ERROR
  Initialization error on 1 rank
  Rank 3 reported Invalid usage -- GPU 3 (NVML 1) managed by process 41 on node fd00::2
  Asynchronous errors on 2 ranks
  2 ranks reported Remote process error
  Rank 1 -- GPU 1 managed by process 42 on node 10.1.2.1
  Rank 2 -- [process information not found]

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different status
  30 ranks have status RUNNING
  Rank 7 has status INIT -- GPU 7 managed by process 48 on node 10.1.2.1
  Communicator ranks have different AllReduce operation counts
  30 ranks have launched up to operation 6650
  Rank 7 has not launched any operations -- GPU 7 managed by process 48 on node 10.1.2.1

  Communicator ranks have different Broadcast operation counts
  29 ranks have not launched any operations
  2 ranks have launched up to operation 3
  Rank 0 -- GPU 0 managed by process 41 on node 10.1.2.1
  Rank 8 -- GPU 0 managed by process 51 on node 10.1.2.2

)";

constexpr std::string_view kIllDescribed =
    "version=2.24.3 cuda=-1/-1 time= timeouts=2\n"
    "communicators  x1 nodes=4 per_node=7-8 nranks=32 missing=-1 RUNNING "
    "INCOMPLETE,ERROR,MISMATCH\n"
    "world of 32 ranks on 4 nodes: 2 0 3 1 7 7 8 21\n"
    " INCOMPLETE communicator data: '' x1\n"
    "  rank -1 pid 3487984 on 10.1.2.3 gpu 5\n"
    " DEAD unreachable: '' x2\n"
    "  rank -1 pid 3487985 on 10.1.2.3 gpu 6,7 (NVML 4,5)\n"
    "cf264af53edbe986 INCOMPLETE communicator data: '' x1\n"
    "  rank 21 pid 3487984 on 10.1.2.3 gpu 5\n"
    "cf264af53edbe986 ERROR Initialization error: 'Invalid usage' x1\n"
    "  rank 3 pid 41 on fd00::2 gpu 3 (NVML 1)\n"
    "cf264af53edbe986 ERROR Asynchronous error: 'Remote process error' x2\n"
    "  rank 1 pid 42 on 10.1.2.1 gpu 1\n"
    "  rank 2 pid -1 on  gpu \n"
    "cf264af53edbe986 MISMATCH status: 'RUNNING' x30\n"
    "cf264af53edbe986 MISMATCH status: 'INIT' x1\n"
    "  rank 7 pid 48 on 10.1.2.1 gpu 7\n"
    "cf264af53edbe986 MISMATCH AllReduce operation counts: '6650' x30\n"
    "cf264af53edbe986 MISMATCH AllReduce operation counts: '0' x1\n"
    "  rank 7 pid 48 on 10.1.2.1 gpu 7\n"
    "cf264af53edbe986 MISMATCH Broadcast operation counts: '0' x29\n"
    "cf264af53edbe986 MISMATCH Broadcast operation counts: '3' x2\n"
    "  rank 0 pid 41 on 10.1.2.1 gpu 0\n"
    "  rank 8 pid 51 on 10.1.2.2 gpu 0\n";

TEST(RasText, ReadsEveryKindOfStatement) { EXPECT_EQ(described(kIll), kIllDescribed); }

/// The lines of an answer with others between them, behind a prefix.
std::string among_others(std::string_view answer) {
  std::string text;
  for (size_t begin = 0; begin < answer.size();) {
    const size_t end = answer.find('\n', begin);
    text += "[default0]:" + std::string(answer.substr(begin, end - begin)) + "\n";
    text += "[default1]:step 7 loss 2.5\n";
    text += "node-a:7:8 [0] NCCL INFO Using network Socket\n";
    begin = end + 1;
  }
  return text;
}

TEST(RasText, ReadsAnAnswerAmongOtherLines) {
  EXPECT_EQ(described(among_others(kIll)), kIllDescribed);
}

TEST(RasText, ReadsAQuotedPart) {
  const std::string part(kIll.substr(kIll.find("#0-0 (cf264af53edbe986) INCOMPLETE")));
  EXPECT_EQ(described(part.substr(0, part.find("#0-0", 1))),
            "version= cuda=-1/-1 time= timeouts=0\n"
            "cf264af53edbe986 INCOMPLETE communicator data: '' x1\n"
            "  rank 21 pid 3487984 on 10.1.2.3 gpu 5\n");
}

// Pieces without a head: what an answer says once begins the next one.
TEST(RasText, QuotedPartsInARowAreSeveralAnswers) {
  constexpr std::string_view kDead =
      "DEAD\n"
      "  1 job process is considered dead (unreachable via the RAS network)\n"
      "  Process 515 on node 10.1.2.3 managing GPU 3\n";
  constexpr std::string_view kDescribed =
      "version= cuda=-1/-1 time= timeouts=0\n"
      " DEAD unreachable: '' x1\n"
      "  rank -1 pid 515 on 10.1.2.3 gpu 3\n";
  EXPECT_EQ(described(kDead), kDescribed);
  EXPECT_EQ(described(std::string(kDead) + std::string(kDead)),
            std::string(kDescribed) + std::string(kDescribed));
  EXPECT_EQ(
      described("[2026-03-02 11:07:07] PEER_DEAD: Process 515 on node 10.1.2.3 managing GPU 3\n"),
      kDescribed);
  const std::string rows =
      "    0         1         2         4         8         8   RUNNING      OK\n";
  EXPECT_EQ(job_from_text(rows + rows).ras_reports.size(), 2U);
}

// Eight communicators of four ranks each: no rank in one of them is the job's.
TEST(RasText, WithoutACommunicatorOfAllProcessesTheWorldIsUnknown) {
  for (const char* rows :
       {"    0         8         4         1         4        32   RUNNING      OK\n",
        "    0         1         1         1         2         1   RUNNING  INCOMPLETE\n"
        "    1         4         1         1         2         1   RUNNING  MISMATCH\n"}) {
    const Job job = job_from_text(rows);
    ASSERT_EQ(job.ras_reports.size(), 1U) << rows;
    EXPECT_EQ(job.ras_reports[0].nranks, -1) << rows;
    EXPECT_EQ(job.nranks, std::nullopt) << rows;
  }
}

TEST(RasText, EachAnswerIsAReportAndTheLastOnesAreKept) {
  std::string many;
  for (size_t i = 0; i < kMaxRasReports + 2; ++i) {
    many += "NCCL version 2.28." + std::to_string(i) + " compiled with CUDA 13.0\n";
  }
  const Job job = job_from_text(many);
  ASSERT_EQ(job.ras_reports.size(), kMaxRasReports);
  EXPECT_EQ(job.ras_reports.front().nccl_version, "2.28.2");
  EXPECT_EQ(job.ras_reports.back().where.line, kMaxRasReports + 2);
}

TEST(RasText, EndlessListsAreBounded) {
  std::string text = "#0-0 (cf264af53edbe986) MISMATCH\n";
  for (int i = 0; i < 2500; ++i) {
    text += "2 ranks have status INIT\n";
    text += "Rank 1 -- [process information not found]\n";
    text += "Rank 2 -- [process information not found]\n";
    text += "Rank 3 -- [process information not found]\n";
    text += "Rank 4 -- [process information not found]\n";
    text += "Rank 5 -- [process information not found]\n";
  }
  const Job job = job_from_text(text);
  ASSERT_EQ(job.ras_reports.size(), 1U);
  EXPECT_EQ(job.ras_reports[0].statements.size(), kMaxRasStatements);
  size_t members = 0;
  for (const RasStatement& statement : job.ras_reports[0].statements) {
    members += statement.members.size();
  }
  EXPECT_EQ(members, kMaxRasMembers);
}

TEST(RasText, OtherOutputIsNoAnswer) {
  EXPECT_EQ(described("Errors\n======\n(total)    (total)      (total)\n      4         31  31\n"
                      "Rank 3 -- [process information not found]\n"
                      "NCCL version 2.28.9+cuda13.0\n"),
            "");
}

TEST(RasText, ReportsMergeInAnyGrouping) {
  const auto job_of = [](bool from_the_right) {
    std::vector<Shard> shards;
    for (int i = 0; i < 3; ++i) {
      std::string text;
      for (int n = 0; n < 30; ++n) {
        text += "NCCL version 2." + std::to_string(i) + "." + std::to_string(n) +
                " compiled with CUDA 13.0\n";
      }
      shards.push_back(read_text(text));
    }
    if (from_the_right) {
      shards[1].merge(std::move(shards[2]));
      shards[0].merge(std::move(shards[1]));
    } else {
      shards[0].merge(std::move(shards[1]));
      shards[0].merge(std::move(shards[2]));
    }
    return build_job(std::move(shards[0]), {JobInput{.path = "ras.txt"}}, {{0, 0, 1}}, {});
  };
  const Job job = job_of(false);
  ASSERT_EQ(job.ras_reports.size(), kMaxRasReports);
  EXPECT_EQ(job.ras_reports.back().nccl_version, "2.2.29");
  EXPECT_EQ(job_of(true).ras_reports, job.ras_reports);
}

}  // namespace

}  // namespace ncclog
