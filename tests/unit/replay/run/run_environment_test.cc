#include <gtest/gtest.h>

#include "base/error.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"
#include "support/replay_trial.h"

namespace ncclog::testing {
namespace {

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
       "NCCL_NVLS_ENABLE cannot be set: --multicast lets NCCL use NVLink multicast"}};
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
