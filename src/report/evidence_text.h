// The lines that show a finding, as `file:line` and text.
//
//   seen    logs/nccl.1607.txt:40
//           … NCCL WARN Error: failed to extend /dev/shm/nccl-T2EFKg to 9637892 bytes, error: No
//           space left on device (28)
//           … and 11 more lines

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/job.h"
#include "report/text_layout.h"
#include "rules/finding.h"

namespace ncclog {

/// The lines to show, at most `most`: of those that many ranks print alike, the first, and one of
/// the process that the finding is about. Of some lines only the place is kept; they come last.
std::vector<const Evidence*> telling_evidence(const Finding& finding, size_t most);

/// At most `most` lines of evidence, and how many there are besides. Of lines that many ranks print
/// alike, the first is shown. Empty if the finding has no evidence.
std::string evidence_text(const Job& job, const Finding& finding, size_t most,
                          const TextStyle& style);

}  // namespace ncclog
