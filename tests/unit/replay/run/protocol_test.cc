#include "replay/run/protocol.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "support/sample_plan.h"

namespace ncclog::testing {
namespace {

constexpr int kPatienceMs = 60'000;  ///< Without a byte for so long, none will come.

/// Waits until something is there to be read.
void wait_for(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, kPatienceMs), 1);
}

/// Both ends of a channel.
struct Talk {
  std::pair<Connection, Connection> ends = make_channel();
  Connection& coordinator = ends.first;
  Connection& rank = ends.second;

  /// Sends as the rank, reads as the coordinator until the connection is closed or `lines` came.
  std::vector<std::string> hear(std::string_view bytes, size_t lines) {
    rank.send(bytes);
    std::vector<std::string> heard;
    while (heard.size() < lines && coordinator.is_open()) {
      rank.flush();
      pollfd polled{coordinator.descriptor(), POLLIN, 0};
      if (poll(&polled, 1, kPatienceMs) != 1) break;
      coordinator.receive();
      while (auto line = coordinator.next_line()) heard.push_back(*line);
    }
    return heard;
  }
};

TEST(Connection, CarriesWholeLines) {
  Talk talk;
  ASSERT_TRUE(talk.coordinator.is_open());
  EXPECT_EQ(talk.hear("one\n\ntwo\nthr", 3), (std::vector<std::string>{"one", "", "two"}));
  EXPECT_EQ(talk.hear("ee\n", 1), (std::vector<std::string>{"three"}));
}

TEST(Connection, GivesWhatWasSaidBeforeTheOtherEndLeft) {
  Talk talk;
  talk.rank.send("last words\nhalf");
  talk.rank.close();
  wait_for(talk.coordinator.descriptor());
  talk.coordinator.receive();
  EXPECT_EQ(talk.coordinator.next_line(), "last words");
  EXPECT_EQ(talk.coordinator.next_line(), std::nullopt);
  EXPECT_FALSE(talk.coordinator.is_open());
}

TEST(Connection, DropsOneWhoseLineHasNoEnd) {
  Talk talk;
  const std::string endless(Connection::kLongestLine + 1, 'x');
  EXPECT_EQ(talk.hear("fine\n" + endless, 2), (std::vector<std::string>{"fine"}));
  EXPECT_FALSE(talk.coordinator.is_open());
}

TEST(Connection, KeepsWhatTheSocketDoesNotTake) {
  Talk talk;
  const std::string line(3 << 20, 'x');
  EXPECT_EQ(talk.hear(line + "\n", 1), (std::vector<std::string>{line}));
  EXPECT_FALSE(talk.rank.has_unsent());
}

RankMessage at(ReplayPhase phase) { return {.kind = RankMessage::Kind::At, .at = phase}; }

RankMessage entered(uint64_t calls) {
  return {.kind = RankMessage::Kind::Progress, .entered = calls};
}

TEST(RankTalk, ProgressIsReplacedUntilItIsSent) {
  RankTalk state;
  state.post_progress(entered(1));
  state.post_progress(entered(2));
  EXPECT_TRUE(state.take_posted(false).empty());
  EXPECT_EQ(state.take_posted(true), std::vector<RankMessage>{entered(2)});
  EXPECT_TRUE(state.take_posted(true).empty());
}

TEST(RankTalk, ProgressIsSentBeforeWhatFollowedIt) {
  RankTalk state;
  state.post_progress(entered(3));
  state.post(at(ReplayPhase::Completion));
  EXPECT_EQ(state.take_posted(false),
            (std::vector<RankMessage>{entered(3), at(ReplayPhase::Completion)}));
}

TEST(RankTalk, GoIsHeardWithItsIds) {
  RankTalk state;
  state.hear({.kind = RunOrder::Kind::Go, .phase = ReplayPhase::Init, .ids = {"6e"}});
  const auto order = state.await(ReplayPhase::Init);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->ids, std::vector<std::string>{"6e"});
}

TEST(RankTalk, AbortEndsTheWait) {
  RankTalk state;
  std::thread coordinator([&state] { state.hear({.kind = RunOrder::Kind::Abort}); });
  EXPECT_FALSE(state.await(ReplayPhase::Enqueue));
  coordinator.join();
  EXPECT_FALSE(state.await(ReplayPhase::Init)) << "an abort is no go";
}

TEST(RankTalk, TheEndIsWaitedForSoLong) {
  RankTalk state;
  state.await_end(std::chrono::milliseconds(1));
  std::thread worker([&state] {
    state.post(entered(7));
    state.end();
  });
  state.await_end(std::chrono::minutes(1));
  EXPECT_EQ(state.take_posted(true), std::vector<RankMessage>{entered(7)});
  worker.join();
}

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
}  // namespace ncclog::testing
