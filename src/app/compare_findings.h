// Does one report find what another one does?
//
//   "process-killed: severity error, was warning"
//   "bootstrap-loopback: is new"

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding.h"

namespace ncclog {

/// In which ways the findings of `after` are others than those of `before`, whose host names are
/// first turned by `rename`. Compared are ids with their order, severity, confidence, role, hosts,
/// ranks, subject and what they explain, and the verdict's status; not evidence and messages, which
/// count lines. Empty: they are equal.
std::vector<std::string> compare_findings(
    const Diagnosis& before, const Diagnosis& after,
    const std::function<std::string(std::string_view)>& rename);

}  // namespace ncclog
