// Which versions does a rule mean?
//
//   ">=2.22 <2.25"      both must hold
//   [2.18, ">=2.22.3"]  one must hold
//
// A bound is compared with as many parts as it has itself: 2.22.3 is "2.22", is "<=2.22", and is
// not ">2.22".

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/job_facts.h"

namespace ncclog {

/// ">=2.22": how the first parts of a version must compare with `parts`.
struct VersionBound {
  enum class Operator { Equal, NotEqual, Less, AtMost, Greater, AtLeast };
  Operator op = Operator::Equal;
  std::vector<int> parts;

  bool operator==(const VersionBound&) const = default;
};

/// One of the alternatives must hold with all its bounds.
struct VersionRange {
  std::vector<std::vector<VersionBound>> alternatives;
  std::string text;  ///< As written, alternatives joined by " or ".

  bool operator==(const VersionRange&) const = default;
};

/// What a rule demands of one product.
struct VersionDemand {
  Product product = Product::Nccl;
  VersionRange range;

  bool operator==(const VersionDemand&) const = default;
};

/// ">=2.22 <2.25" as bounds; nullopt if it is anything else.
std::optional<std::vector<VersionBound>> parse_version_bounds(std::string_view text);

/// nullopt: the version has no numbers to compare.
std::optional<bool> contains(const VersionRange& range, std::string_view version);

}  // namespace ncclog
