// What cannot be judged, and how lines reach the line patterns.

#include "rules/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "rules/load_rules.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string questions(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const NotJudged& open : diagnosis.not_judged) all.push_back(open.question);
  return join(all, " ");
}

const std::string kSet = "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n";
const std::string kNetwork = "n1:7:7 [0] NCCL INFO Using network Socket\n";

Rule needs_network(const std::string& when) { return sample_rule("r", when, "needs: [network]\n"); }

TEST(Evaluate, ARuleWhoseNeedIsOpenIsNotJudgedButTold) {
  const Rulebook rulebook = rulebook_of(
      {needs_network("{all: [{event: env_set}, {none: [{event: network_selected}]}]}")});
  const Diagnosis diagnosis = diagnose(rulebook, kSet);
  EXPECT_TRUE(diagnosis.findings.empty());
  ASSERT_EQ(questions(diagnosis), "Which network does NCCL use?");
  EXPECT_EQ(diagnosis.not_judged[0].reason, "No line says which network NCCL uses.");
  EXPECT_NE(diagnosis.not_judged[0].how_to_capture.find("NCCL_DEBUG=INFO"), std::string::npos);
}

TEST(Evaluate, ANeedIsNotToldWhereTheRuleCannotApply) {
  const Rulebook rulebook = rulebook_of(
      {needs_network("{all: [{event: network_selected}, {fact: job.host_count, at_least: 2}]}")});
  EXPECT_EQ(questions(diagnose(rulebook, kSet)), "");
  EXPECT_EQ(questions(diagnose(rulebook, kSet + "n2:8:8 [0] NCCL INFO NCCL_ALGO set by environment "
                                                "to Ring\n")),
            "Which network does NCCL use?");
}

TEST(Evaluate, ANeedThatIsMetLetsTheRuleFire) {
  const Diagnosis diagnosis =
      diagnose(rulebook_of({needs_network("{event: network_selected}")}), kNetwork);
  EXPECT_EQ(diagnosis.findings.size(), 1u);
  EXPECT_EQ(questions(diagnosis), "");
}

TEST(Evaluate, ALastResortIsJudgedOnlyWhereNothingElseIsLoud) {
  const Rule last = sample_rule("a-last", "{event: network_selected}", "last_resort: true\n");
  const auto ids = [&](std::vector<Rule> rules) {
    std::vector<std::string> found;
    for (const Finding& finding : diagnose(rulebook_of(std::move(rules)), kNetwork).findings) {
      found.push_back(finding.id);
    }
    return join(found, " ");
  };
  Rule info = sample_rule("info", "{event: network_selected}");
  info.severity = Severity::Info;
  Rule warning = sample_rule("warning", "{event: network_selected}");
  warning.severity = Severity::Warning;
  EXPECT_NE(ids({last}).find("a-last"), std::string::npos);
  EXPECT_NE(ids({last, info}).find("a-last"), std::string::npos);
  warning.role = Role::Symptom;
  EXPECT_EQ(ids({last, warning}), "warning");
}

TEST(Evaluate, AdviceDoesNotSilenceALastResortThatTellsAFailure) {
  const auto count = [&](Severity last_severity, Role other_role) {
    Rule last = sample_rule("a-last", "{event: network_selected}", "last_resort: true\n");
    last.severity = last_severity;
    Rule other = sample_rule("other", "{event: network_selected}");
    other.severity = Severity::Warning;
    other.role = other_role;
    return diagnose(rulebook_of({last, other}), kNetwork).findings.size();
  };
  EXPECT_EQ(count(Severity::Error, Role::Advice), 2u);
  EXPECT_EQ(count(Severity::Error, Role::Cause), 1u);
  EXPECT_EQ(count(Severity::Warning, Role::Advice), 1u);
}

TEST(Evaluate, SilenceOfAProcessThatLostALineProvesNothing) {
  const std::string torn =
      std::string(kSet) + "n1:7:7 [0] NCCL INFO Connecn1:7:7 [0] NCCL INFO Connected all trees\n";
  const Rule silence =
      sample_rule("silence", "{all: [{event: env_set}, {none: [{event: network_selected}]}]}");
  EXPECT_EQ(diagnose(rulebook_of({silence}), kSet).findings.size(), 1u);
  EXPECT_TRUE(diagnose(rulebook_of({silence}), torn).findings.empty());
  const Rule last = sample_rule("a-last", "{event: env_set}", "last_resort: true\n");
  EXPECT_EQ(diagnose(rulebook_of({last}), torn).findings.size(), 1u);
}

TEST(LineMatcher, IsEmptyWithoutPatterns) {
  EXPECT_FALSE(make_line_matcher(rulebook_of({sample_rule("r", "{event: peer_closed}")})));
}

TEST(LineMatcher, SaysWhichPatternsMatch) {
  const Rulebook rulebook =
      rulebook_of({sample_rule("a", "{any: [{line: 'over(flow)?ed'}, {line: '^x|y$'}]}"),
                   sample_rule("b", "{line: 'flowed .*here'}")});
  ASSERT_EQ(rulebook.line_patterns.size(), 3u);
  const LineMatcher matcher = make_line_matcher(rulebook);
  std::vector<int> matched = {7};
  const auto numbers = [&](std::string_view line) {
    matched.clear();
    matcher(line, matched);
    return matched;
  };
  EXPECT_EQ(numbers("overflowed right here"), (std::vector<int>{0, 2}));
  EXPECT_EQ(numbers("overed"), (std::vector<int>{0}));
  EXPECT_EQ(numbers("any y"), (std::vector<int>{1}));
  EXPECT_EQ(numbers("nothing"), std::vector<int>{});
  EXPECT_EQ(numbers("\xff\xfe overed"), (std::vector<int>{0}));
}

/// Expressions of every sort that the automaton of many filters by words, or cannot filter.
std::vector<std::string> many_patterns() {
  std::vector<std::string> patterns = {"(?i)ERROR .*x1",
                                       "(lost|broken) [a-z]+",
                                       "\\d+ ms$",
                                       "a*",
                                       "^\\[.*\\] (NCCL|RCCL) WARN",
                                       "[é]",
                                       "Net : .*remote peer"};
  for (int i = 0; i < 30; ++i) patterns.push_back("word" + std::to_string(i) + "(x|y)?$");
  return patterns;
}

TEST(LineMatcher, ManyPatternsMatchWhatEachMatchesAlone) {
  Rulebook many;
  many.line_patterns = many_patterns();
  const LineMatcher matcher = make_line_matcher(many);
  for (const std::string_view line :
       {"error of x1", "the LOST link", "lost link word7y", "took 30 ms", "[1] RCCL WARN word12x",
        "", "word3", "word33 \xff", "Net : closed by remote peer and word29"}) {
    std::vector<int> expected;
    for (size_t i = 0; i < many.line_patterns.size(); ++i) {
      if (Pattern(many.line_patterns[i]).matches(line)) expected.push_back(static_cast<int>(i));
    }
    std::vector<int> matched;
    matcher(line, matched);
    EXPECT_EQ(matched, expected) << line;
    EXPECT_FALSE(matched.empty());
  }
}

/// Else every line about a call is read the long way, which costs thirty times as much.
TEST(LineMatcher, NoBuiltInPatternCanMatchALineAboutACall) {
  constexpr std::string_view kCall =
      "n1:41:41 [3] NCCL INFO AllReduce: opCount 2f sendbuff 0x7f21 recvbuff 0x7f21 count 8 "
      "datatype 9 op 0 root 0 comm 0x55dd [nranks=4] stream 0x5581";
  const LineMatcher matcher = make_line_matcher(load_rulebook());
  ASSERT_TRUE(matcher.literals.has_value());
  for (const std::string& literal : *matcher.literals) {
    EXPECT_FALSE(literal.empty());
    EXPECT_EQ(kCall.find(literal), kCall.npos) << literal;
  }
}

TEST(LineMatcher, OutlivesTheRulebook) {
  LineMatcher matcher;
  { matcher = make_line_matcher(rulebook_of({sample_rule("a", "{line: needle}")})); }
  std::vector<int> matched;
  matcher("a needle", matched);
  EXPECT_EQ(matched, std::vector<int>{0});
}

}  // namespace
}  // namespace ncclog::testing
