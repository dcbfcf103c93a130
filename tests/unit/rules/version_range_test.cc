#include "rules/version_range.h"

#include <gtest/gtest.h>

namespace ncclog::testing {
namespace {

VersionRange range_of(std::initializer_list<const char*> alternatives) {
  VersionRange range;
  for (const char* text : alternatives) range.alternatives.push_back(*parse_version_bounds(text));
  return range;
}

struct Row {
  const char* range;
  const char* version;
  bool inside;
};

constexpr Row kRows[] = {
    {">=2.22 <2.25", "2.22.3", true},
    {">=2.22 <2.25", "2.25.1", false},
    {">=2.22 <2.25", "2.21.5", false},
    {">=2.22 <2.25", "2.24.3+cuda12.6", true},
    {"2.22", "2.22.3", true},
    {"2.22", "2.2", false},
    {"==2.22.3", "2.22.3", true},
    {"==2.22.3", "2.22.4", false},
    {"<=2.22", "2.22.9", true},
    {">2.22", "2.22.9", false},
    {">2.22", "2.23.4", true},
    {"!=2.22", "2.22.3", false},
    {"!=2.22", "2.21.5", true},
    {">=2.9", "2.10.3", true},
    {">=2.9.0", "2.9.0a0+git12", true},
    {">=12.4", "12", false},
    {"<12.4", "12", true},
};

TEST(VersionRange, ComparesAsManyPartsAsTheBoundHas) {
  for (const Row& row : kRows) {
    EXPECT_EQ(contains(range_of({row.range}), row.version), row.inside)
        << row.range << " " << row.version;
  }
}

TEST(VersionRange, IsMetByOneOfSeveralAlternatives) {
  const VersionRange range = range_of({"<2.10", ">=2.22 <2.25"});
  EXPECT_EQ(contains(range, "2.8.4"), true);
  EXPECT_EQ(contains(range, "2.23.4"), true);
  EXPECT_EQ(contains(range, "2.18.3"), false);
}

TEST(VersionRange, KnowsNothingAboutVersionsWithoutNumbers) {
  for (const char* version : {"", "master", "v2.3", ".2", "99999999999999"}) {
    EXPECT_EQ(contains(range_of({">=2.22"}), version), std::nullopt) << version;
  }
}

TEST(VersionRange, RefusesWhatIsNoBound) {
  for (const char* text : {"", " ", "=2.22", ">= 2.22", ">=2.x", "2.", ">2.22,", "2.22-2.25", "-1",
                           "2.+5", ">=<2", "9999999999"}) {
    EXPECT_EQ(parse_version_bounds(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ncclog::testing
