// How the program behaves beside others: pipes that close, disks that are full, -q and -v.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// Runs a line of bash in which $ncclog is the program and $logs a folder with an error to find.
Outcome bash(const std::string& line) {
  return run_command({.arguments = {"bash", "-c", line},
                      .environment = {{"ncclog", ncclog_binary().string()},
                                      {"logs", sample_logs("rank-killed").string()}}});
}

TEST(Manners, AReaderThatGoesAwayIsNoError) {
  const Outcome head = bash("$ncclog export $logs | head -n 1; echo ${PIPESTATUS[0]}");
  EXPECT_TRUE(head.standard_output.ends_with("\n0\n")) << head.standard_output;
  EXPECT_EQ(head.standard_error, "");
  const Outcome closed = bash("$ncclog analyze $logs | true; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(closed.standard_output, "1\n");
  EXPECT_EQ(closed.standard_error, "");
}

TEST(Manners, AFullDiskIsAnError) {
  for (const char* command : {"analyze $logs", "export $logs", "show ranks $logs", "--help"}) {
    const Outcome full = bash(std::string("$ncclog ") + command + " > /dev/full");
    EXPECT_EQ(full.exit_code, 2) << command;
    EXPECT_EQ(full.standard_error,
              "ncclog: standard output: cannot write: No space left on device\n"
              "  hint: free some space there, or write somewhere else\n")
        << command;
  }
}

TEST(Manners, LittleMemoryIsASentenceOrEnough) {
  const std::string enough = bash("$ncclog analyze $logs").standard_output;
  // From where the program can be loaded at all, in kB.
  for (const char* limit : {"85000", "120000", "140000", "250000", "400000"}) {
    const Outcome run = bash(std::string("ulimit -v ") + limit + "; $ncclog analyze $logs");
    if (run.standard_output == enough) continue;
    EXPECT_EQ(run.exit_code, 2) << limit << run.standard_error;
    EXPECT_TRUE(run.standard_error.starts_with("ncclog: out of memory\n  hint: "))
        << limit << run.standard_error;
  }
}

TEST(Manners, FewDescriptorsAreToldOrEnough) {
  const std::string enough = bash("$ncclog analyze $logs").standard_output;
  for (const char* limit : {"4", "5", "6", "8", "16"}) {
    const Outcome run = bash(std::string("ulimit -n ") + limit + "; $ncclog analyze $logs");
    const std::string said = run.standard_output + run.standard_error;
    EXPECT_TRUE(run.standard_output == enough ||
                said.find("Too many open files") != std::string::npos ||
                said.find("error while loading shared libraries") != std::string::npos)
        << limit << said;
  }
}

TEST(Manners, AFolderMayHoldAnything) {
  const Outcome run = bash(
      "work=$(mktemp -d); cp $logs/* $work; mkfifo $work/pipe; ln -s /dev/zero $work/zero;"
      "ln -s /proc/self $work/process; truncate -s 1T $work/hole.log; cd $work; $ncclog analyze .;"
      "status=$?; rm -r $work; exit $status");
  EXPECT_EQ(run.exit_code, 1) << run.standard_error;
  EXPECT_TRUE(run.standard_output.starts_with("PROBLEM")) << run.standard_output;
  EXPECT_NE(run.standard_output.find("Skipped: ./pipe and"), std::string::npos)
      << run.standard_output;
}

TEST(Manners, AClosedOutputIsAnError) {
  const Outcome closed = bash("$ncclog analyze $logs >&-");
  EXPECT_EQ(closed.exit_code, 2);
  EXPECT_NE(closed.standard_error, "");
}

TEST(Manners, QuietLeavesTheVerdict) {
  const Outcome quiet = bash("$ncclog analyze -q $logs");
  const Outcome loud = bash("$ncclog analyze $logs");
  EXPECT_EQ(quiet.exit_code, loud.exit_code);
  EXPECT_TRUE(loud.standard_output.starts_with(quiet.standard_output));
  EXPECT_LT(quiet.standard_output.size(), 500U);
  EXPECT_TRUE(quiet.standard_output.starts_with("PROBLEM")) << quiet.standard_output;
  EXPECT_EQ(quiet.standard_error, "");
}

/// Logs and dumps of the Flight Recorder alike.
TEST(Manners, AStreamGivesTheVerdictOfItsFolder) {
  const std::string hang = sample_logs("timeout-rank-skips").string();
  const Outcome streamed = bash("cat " + hang + "/* | $ncclog analyze -q -");
  const Outcome named = bash("$ncclog analyze -q " + hang);
  EXPECT_EQ(streamed.standard_output, named.standard_output);
  EXPECT_EQ(streamed.exit_code, 1);
}

TEST(Manners, WhatIsWrittenAsAskedIsDone) {
  const TempDir folder;
  const std::string bundle = (folder.path() / "job.tar.zst").string();
  EXPECT_EQ(bash("$ncclog report $logs --bundle " + bundle).exit_code, 0);
  EXPECT_EQ(bash("$ncclog analyze $logs --bundle " + bundle).exit_code, 0);
  EXPECT_EQ(bash("$ncclog analyze $logs --fail-on error --bundle " + bundle).exit_code, 1);
}

TEST(Manners, VerboseTellsWhatWasReadBesideTheReport) {
  const Outcome verbose = bash("$ncclog analyze -v --threads 2 $logs");
  const std::string plain = bash("$ncclog analyze $logs").standard_output;
  EXPECT_EQ(verbose.standard_output.substr(0, 600), plain.substr(0, 600));
  // What is harmless is told, not counted.
  EXPECT_EQ(verbose.standard_output.find("harmless notes: -v"), std::string::npos);
  EXPECT_NE(plain.find("harmless notes: -v"), std::string::npos) << plain;
  EXPECT_NE(verbose.standard_error.find("read "), std::string::npos) << verbose.standard_error;
  EXPECT_NE(verbose.standard_error.find(" with 2 threads\n"), std::string::npos)
      << verbose.standard_error;
  EXPECT_NE(verbose.standard_error.find(" s in all\n"), std::string::npos);
}

TEST(Manners, ADemoLeavesNothingBehind) {
  for (const char* name : {"", "crash", "slow", "healthy"}) {
    const Outcome demo = bash(std::string("export TMPDIR=$(mktemp -d); $ncclog demo ") + name +
                              " && ls -A $TMPDIR && rmdir $TMPDIR");
    EXPECT_EQ(demo.exit_code, 0) << name;
    EXPECT_EQ(demo.standard_error, "") << name;
    EXPECT_TRUE(demo.standard_output.ends_with("\n  ncclog explain process-killed demo/crash\n"))
        << demo.standard_output;
  }
}

TEST(Manners, ADemoKeepsItsLogsAndOverwritesNoOthers) {
  const TempDir folder;
  const std::string keep = "$ncclog demo slow -q --keep " + folder.path().string();
  const Outcome kept = bash(keep + " && " + keep);
  EXPECT_TRUE(kept.standard_output.starts_with("SLOW ")) << kept.standard_output;
  const std::pair<const char*, const char*> kSamples[] = {
      {"hang", "timeout-rank-skips"},
      {"crash", "rank-killed"},
      {"slow", "perf/nic-on-eight-of-sixteen-lanes"},
      {"healthy", "healthy"}};
  for (const auto& [demo, sample] : kSamples) {
    size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() / demo)) {
      EXPECT_EQ(read_file(file.path()), read_file(sample_logs(sample) / file.path().filename()));
      ++files;
    }
    EXPECT_GE(files, 3U) << demo;
  }
  const std::string own = folder.add("hang/stdout.log", "of another job\n");
  const Outcome refused = bash(keep);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.standard_error, "ncclog: " + own +
                                        ": is there already, and is none of the demo's logs\n"
                                        "  hint: name another folder\n");
  EXPECT_EQ(read_file(own), "of another job\n");
}

TEST(Manners, NothingIsColouredWhereItIsNotWanted) {
  EXPECT_EQ(bash("NO_COLOR=1 $ncclog analyze $logs").standard_output.find('\x1b'),
            std::string::npos);
  EXPECT_NE(bash("NO_COLOR=1 $ncclog analyze --color always $logs").standard_output.find('\x1b'),
            std::string::npos);
}

}  // namespace

}  // namespace ncclog::testing
