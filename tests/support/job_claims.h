// What a job and its diagnosis say about the world, one claim a line, so that the claims of two
// logs are compared as sets.

#pragma once

#include <set>
#include <string>

#include "model/job.h"
#include "rules/finding.h"

namespace ncclog {

/// Hosts, processes, communicators, their ranks, connections, settings, interfaces, versions, and
/// whom each finding names. Places in files and counts of lines are no claims.
std::set<std::string> claims_of(const Job& job, const Diagnosis& diagnosis);

}  // namespace ncclog
