#include "app/exit_codes.h"

#include <algorithm>

namespace ncclog {
namespace {

bool fails(Severity severity, FailOn fail_on) {
  switch (fail_on) {
    case FailOn::Error:
      return severity == Severity::Error;
    case FailOn::Warning:
      return severity != Severity::Info;
    case FailOn::Info:
      return true;
    case FailOn::Never:
      return false;
  }
  return false;
}

}  // namespace

ExitStatus exit_status(const Report& report, FailOn fail_on) {
  const auto& findings = report.diagnosis.findings;
  if (std::any_of(findings.begin(), findings.end(),
                  [fail_on](const Finding& finding) { return fails(finding.severity, fail_on); })) {
    return ExitStatus::Findings;
  }
  return exit_status(report.job);
}

bool is_partial(InputStatus status) {
  return status == InputStatus::Cut || status == InputStatus::Unreadable;
}

ExitStatus exit_status(const Job& job) {
  const bool partial = std::any_of(job.inputs.begin(), job.inputs.end(),
                                   [](const auto& input) { return is_partial(input.status); });
  return partial ? ExitStatus::Partial : ExitStatus::Fine;
}

}  // namespace ncclog
