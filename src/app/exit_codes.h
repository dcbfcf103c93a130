// What a script learns from `$?`: 0 nothing found, 1 findings, 2 could not do it, 3 input cut.
//
//   ncclog analyze logs/ --fail-on warning   one error, one log cut   → 1: findings go first
//   ncclog show ranks logs/                  one log cut              → 3

#pragma once

#include "base/loss_table.h"
#include "report/report.h"

namespace ncclog {

/// Of several that apply, the earlier in the order CannotDo, Findings, Partial, Fine is given.
enum class ExitStatus {
  Fine = 0,      ///< Done, and nothing at or above what --fail-on names.
  Findings = 1,  ///< Done, with findings at or above it.
  CannotDo = 2,  ///< What was asked could not be done; standard error says why.
  Partial = 3,   ///< Done, but part of the input was unreadable or cut.
};

/// From which severity on findings make the run fail, in the order of Severity.
enum class FailOn { Error, Warning, Info, Never };

/// Fine, Findings or Partial.
ExitStatus exit_status(const Report& report, FailOn fail_on);

/// True if an input of that status lacks something that it should have had.
bool is_partial(InputStatus status);

/// Fine or Partial: for commands that judge nothing.
ExitStatus exit_status(const Job& job);

}  // namespace ncclog
