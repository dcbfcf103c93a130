// What cannot be judged, and how lines reach the line patterns.

#include "rules/evaluate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "rules/load_rules.h"
#include "support/job_from_files.h"
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

TEST(CausalOrder, ACircleIsOrderedAllTheSame) {
  EXPECT_EQ(order({finding("b", Severity::Error, Role::Cause, {"a"}),
                   finding("a", Severity::Error, Role::Cause, {"b"}),
                   finding("c", Severity::Info, Role::Cause)}),
            "c a b");
}

const std::string kSocketUsed = "n1:7:7 [0] NCCL INFO Using network Socket\n";

Rule graded(const std::string& id, const std::string& severity, const std::string& message,
            const std::string& more = {}) {
  std::string yaml = rule_yaml(id, "{event: network_selected}", more, message);
  yaml.replace(yaml.find("severity: error"), 15, "severity: " + severity);
  return load_rule(yaml, "rules/" + id + ".yaml");
}

Verdict verdict_of(std::vector<Rule> rules, std::string_view log) {
  return diagnose(rulebook_of(std::move(rules)), log).verdict;
}

TEST(Verdict, AnErrorIsAProblem) {
  const Verdict verdict = verdict_of(
      {graded("a", "warning", "Odd."), graded("b", "error", "Broken. It says so.")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(verdict.headline, "Broken.");
  EXPECT_EQ(verdict.finding, "b");
}

TEST(Verdict, AWarningAloneIsSuspicious) {
  const Verdict verdict =
      verdict_of({graded("a", "warning", "Odd"), graded("b", "info", "x")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline, "Odd");
}

TEST(Verdict, TheHeadlineIsNoFindingThatAnotherExplains) {
  const Verdict verdict =
      verdict_of({graded("cause", "warning", "The cause.", "explains: [middle]\n"),
                  graded("middle", "info", "Between.", "explains: [a-symptom]\n"),
                  graded("a-symptom", "error", "The end.")},
                 kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::Problem);
  EXPECT_EQ(verdict.finding, "cause");
  EXPECT_EQ(verdict.headline, "The cause; 2 other findings follow from it.");
}

TEST(Verdict, TheHeadlineCountsLinesWhereTheyAreMoreThanFindings) {
  const std::string three = kSocketUsed + "n1:8:8 [1] NCCL INFO Using network Socket\n" +
                            "n1:9:9 [2] NCCL INFO Using network Socket\n";
  EXPECT_EQ(verdict_of({graded("cause", "error", "The cause.", "explains: [a-symptom]\n"),
                        graded("a-symptom", "error", "The end.")},
                       three)
                .headline,
            "The cause; another finding (3 lines) follows from it.");
}

const std::string kDone = kSocketUsed + "# Avg bus bandwidth    : 96.4\n";

TEST(Verdict, InfoLeavesAJobThatFinishedClean) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")}, kDone);
  EXPECT_EQ(verdict.status, VerdictStatus::Clean);
  EXPECT_EQ(verdict.headline, "The job finished, and nothing is wrong in what its logs show.");
  EXPECT_EQ(verdict.finding, "");
}

TEST(Verdict, WithoutAnEndNothingWasFoundInWhatTheLinesCover) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")}, kSocketUsed);
  EXPECT_EQ(verdict.status, VerdictStatus::NothingFound);
  EXPECT_EQ(verdict.headline, "No problem in this line: the start of 1 process, no end.");
}

TEST(Verdict, AFailureThatNoRuleNamesIsSuspicious) {
  const Verdict verdict = verdict_of({graded("a", "info", "By the way.")},
                                     kSocketUsed + "rank 3 died from signal 6 and dumped core\n");
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline,
            "The job failed, and these logs do not say why: a process ended: signal 6.");
}

TEST(Verdict, AFailureIsToldWhereNoLineIsOfNccl) {
  const Verdict verdict = verdict_of({}, "srun: error: n1: task 1: Exited with exit code 1\n");
  EXPECT_EQ(verdict.status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict.headline,
            "The job failed, and these logs do not say why: a process ended: Exited with exit code "
            "1.");
}

TEST(Verdict, TheHeadlineSaysThatTheJobFinished) {
  EXPECT_EQ(verdict_of({graded("a", "warning", "Odd.")}, kDone).headline, "Odd; the job finished.");
}

TEST(Verdict, AdviceOnAJobThatFinishedIsAnInfoUnlessItHalvesTheBandwidth) {
  const auto advice = [](const std::string& more) {
    Rule rule = graded("a", "warning", "Slow.", more);
    rule.role = Role::Advice;
    return rule;
  };
  EXPECT_EQ(verdict_of({advice("")}, kSocketUsed).status, VerdictStatus::Suspicious);
  EXPECT_EQ(verdict_of({advice("")}, kDone).status, VerdictStatus::Clean);
  EXPECT_EQ(verdict_of({advice("halves_bandwidth: true\n")}, kDone).status,
            VerdictStatus::Suspicious);
}

TEST(Verdict, WhatOnlyLinesAfterTheEndShowIsNoFinding) {
  EXPECT_EQ(
      verdict_of({graded("a", "error", "Broken.")}, "# Avg bus bandwidth    : 96.4\n" + kSocketUsed)
          .status,
      VerdictStatus::Clean);
}

struct NothingRow {
  const char* log;
  const char* headline;
};

constexpr NothingRow kNothing[] = {
    {"", "There is no line to judge."},
    {"hello\nworld\n", "No line of NCCL was found: nothing to judge."},
    {"Validation:  33%|###       | 1/3 [00:01<00:02,  1.16it/s]\n",
     "No line of NCCL was found: nothing to judge."},
};

TEST(Verdict, WithoutUsableLinesThereIsNoVerdict) {
  for (const NothingRow& row : kNothing) {
    const Verdict verdict = verdict_of({graded("a", "error", "x")}, row.log);
    EXPECT_EQ(verdict.status, VerdictStatus::CannotJudge) << row.log;
    EXPECT_EQ(verdict.headline, row.headline);
  }
}

struct SentenceRow {
  const char* message;
  const char* sentence;
};

constexpr SentenceRow kSentences[] = {
    {"One. Two.", "One."},
    {"NCCL 2.20.5 runs. Here", "NCCL 2.20.5 runs."},
    {"About 2.5 GB, e.g. here", "About 2.5 GB, e.g. here"},
    {"One.", "One."},
    {"A WARN says: \"NET/X cannot open it. RC: -22\". Two.",
     "A WARN says: \"NET/X cannot open it. RC: -22\"."},
    {"A rail of 5\" length. Two.", "A rail of 5\" length."},
    {"", ""},
};

TEST(Verdict, FirstSentenceEndsBeforeAnUpperCaseLetter) {
  for (const SentenceRow& row : kSentences) EXPECT_EQ(first_sentence(row.message), row.sentence);
}

}  // namespace
}  // namespace ncclog::testing
