// What was read, and what of it could not be used: the closing lines of the text report.
//
//   Read 318 lines from 8 files: 4 ranks on 2 hosts, NCCL 2.28.9. Cut: logs/a.gz. The gzip …

#pragma once

#include <string>

#include "model/job.h"
#include "report/text_layout.h"

namespace ncclog {

/// Begins with an empty line. Losses are named only where they matter to a reader.
std::string inputs_text(const Job& job, const TextStyle& style);

}  // namespace ncclog
