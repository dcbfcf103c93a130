#include "replay/run/connection.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "base/error.h"

namespace ncclog::testing {
namespace {

using std::chrono::milliseconds;

/// Waits until something is there to be read.
void wait_for(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 2000), 1);
}

/// A coordinator's end of one trusted connection, and the rank's.
struct Talk {
  Listener listener;
  WaitingRoom room{"secret"};
  Connection rank = connect_to(listener.address(), "secret", milliseconds(2000));
  Connection coordinator = meet();

  Connection meet() {
    wait_for(listener.descriptor());
    room.admit(listener.take_new());
    wait_for(room.descriptors().at(0));
    auto trusted = room.take_trusted();
    return trusted.empty() ? Connection() : std::move(trusted.front());
  }

  /// Sends as the rank, reads as the coordinator until the connection is closed or `lines` came.
  std::vector<std::string> hear(std::string_view bytes, size_t lines) {
    rank.send(bytes);
    std::vector<std::string> heard;
    while (heard.size() < lines && coordinator.is_open()) {
      rank.flush();
      pollfd polled{coordinator.descriptor(), POLLIN, 0};
      if (poll(&polled, 1, 2000) != 1) break;
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

struct FirstLine {
  const char* bytes;
  bool is_trusted;
};

TEST(WaitingRoom, TrustsOnlyWhoSaysTheToken) {
  constexpr FirstLine kRows[] = {
      {"secret\n", true},          {"secre\n", false},  {"secret \n", false}, {"\n", false},
      {"GET / HTTP/1.1\n", false}, {"Secret\n", false}, {"secret\r\n", false}};
  for (const FirstLine& row : kRows) {
    Listener listener;
    WaitingRoom room("secret");
    const std::string_view bytes = row.bytes;
    Connection rank =
        connect_to(listener.address(), bytes.substr(0, bytes.size() - 1), milliseconds(2000));
    wait_for(listener.descriptor());
    room.admit(listener.take_new());
    wait_for(room.descriptors().at(0));
    EXPECT_EQ(room.take_trusted().size(), row.is_trusted ? 1U : 0U) << row.bytes;
    EXPECT_TRUE(room.descriptors().empty());
  }
}

TEST(WaitingRoom, ForgetsTheEldestOfTooMany) {
  WaitingRoom room("secret");
  Listener listener;
  std::vector<Connection> silent;
  for (size_t i = 0; i < WaitingRoom::kMost + 8; ++i) {
    silent.push_back(connect_to(listener.address(), "s", milliseconds(2000)));
    room.admit(listener.take_new());
  }
  room.admit(listener.take_new());
  EXPECT_LE(room.descriptors().size(), WaitingRoom::kMost);
}

TEST(ConnectTo, SaysThatNobodyListens) {
  std::string gone;
  {
    Listener listener;
    gone = listener.address();
  }
  EXPECT_THROW(connect_to(gone, "secret", milliseconds(50)), Error);
}

TEST(ConnectTo, RefusesWhatIsNoPortOfThisHost) {
  for (const char* address : {"", "nonsense", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
                              "127.0.0.1:-1", "node-1:80"}) {
    EXPECT_THROW(connect_to(address, "secret", milliseconds(50)), Error) << address;
  }
}

TEST(RandomToken, IsAnotherEachTime) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
}

}  // namespace
}  // namespace ncclog::testing
