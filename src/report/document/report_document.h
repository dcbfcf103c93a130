// What a report says to people, in which order? The verdict first, then why, then what to do.
//
//   PROBLEM   /dev/shm on gpu-node-01 is full: NCCL could not create its segments.
//             certain cause, shm-no-space; ranks 0-3 on gpu-node-01
//
// One problem fits one screen. Findings that follow from another one are named below it.

#pragma once

#include <cstddef>

#include "report/document/document.h"
#include "report/report.h"

namespace ncclog {

/// All that the report says.
Document report_document(const Report& report);

/// The verdict alone.
Document verdict_document(const Report& report);

/// At most `most` lines that show the finding, the telling ones, and how many there are besides.
Quotes evidence_quotes(const Job& job, const Finding& finding, size_t most);

}  // namespace ncclog
