#include "diagnose/coverage.h"

#include <gtest/gtest.h>

#include <set>

#include "app/read/read_job.h"
#include "model/build/build_job.h"
#include "support/dump_line.h"

namespace ncclog::testing {
namespace {

constexpr std::string_view kInit0 =
    "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x7f10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId "
    "a1000 commId 0x9c - Init START\n";

struct Row {
  const char* question;
  std::string_view log;
  const char* reason;  ///< Empty: covered.
};

const Row kRows[] = {
    {"nccl", "hello\n", "No line of the log was printed by NCCL itself."},
    {"nccl", kInit0, ""},
    {"init", "n1:7:7 [0] NCCL INFO Using network IB\n",
     "No line tells how a communicator was initialised."},
    {"init", kInit0, ""},
    {"network", kInit0, "No line says which network NCCL uses."},
    {"network", "n1:7:7 [0] NCCL INFO Using network IB\n", ""},
    {"environment", kInit0, "No line names a setting that NCCL has read."},
    {"environment", "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n", ""},
    {"channels", kInit0, "No line tells how ranks are connected."},
    {"channels", "n1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n", ""},
    {"versions", kInit0, "No line says which NCCL runs."},
    {"versions", "NCCL version 2.20.5+cuda12.4\n", ""},
    {"collectives", kInit0, "The log does not show which collectives the ranks entered."},
    {"framework", kInit0, "No line of the framework or the launcher is in the log."},
    {"framework", "bash: line 1:  1021 Killed                  python train.py\n", ""},
    {"all_ranks", kInit0, "No line speaks for rank 1 of 2; being silent proves nothing."},
    {"all_ranks", "hello\n", "The log does not tell how many ranks there are."},
    {"whole_files", kInit0, ""},
    {"left_out_lines", kInit0, ""},
    {"left_out_lines", "(W pid=5) text [repeated 3x across cluster]\n",
     "Ray left out 2 lines like one that it printed; their ranks, hosts and values are unknown."},
};

TEST(Coverage, SaysWhatALogCannotAnswer) {
  for (const Row& row : kRows) {
    const CoverageQuestion* question = find_coverage_question(row.question);
    ASSERT_NE(question, nullptr) << row.question;
    const CoverageAnswer answer = question->ask(job_from_text(row.log));
    EXPECT_EQ(answer.covered, *row.reason == '\0') << row.question << "\n" << row.log;
    EXPECT_EQ(answer.reason, row.reason);
  }
}

TEST(Coverage, CallsAreWorthTellingWhereSomebodyWaits) {
  const CoverageQuestion& question = *find_coverage_question("collectives");
  EXPECT_FALSE(question.ask(job_from_text(kInit0)).worth_telling);
  const std::string waits = std::string(kInit0) +
                            "[rank0]:[E1121 02:00:00.000000 ProcessGroupNCCL.cpp:607] [Rank 0] "
                            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20, "
                            "OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for "
                            "600010 milliseconds before timing out.\n";
  EXPECT_TRUE(question.ask(job_from_text(waits)).worth_telling);
}

TEST(Coverage, ACutFileIsWorthTelling) {
  Job job = job_from_text(kInit0);
  job.inputs[0].status = InputStatus::Cut;
  const CoverageAnswer answer = find_coverage_question("whole_files")->ask(job);
  EXPECT_FALSE(answer.covered);
  EXPECT_TRUE(answer.worth_telling);
  EXPECT_EQ(answer.reason, "1 of 1 inputs is cut short or cannot be read: log.txt.");
  job.inputs.push_back(job.inputs[0]);
  EXPECT_EQ(find_coverage_question("whole_files")->ask(job).reason,
            "2 of 2 inputs are cut short or cannot be read.");
}

TEST(Coverage, DumpsTellTheirRanksCalls) {
  const std::string dump = DumpLine(3).done(1).open(2).text();
  const Job two = read_example(dump + dump, {});
  const Job all = read_example(dump + dump + dump, {});
  const CoverageQuestion& calls = *find_coverage_question("collectives");
  const CoverageQuestion& ranks = *find_coverage_question("all_ranks");
  EXPECT_EQ(two.nranks, 3);
  EXPECT_EQ(calls.ask(two).reason,
            "Neither lines nor dumps show which collectives rank 2 entered.");
  EXPECT_EQ(ranks.ask(two).reason, "No line speaks for rank 2 of 3; being silent proves nothing.");
  EXPECT_TRUE(calls.ask(all).covered);
  EXPECT_TRUE(ranks.ask(all).covered);
}

TEST(Coverage, EveryQuestionHasItsOwnNameAndAnAnswer) {
  std::set<std::string_view> names;
  const Job job = job_from_text("");
  for (const CoverageQuestion& question : coverage_questions()) {
    EXPECT_TRUE(names.insert(question.name).second) << question.name;
    EXPECT_TRUE(question.question.ends_with('?')) << question.question;
    EXPECT_FALSE(question.how_to_capture(job).empty());
  }
  EXPECT_EQ(find_coverage_question("netwok"), nullptr);
}

TEST(Coverage, AdviceKnowsTheReleaseThatIgnoresTheFileSetting) {
  const CoverageQuestion& question = *find_coverage_question("network");
  const auto advice = [&](std::string_view log) {
    return question.how_to_capture(job_from_text(log));
  };
  EXPECT_NE(advice("NCCL version 2.20.5+cuda12.4\n").find("NCCL_DEBUG_FILE=nccl.%h.%p.log"),
            std::string::npos);
  EXPECT_NE(advice("NCCL version 2.13.4+cuda11.7\n").find("redirect"), std::string::npos);
}

}  // namespace
}  // namespace ncclog::testing
