// What is said of several runs together, and what of each.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/evaluate.h"
#include "support/job_from_files.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

/// A run of one communicator of two ranks on host n1. `lines` stand between its beginning and its
/// end.
std::string run(int pid, const std::string& lines, bool finishes) {
  std::string text;
  for (const int rank : {0, 1}) {
    const std::string head = fmt::format("n1:{0}:{0} [{1}] NCCL INFO ", pid + rank, rank);
    const std::string init = fmt::format(
        "{0}ncclCommInitRankConfig comm 0x5{1} rank {2} nranks 2 cudaDev {2} nvmlDev {2} busId "
        "{2}000 commId 0x{1} - Init ",
        head, pid, rank);
    text += init + "START\n" + init + "COMPLETE\n";
  }
  text += lines;
  if (!finishes) return text;
  for (const int rank : {0, 1}) {
    text += fmt::format(
        "n1:{0}:{0} [{1}] NCCL INFO comm 0x5{2} rank {1} nranks 2 cudaDev {1} busId {1}000 - "
        "Destroy COMPLETE\n",
        pid + rank, rank, pid);
  }
  return text;
}

std::string ring(int pid) {
  return fmt::format("n1:{0}:{0} [0] NCCL INFO NCCL_ALGO set by environment to Ring\n", pid);
}

Diagnosis diagnose_runs(const Rulebook& rulebook, const std::string& first,
                        const std::string& second) {
  return evaluate(rulebook, job_from_files({{"log", first + second}}));
}

const Rulebook& algo_rule() {
  static const Rulebook rulebook = rulebook_of(
      {sample_rule("forced", "{event: env_set, as: set}", {}, "{set.value} is forced.")});
  return rulebook;
}

TEST(JudgeRuns, TheFailedRunLeadsAndTheOthersAreTold) {
  const Diagnosis diagnosis =
      diagnose_runs(algo_rule(), run(10, "", true), run(20, ring(20), false));
  EXPECT_EQ(diagnosis.verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(diagnosis.verdict.headline, "Run 2 of 2: Ring is forced.");
  ASSERT_EQ(diagnosis.runs.size(), 2u);
  EXPECT_EQ(diagnosis.leading_run, 1u);
  EXPECT_EQ(diagnosis.runs[0].verdict.status, VerdictStatus::Clean);
  EXPECT_EQ(diagnosis.runs[0].end.state, EndState::Finished);
  EXPECT_TRUE(diagnosis.runs[0].findings.empty());
  EXPECT_EQ(diagnosis.runs[1].pids, (std::vector<int64_t>{20, 21}));
  EXPECT_EQ(diagnosis.runs[1].findings, std::vector<std::string>{"forced"});
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].message, "Run 2: Ring is forced.");
}

TEST(JudgeRuns, AFindingOfBothRunsIsOneAndNamesBoth) {
  const Diagnosis diagnosis =
      diagnose_runs(algo_rule(), run(10, ring(10), false), run(20, ring(20), false));
  EXPECT_EQ(diagnosis.leading_run, 0u);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].message, "Run 1: Ring is forced. Run 2: Ring is forced.");
}

TEST(JudgeRuns, AllHaveToFinishForAllToBeClean) {
  const Rulebook none = rulebook_of({});
  EXPECT_EQ(diagnose_runs(none, run(10, "", true), run(20, "", true)).verdict.status,
            VerdictStatus::Clean);
  const Diagnosis diagnosis = diagnose_runs(none, run(10, "", false), run(20, "", true));
  EXPECT_EQ(diagnosis.verdict.status, VerdictStatus::NothingFound);
  EXPECT_TRUE(diagnosis.verdict.headline.ends_with(
      "lines of 2 runs; run 1: no problem seen, unfinished; run 2: healthy, finished."))
      << diagnosis.verdict.headline;
}

TEST(JudgeRuns, WhatIsOfNoRunIsStillTold) {
  // Both runs print into one file in turns, so nobody knows whose the last line is.
  const std::string a = run(10, "", false);
  const std::string b = run(20, "", false);
  const size_t line = a.find('\n') + 1;
  const Rulebook rulebook =
      rulebook_of({sample_rule("died", "{line: 'out of memory'}", {}, "It died.")});
  const std::string text =
      a.substr(0, line) + b + a.substr(line) + "RuntimeError: CUDA out of memory\n";
  const Diagnosis diagnosis = evaluate(rulebook, job_from_text(text, make_line_matcher(rulebook)));
  EXPECT_EQ(diagnosis.verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(diagnosis.verdict.headline, "In one of the runs: It died.");
  ASSERT_EQ(diagnosis.runs.size(), 2u);
  EXPECT_EQ(diagnosis.runs[0].verdict.status, VerdictStatus::NothingFound);
}

TEST(JudgeRuns, WhatIsOfNoRunExplainsNothingOfARun) {
  const std::string a = run(10, "", false);
  const std::string b = run(20, ring(20), false);
  const size_t line = a.find('\n') + 1;
  const Rulebook rulebook = rulebook_of(
      {sample_rule("died", "{line: 'out of memory'}", "explains: [forced]\n", "It died."),
       sample_rule("forced", "{event: env_set, as: set}", {}, "{set.value} is forced.")});
  const std::string text =
      a.substr(0, line) + b + a.substr(line) + "RuntimeError: CUDA out of memory\n";
  const Diagnosis diagnosis = evaluate(rulebook, job_from_text(text, make_line_matcher(rulebook)));
  ASSERT_EQ(diagnosis.findings.size(), 2u);
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_TRUE(finding.explains.empty()) << finding.id;
  }
}

TEST(JudgeRuns, RulesAboutTheRunsAreAskedOnceOfAllTogether) {
  const Rulebook rulebook =
      rulebook_of({sample_rule("forced-anywhere", "{event: env_set, as: set}",
                               "of_all_runs: true\n", "{set.value} is forced.")});
  const Diagnosis diagnosis =
      diagnose_runs(rulebook, run(10, ring(10), false), run(20, ring(20), false));
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].message, "Ring is forced.");
  EXPECT_EQ(diagnosis.verdict.headline, "Ring is forced.");
  ASSERT_EQ(diagnosis.runs.size(), 2u);
  EXPECT_TRUE(diagnosis.runs[0].findings.empty());
  EXPECT_EQ(diagnosis.runs[0].verdict.status, VerdictStatus::NothingFound);
}

TEST(JudgeRuns, ManyRunsAreJudgedAsOneAndNotCompared) {
  const Rulebook rulebook = rulebook_of(
      {sample_rule("differs", "{fact: job.env_differs, is: true}"),
       sample_rule("forced", "{event: env_set, as: set}", {}, "{set.value} is forced.")});
  std::string text;
  for (int i = 1; i <= 17; ++i) text += run(10 * i, i == 3 ? ring(10 * i) : "", false);
  const Diagnosis diagnosis = evaluate(rulebook, job_from_files({{"log", text}}));
  EXPECT_TRUE(diagnosis.runs.empty());
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].message, "Ring is forced.");
}

}  // namespace
}  // namespace ncclog::testing
