#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "app/commands/replay.h"
#include "base/error.h"
#include "support/paths.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

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
  const RunnerEnd end = run_script("sleep 30", 0.1);
  EXPECT_TRUE(end.expired);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_EQ(runner_trouble(end), "it took longer than it can need, and was ended");
}

TEST(RunRunner, KillsWhatDoesNotEndWhenItIsTold) {
  const RunnerEnd end = run_script("trap '' TERM; while :; do sleep 0.05; done", 3, 0.1);
  EXPECT_TRUE(end.expired);
  EXPECT_EQ(end.signal, SIGKILL);
}

/// True once a file of that name is there; waits for it for a while.
bool appears(const std::filesystem::path& file) {
  for (int i = 0; i < 1200 && !std::filesystem::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::filesystem::exists(file);
}

TEST(RunRunner, HandsARequestToStopOn) {
  const testing::TempDir folder;
  const std::filesystem::path ready = folder.path() / "ready";
  std::thread user([&ready] {
    appears(ready);
    kill(getpid(), SIGINT);
  });
  const RunnerEnd end = run_script("trap 'echo cleaned; exit 130' INT; touch " + ready.string() +
                                       "; while :; do sleep 0.05; done",
                                   120);
  user.join();
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(end.last_words, "cleaned\n");
}

TEST(RunRunner, EndsWithWhoeverStartedIt) {
  const testing::TempDir folder;
  const std::string script = "cd " + folder.path().string() +
                             "; trap 'touch told; exit' TERM; touch ready; "
                             "while :; do sleep 0.05; done";
  const pid_t starter = fork();
  if (starter == 0) {
    run_script(script);
    _exit(0);
  }
  EXPECT_TRUE(appears(folder.path() / "ready"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "told"));
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  EXPECT_TRUE(appears(folder.path() / "told"));
}

TEST(RunRunner, DoesNotWaitForOthersThatHoldItsOutput) {
  EXPECT_EQ(run_script("sleep 5 & echo done").last_words, "done\n");
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

}  // namespace ncclog
