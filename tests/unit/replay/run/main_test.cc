// What ncclog-replay says where it cannot run. Built where the program is; GPUs are hidden from it.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "replay/plan/plan_json.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/sample_plan.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

Outcome run_replay(std::vector<std::string> arguments,
                   std::vector<std::pair<std::string, std::string>> environment = {}) {
  arguments.insert(arguments.begin(), (build_dir() / "ncclog-replay").string());
  environment.emplace_back("CUDA_VISIBLE_DEVICES", "");
  return run_command({.arguments = std::move(arguments), .environment = std::move(environment)});
}

bool says_that_no_gpu_is_there(const std::string& text) {
  return text.find("no NVIDIA driver: libcuda.so.1 was not found") != text.npos ||
         text.find("no GPU can be used: ") != text.npos;
}

TEST(ReplayProgram, GpusWithoutAGpuIsARefusal) {
  const Outcome out = run_replay({"gpus"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_output, "");
  EXPECT_TRUE(says_that_no_gpu_is_there(out.standard_error)) << out.standard_error;
}

TEST(ReplayProgram, GpusForProgramsSayWhyAsWell) {
  const Outcome out = run_replay({"gpus", "--json"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_TRUE(says_that_no_gpu_is_there(out.standard_output)) << out.standard_output;
}

TEST(ReplayProgram, RunWithoutAGpuIsARefusal) {
  const TempDir folder;
  const std::string plan = folder.add("plan.json", write_plan(sample_plan()));
  const Outcome out = run_replay({"run", plan, "--out", (folder.path() / "out").string()});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_TRUE(says_that_no_gpu_is_there(out.standard_error)) << out.standard_error;
  EXPECT_TRUE(says_that_no_gpu_is_there(read_file(folder.path() / "out" / "outcome.json")));
}

TEST(ReplayProgram, AProbeAnswersInItsOwnForm) {
  const Outcome out = run_replay({"probe", "0"});
  EXPECT_EQ(out.exit_code, 1);
  EXPECT_EQ(
      out.standard_output.find(
          "{\"gpu\":0,\"answers\":false,\"free_before\":null,\"free_after\":null,\"error\":\"cuda"),
      0U)
      << out.standard_output;
}

TEST(ReplayProgram, UnknownFlagsAreBadUse) {
  EXPECT_EQ(run_replay({"gpus", "--jason"}).exit_code, 2);
  EXPECT_EQ(run_replay({}).exit_code, 2);
  EXPECT_EQ(run_replay({"--version"}).exit_code, 0);
}

TEST(ReplayProgram, ARankWithoutACoordinatorSaysWhoStartsIt) {
  const TempDir folder;
  const std::string plan = folder.add("plan.json", write_plan(sample_plan()));
  const Outcome out = run_replay({"rank", R"({"mode":"clean","rank":0,"gpu":0})", plan});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_error,
            "ncclog-replay: NCCLOG_REPLAY_CHANNEL names no socket; ranks are started by "
            "ncclog-replay run\n");
}

TEST(ReplayProgram, ARankWithoutNcclTellsItsCoordinator) {
  const TempDir folder;
  const std::string plan = folder.add("plan.json", write_plan(sample_plan()));
  auto [ours, theirs] = make_channel();
  ProcessStart start{.program = (build_dir() / "ncclog-replay").native(),
                     .arguments = {"ncclog-replay", "rank", R"({"mode":"clean","rank":1,"gpu":0})",
                                   plan, "/nowhere/libnccl.so.2"},
                     .environment = this_environment(),
                     .output = (folder.path() / "rank.out").native(),
                     .channel = theirs.descriptor()};
  start.environment[kChannelVariable] = std::to_string(start.channel);
  ChildProcess rank(start);
  theirs.close();
  std::vector<std::string> heard;
  while (ours.is_open()) {
    PollList polled;
    polled.add(ours);
    polled.wait(std::chrono::seconds(20));
    ours.receive();
    while (auto line = ours.next_line()) {
      heard.push_back(std::move(*line));
      ours.send(write_line(RunOrder{.kind = RunOrder::Kind::Abort}));
    }
  }
  while (!rank.has_ended()) {
  }
  EXPECT_EQ(rank.exit_code(), static_cast<int>(RankExit::Error));
  ASSERT_EQ(heard.size(), 2U);
  const auto error = parse_line<RankMessage>(heard[0]);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->error.find("NCCL could not be loaded: /nowhere/libnccl.so.2"), 0U)
      << error->error;
  EXPECT_EQ(parse_line<RankMessage>(heard[1])->kind, RankMessage::Kind::Aborted);
}

}  // namespace
}  // namespace ncclog::testing
