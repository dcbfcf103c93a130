#include "app/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/posix.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using testing::read_file;
using testing::TempDir;

/// "where: what" of the refusal; empty if there is none.
template <typename Ask>
std::string output_refusal(Ask ask) {
  try {
    ask();
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return {};
}

size_t files_in(const TempDir& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
}

TEST(OutputFile, IsWrittenWholeAndNothingElseIsLeft) {
  const TempDir folder;
  const std::string path = (folder.path() / "r.md").string();
  write_output_file(path, "text\n");
  EXPECT_EQ(read_file(path), "text\n");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(OutputFile, ReplacesAnOldOneAndKeepsItsRights) {
  const TempDir folder;
  const std::string path = folder.add("r.md", "old and longer\n");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  write_output_file(path, "new\n");
  EXPECT_EQ(read_file(path), "new\n");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(OutputFile, FollowsLinks) {
  const TempDir folder;
  const std::string file = folder.add("file.md", "old\n");
  const std::string link = (folder.path() / "link.md").string();
  fs::create_symlink(file, link);
  write_output_file(link, "new\n");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(file), "new\n");
}

TEST(OutputFile, LeavesDevicesWhatTheyAre) {
  check_output_file("/dev/null", {});
  write_output_file("/dev/null", "text\n");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(output_refusal([] { write_output_file("/dev/full", "text\n"); }),
            "/dev/full: cannot write: No space left on device");
}

TEST(OutputFile, IsRefusedBeforeAnythingIsRead) {
  const TempDir folder;
  const std::string at = folder.path().string();
  const std::string file = folder.add("file", "");
  const std::string long_name = at + "/" + std::string(300, 'x');
  EXPECT_EQ(output_refusal([&] { check_output_file(at, {}); }), at + ": is a folder");
  EXPECT_EQ(output_refusal([&] { check_output_file(at + "/no/r.md", {}); }),
            at + "/no: no such folder");
  EXPECT_EQ(output_refusal([&] { check_output_file(file + "/r.md", {}); }),
            file + ": not a folder");
  EXPECT_EQ(output_refusal([&] { check_output_file(long_name, {}); }),
            long_name + ": cannot write: File name too long");
  EXPECT_EQ(output_refusal([&] { check_output_file(at + "/new.md", {}); }), "");
  EXPECT_EQ(output_refusal([&] { check_output_file(file, {}); }), "");
}

TEST(OutputFile, IsNeverOneOfTheLogs) {
  const TempDir folder;
  const std::vector<std::string> logs = {"-", folder.add("a.log", "x\n")};
  const std::string link = (folder.path() / "link").string();
  const std::string twin = (folder.path() / "twin").string();
  fs::create_symlink(logs[1], link);
  fs::create_hard_link(logs[1], twin);
  const std::string spelt = folder.path().string() + "/./a.log";
  for (const std::string& path : {logs[1], link, twin, spelt}) {
    EXPECT_EQ(output_refusal([&] { check_output_file(path, logs); }),
              path + ": is one of the logs to be read");
  }
}

Report report_with(std::vector<Severity> severities, InputStatus status = InputStatus::Whole) {
  Report report;
  report.diagnosis.verdict.status = VerdictStatus::NothingFound;
  for (const Severity severity : severities) {
    report.diagnosis.findings.emplace_back().severity = severity;
  }
  report.job.inputs.emplace_back().status = status;
  return report;
}

struct StatusRow {
  std::vector<Severity> severities;
  InputStatus input;
  FailOn fail_on;
  int status;
};

TEST(Console, ADumbTerminalShowsNoColours) {
  const char* const before = std::getenv("TERM");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TERM", "dumb", 1);
  EXPECT_TRUE(make_console().no_color);
  setenv("TERM", "xterm", 1);
  EXPECT_EQ(make_console().no_color, !environment_variable("NO_COLOR").empty());
  if (before == nullptr) {
    unsetenv("TERM");
  } else {
    setenv("TERM", kept.c_str(), 1);
  }
}

TEST(ExitStatus, WhatCannotBeJudgedIsNotFine) {
  Report report = report_with({});
  report.diagnosis.verdict.status = VerdictStatus::CannotJudge;
  EXPECT_EQ(exit_status(report, FailOn::Never), ExitStatus::Partial);
}

TEST(ExitStatus, FindingsCountFromTheSeverityAskedFor) {
  using enum Severity;
  using enum InputStatus;
  const StatusRow kRows[] = {
      {{}, Whole, FailOn::Info, 0},
      {{Error}, Whole, FailOn::Error, 1},
      {{Warning, Info}, Whole, FailOn::Error, 0},
      {{Info, Warning}, Whole, FailOn::Warning, 1},
      {{Info}, Whole, FailOn::Warning, 0},
      {{Info}, Whole, FailOn::Info, 1},
      {{Error}, Whole, FailOn::Never, 0},
      {{}, Cut, FailOn::Error, 3},
      {{}, Unreadable, FailOn::Error, 3},
      {{}, Skipped, FailOn::Error, 0},
      {{Error}, Cut, FailOn::Error, 1},
      {{Error}, Cut, FailOn::Never, 3},
  };
  for (const StatusRow& row : kRows) {
    const Report report = report_with(row.severities, row.input);
    EXPECT_EQ(static_cast<int>(exit_status(report, row.fail_on)), row.status)
        << "row " << (&row - kRows);
  }
}

TEST(ExitStatus, OneBadInputIsEnough) {
  Report report = report_with({}, InputStatus::Whole);
  report.job.inputs.emplace_back().status = InputStatus::Cut;
  EXPECT_EQ(exit_status(report.job), ExitStatus::Partial);
}

}  // namespace

}  // namespace ncclog
