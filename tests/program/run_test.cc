// ncclog run around commands of every sort: their streams and ends are their own, and one report
// says how it went.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/named_pipe.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/slurm.h"
#include "support/temp_dir.h"

namespace ncclog::testing {
namespace {

namespace fs = std::filesystem;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A folder for logs, and the command in it.
class Run : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> flags, const std::string& script, Variables added = {}) {
    return run_until("", std::move(flags), script, std::move(added));
  }

  /// A script that reads a line waits for it until standard error holds `told`.
  Outcome run_until(std::string told, std::vector<std::string> flags, const std::string& script,
                    Variables added = {}) {
    std::vector<std::string> words = {ncclog_binary().string(), "run", "--logs", logs()};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return run_command({.arguments = std::move(words),
                        .until_told = std::move(told),
                        .environment = std::move(added)});
  }

  std::string logs() const { return (dir_.path() / "logs").string(); }

  /// The folders of all starts, sorted.
  std::vector<fs::path> starts() const {
    std::vector<fs::path> folders;
    if (!fs::exists(logs())) return folders;
    for (const auto& entry : fs::directory_iterator(logs())) folders.push_back(entry.path());
    std::ranges::sort(folders);
    return folders;
  }

  std::string report() const {
    const auto folders = starts();
    return folders.size() == 1 ? read_file(folders[0] / "report.md") : "not one start";
  }

  TempDir dir_;
};

/// A script that leaves the sample's logs where NCCL would have written.
std::string leave_logs(const std::string& sample) {
  return "cp " + sample_logs(sample).string() + "/*nccl*.txt \"$(dirname \"$NCCL_DEBUG_FILE\")\"; ";
}

TEST_F(Run, StreamsAndStatusAreTheCommands) {
  const Outcome out = run({"-q"}, "echo out; echo err >&2; exit 7");
  EXPECT_EQ(out.standard_output, "out\n");
  EXPECT_EQ(out.standard_error, "err\n");
  EXPECT_EQ(out.exit_code, 7);
}

TEST_F(Run, ACopyOfTheOutputChangesNothingOfIt) {
  const Outcome out = run({"-q", "--copy-output"}, "echo out; echo err >&2");
  EXPECT_EQ(out.standard_output, "out\n");
  EXPECT_EQ(out.standard_error, "err\n");
  ASSERT_EQ(starts().size(), 1U);
  EXPECT_EQ(read_file(starts()[0] / "stdout.task-0.log"), "out\n");
  EXPECT_EQ(read_file(starts()[0] / "stderr.task-0.log"), "err\n");
}

TEST_F(Run, ACommandThatSucceedsIsReportedAsFinished) {
  const Outcome out = run({}, leave_logs("healthy-2node-socket"));
  EXPECT_EQ(out.exit_code, 0);
  EXPECT_NE(out.standard_error.find("Ended: finished"), std::string::npos) << out.standard_error;
}

TEST_F(Run, ACommandThatFailsIsReportedAsFailed) {
  const Outcome out = run({}, leave_logs("healthy-2node-socket") + "exit 3");
  EXPECT_EQ(out.exit_code, 3);
  EXPECT_NE(out.standard_error.find("exited with status 3"), std::string::npos)
      << out.standard_error;
}

TEST_F(Run, ACommandThatPrintsNothingIsRecorded) {
  const Outcome out = run({}, "true");
  EXPECT_EQ(out.standard_output, "");
  EXPECT_EQ(out.exit_code, 0);
  ASSERT_EQ(starts().size(), 1U);
  EXPECT_NE(read_file(starts()[0] / "ncclog-run.task-0.log").find("exited with status 0"),
            std::string::npos);
}

TEST_F(Run, MuchOutputComesThroughWhole) {
  constexpr size_t kBytes = size_t{48} << 20;
  const std::string script = "head -c 50331648 /dev/zero";
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-q"}, std::vector<std::string>{"-q", "--copy-output"}}) {
    EXPECT_EQ(run(flags, script).standard_output.size(), kBytes);
  }
}

TEST_F(Run, ACommandThatIsKilledEndsSo) {
  const Outcome out = run({}, "kill -9 $$");
  EXPECT_EQ(out.exit_code, 128 + 9);
  ASSERT_EQ(starts().size(), 1U);
  EXPECT_NE(
      read_file(starts()[0] / "ncclog-run.task-0.log").find("was ended by signal 9 (SIGKILL)"),
      std::string::npos);
}

TEST_F(Run, WhatCannotBeStartedIsSaid) {
  const struct {
    std::string program;
    int status;  // As shells have it.
    const char* reason;
  } rows[] = {{"no-such-program", 127, "No such file"},
              {dir_.add("no-program", "text\n"), 126, "Permission denied"}};
  for (const auto& row : rows) {
    const Outcome out = run_command({.arguments = {ncclog_binary().string(), "run", "-q", "--logs",
                                                   logs(), "--", row.program}});
    EXPECT_EQ(out.exit_code, row.status);
    EXPECT_NE(out.standard_error.find(row.reason), std::string::npos) << out.standard_error;
  }
}

/// Nobody's job is to fail because it was to be watched.
TEST_F(Run, WithoutAFolderForLogsTheCommandRuns) {
  const std::string file = dir_.add("file", "");
  const Outcome out =
      run_command({.arguments = {ncclog_binary().string(), "run", "--stall", "1", "--copy-output",
                                 "--logs", file + "/logs", "--", "/bin/sh", "-c",
                                 "echo \"ran$NCCL_DEBUG_FILE\"; exit 5"}});
  EXPECT_EQ(out.standard_output, "ran\n");
  EXPECT_EQ(out.exit_code, 5);
  EXPECT_NE(out.standard_error.find("no logs can be written, so the command runs without: " + file),
            std::string::npos)
      << out.standard_error;
}

TEST_F(Run, StandardErrorThatCannotBeWrittenEndsNoCommand) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const Outcome out =
      run_command({.arguments = {"/bin/sh", "-c",
                                 ncclog_binary().string() + " run --logs " + logs() +
                                     " -- /bin/sh -c 'echo ran; exit 5' 2>/dev/full"}});
  EXPECT_EQ(out.standard_output, "ran\n");
  EXPECT_EQ(out.exit_code, 5);
}

/// A disk that is full at once, and one that becomes so while the command runs.
TEST_F(Run, AFullDiskEndsNoCommandAndIsSaid) {
  const std::string disk = (dir_.path() / "disk").string();
  fs::create_directory(disk);
  const auto on_small_disk = [&](const std::string& begin, const std::string& script) {
    return run_command(
        {.arguments = {"unshare", "-m", "/bin/sh", "-c",
                       "mount -t tmpfs -o size=64k none " + disk + " || exit 99; " + begin + "'" +
                           ncclog_binary().string() + "' run --copy-output --logs " + disk +
                           "/logs -- /bin/sh -c '" + script + "'"}});
  };
  const std::string fill = "head -c 100000 /dev/zero 2>/dev/null > " + disk + "/rest; ";
  const Outcome at_once = on_small_disk(fill, "echo ran; exit 5");
  if (at_once.exit_code == 99 || at_once.exit_code == 1 || at_once.exit_code == 127)
    GTEST_SKIP() << "needs a name space of its own: " << at_once.standard_error;
  EXPECT_EQ(at_once.standard_output, "ran\n");
  EXPECT_EQ(at_once.exit_code, 5) << at_once.standard_error;
  EXPECT_NE(at_once.standard_error.find("No space left on device"), std::string::npos)
      << at_once.standard_error;
  const Outcome later = on_small_disk("", fill + "seq 100000 | tail -n 1; exit 5");
  EXPECT_EQ(later.standard_output, "100000\n");
  EXPECT_EQ(later.exit_code, 5) << later.standard_error;
  EXPECT_NE(later.standard_error.find("there is no space left in"), std::string::npos)
      << later.standard_error;
  EXPECT_NE(later.standard_error.find("there is no report " + disk), std::string::npos)
      << later.standard_error;
  EXPECT_EQ(later.standard_error.find("the report is"), std::string::npos) << later.standard_error;
}

TEST_F(Run, AKilledWatcherLeavesTheCommandItsOutput) {
  const TempDir folder;
  const std::string up = (folder.path() / "up").string();
  const std::string killed = (folder.path() / "killed").string();
  const Outcome out = run_command(
      {.arguments = {"/bin/bash", "-c",
                     "mkfifo " + up + "; " + ncclog_binary().string() +
                         " run -q --copy-output --logs " + logs() + " -- /bin/sh -c 'echo > " + up +
                         "; until [ -e " + killed + " ]; do sleep 0.1; done; echo survived' & " +
                         "read line < " + up + "; kill -9 $!; wait $!; touch " + killed}});
  EXPECT_EQ(out.standard_output, "survived\n") << out.standard_error;
  ASSERT_EQ(starts().size(), 1U);
  EXPECT_EQ(read_file(starts()[0] / "stdout.task-0.log"), "survived\n");
}

/// What comes of a script under ncclog run that is sent SIGTERM, and SIGWINCH after it, once the
/// script waits. Last comes the status.
Outcome run_terminated(const std::string& logs, const std::string& begin) {
  const TempDir folder;
  const NamedPipe up(folder.path() / "up");
  const std::string script = begin + up.tell_and_wait();
  return run_command(
      {.arguments = {"/bin/bash", "-c",
                     ncclog_binary().string() + " run -q --logs " + logs + " -- /bin/sh -c '" +
                         script + "' & read line <" + up.path() +
                         "; kill -TERM $!; kill -WINCH $!; wait $!; echo status $?"}});
}

TEST_F(Run, SignalsArePassedOn) {
  const Outcome out = run_terminated(logs(), "");
  EXPECT_EQ(out.standard_output, "status 143\n") << out.standard_error;
  ASSERT_EQ(starts().size(), 1U);
  EXPECT_NE(read_file(starts()[0] / "ncclog-run.task-0.log").find("after SIGTERM"),
            std::string::npos);
}

TEST_F(Run, ACommandMayIgnoreASignal) {
  // Of two signals the first one in number is passed on first.
  const Outcome out = run_terminated(logs(), "trap \"\" TERM; trap \"exit 5\" WINCH; ");
  EXPECT_EQ(out.standard_output, "status 5\n") << out.standard_error;
}

TEST_F(Run, ProcessesThatTheCommandLeavesBehindAreNotWaitedFor) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-q"}, std::vector<std::string>{"-q", "--copy-output"}}) {
    const Outcome out = run(flags, "sleep 300 >/dev/null 2>&1 & echo $!");
    // It still runs, as it would without us.
    EXPECT_EQ(run_command({.arguments = {"/bin/kill", out.standard_output.substr(
                                                          0, out.standard_output.find('\n'))}})
                  .exit_code,
              0);
  }
}

TEST_F(Run, WhatTheUserHasSetStays) {
  const Outcome out = run({}, "echo $NCCL_DEBUG $NCCL_DEBUG_SUBSYS", {{"NCCL_DEBUG", "WARN"}});
  EXPECT_TRUE(out.standard_output.starts_with("WARN INIT,")) << out.standard_output;
  EXPECT_NE(out.standard_error.find("NCCL_DEBUG=WARN is kept"), std::string::npos);
}

TEST_F(Run, LevelsSetWhatIsLogged) {
  const std::string script = "echo $NCCL_DEBUG_SUBSYS";
  EXPECT_EQ(run({"--level", "light"}, script).standard_output, "INIT,ENV,BOOTSTRAP\n");
  EXPECT_EQ(run({"--level", "collectives"}, script).standard_output,
            "INIT,ENV,BOOTSTRAP,NET,GRAPH,COLL\n");
}

TEST_F(Run, NobodyIsToldToSetWhatItSet) {
  const Outcome kept = run({}, "true", {{"NCCL_DEBUG", "VERSION"}});
  EXPECT_NE(kept.standard_error.find("Next time: NCCL_DEBUG=INFO on all ranks"), std::string::npos)
      << kept.standard_error;
  const Outcome set = run({}, "true");
  EXPECT_EQ(set.standard_error.find("Next time"), std::string::npos) << set.standard_error;
}

TEST_F(Run, OldFilesAreNeverMixedIn) {
  run({"-q"}, leave_logs("shm-too-small"));
  const Outcome out = run({}, "true");
  EXPECT_EQ(starts().size(), 2U);
  EXPECT_EQ(out.standard_error.find("shm"), std::string::npos) << out.standard_error;
}

TEST_F(Run, TasksOfALauncherGetOneReport) {
  for (int start = 0; start < 2; ++start) {  // The same names come back.
    std::string said;
    for (const char* rank : {"1", "0", "2"}) {
      said = run({}, "exit 0",
                 {{"OMPI_COMM_WORLD_RANK", rank},
                  {"OMPI_COMM_WORLD_SIZE", "3"},
                  {"PMIX_NAMESPACE", "prte-4711@1"}})
                 .standard_error;
      const bool is_last = rank[0] == '2';
      EXPECT_EQ(said.find("the report is") != std::string::npos, is_last) << rank << said;
    }
    EXPECT_EQ(starts().size(), static_cast<size_t>(start) + 1);
  }
}

TEST_F(Run, TasksOfARealSlurmGetOneReport) {
  const Slurm slurm;
  if (!slurm.why_not().empty()) GTEST_SKIP() << slurm.why_not();
  const Outcome out = slurm.run({"srun", "--nodes=2", "--ntasks=2", ncclog_binary().string(), "run",
                                 "--logs", slurm.folder().path() / "logs", "--", "/bin/sh", "-c",
                                 "echo task $SLURM_PROCID; exit 3"});
  EXPECT_EQ(out.exit_code, 3) << out.standard_error;
  const size_t told = out.standard_error.find("the report is");
  ASSERT_NE(told, std::string::npos) << out.standard_error;
  EXPECT_EQ(out.standard_error.find("the report is", told + 1), std::string::npos);
  EXPECT_NE(out.standard_error.find("exited with status 3"), std::string::npos)
      << out.standard_error;
}

TEST_F(Run, WorkersOfTorchrunAreTasks) {
  const Variables first = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}};
  const Variables second = {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "29500"}};
  EXPECT_EQ(run({}, "true", first).standard_error.find("the report is"), std::string::npos);
  EXPECT_NE(run({}, "true", second).standard_error.find("the report is"), std::string::npos);
}

TEST_F(Run, AStallIsToldWhileItLasts) {
  const Outcome out =
      run_until("what    Ranks diverge at call 29", {"--stall", "1", "--level", "collectives"},
                leave_logs("timeout-rank-skips") + "read line; echo went on");
  EXPECT_EQ(out.standard_output, "went on\n");
  EXPECT_EQ(out.exit_code, 0);
  const size_t told = out.standard_error.find("nothing was written for 1 s");
  ASSERT_NE(told, std::string::npos) << out.standard_error;
  EXPECT_NE(out.standard_error.find("what    Ranks diverge at call 29", told), std::string::npos)
      << out.standard_error;
}

/// As a worker of PyTorch does: waits at a pipe of its own, and leaves a dump once it is asked. A
/// rank that lacks a call is in a dump of two; the pipe's name is left in a file.
std::string dump_when_asked() {
  const std::string dump =
      R"({"version":"2.4","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}},)"
      R"("entries":[{"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":1,"op_id":1,)"
      R"("profiling_name":"nccl:all_reduce","input_sizes":[[512]],"output_sizes":[[512]],)"
      R"("input_dtypes":["Float"],"state":"STATE","time_created_ns":1700000002000000000}SECOND]})";
  const auto with = [&](const std::string& state, const std::string& second) {
    std::string text = dump;
    text.replace(text.find("STATE"), 5, state);
    text.replace(text.find("SECOND"), 6, second);
    return text;
  };
  const std::string second =
      R"(,{"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":2,"op_id":2,)"
      R"("profiling_name":"nccl:all_reduce","input_sizes":[[512]],"output_sizes":[[512]],)"
      R"("input_dtypes":["Float"],"state":"started","time_created_ns":1700000003000000000})";
  std::string script;
  for (const auto& [rank, text] :
       {std::pair("0", with("completed", second)), std::pair("1", with("completed", ""))}) {
    // Longer than it takes to judge the logs without it.
    const std::string slow = rank == std::string("0") ? "sleep 6; " : "";
    script += std::string("p=\"$TORCH_NCCL_DEBUG_INFO_PIPE_FILE\"") + rank +
              ".pipe; mkfifo \"$p\"; " + "(head -c 1 \"$p\" >/dev/null; " + slow + "echo '" + text +
              "' > \"$TORCH_NCCL_DEBUG_INFO_TEMP_FILE\"" + rank + ") & ";
  }
  return script + "echo \"$p\"; ";
}

TEST_F(Run, AStallAsksTheFlightRecorders) {
  const Outcome out =
      run_until("Rank 1 holds the job up", {"--stall", "1"}, dump_when_asked() + "read line");
  const size_t told = out.standard_error.find("nothing was written for 1 s");
  ASSERT_NE(told, std::string::npos) << out.standard_error;
  EXPECT_NE(out.standard_error.find("Rank 1 holds the job up", told), std::string::npos)
      << out.standard_error;
  const fs::path pipe = out.standard_output.substr(0, out.standard_output.find('\n'));
  EXPECT_EQ(pipe.extension(), ".pipe");
  EXPECT_FALSE(fs::exists(pipe)) << "left behind";
}

TEST_F(Run, WithoutAStallNobodyIsAsked) {
  EXPECT_EQ(run({"-q"}, "echo \"$TORCH_NCCL_DEBUG_INFO_PIPE_FILE\"").standard_output, "\n");
}

TEST_F(Run, AStallThatLastsUntilTheEndIsKnownThen) {
  const Outcome out =
      run_until("what    Ranks diverge at call 29", {"--stall", "1", "--level", "collectives"},
                leave_logs("timeout-rank-skips") + "read line; exit 1");
  EXPECT_EQ(out.exit_code, 1);
  const std::string text = report();
  EXPECT_NE(text.find("'ncclog run' saw that nothing was written for 1 s"), std::string::npos)
      << text;
}

TEST_F(Run, AStallAfterWhichTheWorkWentOnIsForgotten) {
  // Steps of half a second, until it is noticed that they are no last words.
  run_until("what    Ranks diverge at call 29", {"--stall", "2", "--level", "collectives"},
            leave_logs("timeout-rank-skips") +
                "read line; cd \"$(dirname \"$NCCL_DEBUG_FILE\")\"; "
                "until grep -q 'written again' ncclog-run.task-0.log; do "
                "echo . >> \"$NCCL_DEBUG_FILE\"; sleep 0.5; done; exit 1");
  EXPECT_EQ(report().find("nothing was written for"), std::string::npos) << report();
}

/// Lines as NCCL prints them of two ranks; `call` enters the next one on both, `call 0` on one.
constexpr const char* kTwoRanks =
    R"(D=$(dirname "$NCCL_DEBUG_FILE"); K=0; )"
    R"(say() { echo "$(date '+[%F %T.000000]') n1:4$1:4$1 [$1] NCCL INFO $2" >> "$D/nccl.n1.4$1.log"; }; )"
    R"(call() { for r in ${1:-0 1}; do say $r "AllReduce: opCount $(printf %x $K) sendbuff 0x1 )"
    R"(recvbuff 0x1 count 512 datatype 7 op 0 root 0 comm 0xa$r [nranks=2] stream 0x5"; done; )"
    R"(K=$((K+1)); }; )"
    R"(for r in 0 1; do say $r "ncclCommInitRank comm 0xa$r rank $r nranks 2 cudaDev $r nvmlDev $r )"
    R"(busId ${r}000 commId 0x77 - Init COMPLETE"; done; call; )";

/// Imports take a while: there is nothing yet that could stall.
TEST_F(Run, AProgramThatStartsSlowlyDoesNotStall) {
  const Outcome out = run({"--stall", "1"}, "sleep 4; echo done");
  EXPECT_EQ(out.standard_error.find("nothing was written"), std::string::npos)
      << out.standard_error;
}

TEST_F(Run, AnEarlierStallDoesNotWeakenALaterOne) {
  const Outcome out =
      run_until("Held up by rank 1", {"--stall", "2", "--level", "collectives"},
                std::string(kTwoRanks) +
                    "sleep 5; until grep -q 'written again' $D/ncclog-run.task-0.log; do "
                    "call; sleep 0.5; done; call 0; read line; exit 1");
  EXPECT_NE(out.standard_error.find("Held up by rank 1"), std::string::npos) << out.standard_error;
  EXPECT_NE(report().find("Held up by rank 1"), std::string::npos) << report();
}

TEST_F(Run, StacksAreCollectedWhileAStallLasts) {
  const std::string program = dir_.add("bin/py-spy", "#!/bin/sh\necho stack of $3\n");
  fs::permissions(program, fs::perms::owner_all);
  const std::string path = (dir_.path() / "bin").string() + ":/usr/bin:/bin";
  run_until("stacks of pid", {"--stall", "1", "--stacks", "--level", "collectives"}, "read line",
            {{"PATH", path}});
  ASSERT_EQ(starts().size(), 1U);
  for (const auto& entry : fs::directory_iterator(starts()[0])) {
    if (!entry.path().filename().string().starts_with("stacks.")) continue;
    EXPECT_TRUE(read_file(entry.path()).starts_with("stack of ")) << entry.path();
    return;
  }
  ADD_FAILURE() << "no stacks";
}

TEST_F(Run, WithoutACommandItSaysHow) {
  const Outcome out = run_command({.arguments = {ncclog_binary().string(), "run"}});
  EXPECT_EQ(out.exit_code, 2);
  EXPECT_NE(out.standard_error.find("behind --"), std::string::npos) << out.standard_error;
}

}  // namespace
}  // namespace ncclog::testing
