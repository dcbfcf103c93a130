// Findings in the Markdown report: the verdict's own with all that is known, others with less.
//
//   ### Error: shared memory is full
//   Rank 1 on node-a could not extend a segment: `/dev/shm` is full.
//   certain cause · shm-no-space · rank 1 on node-a
//   …
//   **Change**
//   - Start the container with --shm-size=1g.

#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"

namespace ncclog {

/// All findings within `bytes` and what it takes to say how many are left out: errors and warnings
/// as sections, what follows from them and what is only worth knowing collapsed. Empty if there are
/// no findings. Otherwise begins with a heading and ends with an empty line.
std::string markdown_findings(const Report& report, size_t bytes);

}  // namespace ncclog
