// `ncclog-replay run` as a whole, with the ranks and the probe of support/fake_rank.cc.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan_json.h"
#include "replay/run/coordinator.h"
#include "support/named_pipe.h"
#include "support/paths.h"
#include "support/replay_trial.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

using std::chrono::milliseconds;

/// A variable that fake ranks read, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// A carried-out replay of the plan, on a machine with three idle GPUs that do not exist.
struct CarriedOut {
  AdoptsNobodyAfterwards afterwards;
  TempDir folder;
  // Other tests may leave things in the system's own at the same time.
  Variable shared_memory{"FAKE_SHARED_MEMORY", folder.path().native()};
  ReplayMachine machine;
  RunFlags flags;
  RunLimits limits;
  std::ostringstream says;
  int status = -1;

  CarriedOut() {
    for (int index = 0; index < 3; ++index) {
      machine.gpus.push_back(
          {{index, "NVIDIA H200", "0000:0a:00.0", 1LL << 37}, 1LL << 37, std::vector<int64_t>()});
    }
    machine.shared_folder = folder.path().native();
    machine.program = (build_dir() / "tests/fake_rank").native();
    flags.plan = folder.add("plan.json", write_plan(two_rank_plan()));
    flags.out = (folder.path() / "out").native();
    limits.phases.fill(milliseconds(60000));
    limits.phases[static_cast<size_t>(ReplayPhase::Completion)] = milliseconds(3000);
    limits.abort_grace = milliseconds(3000);
    limits.terminate_grace = milliseconds(1000);
  }

  ReplayOutcome carry_out(const char* misdeeds = "") {
    const Variable in_force("FAKE_RANK", misdeeds);
    status = ncclog::carry_out(flags, machine, says, limits);
    return outcome();
  }

  ReplayOutcome outcome() const {
    const auto path = std::filesystem::path(flags.out) / "outcome.json";
    return parse_outcome(read_file(path), path.native());
  }
};

TEST(CarryOut, MakesBothRunsAndWritesWhatCameOfThem) {
  CarriedOut trial;
  const ReplayOutcome outcome = trial.carry_out("0@defect:hang:completion");
  EXPECT_EQ(trial.status, 0);
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(outcome.runs[0].mode, MadeIn::Defect);
  EXPECT_EQ(outcome.runs[0].end, RunEnd::Hung);
  EXPECT_EQ(outcome.runs[0].logs, "run-1-defect");
  EXPECT_EQ(outcome.runs[1].mode, MadeIn::Clean);
  EXPECT_EQ(outcome.runs[1].end, RunEnd::Completed) << outcome.runs[1].reason;
  EXPECT_TRUE(outcome.runs[1].leftovers.empty());
  ASSERT_EQ(outcome.runs[1].gpus.size(), 2U);
  EXPECT_TRUE(outcome.runs[1].gpus[1].answers);
  EXPECT_EQ(outcome.runs[1].gpus[1].free_before, outcome.runs[1].gpus[1].free_after);
  EXPECT_EQ(outcome.plan, plan_hash(read_file(trial.flags.plan)));
  EXPECT_EQ(outcome.nccl_version, "2.28.9");
  EXPECT_EQ(outcome.pseudo_hosts, 2);
  EXPECT_EQ(outcome.gpus.size(), 2U);
  EXPECT_TRUE(outcome.refused.empty());
}

TEST(CarryOut, GivesRanksTheirGpus) {
  CarriedOut trial;
  trial.flags.devices = {2, 0};
  trial.flags.mode = "clean";
  const ReplayOutcome outcome = trial.carry_out();
  ASSERT_EQ(outcome.runs.size(), 1U);
  EXPECT_EQ(outcome.runs[0].ranks[0].gpu, 2);
  EXPECT_EQ(outcome.runs[0].ranks[1].gpu, 0);
}

TEST(CarryOut, TellsWhatARunLeftBehind) {
  CarriedOut trial;
  trial.flags.mode = "clean";
  const ReplayOutcome outcome = trial.carry_out("0:segment:init:7 1:orphan:init");
  ASSERT_EQ(outcome.runs.size(), 1U);
  ASSERT_EQ(outcome.runs[0].leftovers.size(), 2U);
  EXPECT_TRUE(outcome.runs[0].leftovers[0].ends_with("(fake_rank), killed"))
      << outcome.runs[0].leftovers[0];
  EXPECT_EQ(outcome.runs[0].leftovers[1], trial.machine.shared_folder + "/nccl-fake7 (removed)");
}

TEST(CarryOut, MakesNoFurtherRunAfterOneThatCouldNotStart) {
  CarriedOut trial;
  const ReplayOutcome outcome = trial.carry_out("1:exit:start:1");
  EXPECT_EQ(trial.status, 0);
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(outcome.runs[0].end, RunEnd::NotStarted);
  EXPECT_EQ(outcome.runs[1].end, RunEnd::NotStarted);
  EXPECT_EQ(outcome.runs[1].reason, "the run before could not be started");
}

struct Refusal {
  const char* what;
  void (*change)(CarriedOut& trial);
  const char* misdeeds;
  const char* refusal;
};

constexpr Refusal kRefusals[] = {
    {"a GPU that does not answer", [](CarriedOut&) {}, "1:probe:start",
     "GPU 1 does not answer: fake: it fell off the bus"},
    {"a GPU that never answers", [](CarriedOut& trial) { trial.limits.probe = milliseconds(100); },
     "0:probe-hang:start", "GPU 0 does not answer: it does not answer in time"},
    {"too few GPUs", [](CarriedOut& trial) { trial.machine.gpus.resize(1); }, "",
     "the plan needs 2 GPUs, one for each rank, and this machine has 1"},
    {"more pseudo-hosts than ranks", [](CarriedOut& trial) { trial.flags.hosts = 3; }, "",
     "--hosts 3 cannot be: the plan has 2 ranks"},
    {"a corruption that is none", [](CarriedOut& trial) { trial.flags.corrupt = "1:2"; }, "",
     "--corrupt wants RANK:CALL:ELEMENT"},
};

TEST(CarryOut, RefusesWithAnOutcome) {
  for (const Refusal& row : kRefusals) {
    CarriedOut trial;
    row.change(trial);
    const ReplayOutcome outcome = trial.carry_out(row.misdeeds);
    EXPECT_EQ(trial.status, 2) << row.what;
    EXPECT_EQ(outcome.refused, row.refusal);
    EXPECT_TRUE(outcome.runs.empty()) << row.what;
    EXPECT_TRUE(trial.says.str().starts_with("ncclog-replay: " + outcome.refused)) << row.what;
  }
}

TEST(CarryOut, LeavesTheTellingOfARefusalToWhoeverJudges) {
  CarriedOut trial;
  trial.flags.judged = true;
  trial.machine.gpus.resize(1);
  EXPECT_EQ(trial.carry_out().refused,
            "the plan needs 2 GPUs, one for each rank, and this machine has 1");
  EXPECT_EQ(trial.status, 2);
  EXPECT_EQ(trial.says.str(), "");
}

TEST(CarryOut, RefusesAPlanThatIsNoneOrUnsafe) {
  CarriedOut trial;
  trial.flags.plan = trial.folder.add("broken.json", "{");
  EXPECT_NE(trial.carry_out().refused, "");
  ReplayPlan plan = two_rank_plan();
  plan.communicators[0].ranks = {0, 0};
  trial.flags.plan = trial.folder.add("unsafe.json", write_plan(plan));
  EXPECT_TRUE(trial.carry_out().refused.starts_with("the plan is refused: "));
  trial.flags.plan = "/nowhere/plan.json";
  EXPECT_EQ(trial.carry_out().refused, "/nowhere/plan.json: the plan cannot be read");
}

TEST(CarryOut, KeepsLogsOfAnotherReplayApart) {
  CarriedOut trial;
  trial.folder.add("out/run-1-defect/nccl.node.7.log", "x");
  EXPECT_EQ(trial.carry_out().refused,
            (trial.folder.path() / "out/run-1-defect").native() + " is not empty");
}

TEST(CarryOut, KeepsTheOutcomeOfAnEarlierReplay) {
  CarriedOut trial;
  trial.flags.mode = "clean";
  const ReplayOutcome earlier = trial.carry_out();
  ASSERT_EQ(earlier.runs.size(), 1U);
  EXPECT_EQ(trial.carry_out(), earlier);
  EXPECT_EQ(trial.status, 2);
}

TEST(CarryOut, PassesSignalsOnToItsRanks) {
  CarriedOut trial;
  NamedPipe ready(trial.folder.path() / "ready");
  const Variable told("FAKE_READY", ready.path());
  const pid_t self = getpid();
  // A process, not a thread: the signal is held by the one that carries out alone.
  const pid_t killer = fork();
  if (killer == 0) {
    ready.wait();
    kill(self, SIGINT);
    _exit(0);
  }
  const ReplayOutcome outcome = trial.carry_out("0:hang:init");
  waitpid(killer, nullptr, 0);
  EXPECT_EQ(trial.status, 130);
  ASSERT_EQ(outcome.runs.size(), 1U);
  EXPECT_EQ(outcome.runs[0].reason, "the run was interrupted by SIGINT");
}

/// What a selftest on GPUs 0 and 2 says, each sentence without its time.
std::string selftest_of(CarriedOut& trial, const char* misdeeds) {
  const Variable in_force("FAKE_RANK", misdeeds);
  trial.flags.devices = {0, 2};
  trial.status = selftest(trial.flags, true, trial.machine, trial.says, trial.limits);
  return trial.says.str();
}

TEST(Selftest, MakesAllCallsAndFindsWhatItPlanted) {
  CarriedOut trial;
  const std::string said = selftest_of(trial, "");
  EXPECT_EQ(trial.status, 0) << said;
  EXPECT_NE(said.find("\nall calls: clean: completed; "), std::string::npos) << said;
  EXPECT_NE(said.find("\nAllReduce: clean: completed with wrong data at AllReduce, call "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("\nAllGather: clean: completed with wrong data at AllGather, call "),
            std::string::npos)
      << said;
  EXPECT_TRUE(said.ends_with("\npassed\n")) << said;
}

TEST(Selftest, FailsWhereAnElementIsWrong) {
  CarriedOut trial;
  const std::string said = selftest_of(trial, "1:wrong:completion:1");
  EXPECT_EQ(trial.status, 1);
  const auto at = said.find("failed; its logs are in ");
  ASSERT_NE(at, std::string::npos) << said;
  std::filesystem::remove_all(said.substr(at + 24, said.find('\n', at) - at - 24));
}

TEST(Selftest, LeavesNoFolderWhereItCannotRun) {
  CarriedOut trial;
  const auto temporary = trial.folder.path() / "temporary";
  std::filesystem::create_directory(temporary);
  const Variable own("TMPDIR", temporary.native());
  trial.machine.gpus.resize(1);
  selftest_of(trial, "");
  EXPECT_EQ(trial.status, 2);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST(Selftest, NeedsTwoGpus) {
  CarriedOut trial;
  trial.flags.devices = {1};
  EXPECT_THROW(selftest(trial.flags, true, trial.machine, trial.says), Error);
}

}  // namespace
}  // namespace ncclog::testing
