// Law: a finding stands above what follows from it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "rules/verdict.h"

namespace ncclog::testing {
namespace {

Finding finding(const std::string& id, Severity severity, Role role,
                std::vector<std::string> explains = {},
                Confidence confidence = Confidence::Likely) {
  Finding result;
  result.id = id;
  result.severity = severity;
  result.role = role;
  result.confidence = confidence;
  result.explains = std::move(explains);
  return result;
}

std::string order(std::vector<Finding> findings) {
  std::vector<std::string> ids;
  for (const Finding& each : order_by_cause(std::move(findings))) ids.push_back(each.id);
  return join(ids, " ");
}

const std::vector<Finding> kMixed = {
    finding("info", Severity::Info, Role::Cause),
    finding("symptom", Severity::Error, Role::Symptom),
    finding("possible", Severity::Error, Role::Cause, {}, Confidence::Possible),
    finding("b-cause", Severity::Error, Role::Cause),
    finding("a-cause", Severity::Error, Role::Cause),
    finding("warning", Severity::Warning, Role::Cause),
    finding("advice", Severity::Error, Role::Advice),
};

TEST(CausalOrder, SeverityThenRoleThenConfidenceThenId) {
  EXPECT_EQ(order(kMixed), "a-cause b-cause possible advice symptom warning info");
}

TEST(CausalOrder, DoesNotDependOnTheOrderGiven) {
  std::vector<Finding> findings = kMixed;
  for (size_t i = 0; i < findings.size(); ++i) {
    std::rotate(findings.begin(), findings.begin() + 1, findings.end());
    EXPECT_EQ(order(findings), order(kMixed));
  }
}

TEST(CausalOrder, WhatTellsTheEndStandsBeforeOthersAsSevere) {
  std::vector<Finding> findings = kMixed;
  findings.push_back(finding("z-end", Severity::Warning, Role::Symptom));
  findings.back().tells_end = true;
  EXPECT_EQ(order(findings), "a-cause b-cause possible advice symptom z-end warning info");
}

TEST(CausalOrder, WhatIsExplainedStandsBelowAlsoAcrossOthers) {
  EXPECT_EQ(order({finding("z", Severity::Error, Role::Cause, {"y"}),
                   finding("y", Severity::Error, Role::Cause, {"a"}),
                   finding("a", Severity::Error, Role::Cause)}),
            "z y a");
}

TEST(CausalOrder, ACauseIsAsSevereAsWhatFollowsFromIt) {
  EXPECT_EQ(order({finding("warning-cause", Severity::Warning, Role::Cause, {"middle"}),
                   finding("middle", Severity::Info, Role::Symptom, {"error-symptom"}),
                   finding("error-symptom", Severity::Error, Role::Symptom),
                   finding("other-warning", Severity::Warning, Role::Cause)}),
            "warning-cause middle error-symptom other-warning");
}

TEST(CausalOrder, OnlyPresentFindingsStayExplained) {
  const auto ordered =
      order_by_cause({finding("a", Severity::Error, Role::Cause, {"gone", "b", "a"}),
                      finding("b", Severity::Info, Role::Symptom)});
  EXPECT_EQ(ordered[0].explains, std::vector<std::string>{"b"});
}

TEST(CausalOrder, WhatNamesNoOtherRanksIsExplainedWhereThatIsWanted) {
  const auto explained = [](std::vector<int> cause_ranks, std::vector<int> effect_ranks) {
    Finding cause = finding("z-cause", Severity::Error, Role::Cause);
    cause.explains_same_ranks = {"effect", "gone"};
    cause.ranks = std::move(cause_ranks);
    Finding effect = finding("effect", Severity::Error, Role::Cause);
    effect.ranks = std::move(effect_ranks);
    return order({cause, effect}) == "z-cause effect";
  };
  EXPECT_TRUE(explained({1, 3}, {3}));
  EXPECT_FALSE(explained({1}, {1, 3}));
  EXPECT_FALSE(explained({1}, {2}));
  EXPECT_FALSE(explained({1}, {}));
  EXPECT_FALSE(explained({}, {}));
}

TEST(CausalOrder, WitnessesThatNameTheSameRanksAreOneFinding) {
  const auto told = [](std::vector<int> ranks, const std::string& witness) {
    Finding cause = finding("z-cause", Severity::Warning, Role::Cause, {}, Confidence::Possible);
    cause.explains_same_ranks = {"effect"};
    cause.ranks = {1, 3};
    cause.witness = "the stacks";
    cause.message = "They differ.";
    Finding effect = finding("effect", Severity::Warning, Role::Cause);
    effect.ranks = std::move(ranks);
    effect.witness = witness;
    effect.evidence = {{{0, 3}, "a line"}};
    // Ordered again, it says nothing twice.
    const Finding first = order_by_cause(order_by_cause({cause, effect})).front();
    return fmt::format("{} {} {}", to_string(first.confidence), first.evidence.size(),
                       first.message);
  };
  EXPECT_EQ(told({1, 3}, "NCCL's RAS service"),
            "likely 1 They differ. NCCL's RAS service says the same of ranks 1,3.");
  EXPECT_EQ(told({1}, "NCCL's RAS service"), "possible 0 They differ.");
  EXPECT_EQ(told({1, 3}, "the stacks"), "possible 0 They differ.");
  EXPECT_EQ(told({1, 3}, ""), "possible 0 They differ.");
}

TEST(CausalOrder, WhatCameFirstLeadsWhereThatIsKnown) {
  const auto leads = [](const std::string& line, const std::string& later, uint64_t later_unit) {
    Finding first = finding("z", Severity::Error, Role::Symptom);
    first.evidence = {{{0, 3}, line}};
    Finding second = finding("a", Severity::Error, Role::Cause, {}, Confidence::Certain);
    second.evidence = {{{later_unit, 4}, later}};
    return order({second, first}) == "z a";
  };
  EXPECT_TRUE(leads("n1:7:7 [0] NCCL WARN one", "n1:7:9 [0] NCCL WARN two", 0));
  EXPECT_FALSE(leads("n1:7:7 [0] NCCL WARN one", "n1:8:8 [0] NCCL WARN two", 0));
  EXPECT_FALSE(leads("n1:7:7 [0] NCCL WARN one", "n1:7:9 [0] NCCL WARN two", 1));
  EXPECT_TRUE(leads("[2026-01-05 12:00:01] n1:7:7 [0] NCCL WARN one",
                    "[2026-01-05 12:00:02] n2:8:8 [0] NCCL WARN two", 1));
}

TEST(CausalOrder, ACircleIsOrderedAllTheSame) {
  EXPECT_EQ(order({finding("b", Severity::Error, Role::Cause, {"a"}),
                   finding("a", Severity::Error, Role::Cause, {"b"}),
                   finding("c", Severity::Info, Role::Cause)}),
            "c a b");
}

}  // namespace
}  // namespace ncclog::testing
