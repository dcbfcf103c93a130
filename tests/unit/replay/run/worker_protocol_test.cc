#include <gtest/gtest.h>

#include "replay/run/protocol.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

struct MessageRow {
  RankMessage message;
  const char* line;
};

std::vector<MessageRow> message_rows() {
  RankMessage start;
  start.nccl_version = "2.28.9";
  start.ids = {"6e63", "", "01ab"};
  RankMessage enqueue;
  enqueue.at = ReplayPhase::Enqueue;
  enqueue.init_seconds = 1.5;
  RankMessage progress;
  progress.kind = RankMessage::Kind::Progress;
  progress.entered = 3;
  progress.completed = 2;
  progress.open = {2};
  RankMessage teardown;
  teardown.at = ReplayPhase::Teardown;
  teardown.entered = 3;
  teardown.completed = 3;
  teardown.verified = {3, 30, 1, 0, WrongElement{1, 7, "2", "3"}};
  RankMessage error;
  error.kind = RankMessage::Kind::Error;
  error.error = "ncclAllReduce:\n\"no\"";
  RankMessage aborted;
  aborted.kind = RankMessage::Kind::Aborted;
  return {
      {RankMessage(), R"({"kind":"at"})"},
      {start, R"({"kind":"at","nccl_version":"2.28.9",)"
              R"("ids":["6e63",null,"01ab"]})"},
      {enqueue, R"({"kind":"at","at":"enqueue","init_seconds":1.5})"},
      {progress, R"({"kind":"progress","entered":3,"completed":2,"open":[2]})"},
      {teardown, R"({"kind":"at","at":"teardown","entered":3,"completed":3,"verified":{"calls":3,)"
                 R"("elements":30,"wrong":1,"shape_only":0,"first":{"call":1,"element":7,)"
                 R"("expected":"2","found":"3"}}})"},
      {error, R"({"kind":"error","error":"ncclAllReduce:\n\"no\""})"},
      {aborted, R"({"kind":"aborted"})"},
  };
}

TEST(WorkerProtocol, SaysAMessageInALine) {
  for (const MessageRow& row : message_rows()) {
    EXPECT_EQ(write_line(row.message), std::string(row.line) + "\n");
    EXPECT_EQ(parse_line<RankMessage>(row.line), row.message) << row.line;
    EXPECT_EQ(parse_line<RankMessage>(write_line(row.message)), row.message) << row.line;
  }
}

TEST(WorkerProtocol, CarriesTimings) {
  RankMessage message;
  message.at = ReplayPhase::Teardown;
  message.timings = testing::sample_outcome().runs[1].timings;
  EXPECT_EQ(parse_line<RankMessage>(write_line(message)), message);
}

TEST(WorkerProtocol, SaysAnOrderInALine) {
  const RunOrder init{RunOrder::Kind::Go, ReplayPhase::Init, {"6e63"}};
  const RunOrder abort{RunOrder::Kind::Abort, ReplayPhase::Init, {}};
  EXPECT_EQ(write_line(init), "{\"kind\":\"go\",\"ids\":[\"6e63\"]}\n");
  EXPECT_EQ(write_line(abort), "{\"kind\":\"abort\"}\n");
  EXPECT_EQ(parse_line<RunOrder>(write_line(init)), init);
  EXPECT_EQ(parse_line<RunOrder>(write_line(abort)), abort);
}

TEST(WorkerProtocol, TakesNothingElse) {
  const char* kLines[] = {
      "",
      "\xff",
      "null",
      "[]",
      "{}",
      "{\"kind\":",
      "{\"kind\":null}",
      "{\"kind\":7}",
      "{\"kind\":\"lunch\"}",
      "{\"kind\":\"at\",\"at\":\"lunch\"}",
      "{\"kind\":\"at\",\"rank\":1}",
      "{\"kind\":\"at\",\"ids\":{\"0\":\"6e63\"}}",
      "{\"kind\":\"at\",\"ids\":[7]}",
      "{\"kind\":\"error\",\"error\":7}",
      "{\"kind\":\"progress\",\"entered\":-1}",
      "{\"kind\":\"progress\",\"open\":3}",
      "{\"kind\":\"go\",\"phase\":\"lunch\"}",
      "{\"kind\":\"go\",\"phase\":1}",
      "{\"kind\":\"go\",\"ids\":{}}",
      "{\"kind\":\"at\"}{\"kind\":\"at\"}",
  };
  for (const char* line : kLines) {
    EXPECT_EQ(parse_line<RankMessage>(line), std::nullopt) << line;
    EXPECT_EQ(parse_line<RunOrder>(line), std::nullopt) << line;
  }
  EXPECT_EQ(parse_line<RankMessage>(std::string(1000000, '[')), std::nullopt);
}

}  // namespace
}  // namespace ncclog
