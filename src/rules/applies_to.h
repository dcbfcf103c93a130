// For which versions is a rule meant, and do the processes run them?
//
//   applies_to: {nccl: ">=2.22 <2.25", cuda: [11, 12]}
//
// A process that prints a version is judged by it; one that prints none, by those of the job. Where
// no line names a version, it stays unknown: the rule is judged and what it finds is a grade less
// sure.

#pragma once

#include <string>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "rules/load_rules.h"
#include "rules/version_range.h"

namespace ncclog {

/// Reads the value of the key `applies_to`. Throws Error.
std::vector<VersionDemand> load_applies_to(const RuleFile& file, const RuleNode& node);

/// "nccl", "cuda", "pytorch": as rule files spell the products.
std::string_view to_string(Product product);

enum class Applies { No, Unknown, Yes };

/// Whether the processes of the instance run versions that meet all demands.
Applies applies(const std::vector<VersionDemand>& demands, const Job& job,
                const Instance& instance);

/// "nccl >=2.22 <2.25, cuda 11 or 12"; empty: any version.
std::string applies_to_text(const std::vector<VersionDemand>& demands);

}  // namespace ncclog
