// Lines in order: what certainly happened, what certainly did not, and what nobody can know.

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
