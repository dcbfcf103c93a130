// What does each rule look like to somebody who has a bad line and no report?
//
//   ## shm-no-space                          the rule, with its grade and title
//   n1:7:9 [0] … NCCL WARN Error: failed …   a line that it finds, of the first of its examples
//   > Rank 1 on n1 could not …               what is said of that line
//   - Start the container with --shm-size=1g.
//
// One page for each area of rules, rules/<area>/README.md: all of it comes from the rules' own
// files, and a test holds the pages to them (tests/unit/report/document/rules_page_test.cc).

#pragma once

#include <set>
#include <string>

#include "rules/rule_tools.h"

namespace ncclog {

/// The areas of the built-in rules: "shared_memory" of rules/shared_memory/shm-no-space.yaml.
std::set<std::string> areas_of(const Rulebook& rulebook);

/// The page of an area in Markdown. The rules are loaded with their examples, which `reader` reads.
/// Throws Error, naming the nearest area, if there is none of that name.
std::string rules_page(const Rulebook& rulebook, const std::string& area,
                       const ExampleReader& reader);

}  // namespace ncclog
