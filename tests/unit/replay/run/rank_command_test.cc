#include <gtest/gtest.h>

#include "replay/run/processes.h"

namespace ncclog {
namespace {

TEST(RankCommand, NamesPlanModeRankAndDevice) {
  const RankCommand command{.plan = "/tmp/p.json", .mode = MadeIn::Defect, .rank = 3, .gpu = 1};
  const std::vector<std::string> expected{"rank",   "--plan", "/tmp/p.json", "--mode", "defect",
                                          "--rank", "3",      "--device",    "1"};
  EXPECT_EQ(arguments_of(command), expected);
}

TEST(RankCommand, AddsOnlyWhatWasAskedFor) {
  const RankCommand command{.plan = "p",
                            .mode = MadeIn::Clean,
                            .rank = 0,
                            .gpu = 1,
                            .nccl = "/opt/libnccl.so.2",
                            .timed_runs = 20,
                            .corrupt = PlantedCorruption{1, 28, 4096}};
  const std::vector<std::string> expected{"rank",
                                          "--plan",
                                          "p",
                                          "--mode",
                                          "clean",
                                          "--rank",
                                          "0",
                                          "--device",
                                          "1",
                                          "--nccl",
                                          "/opt/libnccl.so.2",
                                          "--time",
                                          "20",
                                          "--corrupt",
                                          "1:28:4096"};
  EXPECT_EQ(arguments_of(command), expected);
}

TEST(RankCommand, CorruptionIsThreeNumbers) {
  EXPECT_EQ(parse_corruption("1:28:4096"), (PlantedCorruption{1, 28, 4096}));
  for (const char* text : {"", "1:2", "1:2:3:4", "a:2:3", "-1:2:3", "1:2:-3", "1: :3"}) {
    EXPECT_EQ(parse_corruption(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ncclog
