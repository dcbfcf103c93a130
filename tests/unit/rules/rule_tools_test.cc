#include "rules/rule_tools.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/read/read_example.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "rules/load_rules.h"
#include "support/paths.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

const std::string kClosed = "{event: peer_closed}";

Rule builtin_rule(const std::string& id, const std::string& when) {
  const std::string path = "rules/" + id + ".yaml";
  return load_rule(RuleFile{path, read_yaml(rule_yaml(id, when), path), true});
}

std::vector<std::string> ids_of(const Rulebook& rulebook) {
  std::vector<std::string> ids;
  for (const Rule& rule : rulebook.rules) ids.push_back(rule.id);
  return ids;
}

TEST(Rulebook, APathAddsARuleAndReplacesABuiltInOne) {
  Rule mine = sample_rule("first", "{event: connect_failed}");
  const Rulebook rulebook =
      rulebook_of({builtin_rule("first", kClosed), builtin_rule("second", kClosed), std::move(mine),
                   sample_rule("third", kClosed)});
  EXPECT_EQ(ids_of(rulebook), (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_EQ(text_of(find_rule(rulebook, "first")->when), "{event: connect_failed}");
  EXPECT_FALSE(find_rule(rulebook, "first")->builtin);
  EXPECT_EQ(find_rule(rulebook, "fourth"), nullptr);
}

TEST(Rulebook, AnIdStandsOnce) {
  EXPECT_EQ(error_of([] {
              rulebook_of({sample_rule("first", kClosed), sample_rule("first", kClosed)});
            }),
            "rules/first.yaml: the id 'first' stands twice | it is also in rules/first.yaml");
}

TEST(Rulebook, EveryIdThatARuleNamesExists) {
  EXPECT_EQ(
      error_of([] {
        rulebook_of({sample_rule("first", "{finding: secnd}"), sample_rule("second", kClosed)});
      }),
      "rules/first.yaml:6:17: unknown rule 'secnd' | did you mean 'second'?");
  EXPECT_EQ(error_of([] {
              rulebook_of({sample_rule("first", kClosed, "explains: [secnd]\n"),
                           sample_rule("second", kClosed)});
            }),
            "rules/first.yaml:9:11: unknown rule 'secnd' | did you mean 'second'?");
  EXPECT_EQ(error_of([] {
              rulebook_of({sample_rule("first", kClosed, "explains_same_ranks: [secnd]\n"),
                           sample_rule("second", kClosed)});
            }),
            "rules/first.yaml:9:22: unknown rule 'secnd' | did you mean 'second'?");
  EXPECT_EQ(error_of([] {
              rulebook_of({sample_rule("first", kClosed, "related: [secnd]\n"),
                           sample_rule("second", kClosed)});
            }),
            "rules/first.yaml:9:10: unknown rule 'secnd' | did you mean 'second'?");
}

TEST(Rulebook, ARuleStandsBehindThoseItAsksFor) {
  const Rulebook rulebook =
      rulebook_of({sample_rule("first", "{none: [{finding: third}]}"),
                   sample_rule("second", kClosed), sample_rule("third", "{finding: second}")});
  EXPECT_EQ(ids_of(rulebook), (std::vector<std::string>{"second", "third", "first"}));
}

TEST(Rulebook, RulesThatAskForEachOtherAreRefused) {
  EXPECT_EQ(error_of([] {
              rulebook_of({sample_rule("first", "{finding: second}"),
                           sample_rule("second", "{any: [{finding: first}]}")});
            }),
            "rules/second.yaml:6:24: 'second' and 'first' each ask for the other's finding");
}

TEST(Rulebook, TheHashTellsRulesApartAndNotTheirFormOrOrder) {
  const auto hash = [](std::vector<Rule> rules) { return rulebook_of(std::move(rules)).hash; };
  const std::string both = hash({sample_rule("a", kClosed), sample_rule("b", kClosed)});
  EXPECT_EQ(both.size(), 16u);
  EXPECT_EQ(both, hash({builtin_rule("b", kClosed), builtin_rule("a", "{event:   peer_closed}")}));
  EXPECT_NE(both, hash({sample_rule("a", kClosed), sample_rule("b", "{event: connect_failed}")}));
  EXPECT_NE(both, hash({sample_rule("a", kClosed)}));
}

TEST(Rulebook, FilesAreFoundByFolderAndByName) {
  const TempDir dir;
  dir.add("net/b-rule.yaml", rule_yaml("b-rule", kClosed));
  const std::string a = dir.add("a-rule.yaml", rule_yaml("a-rule", kClosed));
  dir.add("README.md", "no rule");
  const std::string root = dir.path().string();
  EXPECT_EQ(find_rule_files(root), (std::vector<std::string>{a, root + "/net/b-rule.yaml"}));
  EXPECT_EQ(find_rule_files(a), std::vector<std::string>{a});
  EXPECT_EQ(error_of([&] { find_rule_files(root + "/none"); }),
            root + "/none: no such file or folder of rules");
  const Rulebook rulebook = load_rulebook({root});
  EXPECT_NE(find_rule(rulebook, "b-rule"), nullptr);
  EXPECT_EQ(rulebook.rules.size(), load_rulebook().rules.size() + 2);
}

TEST(Rulebook, CheckReportsEachBrokenFile) {
  const TempDir dir;
  const std::string a = dir.add("a-rule.yaml", rule_yaml("a-rule", "{event: peer_closd}"));
  const std::string b = dir.add("b-rule.yaml", "id: [");
  dir.add("c-rule.yaml", rule_yaml("c-rule", kClosed));
  const RuleSet check = check_rules({dir.path().string()});
  EXPECT_EQ(check.files, 3u);
  ASSERT_EQ(check.problems.size(), 2u);
  EXPECT_EQ(check.problems[0].where(), a + ":6:15");
  EXPECT_STREQ(check.problems[0].what(), "unknown event 'peer_closd'");
  EXPECT_EQ(check.problems[0].hint(), "did you mean 'peer_closed'?");
  EXPECT_EQ(check.problems[1].where().substr(0, b.size()), b);
  EXPECT_TRUE(check_rules({dir.path().string() + "/c-rule.yaml"}).problems.empty());
}

TEST(Rulebook, TestRunsTheExamplesThatWereAdded) {
  Rule rule = sample_rule("my-rule", "{event: network_selected}");
  rule.fires = {{"n1:7:7 [0] NCCL INFO Using network IB", {3, 1}}, {"nothing", {4, 1}}};
  rule.quiet = {{"n1:7:7 [0] NCCL INFO Using network Socket", {5, 1}}};
  const RuleTest test = test_rules(rulebook_of({std::move(rule), builtin_rule("other", kClosed)}),
                                   true, read_example);
  EXPECT_EQ(test.rules, 1u);
  EXPECT_EQ(test.examples, 3u);
  ASSERT_EQ(test.failures.size(), 2u);
  EXPECT_EQ(test.failures[0].where(), "rules/my-rule.yaml:4:1");
  EXPECT_STREQ(test.failures[0].what(),
               "my-rule must fire here, but stays quiet; found: nothing; no line recognised");
  EXPECT_STREQ(test.failures[1].what(),
               "my-rule must stay quiet, but fires; found: my-rule; events: network_selected");
}

/// What `test` says about `rule`, whose only firing example is one line, beside a rule that fires
/// on every network.
std::string trial_of(Rule rule, bool other_is_builtin = false) {
  rule.fires = {{"n1:7:7 [0] NCCL INFO Using network IB\n", {3, 1}}};
  rule.quiet.clear();
  Rule other = sample_rule("any-network", "{event: network_selected}");
  other.builtin = other_is_builtin;
  other.fires.clear(), other.quiet.clear();
  const RuleTest test =
      test_rules(rulebook_of({std::move(rule), std::move(other)}), false, read_example);
  return test.failures.empty() ? "" : test.failures.front().what();
}

TEST(Rulebook, TestReportsAFiringExampleThatRaisesUnrelatedFindings) {
  const std::string when = "{event: network_selected, where: {network: IB}}";
  EXPECT_EQ(trial_of(sample_rule("my-rule", when)),
            "my-rule fires here, but not alone: any-network; name them in 'related' if they belong "
            "to it");
  EXPECT_EQ(trial_of(sample_rule("my-rule", when, "related: [any-network]\n")), "");
  EXPECT_EQ(trial_of(sample_rule("my-rule", when, "explains: [any-network]\n")), "");
  EXPECT_EQ(trial_of(sample_rule("my-rule", when), true), "");
}

TEST(Rulebook, TestReportsARuleThatFiresWithoutItsLines) {
  EXPECT_EQ(trial_of(sample_rule("my-rule", "{none: [{event: peer_closed}]}",
                                 "related: [any-network]\n")),
            "my-rule fires here even without the lines that it quotes");
}

TEST(Rulebook, TestReportsAFindingThatNamesOthersOrSaysSomethingElse) {
  Rule rule = sample_rule("my-rule", "{event: network_selected}", {}, "{subject} uses it.");
  rule.fires = {{"n1:7:7 [0] NCCL INFO Using network IB", {3, 1}, "", "2", "IB"}};
  const RuleTest test = test_rules(rulebook_of({std::move(rule)}), false, read_example);
  ASSERT_EQ(test.failures.size(), 2u);
  EXPECT_STREQ(test.failures[0].what(), "my-rule must name the ranks 2, but names none");
  EXPECT_STREQ(test.failures[1].what(),
               "my-rule must say \"IB\", but says: Process 7 on n1 uses it.\\x0aA process on n1 "
               "(pid 7) uses it.");
}

TEST(Rulebook, TestShowsWhatStandsBehindANul) {
  Rule rule = sample_rule("my-rule", "{event: network_selected}");
  rule.fires = {
      {"n1:7:7 [0] NCCL INFO Using network IB", {3, 1}, "", "", std::string_view("I\0B", 3)}};
  const RuleTest test = test_rules(rulebook_of({std::move(rule)}), false, read_example);
  ASSERT_EQ(test.failures.size(), 1u);
  EXPECT_STREQ(test.failures[0].what(),
               "my-rule must say \"I\\x00B\", but says: It happened.\\x0aIt happened.");
}

TEST(Rulebook, ShowSaysWhatARuleIs) {
  Rule first = sample_rule("first", kClosed, "check: [look, again]\n");
  first.fires.front().name = "both ends";
  const Rulebook rulebook = rulebook_of({std::move(first), sample_rule("second-rule", kClosed)});
  const std::string said =
      "id          first\n"
      "title       A title\n"
      "grade       error, likely, cause\n"
      "message     It happened.\n"
      "check       look\n"
      "            again\n";
  EXPECT_EQ(show_rule(rulebook, "first", false), said + "fires on: both ends\n    a\n");
  EXPECT_EQ(show_rule(rulebook, "first", true), said +
                                                    "file        rules/first.yaml\n"
                                                    "when        {event: peer_closed}\n"
                                                    "fires on: both ends\n"
                                                    "    a\n"
                                                    "quiet on\n"
                                                    "    b\n");
  EXPECT_EQ(error_of([&] { show_rule(rulebook, "firt", false); }),
            "rules: unknown rule 'firt' | did you mean 'first'?");
}

std::string text_for(const std::string& line) {
  return new_rule_text("my-rule", line, job_from_text(line));
}

constexpr const char* kSimilarLines[] = {
    "",
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<40123>",
    "n1:7:9 [0] misc/shmutils.cc:129 NCCL WARN Error while attaching to shared memory segment "
    "/dev/shm/nccl-ab12 (size 0), error: No such file or directory (2)",
    "n1:7:9 [0] odd.cc:1 NCCL WARN Frob (17) of \"rail\" [0x7f] went \\ away | ^ $ {3}",
    "nothing that anybody prints: 12 \t tabs \x01 and \xff bytes",
};

TEST(NewRule, LoadsAsItIsAndFiresOnItsLine) {
  for (const char* line : kSimilarLines) {
    Rule rule = load_rule(text_for(line), "my-rule.yaml");
    rule.quiet.clear();
    const RuleTest test = test_rules(rulebook_of({std::move(rule)}), true, read_example);
    EXPECT_TRUE(test.failures.empty() || std::string_view(line).starts_with("nothing"))
        << text_for(line) << test.failures.front().what();
  }
}

TEST(NewRule, FailsItsTestUntilItHasANearMiss) {
  for (const char* line : kSimilarLines) {
    const Rulebook rulebook = rulebook_of({load_rule(text_for(line), "my-rule.yaml")});
    EXPECT_FALSE(test_rules(rulebook, true, read_example).failures.empty()) << line;
  }
}

TEST(NewRule, ProposesTheFieldsOfAKnownLine) {
  const std::string text = text_for(kSimilarLines[2]);
  EXPECT_NE(
      text.find("    - event: shm_attach_failed\n"
                "      where:  # Keep what makes this fault; drop what only this line says.\n"),
      text.npos)
      << text;
  EXPECT_NE(text.find("        name: \"/dev/shm/nccl-ab12\"\n"), text.npos) << text;
  EXPECT_NE(text.find("        # size: 0\n"), text.npos) << text;
}

TEST(NewRule, ProposesAPatternForAnotherLine) {
  EXPECT_NE(text_for("n1:7:9 [0] odd.cc:1 NCCL WARN Frob (17) gone")
                .find("- line: \"NCCL WARN Frob \\\\([0-9]+\\\\) gone\"\n"),
            std::string::npos);
}

/// A folder in which this process works until the test ends, however it ends.
struct WorkingFolder {
  explicit WorkingFolder(const std::filesystem::path& path) { std::filesystem::current_path(path); }
  ~WorkingFolder() { std::filesystem::current_path(before); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

  const std::filesystem::path before = std::filesystem::current_path();
};

TEST(NewRule, IsWrittenOnceAndUnderAFreeId) {
  const TempDir dir;
  const WorkingFolder in(dir.path());
  const Rulebook rulebook = rulebook_of({sample_rule("taken", "{event: peer_closed}")});
  EXPECT_EQ(write_new_rule(rulebook, "my-rule", "network", "text"), "network/my-rule.yaml");
  EXPECT_EQ(read_file(dir.path() / "network/my-rule.yaml"), "text");
  EXPECT_EQ(error_of([&] { write_new_rule(rulebook, "my-rule", "network", "text"); }),
            "network/my-rule.yaml: the file is there already");
  EXPECT_EQ(error_of([&] { write_new_rule(rulebook, "taken", "", "text"); }),
            "rules new: there is a rule 'taken' | it is in rules/taken.yaml; choose another id, or "
            "see 'ncclog rules show taken'");
  EXPECT_EQ(error_of([] { new_rule_text("My_Rule", "", Job{}); }),
            "rules new: 'My_Rule' is no id | ids are words in lower case, joined by '-'");
}

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
