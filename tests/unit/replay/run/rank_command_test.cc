#include <gtest/gtest.h>

#include "replay/run/processes.h"

namespace ncclog {
namespace {

TEST(RankCommand, SaysOnlyWhatWasAskedFor) {
  const RankCommand command{.mode = MadeIn::Defect, .rank = 3, .gpu = 1};
  const std::vector<std::string> expected{"ncclog-replay", "rank",
                                          R"({"mode":"defect","rank":3,"gpu":1})", "/tmp/p.json"};
  EXPECT_EQ(arguments_of(command, "/tmp/p.json", ""), expected);
}

TEST(RankCommand, IsReadAsItIsWritten) {
  const RankCommand command{.mode = MadeIn::Clean,
                            .rank = 0,
                            .gpu = 1,
                            .timed_runs = 20,
                            .corrupt = PlantedCorruption{1, 28, 4096}};
  const auto arguments = arguments_of(command, "p", "/opt/libnccl.so.2");
  ASSERT_EQ(arguments.size(), 5U);
  EXPECT_EQ(arguments[3], "p");
  EXPECT_EQ(arguments[4], "/opt/libnccl.so.2");
  EXPECT_EQ(parse_command(arguments[2]), command);
  EXPECT_EQ(parse_command("{\"mode\":\"lunch\"}"), std::nullopt);
}

TEST(RankCommand, CorruptionIsThreeNumbers) {
  EXPECT_EQ(parse_corruption("1:28:4096"), (PlantedCorruption{1, 28, 4096}));
  for (const char* text : {"", "1:2", "1:2:3:4", "a:2:3", "-1:2:3", "1:2:-3", "1: :3"}) {
    EXPECT_EQ(parse_corruption(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ncclog
