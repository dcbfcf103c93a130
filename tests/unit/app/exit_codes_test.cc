#include "app/exit_codes.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

Report report_with(std::vector<Severity> severities, InputStatus status = InputStatus::Whole) {
  Report report;
  for (const Severity severity : severities) {
    report.diagnosis.findings.emplace_back().severity = severity;
  }
  report.job.inputs.emplace_back().status = status;
  return report;
}

struct Row {
  std::vector<Severity> severities;
  InputStatus input;
  FailOn fail_on;
  int status;
};

TEST(ExitStatus, FindingsCountFromTheSeverityAskedFor) {
  using enum Severity;
  using enum InputStatus;
  const Row kRows[] = {
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
  for (const Row& row : kRows) {
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
