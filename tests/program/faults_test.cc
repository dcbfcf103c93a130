// What is left where the system says no in the middle of a command's work, or a signal ends it?
//
//   NCCLOG_FAULT="write ENOSPC 3" ncclog report logs/ --bundle b.tar.zst   → exit 2, a sentence, no file
//
// The library of support/faults.cc lets the k-th call of a sort fail. Each command that writes is run
// with some k of each sort; with NCCLOG_ALL_FAULTS=1 in the environment with every k.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/paths.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;

/// Commands that write, run in an empty folder.
constexpr const char* kWriters[] = {
    "analyze $logs --json a.json --md a.md --html a.html",
    "report $logs --bundle b.tar.zst",
    "report $logs --bundle b.tar.zst --no-anonymise",
    "export $logs --format sqlite -o x.db",
    "export $logs --format trace -o t.json",
    "scan $logs -o p.part",
    "replay plan $logs -o plan.json",
    "show ranks $logs",
    "man --into .",
};

/// A command that ran with a fault, and what it left.
struct Attempt {
  Outcome outcome;
  std::map<std::string, std::string> files;
  std::map<std::string, long> counts;  ///< Calls by sort; "hit": whether the fault came.
  bool has_temporary = false;          ///< Something is left in TMPDIR.
};

Attempt run_with(const std::string& fault, const std::string& line) {
  const TempDir dir;
  fs::create_directories(dir.path() / "out");
  fs::create_directories(dir.path() / "tmp");
  const fs::path counted = dir.path() / "counts";
  const fs::path library = build_dir() / "tests" / "libncclog_faults.so";
  Attempt run;
  // exec: the fault is for the program, not for the shell.
  run.outcome =
      run_command({.arguments = {"bash", "-c", "LD_PRELOAD=$library exec $ncclog " + line},
                   .folder = dir.path() / "out",
                   .environment = {{"ncclog", ncclog_binary()},
                                   {"library", library},
                                   {"logs", sample_logs("rank-killed")},
                                   {"TMPDIR", dir.path() / "tmp"},
                                   {"NCCLOG_FAULT", fault},
                                   {"NCCLOG_FAULT_COUNT", counted}}});
  for (const auto& entry : fs::recursive_directory_iterator(dir.path() / "out")) {
    if (entry.is_regular_file()) run.files[entry.path().filename()] = read_file(entry.path());
  }
  run.has_temporary = !fs::is_empty(dir.path() / "tmp");
  if (fs::exists(counted)) {
    std::istringstream lines(read_file(counted));
    std::string sort;
    for (long count; lines >> sort >> count;) run.counts[sort] = count;
  }
  return run;
}

/// Which of `count` calls fail: the first, the last and one between them; all if they are asked for.
std::vector<long> chosen(long count) {
  std::vector<long> all;
  const bool wants_all = std::getenv("NCCLOG_ALL_FAULTS") != nullptr;
  for (long k = 1; k <= count; ++k) {
    if (wants_all || k == 1 || k == count || k == (count + 1) / 2) all.push_back(k);
  }
  return all;
}

std::string fault_of(const std::string& sort, const std::string& error, long k) {
  return sort + " " + error + " " + std::to_string(k);
}

/// Each file is there whole, as without the fault, or not at all; a bundle has its mapping.
void expect_nothing_half(const Attempt& whole, const Attempt& run, const std::string& what) {
  EXPECT_FALSE(run.has_temporary) << what;
  for (const auto& [name, bytes] : run.files) {
    const auto expected = whole.files.find(name);
    ASSERT_NE(expected, whole.files.end()) << name << " is left by " << what;
    EXPECT_TRUE(bytes == expected->second) << name << " is another one after " << what;
  }
  if (whole.files.contains("b.tar.zst.mapping.json")) {
    EXPECT_EQ(run.files.contains("b.tar.zst"), run.files.contains("b.tar.zst.mapping.json"))
        << what;
  }
}

void expect_sentence(const Outcome& outcome, const std::string& what) {
  EXPECT_EQ(outcome.exit_code, 2) << what << "\n" << outcome.standard_error;
  EXPECT_NE(outcome.standard_error.find("ncclog: "), std::string::npos) << what;
  EXPECT_EQ(outcome.standard_error.find("internal error"), std::string::npos)
      << what << "\n"
      << outcome.standard_error;
}

class RunUnderFaults : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string line_ = GetParam();
  const Attempt whole_ = run_with("none", line_);
};

INSTANTIATE_TEST_SUITE_P(Commands, RunUnderFaults, ::testing::ValuesIn(kWriters));

TEST_P(RunUnderFaults, NothingHalfIsLeftWhereWritingFails) {
  constexpr std::pair<const char*, const char*> kFaults[] = {{"write", "ENOSPC"},
                                                             {"write", "EIO"},
                                                             {"sync", "EIO"},
                                                             {"rename", "EIO"},
                                                             {"folder", "ENOSPC"}};
  for (const auto& [sort, error] : kFaults) {
    for (const long k : chosen(whole_.counts.at(sort))) {
      const std::string what = line_ + " with " + fault_of(sort, error, k);
      const Attempt run = run_with(fault_of(sort, error, k), line_);
      expect_nothing_half(whole_, run, what);
      expect_sentence(run.outcome, what);
    }
  }
}

TEST_P(RunUnderFaults, WhatCannotBeOpenedOrReadIsTold) {
  for (const auto& [sort, error] : {std::pair("open", "EMFILE"), std::pair("read", "EIO")}) {
    for (const long k : chosen(whole_.counts.at(sort))) {
      const std::string what = line_ + " with " + fault_of(sort, error, k);
      const Attempt run = run_with(fault_of(sort, error, k), line_);
      EXPECT_FALSE(run.has_temporary) << what;
      if (run.outcome.exit_code == 2) {
        expect_sentence(run.outcome, what);
        expect_nothing_half(whole_, run, what);
        continue;
      }
      // It was not needed, or it was a log: then what is there says so.
      const bool is_same = run.files == whole_.files &&
                           run.outcome.standard_output == whole_.outcome.standard_output;
      const bool is_told = run.outcome.standard_output.find("Unreadable:") != std::string::npos ||
                           run.outcome.standard_output.find("Cut:") != std::string::npos;
      EXPECT_TRUE(is_same || run.outcome.exit_code == 3 || is_told)
          << what << " ended with " << run.outcome.exit_code;
    }
  }
}

TEST_P(RunUnderFaults, ShortAndInterruptedCallsChangeNothing) {
  for (const char* fault : {"write SHORT 1", "write EINTR 1", "read SHORT 1", "read EINTR 1"}) {
    const Attempt run = run_with(fault, line_);
    EXPECT_EQ(run.outcome.exit_code, whole_.outcome.exit_code) << run.outcome.standard_error;
    EXPECT_TRUE(run.outcome.standard_output == whole_.outcome.standard_output)
        << line_ << " with " << fault;
    EXPECT_TRUE(run.files == whole_.files) << line_ << " with " << fault;
  }
}

TEST_P(RunUnderFaults, ASignalLeavesNothingBehind) {
  constexpr std::pair<const char*, int> kSignals[] = {
      {"SIGINT", 2}, {"SIGTERM", 15}, {"SIGHUP", 1}};
  long shift = 0;
  for (const auto& [name, number] : kSignals) {
    for (const long k : chosen(whole_.counts.at("any") - shift)) {
      const std::string what = line_ + " with " + name + " at call " + std::to_string(k);
      const Attempt run = run_with(fault_of("any", name, k), line_);
      EXPECT_EQ(run.outcome.exit_code, 128 + number) << what << run.outcome.standard_error;
      expect_nothing_half(whole_, run, what);
    }
    shift += 3;  // So that each signal comes at other calls.
  }
}

TEST_P(RunUnderFaults, OutOfMemoryIsASentence) {
  // What is missing before main begins, nobody can tell.
  const long parts = std::getenv("NCCLOG_ALL_FAULTS") != nullptr ? 60 : 4;
  for (long part = 1; part < parts; ++part) {
    const long k = whole_.counts.at("memory") * part / parts;
    const std::string what = line_ + " without memory from " + std::to_string(k);
    const Attempt run = run_with(fault_of("memory", "NONE", k), line_);
    expect_sentence(run.outcome, what);
    expect_nothing_half(whole_, run, what);
  }
}

}  // namespace
}  // namespace ncclog::testing
