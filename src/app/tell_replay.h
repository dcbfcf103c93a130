// A replay's result where it belongs: a file for programs, words for people, an exit status.

#pragma once

#include <string>

#include "app/console.h"
#include "app/exit_status.h"
#include "replay/judge/verdict.h"

namespace ncclog {

/// Writes the result to `path` and what it says to the console; "-": the result itself goes to
/// standard output, and nothing else. Empty: it goes nowhere. Throws Error if the file cannot be
/// written.
void tell_replay(const ReplayResult& result, const std::string& path, Console& console);

/// Fine: the replay did what was hoped for. Findings: it speaks against the diagnosis. Partial: it
/// says nothing. CannotDo: it was refused.
ExitStatus status_of(ReplayVerdictKind kind);

}  // namespace ncclog
