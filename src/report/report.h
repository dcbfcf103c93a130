// Everything a run has to say, as one value: what was read, what it shows, what follows from it.
//
// Writers turn it into text or JSON and decide nothing themselves. A report holds no clock, locale,
// hash order or pointer: same input, same bytes.

#pragma once

#include <optional>
#include <string>

#include "model/job.h"
#include "report/replay_summary.h"
#include "rules/finding.h"
#include "rules/profile.h"

namespace ncclog {

/// Which program and which rules said this.
struct Tool {
  std::string name = "ncclog";
  std::string version;   ///< "1.0.0".
  std::string rulebook;  ///< Hash of the rules that were used.
};

struct Report {
  Tool tool;
  Job job;
  Diagnosis diagnosis;
  std::optional<CheckedProfile> profile;  ///< nullopt: none was asked for.
  std::optional<ReplaySummary> replay;    ///< nullopt: none was named.
};

}  // namespace ncclog
