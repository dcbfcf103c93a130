// Everything a run has to say, as one value: what was read, what it shows, what follows from it.
//
// Writers turn it into text or JSON and decide nothing themselves. A report holds no clock, locale,
// hash order or pointer: same input, same bytes.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/profile.h"

namespace ncclog {

/// Which program and which rules said this.
struct Tool {
  std::string name = "ncclog";
  std::string version;   ///< "1.0.0".
  std::string rulebook;  ///< Hash of the rules that were used.
};

/// What a replay of the job on other GPUs showed: a result of `ncclog replay run`. One that is not
/// of these logs is named, with the reason, and supports nothing.
struct ReplaySummary {
  std::string file;                  ///< The result's path, as the user named it.
  std::string unfit;                 ///< Why it is not of these logs, a clause; empty: it is.
  std::string finding;               ///< Id of the finding that was tested; empty: none.
  std::string kind;                  ///< "reproduced-hypothesis", …
  std::string confidence;            ///< "certain", "likely", "possible"; empty: it claims nothing.
  std::string headline;              ///< One sentence.
  std::string machine;               ///< "2 x NVIDIA H200, NCCL 2.28.9"; empty: nothing was run.
  std::vector<std::string> runs;     ///< One line each.
  std::vector<std::string> changed;  ///< What was not as recorded.
  std::vector<std::string> limits;   ///< What it cannot show.
  std::vector<std::string> must_not_conclude;

  bool operator==(const ReplaySummary&) const = default;
};

struct Report {
  Tool tool;
  Job job;
  Diagnosis diagnosis;
  std::optional<CheckedProfile> profile;  ///< nullopt: none was asked for.
  std::optional<ReplaySummary> replay;    ///< nullopt: none was named.
};

}  // namespace ncclog
