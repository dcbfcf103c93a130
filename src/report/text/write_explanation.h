// An explanation (rules/rule_tools.h) for people, at most a screen, and for scripts, whole.

#pragma once

#include <string>

#include "model/job.h"
#include "report/text_layout.h"
#include "rules/rule_tools.h"

namespace ncclog {

/// `job` is the one that was explained: it knows the files of the lines.
std::string write_explanation(const Explanation& explanation, const Job& job,
                              const TextStyle& style);

/// One object, schema "ncclog.explain/1".
std::string write_explanation_json(const Explanation& explanation, const Job& job);

}  // namespace ncclog
