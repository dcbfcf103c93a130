#include <gtest/gtest.h>

#include "rules/rule_tools.h"
#include "support/temp_dir.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::vector<Overlay> overlays_of(const std::string& entries) {
  return load_overlays({"site.yaml", read_yaml("overlay:\n" + entries, "site.yaml"), false});
}

const std::string kTwoClosed =
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40123>\n"
    "n2:8:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<40124>\n";

constexpr const char* kToday = "2026-11-21";

/// What two rules and overlays make of kLog: one about closed connections, per process, and a last
/// resort.
Diagnosis diagnose_with(const std::string& entries) {
  std::vector<Rule> rules;
  rules.push_back(sample_rule("closed", "{event: peer_closed}", "per: process\n"));
  rules.push_back(sample_rule("unexplained", "{event: peer_closed}", "last_resort: true\n"));
  return diagnose(make_rulebook(std::move(rules), overlays_of(entries), kToday), kTwoClosed);
}

std::vector<std::string> told(const Diagnosis& diagnosis) {
  std::vector<std::string> out;
  for (const Finding& finding : diagnosis.findings) {
    out.push_back(finding.id + " " + std::string(to_string(finding.severity)) + " " +
                  (finding.hosts.empty() ? "" : finding.hosts.front()));
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST(Overlay, SuppressesAFindingAndKeepsItInTheReport) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, suppress: true, reason: Known., until: 2026-11-21}\n");
  EXPECT_EQ(told(diagnosis), Texts{});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.id, "closed");
  EXPECT_EQ(diagnosis.overlays[0].finding.hosts, (Texts{"n1", "n2"}));
  EXPECT_EQ(diagnosis.overlays[0].reason, "Known.");
  EXPECT_EQ(diagnosis.overlays[0].until, "2026-11-21");
  EXPECT_EQ(diagnosis.overlays[0].where, "site.yaml:2:5");
  EXPECT_EQ(diagnosis.verdict.status, VerdictStatus::NothingFound);
  EXPECT_EQ(diagnosis.verdict.headline, "No problem found but what overlays suppress; see there.");
}

TEST(Overlay, SuppressesOnTheHostsThatItMeansOnly) {
  const Diagnosis diagnosis = diagnose_with(
      "  - {rule: closed, suppress: true, where: {host: [n1, n7]}, reason: A, until: "
      "2027-01-31}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed error n2"});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.hosts, Texts{"n1"});
}

TEST(Overlay, ThatMeansNobodyHereChangesNothing) {
  for (const char* where : {"{host: n3}", "{rank: 0}", "{host: {starts_with: m}}"}) {
    const Diagnosis diagnosis =
        diagnose_with(std::string("  - {rule: closed, suppress: true, where: ") + where +
                      ", reason: A, until: 2027-01-31}\n");
    EXPECT_EQ(told(diagnosis), Texts{"closed error n1"}) << where;
    EXPECT_TRUE(diagnosis.overlays.empty()) << where;
  }
}

TEST(Overlay, ChangesTheSeverityAfterAllRulesAreJudged) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, severity: info, reason: A, until: 2027-01-31}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed info n1"});
  ASSERT_EQ(diagnosis.overlays.size(), 1u);
  EXPECT_EQ(diagnosis.overlays[0].finding.severity, Severity::Error);
  EXPECT_EQ(diagnosis.overlays[0].severity, Severity::Info);
}

TEST(Overlay, ThatHasEndedIsNotAppliedAndSaid) {
  const Diagnosis diagnosis =
      diagnose_with("  - {rule: closed, suppress: true, reason: Known., until: 2026-11-20}\n");
  EXPECT_EQ(told(diagnosis), Texts{"closed error n1"});
  ASSERT_EQ(diagnosis.ended_overlays.size(), 1u);
  EXPECT_EQ(diagnosis.ended_overlays[0].rule, "closed");
  EXPECT_EQ(diagnosis.ended_overlays[0].until, "2026-11-20");
}

struct RefusedEntry {
  const char* entry;
  const char* message;
};

constexpr RefusedEntry kWrong[] = {
    {"{rule: a, suppress: true, until: 2027-01-31}", "site.yaml:2:5: the key 'reason' is missing"},
    {"{rule: a, suppress: true, reason: B}", "site.yaml:2:5: the key 'until' is missing"},
    {"{rule: a, suppress: true, reason: B, until: 2027-02-30}",
     "site.yaml:2:49: '2027-02-30' is no day | write 2027-01-31"},
    {"{rule: a, reason: B, until: 2027-01-31}",
     "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a, suppress: true, severity: info, reason: B, until: 2027-01-31}",
     "site.yaml:2:5: an entry has either 'suppress: true' or 'severity'"},
    {"{rule: a, supress: true}",
     "site.yaml:2:15: unknown key 'supress' | did you mean 'suppress'?"},
    {"{rule: a, severity: warn, reason: B, until: 2027-01-31}",
     "site.yaml:2:25: unknown severity 'warn' | known: error, warning, info"},
    {"{rule: a, suppress: true, where: {hots: n1}, reason: B, until: 2027-01-31}",
     "site.yaml:2:39: unknown key 'hots' | known: host, rank"},
    {"{rule: a, suppress: true, where: {rank: x}, reason: B, until: 2027-01-31}",
     "site.yaml:2:45: expected a number, found 'x'"},
};

TEST(Overlay, IsCheckedWhenItIsLoaded) {
  for (const RefusedEntry& row : kWrong) {
    EXPECT_EQ(error_of([&] { overlays_of(std::string("  - ") + row.entry + "\n"); }), row.message)
        << row.entry;
  }
}

TEST(Overlay, NamesARuleThatExists) {
  EXPECT_EQ(error_of([] {
              diagnose_with("  - {rule: closd, suppress: true, reason: A, until: 2027-01-31}\n");
            }),
            "site.yaml:2:12: unknown rule 'closd' | did you mean 'closed'?");
}

TEST(Overlay, IsReadFromAFileBesideRules) {
  const TempDir dir;
  dir.add("known.yaml",
          "overlay:\n  - {rule: shm-no-space, severity: info, reason: A, until: 2026-01-31}\n");
  EXPECT_EQ(load_rulebook({dir.path().string()}).overlays.size(), 1u);
  EXPECT_EQ(load_rulebook({dir.path().string()}, kToday).ended.size(), 1u);
  EXPECT_NE(load_rulebook({dir.path().string()}).hash, load_rulebook().hash);
  EXPECT_TRUE(check_rules({dir.path().string()}).problems.empty());
}

struct Day {
  const char* text;
  bool exists;
};

constexpr Day kDays[] = {{"2027-01-31", true},  {"2028-02-29", true},  {"2027-02-29", false},
                         {"2027-13-01", false}, {"2027-1-31", false},  {"27-01-31", false},
                         {"2027-00-10", false}, {"0000-01-01", false}, {"2027-01-31 ", false},
                         {"", false},           {"20270-1-31", false}, {"2027-01--1", false}};

TEST(Overlay, DaysAreThoseOfTheCalendar) {
  for (const Day& day : kDays) EXPECT_EQ(is_day(day.text), day.exists) << day.text;
  EXPECT_EQ(day_of(0), "1970-01-01");
  EXPECT_EQ(day_of(1795219199), "2026-11-20");
  EXPECT_EQ(day_of(1795219200), "2026-11-21");
  EXPECT_EQ(day_of(-5), "1970-01-01");
  EXPECT_EQ(day_of(INT64_MAX), "9999-12-31");
}

}  // namespace
}  // namespace ncclog::testing
