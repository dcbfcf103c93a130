#include "model/record_limit.h"

#include <gtest/gtest.h>

#include "log/messages.h"

namespace ncclog {
namespace {

TEST(RecordLimit, IsTheLowerTheMoreProcessesSpeak) {
  EXPECT_EQ(record_limit(0), (RecordLimit{256, 256}));
  EXPECT_EQ(record_limit(32), (RecordLimit{256, 256}));
  EXPECT_EQ(record_limit(33), (RecordLimit{128, 128}));
  EXPECT_EQ(record_limit(256), (RecordLimit{32, 32}));
  EXPECT_EQ(record_limit(257), (RecordLimit{32, 16}));
  EXPECT_EQ(record_limit(65536), (RecordLimit{32, 4}));
  RecordLimit before;
  for (size_t speakers = 1; speakers < 5000; ++speakers) {
    const RecordLimit limit = record_limit(speakers);
    EXPECT_EQ(laxer(before, limit), before) << speakers;
    before = limit;
  }
}

TEST(RecordLimit, IsLowerForLinesOfEachConnectionThanForOthers) {
  const RecordLimit limit = {32, 4};
  EXPECT_EQ(limit.of(kKindIndex<ProxyNewConnection>), 4u);
  EXPECT_EQ(limit.of(kKindIndex<RingNeighbours>), 4u);
  EXPECT_EQ(limit.of(kKindIndex<EnvSet>), 32u);
  EXPECT_EQ(limit.of_patterns().of(kKindIndex<ProxyNewConnection>), 32u);
}

TEST(RecordLimit, AllowsWhatOneOfTwoAllows) {
  EXPECT_EQ(laxer({256, 16}, {32, 64}), (RecordLimit{256, 64}));
}

}  // namespace
}  // namespace ncclog
