// What a script learns from `$?`: 0 nothing found, 1 findings, 2 could not do it, 3 input cut, or
// nothing in it to judge.
//
//   ncclog analyze logs/ --fail-on warning   one error, one log cut   → 1: findings go first
//   ncclog show ranks logs/                  one log cut              → 3
//   ncclog analyze /dev/null                                          → 3

#pragma once

#include <algorithm>

#include "report/report.h"

namespace ncclog {

/// Of several that apply, the earlier in the order CannotDo, Findings, Partial, Fine is given.
enum class ExitStatus {
  Fine = 0,      ///< Done, and nothing at or above what --fail-on names.
  Findings = 1,  ///< Done, with findings at or above it.
  CannotDo = 2,  ///< What was asked could not be done; standard error says why.
  Partial = 3,   ///< Done, but part of the input was unreadable, cut, beyond a limit, or
                 ///< nothing in it could be judged.
};

/// From which severity on findings make the run fail, in the order of Severity.
enum class FailOn { Error, Warning, Info, Never };
constexpr std::string_view enum_words(FailOn) { return "error|warning|info|never"; }

/// True if an input of that status lacks something that it should have had.
inline bool is_partial(InputStatus status) {
  return status == InputStatus::Cut || status == InputStatus::Unreadable;
}

/// Fine or Partial: for commands that judge nothing.
inline ExitStatus exit_status(const Job& job) {
  const bool partial =
      job.losses.count(Loss::ProcessesDropped) > 0 ||
      std::ranges::any_of(job.inputs, [](const auto& input) { return is_partial(input.status); });
  return partial ? ExitStatus::Partial : ExitStatus::Fine;
}

/// Fine, Findings or Partial.
inline ExitStatus exit_status(const Report& report, FailOn fail_on) {
  const auto fails = [&](const Finding& finding) {
    return fail_on != FailOn::Never &&
           static_cast<int>(finding.severity) <= static_cast<int>(fail_on);
  };
  if (std::ranges::any_of(report.diagnosis.findings, fails)) return ExitStatus::Findings;
  const bool is_judged = report.diagnosis.verdict.status != VerdictStatus::CannotJudge;
  return is_judged ? exit_status(report.job) : ExitStatus::Partial;
}

}  // namespace ncclog
