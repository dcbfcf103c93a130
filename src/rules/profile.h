// Profiles: what a job on some machine should look like, and whether this job does.
//
//   name: our-cluster
//   title: Eight GPUs and eight HDR ports on each host
//   expect:
//     - network: IB
//     - between_hosts: NET/IB
//     - gpudirect: true
//       severity: error
//
// The words under `expect` are those of diagnose/compare/expectations.h. What is broken becomes one
// finding of the class expectation-broken; what cannot be told is said, and how the next log would
// tell it.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/built_in.h"
#include "diagnose/compare/expectations.h"
#include "rules/finding.h"
#include "rules/load_rules.h"

namespace ncclog {

/// One line of a profile, and how a job that was checked stands to it.
struct Expectation {
  const ExpectedFact* fact = nullptr;  ///< Never nullptr in a profile.
  Expected expected;
  Severity severity = Severity::Warning;
  std::string text;            ///< As written: "between_hosts: NET/IB".
  FactValue outcome;           ///< As test_fact gives it.
  std::string_view word;       ///< "met", "broken", "unknown": what the outcome comes to.
  std::string how_to_capture;  ///< Only where the log cannot tell.
};

struct Profile {
  std::string name;
  std::string title;
  std::vector<std::string> references;  ///< Where its facts come from; may be empty.
  std::vector<Expectation> expectations;
};

/// The profile in a file. Throws Error with path:line:column and the nearest word.
Profile load_profile(const RuleFile& file);

/// The profiles that the executable brings along, by name; valid for the whole program.
std::span<const EmbeddedFile> shipped_profiles();

/// The shipped profile of that name; else the file of that path. Throws Error with the nearest name
/// if there is neither.
Profile find_profile(const std::string& name_or_path);

/// The profile with what each expectation comes to.
Profile check_profile(Profile profile, const Job& job);

/// The finding "expectation-broken"; nullopt if nothing is broken.
std::optional<Finding> profile_finding(const Profile& checked, const Job& job);

}  // namespace ncclog
