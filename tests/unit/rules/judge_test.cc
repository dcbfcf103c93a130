// Which conditions hold on which logs.

#include "rules/judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "diagnose/facts/fact.h"
#include "log/messages.h"
#include "unit/rules/sample_rules.h"
#include "unit/rules/three_answers.h"

namespace ncclog::testing {
namespace {

const std::string kAttach =
    "n1:7:9 [3] misc/shmutils.cc:129 NCCL WARN Error while attaching to shared memory segment "
    "/dev/shm/nccl-ab12 (size 512), error: No such file or directory (2)\n";
const std::string kInit =
    "n1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x7f10 rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId "
    "a1000 commId 0x9c - Init START\n";
const std::string kP2pDisabled = "n1:7:7 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n";
const std::string kMount = "shm              64M   64M     0 100% /dev/shm\n";
const std::string kLargeMount = "shm              1.5G   64M  1.4G   5% /dev/shm\n";
const std::string kTwoHosts =
    "n1:7:7 [0] NCCL INFO Using network Socket\nn2:8:8 [0] NCCL INFO Using network IB\n";

bool fires(const std::string& when, std::string_view log, const std::string& more = {}) {
  return finding_of(sample_rule("my-rule", when, more), log).id == "my-rule";
}

struct WhereRow {
  const std::string& log;
  const char* condition;
  bool holds;
};

const WhereRow kWhere[] = {
    {kAttach, "{event: shm_attach_failed}", true},
    {kAttach, "{event: shm_create_failed}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: 512}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: 0512}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: 51}}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: [1, 512]}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: {not: 512}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: {not: [1, 2]}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: {at_least: 512}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: {at_least: 513}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: {at_least: 1, at_most: 511}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: {above: 511}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: {above: 512}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {size: {below: 513}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {size: {below: 512}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {name: {at_least: 0}}}", false},
    {kMount, "{event: shm_usage, where: {size: {at_least: 64}}}", true},
    {kMount, "{event: shm_usage, where: {size: {at_least: 65}}}", false},
    {kLargeMount, "{event: shm_usage, where: {size: {above: 1}}}", true},
    {kMount, "{event: shm_usage, where: {size: {below: 1G}}}", true},
    {kMount, "{event: shm_usage, where: {size: {at_least: 64M}}}", true},
    {kMount, "{event: shm_usage, where: {size: {above: 64M}}}", false},
    {kLargeMount, "{event: shm_usage, where: {size: {at_least: 1G}}}", true},
    {kLargeMount, "{event: shm_usage, where: {size: {at_least: 2G}}}", false},
    {kLargeMount, "{each: shm_usage, where: {size: {at_least: 1G}}}", true},
    {kLargeMount, "{each: shm_usage, where: {size: {below: 1G}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {outlived: \"no\"}}", true},
    {kTwoHosts, "{each: network_selected, differ: network}", true},
    {kTwoHosts, "{each: network_selected, differ: level}", false},
    {kTwoHosts, "{each: network_selected, odd: network}", false},
    {kLargeMount, "{event: shm_usage, where: {size: {at_least: 2}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {error: {contains: No such}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {error: {contains: [x, such]}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {error: {contains: no such}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {name: {starts_with: /dev/shm}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {name: {starts_with: nccl}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {name: {ends_with: ab12}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {name: {matches: 'nccl-[a-z]+\\d'}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {name: {matches: '^nccl'}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {name: {empty: true}}}", false},
    {kAttach, "{event: shm_attach_failed, where: {name: {empty: false}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {level: WARN}}", true},
    {kAttach, "{event: shm_attach_failed, where: {level: INFO}}", false},
    {kAttach, "{event: shm_attach_failed, where: {file: {ends_with: shmutils.cc}}}", true},
    {kAttach, "{event: shm_attach_failed, where: {host: n1, pid: 7}}", true},
    {kAttach, "{event: shm_attach_failed, where: {host: n1, pid: 8}}", false},
    {kAttach, "{event: shm_attach_failed, where: {rank: {empty: true}}}", true},
    {kInit, "{event: comm_init, where: {comm: 0x7f10}}", true},
    {kInit, "{event: comm_init, where: {comm: 7F10}}", true},
    {kInit, "{event: comm_init, where: {comm: 0x7f11}}", false},
    {kInit, "{event: comm_init, where: {rank: 3, phase: START}}", true},
    {kInit, "{event: comm_init, where: {cuda_dev: {field: nvml_dev}}}", true},
    {kInit, "{event: comm_init, where: {cuda_dev: {field: nranks}}}", false},
    {kP2pDisabled, "{event: env_set, where: {name: NCCL_P2P_DISABLE, value: \"1\"}}", true},
    {kP2pDisabled, "{event: env_set, where: {value: \"01\"}}", false},
    {kP2pDisabled, "{line: 'P2P_DISABLE set'}", true},
    {kP2pDisabled, "{line: 'P2P_ENABLE'}", false},
    {kTwoHosts, "{fact: job.host_count, equals: 2}", true},
    {kTwoHosts, "{fact: job.host_count, equals: [1, 2]}", true},
    {kTwoHosts, "{fact: job.host_count, at_most: 1}", false},
    {kTwoHosts, "{fact: job.host_count, at_least: 3}", false},
    {kTwoHosts, "{fact: job.has_nccl_lines, is: true}", true},
    {kTwoHosts, "{fact: job.has_nccl_lines, is: false}", false},
    // Unknown is neither true nor false.
    {kTwoHosts, "{fact: job.all_roce, is: true}", false},
    {kTwoHosts, "{fact: job.all_roce, is: false}", false},
};

TEST(Judge, EveryComparison) {
  for (const WhereRow& row : kWhere) {
    EXPECT_EQ(fires(row.condition, row.log), row.holds) << row.condition << "\n" << row.log;
  }
}

const std::string kYes = "{event: network_selected}";
const std::string kNo = "{event: peer_closed}";
const std::string kUnknown = "{fact: job.all_roce, is: true}";

TEST(Judge, GroupsHaveThreeAnswers) {
  // A group's answer is seen through the rule: it fires on yes; its opposite fires on no.
  const auto answer = [](const std::string& group) {
    if (fires(group, kTwoHosts)) return 'y';
    return fires("{none: [" + group + "]}", kTwoHosts) ? 'n' : 'u';
  };
  const std::string* inputs[] = {&kYes, &kNo, &kUnknown};
  const std::string expected_all =
      "ynu"
      "nnn"
      "unu";
  const std::string expected_any =
      "yyy"
      "ynu"
      "yuu";
  std::string all;
  std::string any;
  std::string none;
  for (const std::string* a : inputs) {
    none += answer("{none: [" + *a + "]}");
    for (const std::string* b : inputs) {
      all += answer("{all: [" + *a + ", " + *b + "]}");
      any += answer("{any: [" + *a + ", " + *b + "]}");
    }
  }
  EXPECT_EQ(all, expected_all);
  EXPECT_EQ(any, expected_any);
  EXPECT_EQ(none, "nyu");
}

TEST(Judge, AllJoinsWhatHoldsInTheSameInstance) {
  const std::string both =
      "{all: [{event: network_selected, where: {network: Socket}}, "
      "{event: network_selected, where: {network: IB}}]}";
  EXPECT_TRUE(fires(both, kTwoHosts));
  EXPECT_FALSE(fires(both, kTwoHosts, "per: host\n"));
  EXPECT_FALSE(fires(both, kTwoHosts, "per: process\n"));
  const std::string around =
      "{all: [{event: network_selected, where: {network: Socket}}, "
      "{event: network_selected, where: {network: IB}, in: job}]}";
  EXPECT_TRUE(fires(around, kTwoHosts, "per: host\n"));
}

TEST(Judge, ReachEndsAtTheHost) {
  const std::string log = "n1:7:7 [0] NCCL INFO Using network Socket\n" + kP2pDisabled +
                          "n1:8:8 [0] NCCL INFO Using network Socket\n";
  const auto when = [](const std::string& in) {
    return "{all: [{event: network_selected, where: {pid: 8}}, {event: env_set, in: " + in + "}]}";
  };
  EXPECT_TRUE(fires(when("host"), log, "per: process\n"));
  EXPECT_FALSE(fires("{all: [{event: network_selected, where: {pid: 8}}, {event: env_set}]}", log,
                     "per: process\n"));
}

TEST(Judge, CountsDifferentLines) {
  const std::string log =
      kP2pDisabled + kP2pDisabled + "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n";
  const auto count = [&](const std::string& test) {
    return fires("{event: env_set, count: {" + test + "}}", log);
  };
  EXPECT_TRUE(count("at_least: 2"));
  EXPECT_FALSE(count("at_least: 3"));
  EXPECT_TRUE(count("at_most: 2"));
  EXPECT_FALSE(count("at_most: 1"));
  EXPECT_TRUE(count("equals: 2"));
  EXPECT_FALSE(count("equals: 1"));
  EXPECT_TRUE(fires("{event: peer_closed, count: {equals: 0}}", log));
}

TEST(Judge, LinesThatWereNotKeptLeaveTheAnswerOpen) {
  std::string log;
  for (size_t i = 0; i <= RecordList::kMaxKept; ++i) {
    log += fmt::format("n1:7:7 [0] NCCL INFO NCCL_X{} set by environment to 1.\n", i);
  }
  const std::string last = fmt::format("NCCL_X{}", RecordList::kMaxKept);
  const std::string missing = "{event: env_set, where: {name: " + last + "}}";
  EXPECT_FALSE(fires(missing, log));
  EXPECT_FALSE(fires("{none: [" + missing + "]}", log));
  EXPECT_FALSE(fires("{event: env_set, count: {at_most: 300}}", log));
  EXPECT_TRUE(fires("{event: env_set, count: {at_least: 256}}", log));
}

TEST(Judge, AFindingIsAskedForByItsId) {
  const auto ids = [](const std::string& log) {
    const Diagnosis diagnosis =
        diagnose(rulebook_of({sample_rule("base", kNo), sample_rule("top", "{finding: base}"),
                              sample_rule("without",
                                          "{all: [{event: network_selected}, {none: [{finding: "
                                          "base}]}]}")}),
                 log);
    std::string result;
    for (const Finding& finding : diagnosis.findings) result += finding.id + " ";
    return result;
  };
  const std::string closed =
      "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<1>\n";
  EXPECT_EQ(ids(closed), "base top ");
  EXPECT_EQ(ids(kTwoHosts), "without ");
  EXPECT_EQ(ids(closed + kTwoHosts), "base top ");
}

/// "depth text: answer (reason), lines" of every condition.
std::string steps_of(const std::string& when, const std::string& log) {
  const Rulebook rulebook = rulebook_of({sample_rule("my-rule", when)});
  const Job job = job_from_text(log, make_line_matcher(rulebook));
  JobView view(job);
  const FindingsById findings;
  RuleJudge judge(view, findings);
  std::vector<ExplainedStep> steps;
  judge.record_in(steps);
  std::vector<Hit> hits;
  judge.judge(rulebook.rules[0].when, job_instance(job), hits);
  std::string text;
  for (const ExplainedStep& step : steps) {
    constexpr const char* kAnswers[] = {"no", "unknown", "yes"};
    text += fmt::format("{} {}: {} ({}), {}\n", step.depth, step.condition,
                        kAnswers[static_cast<size_t>(step.answer)], step.reason, step.lines);
  }
  return text;
}

TEST(Judge, RecordsHowEachConditionWasAnswered) {
  EXPECT_EQ(steps_of("{all: [" + kYes + ", {none: [" + kNo + ", " + kUnknown + "]}]}", kTwoHosts),
            "0 all: unknown (), 0\n"
            "1 {event: network_selected}: yes (), 2\n"
            "1 none: unknown (), 0\n"
            "2 {event: peer_closed}: no (), 0\n"
            "2 {fact: job.all_roce, is: true}: unknown (the log does not tell the fact), "
            "0\n");
}

// Lines in order: what certainly happened, what certainly did not, and what nobody can know.

constexpr const char* kRetry =
    "n1:7:9 [0] NCCL INFO Call to connect returned Connection refused, retrying\n";
constexpr const char* kFailed =
    "n1:7:9 [0] include/socket.h:390 NCCL WARN Connect to 10.4.4.1<4> failed : Connection "
    "refused\n";
constexpr const char* kOtherFailed =
    "n1:7:9 [0] include/socket.h:390 NCCL WARN Connect to 10.4.4.2<4> failed : Connection "
    "refused\n";
constexpr const char* kClosedLine =
    "n1:7:9 [0] misc/socket.cc:57 NCCL WARN Net : Connection closed by remote peer n2<1>\n";
constexpr const char* kFailedElsewhere =
    "n1:8:9 [0] include/socket.h:390 NCCL WARN Connect to 10.4.4.1<4> failed : Connection "
    "refused\n";

std::string log_of(const std::vector<const char*>& lines) {
  std::string log;
  for (const char* line : lines) log += line;
  return log;
}

const std::string kOrder = "{sequence: [{event: system_call_retry}, {event: connect_failed}]}";
const std::string kUndisturbed =
    "{sequence: [{event: system_call_retry}, {event: connect_failed}], unless: {event: "
    "peer_closed}}";

struct SequenceRow {
  const std::string& when;
  std::vector<const char*> lines;
  char answer;  ///< y, n, u.
};

const SequenceRow kSequences[] = {
    {kOrder, {kRetry, kFailed}, 'y'},
    {kOrder, {kRetry, kClosedLine, kFailed}, 'y'},
    {kOrder, {kFailed, kRetry}, 'n'},
    {kOrder, {kRetry}, 'n'},
    {kOrder, {kFailed}, 'n'},
    // Two processes have no common order.
    {kOrder, {kRetry, kFailedElsewhere}, 'n'},
    // Only the first of equal lines is kept.
    {kOrder, {kFailed, kRetry, kFailed}, 'u'},
    {kOrder, {kFailed, kRetry, kOtherFailed}, 'y'},
    {kOrder, {kRetry, kRetry, kFailed}, 'y'},
    {kUndisturbed, {kRetry, kFailed}, 'y'},
    {kUndisturbed, {kRetry, kClosedLine, kFailed}, 'n'},
    {kUndisturbed, {kClosedLine, kRetry, kFailed}, 'y'},
    {kUndisturbed, {kRetry, kFailed, kClosedLine}, 'y'},
    {kUndisturbed, {kRetry, kClosedLine, kFailed, kOtherFailed}, 'n'},
    // It came again, perhaps between them.
    {kUndisturbed, {kClosedLine, kRetry, kClosedLine, kFailed}, 'u'},
    // A later retry may have come behind the disturbance.
    {kUndisturbed, {kRetry, kClosedLine, kRetry, kFailed}, 'u'},
};

TEST(Sequence, HasThreeAnswers) {
  for (const SequenceRow& row : kSequences) {
    const std::string log = log_of(row.lines);
    EXPECT_EQ(answer_of(row.when, log), row.answer) << row.when << "\n" << log;
  }
}

TEST(Sequence, ManyLinesLeaveTheOrderOpen) {
  std::string log = kRetry;
  for (size_t i = 0; i <= RecordList::kMaxKept; ++i) {
    log += fmt::format("n1:7:9 [0] NCCL INFO NCCL_X{} set by environment to 1.\n", i);
  }
  const std::string beyond = fmt::format("NCCL_X{}", RecordList::kMaxKept);
  const auto order = [](const std::string& name) {
    return "{sequence: [{event: system_call_retry}, {event: env_set, where: {name: " + name +
           "}}]}";
  };
  EXPECT_EQ(answer_of(order("NCCL_X7"), log), 'y');
  EXPECT_EQ(answer_of(order(beyond), log), 'u');
}

TEST(Sequence, NamesTheProcessAndItsLines) {
  const Finding finding = finding_of(sample_rule("my-rule", kOrder), log_of({kRetry, kFailed}));
  EXPECT_EQ(finding.hosts, std::vector<std::string>{"n1"});
  EXPECT_EQ(finding.evidence.size(), 2u);
}

}  // namespace
}  // namespace ncclog::testing
