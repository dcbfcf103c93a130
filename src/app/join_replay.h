// Joining what a replay showed to the report of the logs that it is of: `--with-replay`.

#pragma once

#include <string>

#include "replay/judge/verdict.h"
#include "report/verdict_and_evidence.h"
#include "report/report.h"

namespace ncclog {

/// The result in that file, "-" for standard input. Throws Error if there is none.
ReplayResult load_replay_result(const std::string& path);

/// What the report may say of it. It is of these logs if they show the finding that it tested and
/// all of its communicators.
ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path);

}  // namespace ncclog
