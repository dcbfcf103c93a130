#include "model/file_names.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ncclog
