// Puts the lines of ncclras answers together.
//
//   NCCL version 2.28.9 compiled with CUDA 13.0     begins a report
//   Communicator ranks have different status        heads what follows
//   Rank 3 has status INIT -- GPU 3 managed by …    a statement about one rank
//
// An answer may stand alone in a file or among the lines of a log; people also quote a part of one.

#pragma once

#include <deque>
#include <vector>

#include "model/ras_lines.h"
#include "model/ras_report.h"

namespace ncclog {

/// The reports that the lines make, oldest first; the last kMaxRasReports.
std::vector<RasReport> read_ras_text(const std::deque<RasLine>& lines);

}  // namespace ncclog
