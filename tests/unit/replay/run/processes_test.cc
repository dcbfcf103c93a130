#include "replay/run/processes.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "replay/run/protocol.h"
#include "support/replay_trial.h"

namespace ncclog::testing {
namespace {

/// "run-1-defect NCCL_ALGO=Ring; run-2-clean NCCL_ALGO=Ring"
std::string listed(const ReplayPlan& plan, const RunFlags& flags) {
  std::string text;
  try {
    fixed_settings(flags);
    for (const RunOutcome& run : list_runs(plan, flags)) {
      if (!text.empty()) text += "; ";
      text += run.logs;
      for (const auto& [name, value] : run.settings) text += " " + name + "=" + value;
    }
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
  return text;
}

struct RunListRow {
  const char* what;
  RunFlags flags;
  const char* list;
};

const RunListRow kRunLists[] = {
    {"both modes", {}, "run-1-defect; run-2-clean"},
    {"one mode", {.mode = "clean"}, "run-1-clean"},
    {"two variables",
     {.mode = "clean", .vary = {"NCCL_P2P_DISABLE=0,1", "NCCL_ALGO=Ring,Tree"}},
     "run-1-clean NCCL_P2P_DISABLE=0 NCCL_ALGO=Ring; run-2-clean NCCL_P2P_DISABLE=0 "
     "NCCL_ALGO=Tree; run-3-clean NCCL_P2P_DISABLE=1 NCCL_ALGO=Ring; run-4-clean "
     "NCCL_P2P_DISABLE=1 NCCL_ALGO=Tree"},
    {"modes within a variation",
     {.vary = {"NCCL_ALGO=Ring,Tree"}},
     "run-1-defect NCCL_ALGO=Ring; run-2-clean NCCL_ALGO=Ring; run-3-defect NCCL_ALGO=Tree; "
     "run-4-clean NCCL_ALGO=Tree"},
    {"an empty value",
     {.mode = "clean", .vary = {"NCCL_ALGO=,Tree"}},
     "run-1-clean NCCL_ALGO=; run-2-clean NCCL_ALGO=Tree"},
    {"a setting that is none",
     {.set = {"PATH=/x"}},
     "refused: a replay sets variables of NCCL only, and 'PATH' is none"},
    {"a variation that is none",
     {.vary = {"NCCL_ALGO"}},
     "refused: 'NCCL_ALGO' is no setting: NAME=VALUE is wanted"},
    {"too many",
     {.vary = {"NCCL_A=1,2,3,4,5", "NCCL_B=1,2,3,4,5", "NCCL_C=1,2,3,4,5", "NCCL_D=1,2,3,4,5"}},
     "refused: these are more than 128 runs"},
};

TEST(ListRuns, MakesEachVariationInEachMode) {
  for (const RunListRow& row : kRunLists) {
    EXPECT_EQ(listed(two_rank_plan(), row.flags), row.list) << row.what;
  }
}

TEST(ListRuns, MakesOneRunOfAPlanWithoutADefect) {
  ReplayPlan plan = two_rank_plan();
  for (PlannedRank& rank : plan.ranks) {
    for (PlannedCall& call : rank.calls) call.made_in = MadeIn::Both;
  }
  EXPECT_EQ(listed(plan, {}), "run-1-clean");
  EXPECT_EQ(listed(plan, {.mode = "defect"}),
            "refused: the plan has no defect: its two runs would be the same");
}

TEST(RunFlags, AreReadAsTheyAreWritten) {
  CLI::App app;
  RunFlags flags;
  add_run_flags(*app.add_subcommand("run"), flags);
  std::vector<std::string> words = {
      "run",        "--set",  "NCCL_ALGO=Ring", "plan.json", "--out",    "result",  "--mode",
      "clean",      "--vary", "NCCL_A=0,1",     "--vary",    "NCCL_B=x", "--hosts", "2",
      "--devices",  "1,0",    "--share",        "--nccl",    "lib.so",   "--time",  "20",
      "--deadline", "9",      "--multicast",    "--corrupt", "1:2:3"};
  std::reverse(words.begin(), words.end());
  app.parse(words);
  const RunFlags expected = {.plan = "plan.json",
                             .out = "result",
                             .mode = "clean",
                             .hosts = 2,
                             .set = {"NCCL_ALGO=Ring"},
                             .vary = {"NCCL_A=0,1", "NCCL_B=x"},
                             .devices = {1, 0},
                             .share = true,
                             .nccl = "lib.so",
                             .time_runs = 20,
                             .deadline = 9,
                             .multicast = true,
                             .corrupt = "1:2:3"};
  EXPECT_EQ(flags, expected);
}

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

/// Lines NAME=VALUE, without what every environment of a rank has.
std::string told(Environment environment) {
  for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE",
                           "NCCLOG_REPLAY_COORDINATOR", "NCCLOG_REPLAY_TOKEN"}) {
    environment.erase(name);
  }
  std::string text;
  for (const auto& [name, value] : environment) text += name + "=" + value + "\n";
  return text;
}

RunSetup setup() { return {.logs = "/tmp/run-1", .token = "t"}; }

TEST(RunEnvironment, TakesOnlyTheUsersOwnAndWhatThePlanSays) {
  ReplayPlan plan = two_rank_plan();
  plan.settings = {{"NCCL_ALGO", "Ring", {}, ""},
                   {"NCCL_IB_HCA", "mlx5_0", {}, "names the recorded machine"},
                   {"NCCL_PROTO", "LL", {1}, ""}};
  const Environment inherited = {{"PATH", "/bin"},
                                 {"NCCL_ALGO", "Tree"},
                                 {"NCCL_BUFFSIZE", "1"},
                                 {"TORCH_NCCL_BLOCKING_WAIT", "1"},
                                 {"CUDA_VISIBLE_DEVICES", "3"},
                                 {"CUDA_LAUNCH_BLOCKING", "1"},
                                 {"NCCLOG_REPLAY_TOKEN", "old"}};
  EXPECT_EQ(told(environment_of(plan, 0, setup(), inherited)),
            "CUDA_VISIBLE_DEVICES=3\nNCCL_ALGO=Ring\nNCCL_NVLS_ENABLE=0\nPATH=/bin\n");
  EXPECT_EQ(told(environment_of(plan, 1, setup(), inherited)),
            "CUDA_VISIBLE_DEVICES=3\nNCCL_ALGO=Ring\nNCCL_NVLS_ENABLE=0\nNCCL_PROTO=LL\n"
            "PATH=/bin\n");
}

TEST(RunEnvironment, LetsTheReplaysOwnLogBeRead) {
  const Environment environment = environment_of(two_rank_plan(), 0, setup(), {});
  EXPECT_EQ(environment.at("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(environment.at("NCCL_DEBUG_SUBSYS"), "INIT,ENV,NET,COLL,GRAPH,TUNING");
  EXPECT_EQ(environment.at("NCCL_DEBUG_FILE"), "/tmp/run-1/nccl.%h.%p.log");
  EXPECT_EQ(environment.at(kTokenVariable), "t");
}

TEST(RunEnvironment, MakesPseudoHosts) {
  RunSetup two = setup();
  two.hosts = 2;
  EXPECT_EQ(told(environment_of(two_rank_plan(), 1, two, {})),
            "NCCL_HOSTID=pseudo-host-1\nNCCL_MNNVL_ENABLE=0\nNCCL_NET=Socket\n"
            "NCCL_NVLS_ENABLE=0\nNCCL_SOCKET_IFNAME=lo\n");
}

TEST(RunEnvironment, KeepsMulticastOffUnlessItIsAskedFor) {
  RunSetup asked = setup();
  asked.settings = {{"NCCL_NVLS_ENABLE", "1"}};
  EXPECT_EQ(environment_of(two_rank_plan(), 0, asked, {}).at("NCCL_NVLS_ENABLE"), "0");
  asked.settings.clear();
  asked.multicast = true;
  EXPECT_FALSE(environment_of(two_rank_plan(), 0, asked, {}).contains("NCCL_NVLS_ENABLE"));
}

TEST(RunEnvironment, LetsTheVariationWin) {
  ReplayPlan plan = two_rank_plan();
  plan.settings = {{"NCCL_ALGO", "Ring", {}, ""}};
  RunSetup varied = setup();
  varied.settings = {{"NCCL_ALGO", "Tree"}, {"NCCL_ALGO", "PAT"}};
  EXPECT_EQ(environment_of(plan, 0, varied, {}).at("NCCL_ALGO"), "PAT");
}

TEST(RunEnvironment, TellsWhatIsInForceInAllRuns) {
  RunSetup two = setup();
  two.hosts = 2;
  const Environment inherited = {
      {"PATH", "/bin"}, {"CUDA_HOME", "/usr/local/cuda"}, {"CUDA_VISIBLE_DEVICES", "1,0"}};
  const Settings expected = {{"CUDA_VISIBLE_DEVICES", "1,0"},
                             {"NCCL_DEBUG", "INFO"},
                             {"NCCL_DEBUG_SUBSYS", "INIT,ENV,NET,COLL,GRAPH,TUNING"},
                             {"NCCL_MNNVL_ENABLE", "0"},
                             {"NCCL_NET", "Socket"},
                             {"NCCL_NVLS_ENABLE", "0"},
                             {"NCCL_SOCKET_IFNAME", "lo"}};
  EXPECT_EQ(settings_in_force(two_rank_plan(), two, inherited), expected);
}

struct HostRow {
  std::vector<int> groups;
  int hosts;
  std::vector<int> pseudo_hosts;
};

TEST(PseudoHosts, FollowTheRecordWhereThereAreAsMany) {
  const HostRow kRows[] = {{{5, 9, 5, 9}, 2, {0, 1, 0, 1}},
                           {{0, 0, 1, 1}, 4, {0, 1, 2, 3}},
                           {{0, 1, 0, 1}, 1, {0, 0, 0, 0}},
                           {{0, 0, 0, 0}, 2, {0, 0, 1, 1}},
                           {{0, 0, 0, 0}, 3, {0, 0, 1, 2}}};
  for (const HostRow& row : kRows) {
    ReplayPlan plan;
    for (int group : row.groups) plan.ranks.push_back({.host_group = group});
    std::vector<int> pseudo_hosts;
    for (int rank = 0; rank < 4; ++rank) {
      pseudo_hosts.push_back(pseudo_host_of(plan, rank, row.hosts));
    }
    EXPECT_EQ(pseudo_hosts, row.pseudo_hosts) << row.hosts;
  }
}

struct SettingRow {
  const char* text;
  const char* refusal;
};

TEST(ParseSetting, TakesVariablesOfNcclThatAReplayLeavesOpen) {
  constexpr SettingRow kRows[] = {
      {"NCCL_P2P_DISABLE=1", ""},
      {"NCCL_ALGO=allreduce:ring;allgather:pat", ""},
      {"NCCL_ALGO=", ""},
      {"NCCL_ALGO", "'NCCL_ALGO' is no setting: NAME=VALUE is wanted"},
      {"LD_PRELOAD=x.so", "a replay sets variables of NCCL only, and 'LD_PRELOAD' is none"},
      {"nccl_algo=Ring", "a replay sets variables of NCCL only, and 'nccl_algo' is none"},
      {"NCCL_=1", "a replay sets variables of NCCL only, and 'NCCL_' is none"},
      {"=1", "a replay sets variables of NCCL only, and '' is none"},
      {"NCCL_DEBUG_FILE=/x", "NCCL_DEBUG_FILE cannot be set: the replay reads its own log back"},
      {"NCCL_HOSTID=a", "NCCL_HOSTID cannot be set: --hosts sets it"},
      {"NCCL_NVLS_ENABLE=1",
       "NCCL_NVLS_ENABLE cannot be set: --multicast lets NCCL use NVLink multicast"},
      {"NCCL_ENV_PLUGIN=mine",
       "NCCL_ENV_PLUGIN cannot be set: such a plugin could turn NVLink multicast on"}};
  for (const SettingRow& row : kRows) {
    std::string refusal;
    try {
      parse_setting(row.text);
    } catch (const Error& error) {
      refusal = error.what();
    }
    EXPECT_EQ(refusal, row.refusal) << row.text;
  }
}

}  // namespace
}  // namespace ncclog::testing
