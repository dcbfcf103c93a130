#include "app/exit_codes.h"

#include <algorithm>

namespace ncclog {

ExitStatus exit_status(const Report& report, FailOn fail_on) {
  for (const Finding& finding : report.diagnosis.findings) {
    // Both lists begin with the worst.
    const bool fails = static_cast<int>(finding.severity) <= static_cast<int>(fail_on);
    if (fails && fail_on != FailOn::Never) return ExitStatus::Findings;
  }
  return exit_status(report.job);
}

bool is_partial(InputStatus status) {
  return status == InputStatus::Cut || status == InputStatus::Unreadable;
}

ExitStatus exit_status(const Job& job) {
  const bool partial =
      std::ranges::any_of(job.inputs, [](const auto& input) { return is_partial(input.status); });
  return partial ? ExitStatus::Partial : ExitStatus::Fine;
}

}  // namespace ncclog
