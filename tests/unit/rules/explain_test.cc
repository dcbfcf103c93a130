#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/document/document.h"
#include "report/document/explanation.h"
#include "rules/rule_tools.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

const std::string kFourLines =
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40123>\n"
    "n2:8:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40124>\n"
    "n3:9:9 [0] NCCL INFO Using network Socket\n"
    "n4:9:9 [0] NCCL INFO Using network Socket\n";

const std::string kPeerClosed = "{event: peer_closed}";

Explanation explained(Rule rule, const std::string& log = kFourLines,
                      std::vector<Overlay> overlays = {}) {
  const Rulebook rulebook = make_rulebook({std::move(rule)}, std::move(overlays));
  return explain(rulebook, job_from_text(log, make_line_matcher(rulebook)), "my-rule");
}

struct ExplainRow {
  const char* when;
  const char* more;
  Standing outcome;
};

constexpr ExplainRow kExplained[] = {
    {"{event: peer_closed}", "", Standing::Found},
    {"{event: connect_failed}", "", Standing::DoesNotHold},
    {"{fact: job.all_roce, is: true}", "", Standing::Undecided},
    {"{event: peer_closed}", "needs: [versions]\n", Standing::NotJudged},
    {"{fact: communicator.few_channels, is: true}", "per: communicator\n", Standing::DoesNotHold},
};

TEST(Explain, SaysWhatBecameOfTheRule) {
  for (const ExplainRow& row : kExplained) {
    EXPECT_EQ(explained(sample_rule("my-rule", row.when, row.more)).outcome, row.outcome)
        << row.when << " " << row.more;
  }
}

TEST(Explain, SaysThatAnOverlaySuppressesTheFinding) {
  Overlay overlay;
  overlay.rule = "my-rule";
  overlay.reason = "Known.";
  overlay.until = "2027-01-31";
  const Explanation explanation =
      explained(sample_rule("my-rule", kPeerClosed), kFourLines, {overlay});
  EXPECT_EQ(explanation.outcome, Standing::Suppressed);
  ASSERT_EQ(explanation.overlays.size(), 1u);
  EXPECT_EQ(explanation.overlays[0].reason, "Known.");
}

TEST(Explain, SaysFromWhichFindingItFollows) {
  std::vector<Rule> rules;
  rules.push_back(sample_rule("my-rule", kPeerClosed));
  rules.push_back(sample_rule("cause", kPeerClosed, "explains: [my-rule]\n"));
  const Rulebook rulebook = rulebook_of(std::move(rules));
  const Job job = job_from_text(kFourLines, make_line_matcher(rulebook));
  EXPECT_EQ(explain(rulebook, job, "my-rule").explained_by, std::vector<std::string>{"cause"});
  EXPECT_EQ(error_of([&] { explain(rulebook, job, "my-rul"); }),
            "rules: unknown rule 'my-rul' | did you mean 'my-rule'?");
}

TEST(Explain, TellsLikeInstancesAsOneAndThoseThatCameFurthestFirst) {
  const Explanation explanation = explained(sample_rule(
      "my-rule", "{all: [{event: peer_closed}, {event: connect_failed}]}", "per: process\n"));
  ASSERT_EQ(explanation.instances.size(), 2u);
  EXPECT_EQ(explanation.instances[0].names,
            (std::vector<std::string>{"a process on n1 (pid 7)", "a process on n2 (pid 8)"}));
  ASSERT_EQ(explanation.instances[0].steps.size(), 3u);
  EXPECT_EQ(explanation.instances[0].steps[1].answer, Answer::Yes);
  EXPECT_EQ(explanation.instances[0].steps[1].lines, 1u);
  EXPECT_EQ(explanation.instances[0].steps[2].answer, Answer::No);
  EXPECT_EQ(explanation.instances[1].names.size(), 2u);
}

TEST(Explain, IsWrittenForPeople) {
  const Rulebook rulebook = rulebook_of({sample_rule(
      "my-rule", "{all: [{event: peer_closed}, {fact: job.host_count, at_least: 9}]}")});
  const Job job = job_from_text(kFourLines, make_line_matcher(rulebook));
  EXPECT_EQ(
      render_text(explanation_document(explain(rulebook, job, "my-rule"), job), {}),
      "my-rule  A title\n"
      "  It does not hold.\n"
      "\n"
      "no       the job\n"
      "  no       all\n"
      "    yes      {event: peer_closed}\n"
      "               log.txt:1 and 1 line more\n"
      "               n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote "
      "peer n9<401…\n"
      "    no       {fact: job.host_count, at_least: 9}\n"
      "               it is 4\n");
}

TEST(Explain, IsWrittenForScripts) {
  const Rulebook rulebook = rulebook_of({sample_rule("my-rule", kPeerClosed)});
  const Job job = job_from_text(kFourLines, make_line_matcher(rulebook));
  const auto json =
      nlohmann::json::parse(write_explanation_json(explain(rulebook, job, "my-rule"), job));
  EXPECT_EQ(json.at("schema"), "ncclog.explain/1");
  EXPECT_EQ(json.at("outcome"), "found");
  EXPECT_EQ(json.at("instances").at(0).at("steps").at(0).at("lines"), 2);
  EXPECT_EQ(json.at("instances").at(0).at("steps").at(0).at("evidence").at(1).at("line"), 2);
}

}  // namespace
}  // namespace ncclog::testing
