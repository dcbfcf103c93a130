#include "app/read_job.h"

#include <gtest/gtest.h>

#include "support/archives.h"
#include "support/compressed.h"
#include "support/describe_job.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::archive_of;
using testing::compressed;
using testing::Packing;
using testing::TempDir;

std::string lines(std::string_view host, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::string(host) + ":7:8 [0] NCCL INFO NCCL_VARIABLE_" + std::to_string(i) +
            " set by environment to " + std::to_string(i) + "\n";
  }
  return text;
}

TEST(ReadJob, PlacesLinesInTheirFileWhateverTheUnits) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("a.txt", lines("node-a", 40)),
                                           folder.add("b.txt", lines("node-b", 3))};
  for (const uint64_t unit_bytes : {uint64_t{1}, uint64_t{200}, uint64_t{1} << 20}) {
    const Job job = read_job(inputs, {.threads = 3, .unit_bytes = unit_bytes, .matcher = {}});
    ASSERT_EQ(job.processes.size(), 2U);
    const FileLine last = file_line(job, job.processes[0].last);
    EXPECT_EQ(last.path, inputs[0]);
    EXPECT_EQ(last.line, 40U);
    EXPECT_EQ(job.inputs[0].lines, 40U);
    EXPECT_EQ(job.losses.lines, 43U);
    EXPECT_EQ(job.environment.size(), 40U);
  }
}

TEST(ReadJob, NumberOfThreadsChangesNothing) {
  const TempDir folder;
  std::vector<std::string> inputs;
  for (int i = 0; i < 150; ++i) {
    const std::string name = "node-" + std::to_string(1000 + i);
    inputs.push_back(folder.add(name + ".txt", lines(name, 1 + i % 7)));
  }
  const Job one = read_job(inputs, {.threads = 1, .matcher = {}});
  for (const int threads : {2, 7, 0}) {
    const Job other = read_job(inputs, {.threads = threads, .matcher = {}});
    EXPECT_EQ(describe_job(other), describe_job(one)) << threads;
  }
}

TEST(ReadJob, DescribesEachInput) {
  const TempDir folder;
  const std::vector<std::string> inputs = {folder.add("empty.txt", ""),
                                           folder.add("elf", std::string("\x7f"
                                                                         "ELF\x02\x01\x01\0\0",
                                                                         9)),
                                           folder.add("log.txt", "one\ntwo"),
                                           (folder.path() / "missing").string()};
  const Job job = read_job(inputs, {});
  ASSERT_EQ(job.inputs.size(), 4U);
  EXPECT_EQ(job.inputs[0].status, InputStatus::Whole);
  EXPECT_EQ(job.inputs[1].status, InputStatus::Skipped);
  EXPECT_NE(job.inputs[1].note, "");
  EXPECT_EQ(job.inputs[2].lines, 2U);
  EXPECT_EQ(job.inputs[2].bytes, 7U);
  EXPECT_EQ(job.inputs[2].format, "plain");
  EXPECT_EQ(job.inputs[3].status, InputStatus::Unreadable);
  EXPECT_EQ(job.losses.lines, 2U);
}

TEST(ReadJob, ReadsTheMembersOfArchivesAsInputs) {
  const TempDir folder;
  const std::string first = lines("node-a", 40);
  const std::vector<std::string> inputs = {
      folder.add("a.zip", archive_of(Packing::Zip, {{"x/1.txt", first}, {"x/2.txt", "plain\n"}})),
      folder.add("b.txt", lines("node-b", 30))};
  for (const int threads : {1, 3}) {
    const Job job = read_job(inputs, {.threads = threads, .unit_bytes = 200, .matcher = {}});
    ASSERT_EQ(job.inputs.size(), 4U);
    EXPECT_TRUE(job.inputs[0].is_archive);
    EXPECT_EQ(job.inputs[0].format, "zip");
    EXPECT_EQ(job.inputs[1].path, inputs[0] + "!/x/1.txt");
    EXPECT_EQ(job.inputs[1].bytes, first.size());
    EXPECT_EQ(job.inputs[3].lines, 30U);
    ASSERT_EQ(job.processes.size(), 3U);
    const FileLine last = file_line(job, job.processes[0].last);
    EXPECT_EQ(last.path, inputs[0] + "!/x/1.txt");
    EXPECT_EQ(last.line, 40U);
    EXPECT_EQ(file_line(job, job.processes[1].last).line, 30U);
    EXPECT_EQ(job.logs[job.processes[2].logs[0]].speaker.input, 2) << "index of the file";
  }
}

TEST(ReadJob, WhatAWorkerThrowsReachesTheCaller) {
  const TempDir folder;
  std::vector<std::string> inputs;
  for (int i = 0; i < 100; ++i) {
    inputs.push_back(folder.add("f" + std::to_string(1000 + i), "line\n"));
  }
  const LineMatcher::Match match = [](std::string_view, std::vector<int>&) {
    throw std::runtime_error("matcher");
  };
  EXPECT_THROW(read_job(inputs, {.threads = 3, .matcher = {match, {}}}), std::runtime_error);
}

TEST(ReadJob, WhatAWorkerThrowsInASharedStreamReachesTheCaller) {
  const TempDir folder;
  const std::string log = compressed(Compression::Gzip, lines("node-a", 9000) + "stop\n");
  const std::vector<std::string> inputs = {folder.add("log.gz", log)};
  const LineMatcher::Match match = [](std::string_view line, std::vector<int>&) {
    if (line == "stop") throw std::runtime_error("matcher");
  };
  for (const int threads : {1, 4}) {
    EXPECT_THROW(read_job(inputs, {.threads = threads, .unit_bytes = 4000, .matcher = {match, {}}}),
                 std::runtime_error);
  }
}

TEST(ReadJob, PlacesLinesOfAStreamInTheWholeOfIt) {
  const TempDir folder;
  const std::string log = lines("node-a", 10000);
  const std::vector<std::string> inputs = {
      folder.add("log.gz", compressed(Compression::Gzip, log))};
  for (const int threads : {1, 2, 5}) {
    const Job job = read_job(inputs, {.threads = threads, .unit_bytes = 10000, .matcher = {}});
    ASSERT_EQ(job.processes.size(), 1U);
    EXPECT_EQ(file_line(job, job.processes[0].last).line, 10000U);
    ASSERT_EQ(job.inputs.size(), 1U);
    EXPECT_EQ(job.inputs[0].lines, 10000U);
    EXPECT_EQ(job.losses.lines, 10000U);
    EXPECT_EQ(job.inputs[0].text_bytes, log.size());
    EXPECT_LT(job.inputs[0].bytes, log.size()) << "as on the disk";
  }
}

}  // namespace
}  // namespace ncclog
