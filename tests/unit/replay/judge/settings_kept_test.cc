#include <gtest/gtest.h>

#include "replay/judge/differences.h"
#include "support/replay_samples.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

struct KeptRow {
  const char* name;
  std::vector<PlannedSetting> planned;
  std::vector<std::pair<std::string, std::string>> in_force;
  std::vector<std::pair<std::string, std::string>> varied;
  int pseudo_hosts;
  Texts held;
  Texts changed;
};

TEST(SettingsKept, HoldsWhatWasRecordedAgainstWhatIsInForce) {
  const std::vector<KeptRow> rows = {
      {"set",
       {{"NCCL_ALGO", "Ring", {}, ""}},
       {{"NCCL_ALGO", "Ring"}},
       {},
       1,
       {"NCCL_ALGO=Ring"},
       {}},
      {"left out",
       {{"NCCL_NET", "IB", {}, "not here"}},
       {},
       {},
       1,
       {},
       {"NCCL_NET=IB is not set: not here"}},
      {"left out, and set all the same",
       {{"NCCL_MNNVL_ENABLE", "0", {}, "own hosts"}},
       {{"NCCL_MNNVL_ENABLE", "0"}},
       {},
       2,
       {"NCCL_MNNVL_ENABLE=0"},
       {}},
      {"--set", {}, {{"NCCL_PROTO", "LL128"}}, {}, 1, {}, {"set for the replay: NCCL_PROTO=LL128"}},
      {"--set of another value",
       {{"NCCL_PROTO", "LL", {}, ""}},
       {{"NCCL_PROTO", "Simple"}},
       {},
       1,
       {},
       {"NCCL_PROTO: recorded LL, replayed Simple"}},
      {"what every replay has",
       {},
       {{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT"}, {"NCCL_NVLS_ENABLE", "0"}},
       {},
       1,
       {},
       {}},
      {"what pseudo-hosts have",
       {},
       {{"NCCL_NET", "Socket"}, {"NCCL_SOCKET_IFNAME", "lo"}},
       {},
       2,
       {},
       {}},
      {"the same without them",
       {},
       {{"NCCL_NET", "Socket"}},
       {},
       1,
       {},
       {"set for the replay: NCCL_NET=Socket"}},
      {"varied", {}, {}, {{"NCCL_PROTO", "LL"}}, 1, {}, {"set for the trial: NCCL_PROTO=LL"}},
      {"of some ranks",
       {{"NCCL_ALGO", "Ring", {1}, ""}},
       {{"NCCL_ALGO", "Tree"}},
       {},
       1,
       {"NCCL_ALGO=Ring"},
       {}},
  };
  for (const KeptRow& row : rows) {
    ReplayPlan plan = testing::healthy_plan();
    plan.settings = row.planned;
    ReplayOutcome outcome = testing::outcome_of({});
    outcome.settings = row.in_force;
    outcome.pseudo_hosts = row.pseudo_hosts;
    RunOutcome run;
    run.settings = row.varied;
    const SettingsKept kept = settings_kept(plan, outcome, run);
    EXPECT_EQ(kept.held, row.held) << row.name;
    EXPECT_EQ(kept.changed, row.changed) << row.name;
  }
}

}  // namespace
}  // namespace ncclog
