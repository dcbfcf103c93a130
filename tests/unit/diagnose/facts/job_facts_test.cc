#include "diagnose/facts/job_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "diagnose/facts/fact.h"
#include "model/derive/build_job.h"
#include "model/derive/split_runs.h"
#include "support/fact_of.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

/// The line that speaks of graphs; "none".
std::string evidence_in(const std::string& text) {
  const auto evidence = cuda_graph_evidence(job_from_text(text));
  return evidence ? evidence->text : "none";
}

constexpr const char* kSetting =
    "n0:50:50 [0] NCCL INFO NCCL_GRAPH_REGISTER set by environment to 1.";

TEST(CudaGraphEvidence, IsTheLineThatSpeaksOfThem) {
  const std::string lines[] = {
      "n0:50:50 [0] NCCL INFO stream is being captured by a new graph, id 7",
      "n0:50:50 [0] NCCL INFO CUDA Graph helper thread created for device 0",
      "n0:50:50 [0] NCCL INFO Comm config graphUsageMode is set to 0 but the user is capturing "
      "graphs on the stream. Violating graphUsageMode semantics can lead to hangs!",
      "INFO 12-19 22:58:41 model_runner.py:1535] Graph capturing finished in 14 secs, took 0.21 "
      "GiB",
      "(VllmWorkerProcess pid=21013) INFO 04-24 08:27:56 [model_runner.py:1456] Capturing "
      "cudagraphs for decoding. This may lead to unexpected consequences if the model is not "
      "static.",
      "[2025-04-26 20:55:30 TP0] Capture cuda graph begin. This can take up to several minutes. "
      "avail mem=8.93 GB",
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg "
      "iters: 1 validation: 1 graph: 10",
      kSetting};
  for (const std::string& line : lines) EXPECT_EQ(evidence_in(line + "\n"), line);
}

TEST(CudaGraphEvidence, IsNoOtherLine) {
  EXPECT_EQ(evidence_in(""), "none");
  EXPECT_EQ(
      evidence_in("# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 "
                  "iters: 20 agg iters: 1 validation: 1 graph: 0\n"),
      "none");
  EXPECT_EQ(evidence_in("n0:50:50 [0] NCCL INFO NCCL_GRAPH_FILE set by environment to g.xml\n"
                        "step 3: the graph is captured later\n"),
            "none");
}

TEST(CudaGraphEvidence, PrefersCapturedCallsToSettings) {
  const std::string captured = "Graph capturing finished in 14 secs, took 0.21 GiB";
  EXPECT_EQ(evidence_in(std::string(kSetting) + "\n" + captured + "\n" + captured + " more\n"),
            captured);
}

using testing::answer_of;

std::string rank(std::string_view host, int rank, std::string_view version, int nranks = 3) {
  const std::string head =
      std::string(host) + ":" + std::to_string(100 + rank) + ":9 [0] NCCL INFO ";
  return head + "NCCL version " + std::string(version) + "+cuda12.4\n" + head +
         "ncclCommInitRank comm 0x5a rank " + std::to_string(rank) + " nranks " +
         std::to_string(nranks) + " cudaDev 0 nvmlDev 0 busId 3d000 commId 0x77 - Init START\n";
}

TEST(JobFacts, CountHosts) {
  const std::string log = rank("a", 0, "2.21.5") + rank("a", 1, "2.21.5") + rank("b", 2, "2.21.5");
  EXPECT_EQ(answer_of("job.host_count", log), "2");
  EXPECT_EQ(answer_of("job.one_rank_per_host", log), "no");
  EXPECT_EQ(
      answer_of("job.one_rank_per_host", rank("a", 0, "2.21.5", 2) + rank("b", 1, "2.21.5", 2)),
      "yes");
  EXPECT_EQ(answer_of("job.one_rank_per_host", rank("a", 0, "2.21.5", 2)), "no");
}

TEST(JobFacts, AreUnknownWithoutLines) {
  EXPECT_EQ(answer_of("job.host_count", "hello\n"), "unknown");
}

TEST(JobFacts, TellNcclLinesFromQuotedOnes) {
  EXPECT_EQ(answer_of("job.has_nccl_lines", rank("a", 0, "2.21.5")), "yes");
  EXPECT_EQ(answer_of("job.has_nccl_lines",
                      "Last error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device "
                      "3d000\n"),
            "no");
}

using testing::fact_of;

std::string init(std::string_view prefix, int rank, int nranks) {
  return fmt::format(
      "{0}node-a:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm 0x5a{2} rank {2} nranks {3} cudaDev "
      "{2} nvmlDev {2} busId {4}b000 commId 0x77 - Init COMPLETE\n",
      prefix, 800 + rank, rank, nranks, rank + 1);
}

std::string note(std::string_view prefix, int rank) {
  return fmt::format(
      "{}[rank{}]:[W105 09:14:02.007718211 ProcessGroupNCCL.cpp:5138] Guessing device ID based on "
      "global rank. This can cause a hang if rank to GPU mapping is heterogeneous.\n",
      prefix, rank);
}

TEST(RankFacts, NcclsRankWins) {
  const Job job =
      job_from_text(init("[default0]:", 0, 2) + init("[default1]:", 1, 2) + note("[default1]:", 0));
  ASSERT_EQ(job.processes.size(), 2u);
  EXPECT_EQ(job.processes[1].pid, 801);
  EXPECT_EQ(job.processes[1].rank, 1);
  EXPECT_EQ(job.processes[1].logs.size(), 2u);
  EXPECT_EQ(process_of_rank(job, 0), 0);
}

using testing::job_from_files;

/// A rank of a run of two on host a: its settings and its communicator.
std::string rank(int pid, int number, const std::string& comm_id, const std::string& algo) {
  const std::string head = "a:" + std::to_string(pid) + ":9 [0] NCCL INFO ";
  const std::string n = std::to_string(number);
  const std::string init = head + "ncclCommInitRankConfig comm 0x5" + comm_id + n + " rank " + n +
                           " nranks 2 cudaDev " + n + " nvmlDev " + n + " busId " + n +
                           "000 commId 0x" + comm_id;
  return head + "NCCL_ALGO set by environment to " + algo + "\n" + init + " - Init START\n" + init +
         " - Init COMPLETE\n";
}

FactValue fact(const Job& job, const char* name) { return find_fact(name)->ask(job, {}); }

TEST(RunFacts, NamesTheFilesOfEachRun) {
  const Job job = job_from_files({{"old/0.log", rank(1, 0, "c", "Ring")},
                                  {"old/1.log", rank(2, 1, "c", "Ring")},
                                  {"new.log", rank(3, 0, "d", "Ring") + rank(4, 1, "d", "Ring")}});
  const FactValue value = fact(job, "job.several_runs");
  EXPECT_EQ(value.what, "run 1: 2 ranks in old/0.log and 1 more file; run 2: 2 ranks in new.log");
  ASSERT_EQ(value.evidence.size(), 2U);
  EXPECT_EQ(value.evidence[1].where, (SourceRef{2, 2}));
}

TEST(RunFacts, NamesTheLinesOfRunsInOneFile) {
  const Job job =
      job_from_files({{"out.log", rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring") +
                                      rank(3, 0, "d", "Ring") + rank(4, 1, "d", "Ring")}});
  EXPECT_EQ(fact(job, "job.several_runs").what,
            "run 1: 2 ranks in out.log lines 1-6; run 2: 2 ranks in out.log lines 7-12");
}

TEST(RunFacts, OneRunIsNotSeveral) {
  const Job job = job_from_files({{"out.log", rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring")}});
  EXPECT_EQ(fact_text(fact(job, "job.several_runs")), "no");
}

TEST(RunFacts, SettingsAreComparedWithinARunOnly) {
  const std::string old_run = rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring");
  const auto differences = [&](const std::string& new_run) {
    std::vector<std::string> found;
    for (const Job& run : split_runs(job_from_files({{"x", old_run + new_run}})).runs) {
      found.push_back(fact(run, "job.env_differs").what);
    }
    return found;
  };
  EXPECT_EQ(differences(rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Tree")),
            (std::vector<std::string>{"", ""}));
  EXPECT_EQ(differences(rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Ring")),
            (std::vector<std::string>{"", "NCCL_ALGO is Tree on rank 0 and Ring on rank 1"}));
}

TEST(RunFacts, WhatOnlyDiffersBetweenRunsIsNoFact) {
  // Settings, GPUs and numbers of calls are the same within each run, and differ between them.
  const Job read = job_from_files({{"1.log", rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring")},
                                   {"2.log", rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Tree")}});
  const SplitRuns split = split_runs(read);
  ASSERT_EQ(split.runs.size(), 2U);
  const auto holds = [](const Fact& fact, const Job& job) {
    return is_yes(fact.ask(job, job_instance(job)));
  };
  for (const Fact& fact : all_facts()) {
    if (fact.scope != Scope::Job || fact.name == "job.several_runs") continue;
    const bool of_a_run =
        std::ranges::any_of(split.runs, [&](const Job& run) { return holds(fact, run); });
    EXPECT_TRUE(of_a_run || !holds(fact, read)) << fact.name;
  }
}

TEST(RunFacts, TheFactsOfARunAreThoseOfItsLogsAlone) {
  const std::string logs[] = {rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring"),
                              rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Ring")};
  const SplitRuns split = split_runs(job_from_files({{"1.log", logs[0]}, {"2.log", logs[1]}}));
  ASSERT_EQ(split.runs.size(), 2U);
  for (size_t r = 0; r < 2; ++r) {
    const Job& run = split.runs[r];
    const Job alone = job_from_files({{fmt::format("{}.log", r + 1), logs[r]}});
    EXPECT_EQ(run.runs, 1U);
    for (const Fact& fact : all_facts()) {
      const std::vector<Instance> of_run = instances_of(run, fact.scope);
      const std::vector<Instance> of_alone = instances_of(alone, fact.scope);
      ASSERT_EQ(of_run.size(), of_alone.size()) << fact.name;
      for (size_t i = 0; i < of_run.size(); ++i) {
        const FactValue value = fact.ask(run, of_run[i]);
        const FactValue expected = fact.ask(alone, of_alone[i]);
        EXPECT_EQ(fact_text(value), fact_text(expected)) << fact.name;
        EXPECT_EQ(value.what, expected.what) << fact.name;
      }
    }
  }
}

}  // namespace

}  // namespace ncclog
