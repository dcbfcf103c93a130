// Programs that play ncclog-replay: they write a prepared outcome where they are told to.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/commands/replay.h"
#include "base/error.h"
#include "base/text.h"
#include "replay/judge/outcome.h"
#include "replay/judge/verdict.h"
#include "replay/plan/plan_json.h"
#include "support/named_pipe.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/replay_samples.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

/// A folder with a plan, and a runner that does as a test says.
class Bench {
 public:
  explicit Bench(const ReplayPlan& plan) : plan_text_(write_plan(plan)) {
    folder_.add("plan.json", plan_text_);
  }

  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  /// The runner writes `outcome`, and then does what `script` says.
  void runner(ReplayOutcome outcome, const std::string& script = "exit 0") {
    outcome.plan = plan_hash(plan_text_);
    folder_.add("prepared.json", write_outcome(outcome));
    runner_script("cp '" + path("prepared.json").string() + "' \"$4/outcome.json\"\n" + script);
  }

  /// $2 is the plan, $4 the folder.
  void runner_script(const std::string& script) {
    folder_.add("runner",
                "#!/bin/sh\necho \"$@\" > '" + path("words").string() + "'\n" + script + "\n");
    chmod(path("runner").c_str(), 0755);
  }

  Outcome run(const std::vector<std::string>& further = {"--yes"}) const {
    std::vector<std::string> words = {
        ncclog_binary().string(), "replay", "run", "plan.json", "--runner",
        path("runner").string(),  "--out",  "out"};
    words.insert(words.end(), further.begin(), further.end());
    return run_command({.arguments = words, .folder = folder_.path().string()});
  }

 private:
  TempDir folder_;
  std::string plan_text_;
};

std::vector<RunOutcome> hang_and_clean() {
  return {hung_run(MadeIn::Defect, *skipping_plan().hypothesis.front),
          completed_run(MadeIn::Clean)};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(ReplayRun, JudgesWhatTheRunnerDid) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  const Outcome out = bench.run();
  EXPECT_EQ(out.exit_code, 0) << out.standard_error;
  EXPECT_EQ(first_line(out.standard_output), "reproduced-hypothesis (likely)");
  EXPECT_EQ(out.standard_error, "wrote out/result.json\n");
  const ReplayResult result = parse_result(read_file(bench.path("out/result.json")), "result.json");
  EXPECT_EQ(result.verdict.kind, ReplayVerdictKind::ReproducedHypothesis);
  EXPECT_EQ(result.plan, plan_hash(read_file(bench.path("plan.json"))));
}

TEST(ReplayRun, ReadsTheRunsOwnLogsBack) {
  Bench bench(skipping_plan());
  std::vector<RunOutcome> runs = hang_and_clean();
  runs[1].logs = "run-2-clean";
  const std::string head = "lab:4700:4700 [0] NCCL INFO ";
  bench.runner(outcome_of(runs), "mkdir \"$4/run-2-clean\"\necho '" + head +
                                     "NCCL version 2.21.5+cuda13.0' > \"$4/run-2-clean/nccl.log\"");
  const Outcome out = bench.run();
  EXPECT_NE(out.standard_output.find("  - NCCL: recorded 2.28.9, replayed 2.21.5\n"),
            std::string::npos)
      << out.standard_output;
}

TEST(ReplayRun, ReadsNoLogsOutsideItsFolder) {
  Bench bench(skipping_plan());
  std::vector<RunOutcome> runs = hang_and_clean();
  runs[0].logs = "../plan.json";
  runs[1].logs = "/etc";
  bench.runner(outcome_of(runs));
  EXPECT_EQ(bench.run().exit_code, 0);
}

struct StatusRow {
  const char* name;
  std::vector<RunOutcome> runs;
  int exit_code;
};

TEST(ReplayRun, TellsTheKindByItsExitStatus) {
  const FrontLine front = *skipping_plan().hypothesis.front;
  const std::vector<StatusRow> rows = {
      {"clean-without-defect", {completed_run(MadeIn::Clean)}, 0},
      {"reproduced-fault", {hung_run(MadeIn::Clean, front)}, 1},
      {"inconclusive", {hung_run(MadeIn::Defect, front)}, 3},
      // Without a log to be read back nothing can be compared.
      {"not-comparable", {completed_run(MadeIn::Defect), completed_run(MadeIn::Clean)}, 3},
  };
  for (const StatusRow& row : rows) {
    Bench bench(skipping_plan());
    bench.runner(outcome_of(row.runs));
    const Outcome out = bench.run({"--yes", "--quiet"});
    EXPECT_EQ(out.exit_code, row.exit_code) << row.name;
    EXPECT_TRUE(out.standard_output.starts_with(row.name)) << out.standard_output;
  }
}

TEST(ReplayRun, PassesARefusalOn) {
  Bench bench(skipping_plan());
  ReplayOutcome refused;
  refused.refused = "the plan needs 2 GPUs, this machine has 1";
  bench.runner(refused, "exit 2");
  const Outcome out = bench.run({"--yes", "--quiet"});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_output, "refused: the plan needs 2 GPUs, this machine has 1\n");
}

TEST(ReplayRun, SaysWhyThereIsNoOutcome) {
  Bench bench(skipping_plan());
  bench.runner_script("echo 'libcudart.so.13: cannot open shared object file' >&2; exit 127");
  const Outcome out = bench.run();
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_NE(out.standard_error.find(
                "runner: it cannot be loaded: libcudart.so.13: cannot open shared object file\n"),
            std::string::npos)
      << out.standard_error;
}

TEST(ReplayRun, JudgesWhatAKilledRunnerHadDone) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of({hung_run(MadeIn::Defect, *skipping_plan().hypothesis.front)}),
               "kill -9 $$");
  const Outcome out = bench.run();
  EXPECT_EQ(out.exit_code, 3);
  EXPECT_EQ(first_line(out.standard_output), "inconclusive");
  EXPECT_NE(out.standard_error.find("it was ended by signal 9; what it had done by then is judged"),
            std::string::npos)
      << out.standard_error;
}

TEST(ReplayRun, KeepsTheOutcomeOfAnEarlierReplay) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  EXPECT_EQ(bench.run().exit_code, 0);
  const std::string earlier = read_file(bench.path("out/outcome.json"));
  bench.runner(outcome_of({completed_run(MadeIn::Clean)}));
  const Outcome out = bench.run();
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_error,
            "ncclog: out: holds the outcome of another replay\n  hint: choose another --out\n");
  EXPECT_EQ(read_file(bench.path("out/outcome.json")), earlier);
}

TEST(ReplayRun, DoesNotTakeAnEarlierRefusalForThisOne) {
  Bench bench(skipping_plan());
  ReplayOutcome refused;
  refused.refused = "GPU 0 is busy";
  bench.runner(refused, "exit 2");
  EXPECT_EQ(bench.run().exit_code, 2);
  bench.runner_script("exit 2");
  const Outcome out = bench.run();
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_EQ(out.standard_output, "");
}

TEST(ReplayRun, HandsItsFlagsOn) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  bench.run({"--yes", "--mode", "defect", "--hosts", "2", "--set", "NCCL_ALGO=Ring", "--vary",
             "NCCL_P2P_DISABLE=0,1", "--devices", "2,3", "--time", "20", "--deadline", "5",
             "--share", "--nccl", "lib.so"});
  EXPECT_EQ(
      read_file(bench.path("words")),
      "run out/plan.json --out out --mode defect --judged --hosts 2 --set NCCL_ALGO=Ring --vary "
      "NCCL_P2P_DISABLE=0,1 --devices 2,3 --nccl lib.so --time 20 --deadline 5 --share\n");
}

TEST(ReplayRun, AsksBeforeItUsesGpus) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  const Outcome out = bench.run({});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_TRUE(out.standard_error.starts_with("2 ranks on 2 GPUs of this machine, 2 runs (both)\n"))
      << out.standard_error;
  EXPECT_TRUE(out.standard_error.ends_with(
      "ncclog: replay run: nobody is there to confirm it\n  hint: give --yes\n"));
  EXPECT_FALSE(std::filesystem::exists(bench.path("out")));
}

TEST(ReplayRun, WaitsAsLongAsTheRunnerKeepsDeadlines) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  // Per run 60 s to start, 120 s to initialise, 3 x 5 s for calls, 47 s of graces.
  EXPECT_NE(bench.run({"--deadline", "5"}).standard_error.find("at most 8 min 4 s"),
            std::string::npos);
  // And 2 s for each of 20 repetitions.
  EXPECT_NE(
      bench.run({"--deadline", "5", "--time", "20"}).standard_error.find("at most 9 min 24 s"),
      std::string::npos);
}

TEST(ReplayRun, CountsVariationsWithoutEnd) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i) words.insert(words.end(), {"--vary", "NCCL_ALGO=Ring,Tree"});
  EXPECT_NE(bench.run(words).standard_error.find("10000 runs"), std::string::npos);
}

struct MistakeRow {
  std::vector<std::string> words;
  const char* complaint;
};

TEST(ReplayRun, NamesAMistakeBeforeAnythingIsRun) {
  const std::vector<MistakeRow> rows = {
      {{"--mode", "defct"},
       "ncclog: --mode: unknown value 'defct'\n  hint: did you mean 'defect'?\n"},
      {{"--set", "NCCL_ALGO"},
       "ncclog: --set: no setting: 'NCCL_ALGO'\n  hint: write NAME=VALUE\n"},
      {{"--vary", "=1"}, "ncclog: --vary: no setting: '=1'\n  hint: write NAME=VALUE\n"},
      {{"--time", "-1"}, "ncclog: --time: not a number from 1 to 300: '-1'\n"},
      {{"--time", "20000"}, "ncclog: --time: not a number from 1 to 300: '20000'\n"},
      {{"--hosts", "0"}, "ncclog: --hosts: not a number from 1 to 1024: '0'\n"},
      {{"--deadline", "0"}, "ncclog: --deadline: not a number from 1 to 3600: '0'\n"},
      {{"--gpus", "1"}, "ncclog: --gpus: not a number from 2 to 1048576: '1'\n"},
      {{"other.json"},
       "ncclog: replay run: one plan is wanted, not 2\n  hint: replay them one after the other\n"},
      {{"-o", "./plan.json"},
       "ncclog: ./plan.json: is the plan itself\n  hint: name another file\n"},
      {{"-o", "out/outcome.json"},
       "ncclog: out/outcome.json: is what the replay itself writes\n  hint: name another file\n"},
      {{"-o", "nowhere/r.json"},
       "ncclog: nowhere: no such folder\n  hint: make it first: mkdir -p nowhere\n"},
  };
  for (const MistakeRow& row : rows) {
    Bench bench(skipping_plan());
    bench.runner(outcome_of(hang_and_clean()));
    std::vector<std::string> words = row.words;
    words.push_back("--yes");
    const Outcome out = bench.run(words);
    EXPECT_EQ(out.exit_code, 2) << row.complaint;
    EXPECT_EQ(out.standard_error, row.complaint);
    EXPECT_FALSE(std::filesystem::exists(bench.path("words")));
  }
}

TEST(ReplayRun, KeepsWhatCameOutOfAnotherPlan) {
  Bench bench(skipping_plan());
  bench.runner(outcome_of(hang_and_clean()));
  EXPECT_EQ(bench.run().exit_code, 0);
  const std::string result = read_file(bench.path("out/result.json"));
  ReplayPlan other = skipping_plan();
  other.deadlines.completion = 7;
  std::ofstream(bench.path("plan.json")) << write_plan(other);
  for (const char* left : {"plan.json", "outcome.json", "result.json"}) {
    const Outcome out = bench.run();
    EXPECT_EQ(out.exit_code, 2) << left;
    EXPECT_EQ(out.standard_error,
              "ncclog: out: holds another plan, or what came out of it\n  hint: choose another "
              "--out\n");
    EXPECT_EQ(read_file(bench.path("out/result.json")), result);
    std::filesystem::remove(bench.path("out") / left);
  }
}

TEST(ReplayRun, RefusesAPlanThatMakesNoSense) {
  ReplayPlan plan = skipping_plan();
  plan.communicators[0].ranks = {0, 0};
  Bench bench(plan);
  bench.runner(outcome_of(hang_and_clean()));
  EXPECT_EQ(bench.run().exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(bench.path("words")));
}

RunnerEnd run_script(const std::string& script, double most_seconds = 20, double grace = 20) {
  return run_runner({"/bin/sh", "-c", script}, {most_seconds, grace, false});
}

TEST(RunRunner, TellsHowItEndedAndWhatItSaidLast) {
  EXPECT_EQ(runner_trouble(run_script("echo fine")), "");
  EXPECT_EQ(runner_trouble(run_script("echo first; echo 'no GPU is here' >&2; exit 2")),
            "it ended with status 2: no GPU is here");
  EXPECT_EQ(runner_trouble(run_script("kill -9 $$")), "it was ended by signal 9");
}

TEST(RunRunner, SaysWhichLibraryIsMissing) {
  EXPECT_EQ(runner_trouble(run_script("echo 'error while loading shared libraries: libx.so.1: "
                                      "cannot open' >&2; exit 127")),
            "it cannot be loaded: error while loading shared libraries: libx.so.1: cannot open");
}

TEST(RunRunner, EndsWhatTakesTooLong) {
  const RunnerEnd end = run_script("exec sleep 600", 0.1);
  EXPECT_TRUE(end.expired);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(runner_trouble(end), "it took longer than it can need, and was ended");
}

TEST(RunRunner, KillsWhatDoesNotEndWhenItIsTold) {
  // What is blocked here is blocked in the script, however late that begins.
  sigset_t told;
  sigset_t before;
  sigemptyset(&told);
  sigaddset(&told, SIGTERM);
  sigprocmask(SIG_BLOCK, &told, &before);
  const RunnerEnd end = run_script("exec sleep 600", 0.1, 0.1);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(end.expired);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(RunRunner, HandsARequestToStopOn) {
  const testing::TempDir folder;
  testing::NamedPipe ready(folder.path() / "ready");
  std::thread user([&ready] {
    ready.wait();
    kill(getpid(), SIGINT);
  });
  const RunnerEnd end =
      run_script("trap 'echo cleaned; exit 130' INT; " + ready.tell_and_wait(), 120);
  user.join();
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(end.last_words, "cleaned\n");
}

TEST(RunRunner, EndsWithWhoeverStartedIt) {
  const testing::TempDir folder;
  testing::NamedPipe ready(folder.path() / "ready");
  testing::NamedPipe told(folder.path() / "told");
  const std::string script =
      "trap 'echo >" + told.path() + "; exit' TERM; " + ready.tell_and_wait();
  const pid_t starter = fork();
  if (starter == 0) {
    run_script(script, 120);
    _exit(0);
  }
  EXPECT_TRUE(ready.wait());
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  EXPECT_TRUE(told.wait());
}

TEST(RunRunner, DoesNotWaitForOthersThatHoldItsOutput) {
  const testing::TempDir folder;
  testing::NamedPipe never(folder.path() / "never");
  // The other one reads until this test opens the pipe and closes it again.
  const RunnerEnd end = run_script("cat " + never.path() + " & echo done", 120);
  EXPECT_EQ(end.last_words, "done\n");
  ASSERT_FALSE(end.expired);
  std::ofstream(never.path()).flush();
}

TEST(RunRunner, KeepsTheLastOfLongOutput) {
  const RunnerEnd end =
      run_script("i=0; while [ $i -lt 3000 ]; do echo line$i; i=$((i+1)); done; exit 2");
  EXPECT_EQ(runner_trouble(end), "it ended with status 2: line2999");
  EXPECT_LE(end.last_words.size(), 4096u);
}

TEST(FindRunner, TakesTheNamedProgramOrSaysThatItIsNone) {
  testing::TempDir folder;
  folder.add("ncclog-replay", "#!/bin/sh\n");
  const std::string path = (folder.path() / "ncclog-replay").string();
  try {
    find_runner(path);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "is no program that can be started");
  }
  chmod(path.c_str(), 0755);
  EXPECT_EQ(find_runner(path), path);
  EXPECT_THROW(find_runner((folder.path() / "nothing").string()), Error);
}

TEST(RunRunner, ThrowsForWhatCannotBeStarted) {
  EXPECT_THROW(run_runner({"/nonexistent/ncclog-replay"}, {}), Error);
}

}  // namespace
}  // namespace ncclog::testing
