// Lists and conditions that several rule files share by name.
//
//   lists:
//     container_interfaces: [docker0, podman0, cni0]
//   conditions:
//     rdma_present: {fact: job.rdma_evidence, is: true}
//
// A rule writes `{name: $container_interfaces}` or `[eth0, $container_interfaces]`, and
// `{use: rdma_present}` where a condition may stand. Names are replaced before a rule is loaded, so
// the rest of the program knows rules without any; what replaced a name has the name's place.

#pragma once

#include <map>
#include <string>

#include "rules/load_rules.h"
#include "rules/rule_node.h"

namespace ncclog {

/// Invariant: no name stands inside the nodes any more.
struct SharedNames {
  std::map<std::string, RuleNode, std::less<>> lists;       ///< Sequences of scalars.
  std::map<std::string, RuleNode, std::less<>> conditions;  ///< As under `when`.
};

/// True if the tree is a file of shared names, and no rule.
bool is_shared_names(const RuleNode& root);

/// Adds the names of a file; what has the name already is replaced. A list or condition may use
/// what stands above it or is in `names`. Throws Error, also for conditions that fit no rule, and
/// for names of names that stand for too much.
void load_shared_names(const RuleFile& file, SharedNames& names);

/// Replaces the names in a rule, outside of its message and examples. Throws Error for a name that
/// is not there, and for names that stand for too much.
void replace_shared_names(RuleFile& file, const SharedNames& names);

}  // namespace ncclog
