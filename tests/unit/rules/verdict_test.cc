#include "rules/verdict.h"

#include <gtest/gtest.h>

#include "app/read/read_example.h"
#include "rules/headline.h"
#include "rules/load_rules.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

const std::string kSocketUsed = "n1:7:7 [0] NCCL INFO Using network Socket\n";

Rule graded(const std::string& id, const std::string& severity, const std::string& message,
            const std::string& more = {}) {
  std::string yaml = rule_yaml(id, "{event: network_selected}", more, message);
  yaml.replace(yaml.find("severity: error"), 15, "severity: " + severity);
  return load_rule(yaml, "rules/" + id + ".yaml");
}

Verdict verdict_of(std::vector<Rule> rules, std::string_view log) {
  return diagnose(rulebook_of(std::move(rules)), log).verdict;
}

TEST(Verdict, AnErrorIsAProblem) {
  const Verdict verdict = verdict_of(
      {graded("a", "warning", "Odd."), graded("b", "error", "Broken. It says so.")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(verdict.headline, "Broken.");
  EXPECT_EQ(verdict.finding, "b");
}

TEST(Verdict, AWarningAloneIsSuspicious) {
  const Verdict verdict =
      verdict_of({graded("a", "warning", "Odd"), graded("b", "info", "x")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline, "Odd");
}

TEST(Verdict, TheHeadlineIsNoFindingThatAnotherExplains) {
  const Verdict verdict =
      verdict_of({graded("cause", "warning", "The cause.", "explains: [middle]\n"),
                  graded("middle", "info", "Between.", "explains: [a-symptom]\n"),
                  graded("a-symptom", "error", "The end.")},
                 kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(verdict.finding, "cause");
  EXPECT_EQ(verdict.headline, "The cause.");
}

const std::string kDone = kSocketUsed + "# Avg bus bandwidth    : 96.4\n";

TEST(Verdict, InfoLeavesAJobThatFinishedClean) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")}, kDone);
  EXPECT_EQ(verdict.status, VerdictStatus::Clean);
  EXPECT_EQ(verdict.headline, "The job finished, and nothing is wrong in what its logs show.");
  EXPECT_EQ(verdict.finding, "");
}

TEST(Verdict, WithoutAnEndNothingWasFoundInWhatTheLinesCover) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::NothingFound);
  EXPECT_EQ(verdict.headline, "No problem in this line: the start of 1 process, no end.");
}

TEST(Verdict, AFailureThatNoRuleNamesIsSuspicious) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")},
                                     kSocketUsed + "rank 3 died from signal 6 and dumped core\n");
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline,
            "The job failed, and these logs do not say why: a process ended: signal 6.");
}

TEST(Verdict, AFailureIsToldWhereNoLineIsOfNccl) {
  const Verdict verdict = verdict_of({}, "srun: error: n1: task 1: Exited with exit code 1\n");
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline,
            "The job failed, and these logs do not say why: a process ended with exit code 1.");
}

TEST(Verdict, TheHeadlineSaysThatTheJobFinished) {
  EXPECT_EQ(verdict_of({graded("a", "warning", "Odd.")}, kDone).headline, "Odd; the job finished.");
}

TEST(Verdict, AdviceOnAJobThatFinishedIsAnInfoUnlessItHalvesTheBandwidth) {
  const auto advice = [](const std::string& more) {
    Rule rule = graded("a", "warning", "Slow.", more);
    rule.role = Role::Advice;
    return rule;
  };
  EXPECT_EQ(verdict_of({advice("")}, kSocketUsed).status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict_of({advice("")}, kDone).status, VerdictStatus::Clean);
  EXPECT_EQ(verdict_of({advice("halves_bandwidth: true\n")}, kDone).status,
            VerdictStatus::Suspicious);
}

TEST(Verdict, WhatOnlyLinesAfterTheEndShowIsNoFinding) {
  EXPECT_EQ(
      verdict_of({graded("a", "error", "Broken.")}, "# Avg bus bandwidth    : 96.4\n" + kSocketUsed)
          .status,
      VerdictStatus::Clean);
}

TEST(Verdict, TheHeadlineSaysThatProcessesWereLeftOut) {
  Job job = job_from_text(kDone);
  job.losses.add(Loss::ProcessesDropped, 12);
  const Verdict verdict = make_verdict({}, job);
  EXPECT_EQ(verdict.status, VerdictStatus::NothingFound) << "what was left out may hold a fault";
  EXPECT_EQ(verdict.headline,
            "The job finished, and nothing is wrong in what its logs show; 12 lines of processes "
            "beyond 2 left out.");
  Finding broken;
  broken.severity = Severity::Error;
  broken.headline =
      "Rank 3 on a-host-with-a-long-name was killed by the kernel for want of memory "
      "(12 GiB, of 16).";
  EXPECT_TRUE(
      make_verdict({broken}, job).headline.ends_with("; 12 lines of processes beyond 2 left out."));
  EXPECT_LE(make_verdict({broken}, job).headline.size(), kMaxHeadline);
}

/// Two ranks of which `calls` is the second one's part, and the end of both.
std::string two_ranks(std::string_view calls) {
  const auto rank = [](int number, std::string_view message) {
    return "n1:" + std::to_string(7 + number) + ":7 [" + std::to_string(number) + "] NCCL INFO " +
           std::string(message) + "\n";
  };
  std::string log;
  for (int r = 0; r < 2; ++r) {
    log += rank(r, "ncclCommInitRank comm 0xa" + std::to_string(r) + " rank " + std::to_string(r) +
                       " nranks 2 cudaDev 0 nvmlDev 0 busId " + std::to_string(r + 1) +
                       "000 commId 0x9 - Init COMPLETE");
  }
  for (int i = 0; i < 2; ++i) {
    log += rank(0,
                "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 512 datatype 7 op 0 root 0 "
                "comm 0xa0 [nranks=2] stream 0x5");
  }
  return log + std::string(calls) + "Training completed\n";
}

constexpr std::string_view kSecondCall =
    "n1:8:7 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 512 datatype 7 op 0 "
    "root 0 comm 0xa1 [nranks=2] stream 0x5\n";

/// Rank 0's Recv is lost.
constexpr std::string_view kSend =
    "n1:8:7 [1] NCCL INFO Send: opCount 2 sendbuff 0x1 recvbuff (nil) count 512 datatype 7 op 0 "
    "root 0 comm 0xa1 [nranks=2] stream 0x5\n";

TEST(Verdict, CallsThatWereNotComparedAreNotClean) {
  const std::string call(kSecondCall);
  const std::string torn = call.substr(0, 40) + "\n";
  const std::string other =
      call.substr(0, call.find("512")) + "8" + call.substr(call.find("512") + 3);
  struct Row {
    std::string calls;
    VerdictStatus status;
    std::string_view headline;
  };
  const Row kRows[] = {
      {call + call, VerdictStatus::Clean,
       "The job finished, and nothing is wrong in what its logs show."},
      {call + torn, VerdictStatus::NothingFound,
       "No problem in these 7 lines: finished, the calls of rank 1 were not compared (lines are "
       "torn)."},
      {"", VerdictStatus::NothingFound,
       "No problem in these 5 lines: finished, the calls of rank 1 were not compared (no line "
       "shows "
       "them)."},
      {call + other + call, VerdictStatus::NothingFound,
       "No problem in these 8 lines: finished, calls of ranks differ, or lines of them are lost."},
      {call + call + std::string(kSend), VerdictStatus::NothingFound,
       "No problem in these 8 lines: finished, calls of ranks differ, or lines of them are lost."},
  };
  for (const Row& row : kRows) {
    const Verdict verdict = verdict_of({}, two_ranks(row.calls));
    EXPECT_EQ(verdict.status, row.status) << row.calls;
    EXPECT_EQ(verdict.headline, row.headline) << row.calls;
  }
}

TEST(Verdict, LinesOfNcclThatNobodyUnderstandsAreNotClean) {
  std::string log = kDone;
  for (int i = 0; i < 8; ++i) log += "n1:7:7 [0] NCCL INFO Something that is new\n";
  EXPECT_EQ(verdict_of({}, log).status, VerdictStatus::Clean);
  log += "n1:7:7 [0] NCCL INFO Something that is new\n";
  EXPECT_EQ(verdict_of({}, log).headline,
            "No problem in these 11 lines: finished, 9 lines of NCCL were not understood.");
}

struct NothingRow {
  const char* log;
  const char* headline;
};

constexpr NothingRow kNothing[] = {
    {"", "There is no line to judge."},
    {"hello\nworld\n",
     "2 lines, none of NCCL or of other evidence that is read here: nothing to judge."},
    {"Thread 9 (Thread 0x7f00 (LWP 4242)):\n"
     "#0  0x00007f01 in epoll_wait () from /lib64/libc.so.6\n",
     "Stacks of 1 thread, no main one and nothing of NCCL among them: they accuse nobody."},
    {"Validation:  33%|###       | 1/3 [00:01<00:02,  1.16it/s]\n",
     "No line of NCCL was found: nothing to judge."},
    {"Thread 9 (Thread 0x7f00 (LWP 4242)):\n"
     "#0  0x00007f01 in __GI___poll (fds=0x7f) at poll.c:29\n"
     "#1  ncclProxyService (_args=0x56) at proxy.cc:1437\n",
     "Stacks of 1 thread, of no main one, in ncclProxyService: they accuse nobody, and an idle "
     "proxy "
     "waits by design."},
    {"  Id   Target Id                           Frame\n",
     "A list of threads without their stacks: nothing to judge."},
    {"(cuda-gdb) info cuda kernels\n"
     "  Kernel Parent Dev Grid Status   SMs Mask GridDim BlockDim Invocation\n",
     "Kernels of one GPU as cuda-gdb lists them: one that waits for other ranks looks like any "
     "other."},
    {"BUSY: diagnostics already in progress\n",
     "An answer of NCCL's RAS service without its table: nothing to judge."},
    {"[77123.456789] nvidia-nvswitch2: open (major=510)\n",
     "Only lines of the kernel, none known as a fault of a GPU, a NIC or memory: nothing to "
     "judge."},
};

TEST(Verdict, WithoutUsableLinesThereIsNoVerdict) {
  for (const NothingRow& row : kNothing) {
    const Verdict verdict = verdict_of({graded("a", "error", "x")}, row.log);
    EXPECT_EQ(verdict.status, VerdictStatus::CannotJudge) << row.log;
    EXPECT_EQ(verdict.headline, row.headline);
  }
}

TEST(Verdict, CountersOfOneReadingDoNotGrow) {
  const std::string zero = "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:0\n";
  EXPECT_EQ(make_verdict({}, read_example(zero, {})).headline,
            "1 counter read once; those that tell of faults are all zero.");
  EXPECT_EQ(make_verdict({}, read_example(zero + zero, {})).headline,
            "2 counters were read; none that tells of faults is known to have grown.");
}

TEST(Verdict, RanksInDifferentStatesAreSaid) {
  const std::string log =
      "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
      "    #  in group  per comm  per node  per comm  in group\n"
      "    0         1         1         4         4         4  FINALIZE  MISMATCH\n"
      "#0-0 (00000000000000a7) MISMATCH\n"
      "  Communicator ranks have different status\n"
      "  3 ranks have status UNKNOWN\n"
      "  Rank 2 has status FINALIZE -- GPU 2 managed by process 512 on node 10.1.2.3\n";
  EXPECT_EQ(
      verdict_of({graded("a", "error", "x")}, log).headline,
      "RAS: ranks of a communicator are in different states (3 UNKNOWN, 1 FINALIZE), which is "
      "normal for a moment; ask again.");
}

TEST(Verdict, StepsOrAnEndAreJudgedWithoutNccl) {
  const std::string steps = "step: 1 loss: 2.5\nstep: 2 loss: 2.4\nstep: 3 loss: 2.2\n";
  const Verdict verdict = verdict_of({graded("a", "error", "x")}, steps);
  EXPECT_EQ(verdict.status, VerdictStatus::NothingFound);
  EXPECT_EQ(verdict.headline, "No problem in these 3 lines: steps 1 to 3 of the program, no end.");
  EXPECT_EQ(verdict_of({graded("a", "error", "x")}, steps + "Training completed\n").status,
            VerdictStatus::Clean);
}

}  // namespace
}  // namespace ncclog::testing
