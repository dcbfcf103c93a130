// Whatever ranks do, a run ends in time, says why, and leaves nothing behind. The ranks are those
// of support/fake_rank.cc.

#include "replay/run/coordinator.h"

#include <gtest/gtest.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "replay/plan/plan_json.h"
#include "replay/run/gpus.h"
#include "replay/run/processes.h"
#include "support/named_pipe.h"
#include "support/paths.h"
#include "support/replay_trial.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

using std::chrono::milliseconds;

/// Short only where a row waits for the end of it, and even there so long that a busy machine gets
/// the other rank through.
RunLimits limits_for(ReplayPhase hanging, std::string_view misdeeds = "") {
  const auto has = [misdeeds](std::string_view word) {
    return misdeeds.find(word) != misdeeds.npos;
  };
  const bool is_deaf = has("deaf") || has("flood") || has("stubborn");
  RunLimits limits;
  limits.phases.fill(milliseconds(60000));
  if (hanging < ReplayPhase::Done) {
    limits.phases[static_cast<size_t>(hanging)] = milliseconds(3000);
  }
  limits.abort_grace = milliseconds(is_deaf ? 3000 : 20000);
  limits.terminate_grace = milliseconds(has("stubborn") ? 1000 : 20000);
  limits.kill_grace = milliseconds(20000);
  return limits;
}

/// A run of two_rank_plan() with misdeeds.
struct MisdeedTrial {
  ReplayPlan plan = two_rank_plan();
  TempDir folder;
  std::string plan_file = folder.add("plan.json", write_plan(plan));
  RunRequest request;
  std::string misdeeds;

  explicit MisdeedTrial(std::string_view what, MadeIn mode = MadeIn::Clean) : misdeeds(what) {
    request.plan = &plan;
    request.mode = mode;
    request.gpus = {0, 1};
    request.limits = limits_for(ReplayPhase::Done);
    request.token = random_token();
    add_process(0);
    add_process(1);
  }

  void add_process(int rank) {
    ProcessStart start{
        .program = (build_dir() / "tests/fake_rank").native(),
        .arguments = arguments_of({.mode = request.mode, .rank = rank, .gpu = rank}, plan_file, ""),
        .environment =
            environment_of(plan, rank, {.logs = folder.path().native(), .token = request.token},
                           this_environment()),
        .output = (folder.path() / ("rank-" + std::to_string(rank) + ".out")).native()};
    start.environment["FAKE_RANK"] = misdeeds;
    start.environment["FAKE_SHARED_MEMORY"] = folder.path().native();
    request.processes.push_back(std::move(start));
  }

  RunResult run() { return coordinate(request); }
};

/// "hung completion: completion was not over …", with pids made equal.
std::string end_of(const RunOutcome& run) {
  std::string text = std::string(to_string(run.end)) + " " + std::string(to_string(run.phase));
  std::string reason = run.reason;
  for (const RankOutcome& rank : run.ranks) {
    const std::string pid = "pid " + std::to_string(rank.pid);
    const size_t at = reason.find(pid);
    if (at != std::string::npos) reason.replace(at, pid.size(), "pid N");
  }
  return reason.empty() ? text : text + ": " + reason;
}

/// "by-itself 0, killed 9": how the processes of the ranks ended.
std::string ends_of(const RunOutcome& run) {
  std::string text;
  for (const RankOutcome& rank : run.ranks) {
    if (!text.empty()) text += ", ";
    text += std::string(to_string(rank.end)) + " " +
            std::to_string(rank.signal != 0 ? rank.signal : rank.exit_code);
  }
  return text;
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

/// The phase that a row expects to hang, "hung init: …"; Done: none does.
ReplayPhase hanging_phase(std::string_view end) {
  if (!end.starts_with("hung ")) return ReplayPhase::Done;
  end.remove_prefix(5);
  const auto words = words_of_enum<ReplayPhase>();
  const auto word = std::ranges::find(words, end.substr(0, end.find(':')));
  return static_cast<ReplayPhase>(word - words.begin());
}

struct MisdeedRow {
  const char* name;
  const char* misdeeds;
  const char* end;
  const char* ends;  ///< Empty: depends on how far the other rank is by then.
};

void PrintTo(const MisdeedRow& row, std::ostream* out) { *out << row.misdeeds; }

constexpr MisdeedRow kMisdeeds[] = {
    {"NoMisdeed", "", "completed done", "by-itself 0, by-itself 0"},
    {"WrongData", "1:wrong:teardown:3",
     "wrong teardown: rank 1: 3 of 3072 elements are wrong, the first is element 7 of call 1: 4 "
     "instead of 3",
     "by-itself 0, by-itself 0"},
    {"HangInInit", "1:hang:init", "hung init: init was not over after 3 s; not through: rank 1",
     "on-abort 3, on-abort 3"},
    {"HangInEnqueue", "0:hang:enqueue",
     "hung enqueue: enqueue was not over after 3 s; not through: rank 0", "on-abort 3, on-abort 3"},
    {"DeafInCompletion", "0:hang:completion 1:deaf:completion",
     "hung completion: completion was not over after 3 s; not through: ranks 0,1",
     "on-abort 3, terminated 15"},
    {"StubbornInCompletion", "0:stubborn:completion",
     "hung completion: completion was not over after 3 s; not through: rank 0",
     "killed 9, on-abort 3"},
    {"HangInTeardown", "1:hang:teardown",
     "hung teardown: teardown was not over after 3 s; not through: rank 1",
     "by-itself 0, on-abort 3"},
    {"DeafWhenDone", "1:deaf:done",
     "hung teardown: teardown was not over after 3 s; all ranks were done, but a process of "
     "theirs "
     "did not end",
     "by-itself 0, terminated 15"},
    {"KilledInCompletion", "1:die:completion:9",
     "died completion: rank 1 (pid N) was killed by SIGKILL in completion",
     "on-abort 3, by-itself 9"},
    {"CrashAtStart", "0:die:start:11", "died start: rank 0 (pid N) was killed by SIGSEGV in start",
     ""},
    {"ExitInEnqueue", "1:exit:enqueue:4",
     "died enqueue: rank 1 (pid N) ended in enqueue without a word, with exit status 4 (its last "
     "line: fake: cannot go on)",
     "on-abort 3, by-itself 4"},
    {"ExitAtStart", "1:exit:start:1",
     "not-started start: rank 1 (pid N) ended in start without a word, with exit status 1 (its "
     "last "
     "line: fake: cannot go on)",
     ""},
    {"ErrorInEnqueue", "1:error:enqueue",
     "failed enqueue: rank 1: ncclAllReduce on communicator 0: fake", "on-abort 3, on-abort 3"},
    {"Garbage", "0:garbage:init", "failed init: rank 0 sent what is no message",
     "on-abort 3, on-abort 3"},
    {"OutOfTurn", "0:early:enqueue",
     "failed enqueue: rank 0 says that it is at done while it is in enqueue",
     "on-abort 3, on-abort 3"},
    {"ChildLeftBehind", "1:child:completion", "completed done", "by-itself 0, by-itself 0"},
};

TEST(Coordinator, EndsARankThatFloodsItWithMessages) {
  MisdeedTrial trial("1:flood:completion");
  trial.request.limits = limits_for(ReplayPhase::Completion, "flood");
  const RunResult result = trial.run();
  // How far the other rank came by then depends on the machine.
  EXPECT_EQ(result.run.end, RunEnd::Hung) << result.run.reason;
  EXPECT_EQ(result.run.phase, ReplayPhase::Completion);
  EXPECT_EQ(result.run.ranks[1].end, ProcessEnd::Terminated);
}

class EveryRun : public ::testing::TestWithParam<MisdeedRow> {};

TEST_P(EveryRun, EndsAndSaysWhy) {
  const size_t descriptors = open_descriptors();
  const MisdeedRow& row = GetParam();
  MisdeedTrial trial(row.misdeeds);
  trial.request.limits = limits_for(hanging_phase(row.end), row.misdeeds);
  const RunResult result = trial.run();
  EXPECT_EQ(end_of(result.run), row.end);
  if (*row.ends != '\0') {
    EXPECT_EQ(ends_of(result.run), row.ends);
  }
  end_strays(result.pids, trial.request.token);
  for (pid_t pid : result.pids) EXPECT_NE(kill(pid, 0), 0);
  EXPECT_EQ(open_descriptors(), descriptors);
}

INSTANTIATE_TEST_SUITE_P(Coordinator, EveryRun, ::testing::ValuesIn(kMisdeeds),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Coordinator, EndsRanksThatNeverConnect) {
  MisdeedTrial trial("");
  trial.request.limits.phases[0] = milliseconds(100);
  // Started like a rank, and says nothing.
  trial.request.processes[1].program = "/bin/sleep";
  trial.request.processes[1].arguments = {"sleep", "60"};
  const RunResult result = trial.run();
  EXPECT_EQ(result.run.end, RunEnd::NotStarted);
  EXPECT_EQ(result.run.ranks[1].end, ProcessEnd::Terminated);
}

TEST(Coordinator, SaysThatAProgramCannotBeStarted) {
  MisdeedTrial trial("");
  trial.request.processes[1].program = "/nowhere/fake_rank";
  const RunResult result = trial.run();
  EXPECT_EQ(end_of(result.run),
            "not-started start: /nowhere/fake_rank cannot be started: No such file or directory");
}

TEST(Coordinator, FindsTheFrontOfAHang) {
  MisdeedTrial trial("0:enter:enqueue:3 1:enter:enqueue:2", MadeIn::Defect);
  trial.request.limits = limits_for(ReplayPhase::Enqueue);
  const RunResult result = trial.run();
  EXPECT_EQ(result.run.end, RunEnd::Hung);
  EXPECT_EQ(result.run.phase, ReplayPhase::Enqueue);
  ASSERT_TRUE(result.run.front.has_value());
  // Rank 1 has an open call as well: the first call that is not through is the one before.
  EXPECT_EQ(*result.run.front, (FrontLine{0, 21, {0, 1}, {}}));
}

TEST(Coordinator, TakesOverWhatRanksReport) {
  const RunResult result = MisdeedTrial("").run();
  const RankOutcome& rank = result.run.ranks[1];
  EXPECT_EQ(result.nccl_version, "2.28.9");
  EXPECT_EQ(rank.reached, ReplayPhase::Done);
  EXPECT_EQ(rank.gpu, 1);
  EXPECT_EQ(rank.entered, 3U);
  EXPECT_EQ(rank.completed, 3U);
  EXPECT_TRUE(rank.open.empty());
  EXPECT_EQ(rank.init_seconds, 0.25);
  EXPECT_EQ(rank.verified.elements, 3072U);
}

TEST(Coordinator, EndsTheRunOnASignal) {
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGUSR1);
  sigprocmask(SIG_BLOCK, &stops, &before);
  MisdeedTrial trial("1:hang:completion");
  trial.request.stop_descriptor = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  raise(SIGUSR1);
  const RunResult result = trial.run();
  close(trial.request.stop_descriptor);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(result.stop_signal, SIGUSR1);
  EXPECT_EQ(result.run.reason, "the run was interrupted by SIGUSR1");
}

TEST(Coordinator, TakesItsRanksWithItWhenItIsKilled) {
  MisdeedTrial trial("0:stubborn:init 1:stubborn:init");
  NamedPipe ready(trial.folder.path() / "ready");
  for (ProcessStart& start : trial.request.processes)
    start.environment["FAKE_READY"] = ready.path();
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    trial.run();
    _exit(0);
  }
  EXPECT_TRUE(ready.wait(2)) << "both ranks are there";
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  EXPECT_TRUE(ready.wait_for_end());
  EXPECT_TRUE(end_strays({}, trial.request.token).empty());
}

TEST(Coordinator, LeavesNothingAfterTwentyHangs) {
  const AdoptsNobodyAfterwards afterwards;
  adopt_orphans();
  const size_t descriptors = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    MisdeedTrial trial("0:hang:completion 1:segment:init:" + std::to_string(round) +
                       " 1:orphan:init 1:deaf:completion");
    trial.request.limits.phases[3] = milliseconds(20);
    trial.request.limits.abort_grace = milliseconds(20);
    const RunResult result = trial.run();
    ASSERT_EQ(result.run.end, RunEnd::Hung) << result.run.reason;
    EXPECT_EQ(end_strays(result.pids, trial.request.token).size(), 1U);
    // Not in the system's own folder, where other tests may leave things at the same time.
    const std::string shared = trial.folder.path().native();
    const std::string left = shared + "/nccl-fake" + std::to_string(round) + " (removed)";
    EXPECT_EQ(remove_segments({}, result.segments, shared), std::vector<std::string>{left});
    EXPECT_TRUE(segments_in(shared).empty());
    for (pid_t pid : result.pids) EXPECT_NE(kill(pid, 0), 0);
  }
  EXPECT_EQ(open_descriptors(), descriptors);
}

}  // namespace
}  // namespace ncclog::testing
