#include <gtest/gtest.h>

#include "replay/run/processes.h"

namespace ncclog {
namespace {

TEST(RankCommand, SaysOnlyWhatWasAskedFor) {
  const RankCommand command{.plan = "/tmp/p.json", .mode = MadeIn::Defect, .rank = 3, .gpu = 1};
  const std::vector<std::string> expected{"rank", R"({"mode":"defect","rank":3,"gpu":1})",
                                          "/tmp/p.json"};
  EXPECT_EQ(arguments_of(command), expected);
}

TEST(RankCommand, IsReadAsItIsWritten) {
  RankCommand command{.plan = "p",
                      .mode = MadeIn::Clean,
                      .rank = 0,
                      .gpu = 1,
                      .nccl = "/opt/libnccl.so.2",
                      .timed_runs = 20,
                      .corrupt = PlantedCorruption{1, 28, 4096}};
  const std::vector<std::string> arguments = arguments_of(command);
  ASSERT_EQ(arguments.size(), 4U);
  EXPECT_EQ(arguments[2], "p");
  EXPECT_EQ(arguments[3], "/opt/libnccl.so.2");
  command.plan = command.nccl = "";
  EXPECT_EQ(parse_command(arguments[1]), command);
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
