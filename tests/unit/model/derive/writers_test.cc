#include "model/derive/writers.h"

#include <gtest/gtest.h>

#include "model/shard/shard.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

struct NameRow {
  const char* known;  ///< A name whose writer is node-01, pid 77.
  const char* other;
  const char* writer;  ///< "host:pid" of `other`; empty: not certain.
};

constexpr NameRow kNames[] = {
    {"nccl.node-01.77", "nccl.node-02.4121", "node-02:4121"},
    {"logs/nccl-log.node-01.77.txt", "other/nccl-log.node-12.9.txt.gz", "node-12:9"},
    {"nccl_debug_77_node-01.log", "nccl_debug_5_node-3.log", "node-3:5"},
    {"node-01/nccl.77.log", "node-02/nccl.78.log", "node-02:78"},
    {"logs/nccl.77.log", "logs/nccl.78.log", ":78"},
    {"77", "78", ":78"},
    // Not of the pattern.
    {"nccl.node-01.77", "nccl.node-02.4121.old", ""},
    {"nccl.node-01.77", "nccl.login.4121", ""},
    {"nccl.node-01.77", "nccl.node-02.x", ""},
    {"nccl.node-01.77", "nccl.node-02.", ""},
    {"nccl.node-01.77", "nccl..77", ""},
    {"nccl.77.log", "nccl..log", ""},
    {"nccl.77.log", "nccl.99999999999999999999.log", ""},
    {"nccl.77.log", "nccl.1-2.log", ""},
    // No pattern: no pid, or two numbers that could be it.
    {"node-01.log", "node-02.log", ""},
    {"run.77.77.log", "run.78.78.log", ""},
    {"x177.log", "x178.log", ""},
};

TEST(FileNames, LearnsWhatTheFilesOfAPatternAreCalled) {
  for (const NameRow& row : kNames) {
    const auto pattern = learn_pattern(row.known, {"node-01", 77});
    const auto writer = pattern ? match_pattern(*pattern, row.other) : std::nullopt;
    const std::string text = writer ? writer->host + ':' + std::to_string(writer->pid) : "";
    EXPECT_EQ(text, row.writer) << row.known << " -> " << row.other;
  }
}

TEST(FileNames, APatternMatchesTheNameItWasLearntFrom) {
  for (const NameRow& row : kNames) {
    const auto pattern = learn_pattern(row.known, {"node-01", 77});
    if (!pattern) continue;
    const FileWriter expected{pattern->has_host ? "node-01" : "", 77};
    EXPECT_EQ(match_pattern(*pattern, row.known), expected) << row.known;
  }
}

TEST(FileNames, AnEmptyPathIsNoName) {
  EXPECT_FALSE(learn_pattern("", {"node-01", 77}));
  EXPECT_FALSE(match_pattern(*learn_pattern("nccl.77", {"node-01", 77}), ""));
}

TEST(FileNames, AHostWithThePidInItIsNotTakenForThePid) {
  const auto pattern = learn_pattern("nccl.node-77.77.log", {"node-77", 77});
  ASSERT_TRUE(pattern);
  EXPECT_EQ(match_pattern(*pattern, "nccl.node-8.91.log"), (FileWriter{"node-8", 91}));
}

struct TorchrunRow {
  const char* path;
  int attempt;  ///< -1: not such a path.
  int local_rank;
  const char* run;
};

constexpr TorchrunRow kTorchrun[] = {
    {"logs/none_x1y2/attempt_0/3/stderr.log", 0, 3, "logs/none_x1y2/"},
    {"attempt_12/0/stdout.log.gz", 12, 0, ""},
    {"a.tgz!/job/attempt_1/7/stdout.log", 1, 7, "a.tgz!/job/"},
    {"logs/attempt_0/3/error.json", -1, 0, ""},
    {"logs/attempt_0/stdout.log", -1, 0, ""},
    {"logs/attempt_/3/stdout.log", -1, 0, ""},
    {"logs/attempt_0/-3/stdout.log", -1, 0, ""},
    {"logs/attempt_0/3x/stdout.log", -1, 0, ""},
    {"attempt_0/99999999999999/stdout.log", -1, 0, ""},
    {"stdout.log", -1, 0, ""},
};

TEST(FileNames, KnowsTorchrunsFolders) {
  for (const TorchrunRow& row : kTorchrun) {
    const auto file = parse_torchrun_file(row.path);
    ASSERT_EQ(file.has_value(), row.attempt >= 0) << row.path;
    if (!file) continue;
    EXPECT_EQ(file->attempt, row.attempt) << row.path;
    EXPECT_EQ(file->local_rank, row.local_rank) << row.path;
    EXPECT_EQ(file->run, row.run) << row.path;
  }
}

// Whose the lines are that name nobody.

using testing::job_from_files;

/// "host:pid" of every process, in the job's order.
std::string processes_of(const Job& job) {
  std::string text;
  for (const Process& process : job.processes) {
    text += process.host + ':' + std::to_string(process.pid) + ' ';
  }
  return text;
}

TEST(BuildWriters, ABannerBelongsToTheProcessThatWroteTheFile) {
  const Job job = job_from_files({{"nccl.node-1.77.log",
                                   "NCCL version 2.28.9+cuda13.0\n"
                                   "node-1:77:77 [0] NCCL INFO Using network Socket\n"}});
  EXPECT_EQ(processes_of(job), "node-1:77 ");
  EXPECT_EQ(job.processes[0].logs.size(), 2U);
  EXPECT_EQ(job.processes[0].first, (SourceRef{0, 1}));
}

TEST(BuildWriters, AnyOtherNameProvesNothing) {
  for (const char* path : {"out.log", "node-1.log", "nccl.node-1.78.log"}) {
    const Job job = job_from_files({{path,
                                     "NCCL version 2.28.9+cuda13.0\n"
                                     "node-1:77:77 [0] NCCL INFO Using network Socket\n"}});
    EXPECT_EQ(processes_of(job), "node-1:77 :-1 ") << path;
  }
}

TEST(BuildWriters, AFileWithTheLinesOfSeveralProcessesBelongsToNone) {
  const Job job = job_from_files({{"nccl.node-1.77.log",
                                   "NCCL version 2.28.9+cuda13.0\n"
                                   "node-1:77:77 [0] NCCL INFO Using network Socket\n"
                                   "node-1:78:78 [0] NCCL INFO Using network Socket\n"}});
  EXPECT_EQ(processes_of(job), "node-1:77 node-1:78 :-1 ");
  EXPECT_EQ(job.inputs[0].pid, -1);
}

TEST(BuildWriters, LinesWithoutHostAreThoseOfTheNameWhereOtherFilesShowThePattern) {
  const std::string named = "node-1:77:77 [0] NCCL INFO Using network Socket\n";
  const std::string quoted = "NCCL INFO Using network Socket\n";
  Job job = job_from_files({{"nccl.node-1.77.log", named}, {"nccl.node-2.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 node-2:91 ");
  EXPECT_EQ(job.nhosts, 2);
  job = job_from_files({{"nccl.node-1.77.log", named}, {"nccl.login.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ") << "no host is called like that";
  job = job_from_files({{"other.node-1.77.log", named}, {"nccl.node-2.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ");
  EXPECT_EQ(job.nhosts, 1);
}

TEST(BuildWriters, AnEmptyFileStillNamesItsHost) {
  const Job job =
      job_from_files({{"nccl.node-1.77.log", "node-1:77:77 [0] NCCL INFO Using network Socket\n"},
                      {"nccl.node-2.91.log", ""}});
  EXPECT_EQ(job.nhosts, 2);
  EXPECT_EQ(job.processes.size(), 1U);
}

TEST(BuildWriters, AFileIsThatOfItsNumberedRankWhereOtherFilesAre) {
  const auto voice = [](int rank) {
    return "[rank" + std::to_string(rank) + "]: Traceback (most recent call last):\n";
  };
  Job job = job_from_files({{"out/rank0.log", voice(0)},
                            {"out/rank1.log", voice(1)},
                            {"out/rank2.log", "step 20 of 100\n"},
                            {"out/rank3.log", ""},
                            {"out/other4.log", ""}});
  EXPECT_EQ(job.inputs[2].rank, 2);
  EXPECT_EQ(job.inputs[3].rank, 3);
  EXPECT_EQ(job.inputs[4].rank, -1);
  EXPECT_EQ(job.nranks, 4);
  EXPECT_NE(process_of_rank(job, 2), -1);
  EXPECT_EQ(process_of_rank(job, 3), -1);
  job = job_from_files({{"part0.log", voice(0)}, {"part1.log", voice(5)}, {"part2.log", ""}});
  EXPECT_EQ(job.inputs[2].rank, -1) << "the numbers are not those of the ranks";
  job = job_from_files({{"rank0.log", voice(0)}, {"rank3.log", ""}});
  EXPECT_EQ(job.inputs[1].rank, -1) << "one file shows no pattern";
}

TEST(BuildWriters, AFileIsThatOfTheRankThatItsNameSaysWhereNamesCountOn) {
  const auto rank_of_second = [](const std::vector<std::pair<std::string, std::string>>& files) {
    return job_from_files(files).inputs[1].rank;
  };
  const std::string text = "step 20 of 100\n";
  EXPECT_EQ(rank_of_second({{"out/rank_0.log", text}, {"out/rank_1.log", text}}), 1);
  EXPECT_EQ(rank_of_second({{"out/part_0.log", text}, {"out/part_1.log", text}}), -1);
  EXPECT_EQ(rank_of_second({{"out/rank_0.log", text}, {"out/rank_3.log", text}}), -1);
  EXPECT_EQ(rank_of_second({{"local_rank_0.log", text}, {"local_rank_1.log", text}}), -1);
  EXPECT_EQ(rank_of_second({{"node_rank0.log", text}, {"node_rank1.log", text}}), -1);
  EXPECT_EQ(rank_of_second({{"a/rank_0.log", text},
                            {"a/rank_1.log", text},
                            {"b/rank_0.log", text},
                            {"b/rank_1.log", text}}),
            -1)
      << "each folder may be that of a host";
  EXPECT_EQ(rank_of_second({{"rank_0.log", "[rank4]: Traceback (most recent call last):\n"},
                            {"rank_1.log", text}}),
            -1);
}

TEST(BuildWriters, APidIsEnoughWhereOneProcessHasIt) {
  const std::string line = "node-1:77:77 [0] NCCL INFO Using network Socket\n";
  const std::string sibling = "node-1:78:78 [0] NCCL INFO Using network Socket\n";
  const Job job = job_from_files({{"nccl.77", line},
                                  {"stdout.log", sibling},
                                  {"nccl.78", "NCCL version 2.28.9+cuda13.0\n"},
                                  {"nccl.79", "NCCL version 2.28.9+cuda13.0\n"}});
  EXPECT_EQ(job.inputs[2].host, "node-1");
  EXPECT_EQ(job.inputs[3].pid, -1);
  EXPECT_EQ(processes_of(job), "node-1:77 node-1:78 :-1 ");
}

TEST(BuildWriters, TorchrunsTwoFilesOfAWorkerAreOfOneProcess) {
  const std::string nccl = "node-1:77:77 [3] NCCL INFO Using network Socket\n";
  const std::string error = "torch.cuda.OutOfMemoryError: CUDA out of memory.\n";
  Job job = job_from_files({{"run/attempt_0/3/stdout.log", nccl},
                            {"run/attempt_0/3/stderr.log", error},
                            {"run/attempt_0/4/stderr.log", error}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ");
  EXPECT_EQ(job.inputs[1].pid, 77);
  EXPECT_EQ(job.inputs[1].attempt, 0);
  EXPECT_EQ(job.inputs[2].pid, -1);
  job = job_from_files({{"run/attempt_0/3/stdout.log", nccl + "node-1:78:78 [3] NCCL INFO Hi\n"},
                        {"run/attempt_0/3/stderr.log", error}});
  EXPECT_EQ(job.inputs[1].pid, -1) << "several processes speak there";
}

}  // namespace

}  // namespace ncclog
