// A replay's result where it belongs: words for people, a file for programs, an exit status, a
// place in the report (--with-replay).
//
//   reproduced-hypothesis (likely)
//     As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 makes
//     another call in its place; when all ranks behave, …
//
//   Runs
//     - defect: hung in completion at AllReduce, call 29 …: as recorded
//
// The verdict stands first, then what it rests on, then what nobody may conclude.

#pragma once

#include <string>

#include "app/exit_codes.h"
#include "app/output.h"
#include "replay/judge/verdict.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "report/report.h"
#include "report/text_layout.h"

namespace ncclog {

/// The kind with its confidence and the headline, one line whatever the style's width.
std::string replay_headline(const ReplayResult& result, const TextStyle& style);

/// All of it.
Document replay_document(const ReplayResult& result);

/// Writes the result to `path` and what it says to the console; "-": the result itself goes to
/// standard output, and nothing else. Empty: it goes nowhere. Throws Error if the file cannot be
/// written.
void tell_replay(const ReplayResult& result, const std::string& path, Console& console);

/// Fine: the replay did what was hoped for. Findings: it speaks against the diagnosis. Partial: it
/// says nothing. CannotDo: it was refused.
ExitStatus status_of(ReplayVerdictKind kind);

/// The result in that file, "-" for standard input. Throws Error if there is none.
ReplayResult load_replay_result(const std::string& path);

/// What the report may say of it. It is of these logs if they show the finding that it tested and
/// all of its communicators.
ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path);

}  // namespace ncclog
