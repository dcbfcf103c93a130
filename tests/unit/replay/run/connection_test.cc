#include <gtest/gtest.h>
#include <poll.h>

#include "replay/run/protocol.h"

namespace ncclog::testing {
namespace {

/// Waits until something is there to be read.
void wait_for(int descriptor) {
  pollfd polled{descriptor, POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, 2000), 1);
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

}  // namespace
}  // namespace ncclog::testing
