// An explanation (rules/rule_tools.h) for people, at most a screen, and for scripts, whole.

#pragma once

#include <string>

#include "model/job.h"
#include "report/document/document.h"
#include "rules/rule_tools.h"

namespace ncclog {

/// `job` is the one that was explained: it knows the files of the lines.
Document explanation_document(const Explanation& explanation, const Job& job);

/// One object, schema "ncclog.explain/1".
std::string write_explanation_json(const Explanation& explanation, const Job& job);

}  // namespace ncclog
