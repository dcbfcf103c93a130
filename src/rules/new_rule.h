// The beginning of a rule file, for somebody who has a line in hand and wants a rule.
//
//   ncclog rules new nic-down --area network --from 'n1:7:9 [0] … NCCL WARN NET/IB : Got async
//   event'
//
// The file loads as it is; its texts say what to put in their place.

#pragma once

#include <string>
#include <string_view>

#include "model/job.h"
#include "rules/rule.h"

namespace ncclog {

/// The file's text. `line` is a log line that the rule is about, or empty; `job` is that line,
/// read. A line whose kind is known gives an event condition with its text fields, numbers as
/// comments; another one a pattern. Throws Error if the id is none.
std::string new_rule_text(std::string_view id, std::string_view line, const Job& job);

/// Writes the text to AREA/ID.yaml below the working directory, or to ID.yaml without an area; the
/// file's path. Throws Error if the file is there already, or a rule of the rulebook has the id.
std::string write_new_rule(const Rulebook& rulebook, const std::string& id, const std::string& area,
                           const std::string& text);

}  // namespace ncclog
