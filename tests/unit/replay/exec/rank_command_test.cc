#include "replay/exec/rank_command.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(RankCommand, NamesPlanModeRanksAndDevices) {
  const RankCommand command{
      .plan = "/tmp/p.json", .mode = MadeIn::Defect, .ranks = {3}, .gpus = {1}};
  const std::vector<std::string> expected{"rank",    "--plan", "/tmp/p.json", "--mode", "defect",
                                          "--ranks", "3",      "--devices",   "1"};
  EXPECT_EQ(arguments_of(command), expected);
}

TEST(RankCommand, AddsOnlyWhatWasAskedFor) {
  const RankCommand command{.plan = "p",
                            .mode = MadeIn::Clean,
                            .ranks = {0, 1},
                            .gpus = {1, 0},
                            .nccl = "/opt/libnccl.so.2",
                            .timed_runs = 20,
                            .corrupt = PlantedCorruption{1, 28, 4096}};
  const std::vector<std::string> expected{"rank",
                                          "--plan",
                                          "p",
                                          "--mode",
                                          "clean",
                                          "--ranks",
                                          "0,1",
                                          "--devices",
                                          "1,0",
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
