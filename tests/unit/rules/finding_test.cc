// Whom findings name, what they say and what they show.

#include "rules/finding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "rules/judge.h"
#include "unit/rules/sample_rules.h"

namespace ncclog::testing {
namespace {

std::string init_line(int pid, int rank, std::string_view host = "n1") {
  return fmt::format(
      "{}:{}:{} [0] NCCL INFO ncclCommInitRank comm 0x7f10 rank {} nranks 4 cudaDev 0 nvmlDev 0 "
      "busId a1000 commId 0x9c - Init START\n",
      host, pid, pid, rank);
}

std::string closed_line(int pid, std::string_view host = "n1") {
  return fmt::format(
      "{}:{}:99 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n9<1>\n",
      host, pid);
}

const std::string kJob =
    init_line(10, 0) + init_line(11, 1) + init_line(12, 2, "n2") + init_line(13, 3, "n2");
const std::string kClosedAs = "{event: peer_closed, as: closed}";

std::string who(const Finding& finding) {
  return ranges_text(finding.ranks) + " on " + join(finding.hosts, ",");
}

TEST(BuildFinding, NamesThoseWhoseOwnLinesReport) {
  const std::string log = kJob + closed_line(13, "n2") + closed_line(11);
  EXPECT_EQ(who(finding_of(sample_rule("r", kClosedAs), log)), "1,3 on n1,n2");
}

TEST(BuildFinding, CountsTheLinesOfALabel) {
  const auto message = [](const std::string& log) {
    return finding_of(sample_rule("r", kClosedAs, "", "{closed|one line|# of # lines}"), log)
        .message;
  };
  EXPECT_EQ(message(kJob + closed_line(11)), "one line");
  EXPECT_EQ(message(kJob + closed_line(13, "n2") + closed_line(11)), "2 of 2 lines");
}

TEST(BuildFinding, AMessageQuotesWhatAPatternCaptures) {
  const std::string log =
      "n1:10:10 [0] NCCL INFO rail 3 is weak\nn2:12:12 [0] NCCL INFO rail 5 is dead\n";
  const Rule rule = sample_rule("r", "{line: 'rail (?P<rail>[0-9]+) is (?P<how>weak|dead)'}", "",
                                "{line.rail}: {line.how}");
  EXPECT_EQ(finding_of(rule, log).message, "3, 5: weak, dead");
}

TEST(BuildFinding, BlameFollowsACapture) {
  const Rule rule =
      sample_rule("r", "{line: 'pid (?P<lost>[0-9]+) is lost'}", "blame: {pid: line.lost}\n");
  EXPECT_EQ(who(finding_of(rule, kJob + "n1:10:10 [0] NCCL INFO pid 12 is lost\n")), "2 on n2");
}

TEST(BuildFinding, APairIsNamedByItsRanks) {
  const Rule rule =
      sample_rule("r", "{fact: rank_pair.same_host, is: true}", "per: rank_pair\n", "{subject}");
  const std::string log =
      kJob + "n1:10:10 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
  EXPECT_EQ(finding_of(rule, log).message, "Ranks 0 and 1");
}

TEST(BuildFinding, LinesUnderNoneAndAroundTheInstanceNameNobody) {
  const std::string log = kJob + closed_line(13, "n2");
  const std::string when =
      "{all: [{event: peer_closed}, {event: comm_init, in: job}, {none: "
      "[{event: connect_failed}]}]}";
  EXPECT_EQ(who(finding_of(sample_rule("r", when, "per: process\n"), log)), "3 on n2");
}

struct BlameRow {
  const char* blame;
  const char* who;
};

constexpr BlameRow kBlames[] = {
    {"", "0 on n1"},
    {"reporters", "0 on n1"},
    {"none", " on "},
    {"facts", " on "},
    {"end", "0 on n1"},
    {"{pid: end.pid}", "2 on n2"},
    {"{host: end.status}", " on Killed"},
    {"{ranks: end.pid}", "12 on "},
    {"[none, {pid: end.pid}]", "2 on n2"},
    {"[end, {pid: end.pid}]", "0,2 on n1,n2"},
};

TEST(BuildFinding, BlamePointsAtOthers) {
  const std::string log = kJob + "n1:10:10 [0] NCCL INFO x\n" +
                          "[rank0]: bash: line 1:    12 Killed                  python train.py\n";
  for (const BlameRow& row : kBlames) {
    const std::string when = "{event: process_ended, as: end}";
    const std::string more = *row.blame ? fmt::format("blame: {}\n", row.blame) : "";
    EXPECT_EQ(who(finding_of(sample_rule("r", when, more), log)), row.who) << row.blame;
  }
}

TEST(BuildFinding, FactsThatIdentifySomebodyGoBeforeReporters) {
  const auto watchdog = [](int rank, int numel) {
    return fmt::format(
        "[rank{}]:[E1121 02:00:00.000000 ProcessGroupNCCL.cpp:607] [Rank {}] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum=20, OpType=ALLREDUCE, NumelIn={}, "
        "NumelOut={}, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n"
        "[rank{}]:[E1121 02:00:00.000100 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) "
        "Rank {}]  failure detected by watchdog at work sequence id: 20 PG status: last enqueued "
        "work: 20, last completed work: 19\n",
        rank, rank, numel, numel, rank, rank);
  };
  const std::string log = watchdog(0, 8) + watchdog(1, 8) + watchdog(2, 8) + watchdog(3, 4);
  const std::string when =
      "{all: [{event: watchdog_timeout}, {fact: job.watchdog_mismatch, is: "
      "true}]}";
  EXPECT_EQ(ranges_text(finding_of(sample_rule("r", when), log).ranks), "3");
  EXPECT_EQ(ranges_text(finding_of(sample_rule("r", when, "blame: reporters\n"), log).ranks),
            "0-3");
}

TEST(BuildFinding, InstancesOfOneRuleAreOneFinding) {
  const std::string log = kJob + closed_line(12, "n2") + closed_line(10);
  const Diagnosis diagnosis =
      diagnose(rulebook_of({sample_rule("r", kClosedAs, "per: process\n")}), log);
  ASSERT_EQ(diagnosis.findings.size(), 1u);
  const Finding& finding = diagnosis.findings[0];
  EXPECT_EQ(who(finding), "0,2 on n1,n2");
  EXPECT_EQ(finding.subject, (Subject{"n1", 0, 10, ""}));
  ASSERT_EQ(finding.evidence.size(), 2u);
  EXPECT_EQ(finding.evidence[0].where.line, 5u);
}

TEST(BuildFinding, ACommunicatorIsTheSubjectOfItsRules) {
  const Finding finding = finding_of(
      sample_rule("r", "{event: comm_init}", "per: communicator\n", "communicator {communicator}"),
      kJob);
  EXPECT_EQ(finding.subject.communicator, "0x9c");
  EXPECT_EQ(finding.message, "communicator 0x9c");
  EXPECT_EQ(who(finding), "0-3 on n1,n2");
}

TEST(BuildFinding, EvidenceShowsEveryConditionAndCountsTheRest) {
  std::string log;
  for (int i = 0; i < 20; ++i) {
    log += fmt::format("n1:7:7 [0] NCCL INFO NCCL_X{} set by environment to 1.\n", i);
  }
  log += closed_line(7);
  const Finding finding =
      finding_of(sample_rule("r", "{all: [{event: env_set}, {event: peer_closed}]}"), log);
  ASSERT_EQ(finding.evidence.size(), Finding::kMaxEvidence);
  EXPECT_EQ(finding.evidence_omitted, 21 - Finding::kMaxEvidence);
  EXPECT_EQ(finding.evidence.front().where.line, 1u);
  EXPECT_EQ(finding.evidence.back().where.line, 21u);
}

TEST(BuildFinding, AFindingOnTopOfAnotherTakesOverWhomAndWhat) {
  const Diagnosis diagnosis =
      diagnose(rulebook_of({sample_rule("base", kClosedAs), sample_rule("top", "{finding: base}")}),
               kJob + closed_line(11));
  ASSERT_EQ(diagnosis.findings.size(), 2u);
  EXPECT_EQ(diagnosis.findings[1].id, "top");
  EXPECT_EQ(diagnosis.findings[1].ranks, diagnosis.findings[0].ranks);
  EXPECT_EQ(diagnosis.findings[1].evidence, diagnosis.findings[0].evidence);
}

struct MessageRow {
  std::string log;
  const char* message;
  const char* filled;
};

TEST(BuildFinding, PlaceholdersAreFilled) {
  const std::string one = init_line(11, 1) + closed_line(11);
  const std::string three = kJob + closed_line(10) + closed_line(11) + closed_line(13, "n2");
  const MessageRow rows[] = {
      {one, "{subject} failed", "Rank 1 on n1 (pid 11) failed"},
      {three, "so {subject} failed", "so rank 0 on n1 (pid 10; also ranks 1,3) failed"},
      {closed_line(5) + closed_line(6), "{subject}",
       "A process on n1 (pid 5; also 1 more process)"},
      {closed_line(5), "{subject}", "A process on n1 (pid 5)"},
      {"NCCL WARN Net : Connection closed by remote peer n9<1>", "{subject}; {ranks}; {hosts}",
       "A process; ranks that no line names; a host that no line names"},
      {three, "{ranks} on {hosts}", "Ranks 0,1,3 on n1, n2"},
      {one, "{ranks}", "Rank 1"},
      {one, "{{{closed.peer}}}", "{n9<1>}"},
      {one, "{peer_closed.peer} {closed.level} {closed.rank}", "n9<1> WARN 1"},
      {one, "{job.host_count} {job.mixed_nccl_versions.what}", "1"},
  };
  for (const MessageRow& row : rows) {
    EXPECT_EQ(finding_of(sample_rule("r", kClosedAs, "", row.message), row.log).message, row.filled)
        << row.message;
  }
}

TEST(BuildFinding, ListsFourValuesAndCountsTheRest) {
  std::string log;
  for (int i = 0; i < 6; ++i) {
    log += fmt::format("n1:7:7 [0] NCCL INFO NCCL_X{} set by environment to 1.\n", i % 5);
  }
  EXPECT_EQ(
      finding_of(sample_rule("r", "{event: env_set}", "", "{env_set.name}: {env_set.value}"), log)
          .message,
      "NCCL_X0, NCCL_X1, NCCL_X2, NCCL_X3 and 1 more: 1");
}

}  // namespace
}  // namespace ncclog::testing
