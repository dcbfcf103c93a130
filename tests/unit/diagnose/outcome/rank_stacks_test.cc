#include "diagnose/outcome/rank_stacks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "import/import.h"
#include "model/derive/build_job.h"
#include "support/fact_of.h"
#include "support/job_from_files.h"

namespace ncclog::testing {
namespace {

/// "rank 0: in lcs (metrics.py:25); rank 1: at fit.py:3", by rank.
std::string read(const Job& job) {
  std::string words;
  for (const RankStacks& one : rank_stacks(job)) {
    if (!words.empty()) words += "; ";
    words +=
        stacks_phrase({&one}) + ": " + (one.refused ? one.refused->text : one.stacks.back().words);
  }
  return words;
}

std::string read(std::string_view log) { return read(job_from_text(log)); }

/// faulthandler's stack of a main thread: frames "file:line function", the innermost first.
std::string stack(std::string_view prefix, const std::vector<std::string>& frames) {
  std::string text =
      std::string(prefix) + "Current thread 0x00007f31c2a41740 (most recent call first):\n";
  for (const std::string& frame : frames) text += std::string(prefix) + "  " + frame + "\n";
  return text;
}

const std::string kBarrier =
    R"(File "/opt/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", line 5030 in barrier)";
const std::string kSynchronize =
    R"(File "/opt/lib/python3.12/site-packages/torch/cuda/__init__.py", line 1162 in synchronize)";
const std::string kLoader =
    R"(File "/opt/lib/python3.12/site-packages/torch/utils/data/dataloader.py", line 741 in __next__)";
const std::string kWait = R"(File "/usr/lib/python3.12/threading.py", line 359 in wait)";
const std::string kStep = R"(File "/srv/fit.py", line 46 in step)";
const std::string kMain = R"(File "/srv/fit.py", line 60 in <module>)";

TEST(RankStacks, InnermostTellingFrameSaysWhatAThreadDoes) {
  const struct {
    std::vector<std::string> frames;
    std::string_view wanted;
  } kRows[] = {
      {{kBarrier, kStep, kMain}, "waiting in barrier (fit.py:46)"},
      {{kSynchronize, kMain}, "waiting for the GPU in synchronize (fit.py:60)"},
      {{kWait, kLoader, kStep, kMain}, "in the data loader (fit.py:46)"},
      {{kWait, kStep, kMain}, "waiting for a lock in wait (fit.py:46)"},
      {{"Garbage-collecting", kStep, kMain}, "collecting garbage (fit.py:46)"},
      {{R"(File "/opt/site-packages/torch/serialization.py", line 1313 in _save)", kMain},
       "at work on a checkpoint in _save (fit.py:60)"},
      {{R"(File "/usr/lib/python3.12/pdb.py", line 90 in interaction)", kStep, kMain},
       "in a debugger (fit.py:46)"},
      {{R"(File "/usr/lib/python3.12/subprocess.py", line 1209 in communicate)", kMain},
       "waiting for a program that it started (fit.py:60)"},
      {{R"(File "/opt/site-packages/torch/autograd/graph.py", line 8 in _engine_run_backward)",
        kStep, kMain},
       "in step (fit.py:46)"},
      {{kStep, kMain}, "in step (fit.py:46)"},
      {{kMain}, "at fit.py:60"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(read(stack("[rank3]: ", row.frames)), "rank 3: " + std::string(row.wanted));
  }
}

TEST(RankStacks, OwnersAreReadFromPrefixesSectionsAndTitles) {
  const struct {
    std::string log;
    std::string_view wanted;
  } kRows[] = {
      // py-spy in the log of an engine, behind the prefix of a service; other threads are passed over.
      {R"-(sglang-1  | [2026-01-29 13:12:37 TP1] Pyspy dump for PID 88693:
sglang-1  | Process 88693: sglang::scheduler_TP0
sglang-1  | Python v3.12.3 (/usr/bin/python3.12)
sglang-1  | 
sglang-1  | Thread 88693 (idle): "MainThread"
sglang-1  |     0x7fa2d1487d71 (libc.so.6)
sglang-1  |     gloo::transport::tcp::UnboundBuffer::waitRecv (libtorch_cpu.so)
sglang-1  |     recv_requests (scheduler.py:820)
sglang-1  |     <module> (<string>:1)
sglang-1  | Thread 88700 (idle): "Thread-2 (_watchdog_thread)"
sglang-1  |     select (selectors.py:415)
sglang-1  |     _bootstrap (threading.py:1030)
sglang-1  | 
sglang-1  | [2026-01-29 13:12:39 TP1] Pyspy dump for PID 88694:
sglang-1  | Process 88694: sglang::scheduler_TP1
sglang-1  | Thread 88694 (active): "MainThread"
sglang-1  |     apply (penalty.py:150)
sglang-1  |     <module> (<string>:1)
)-",
       "rank 0: waiting in gloo::transport::tcp::UnboundBuffer::waitRecv (scheduler.py:820); "
       "rank 1: in apply (penalty.py:150)"},
      {R"-([2026-01-29 13:12:37 PP2 TP1] Pyspy dump for PID 88693:
Process 88693: sglang::scheduler_PP2_TP1
Thread 88693 (idle): "MainThread"
    recv (scheduler.py:820)
)-",
       "PP2 TP1: in recv (scheduler.py:820)"},
      // People put together what stands alike.
      {R"-(Thread 701 (active): "MainThread"
Thread 702 (active): "MainThread"
    broadcast (torch/distributed/distributed_c10d.py:1191)
    <module> (fit.py:249)
)-",
       "pid 701: waiting in broadcast (fit.py:249); pid 702: waiting in broadcast (fit.py:249)"},
      // gdb: the first thread is the main one, and stands last.
      {R"(Thread 2 (Thread 0x7f322e3fa000 (LWP 496156)):
#0  futex_wait (private=<optimized out>) at ../sysdeps/nptl/futex-internal.h:183
#3  0x00007f326f3d9740 in ncclProxyGetPostedOps (added=<synthetic pointer>) at proxy.cc:713

Thread 1 (Thread 0x7f16a03ad000 (LWP 496115) "python3"):
#0  0x00007f169ee85534 in ?? () from /lib/x86_64-linux-gnu/libcuda.so
#1  0x00007f16a0c82fe6 in cudaStreamSynchronize () from /usr/local/lib/libcudart.so.12
)",
       "pid 496115: waiting for the GPU in cudaStreamSynchronize"},
      // The same, of which the colon was lost.
      {R"(Thread 1 (Thread 0x7f16a03ad000 (LWP 496115))
#0  0x00007f169ee85534 in ?? () from /lib/x86_64-linux-gnu/libcuda.so
#1  0x00007f16a0c82fe6 in cudaStreamSynchronize () from /usr/local/lib/libcudart.so.12
)",
       "pid 496115: waiting for the GPU in cudaStreamSynchronize"},
      {R"-(PID 4121 - process
TID 4121:
#0  0x00007f2c791e5117 clock_nanosleep@@GLIBC_2.17
#1  0x00007f2c791e5118 main
TID 4140:
#0  0x00007f2c791e5117 __poll
)-",
       "pid 4121: asleep"},
      {"=== Rank 1: http://n2:40111/handler/dump_traceback? ===\nError: 503\n",
       "rank 1: Error: 503"},
      // Behind a prompt without line end another rank's stack goes on.
      {"[default0]:Overwrite? [y/N] [default1]:Thread 0x00007f31c2a41740 (most recent call "
       "first):\n"
       "[default1]:  File \"/srv/fit.py\", line 60 in <module>\n" +
           stack("[default0]:", {kStep, kMain}),
       "rank 0: in step (fit.py:46); rank 1: at fit.py:60"},
      // Nobody answers.
      {"Overwrite? [y/N] " + stack("", {kStep, kMain}) + stack("", {kStep, kMain}),
       "1 process: waiting for an answer to \"Overwrite? [y/N]\" (fit.py:46)"},
      // The processes of a data loader are no ranks.
      {stack(
           "[rank0]: ",
           {R"(File "/opt/site-packages/torch/utils/data/_utils/worker.py", line 9 in _worker_loop)",
            kMain}),
       ""},
      // The stack of a failed collective is none of a thread.
      {stack("[rank0]: ", {kStep, kMain}) +
           "[rank0]: #0 all_reduce from /opt/distributed_c10d.py:2806\n",
       "rank 0: in step (fit.py:46)"},
      // Frames without a thread, threads without frames.
      {"  File \"/srv/fit.py\", line 60 in <module>\n", ""},
      {"Thread 0x00007f31c2a41740 (most recent call first):\n  <no Python frame>\n", ""},
  };
  for (const auto& row : kRows) EXPECT_EQ(read(row.log), row.wanted) << row.log;
}

TEST(RankStacks, FramesPastedAloneAreOfTheMainThread) {
  const std::string frames =
      "    all_reduce (torch/distributed/distributed_c10d.py:3068)\n    step (fit.py:46)\n";
  EXPECT_EQ(read(frames), "1 process: waiting in all_reduce (fit.py:46)");
  // Below a heading they are that thread's.
  EXPECT_EQ(read("Thread 51 (idle): \"pin\"\n" + frames), "");
  EXPECT_EQ(read("    connects (localhost:29500)\n    binds (localhost:29500)\n"), "");
  // Lines of a log that end with their place, and a frame alone.
  EXPECT_EQ(read("    INFO barrier reached (ddp.py:30)\n    INFO epoch (fit.py:99)\n"), "");
  EXPECT_EQ(read("    step (fit.py:46)\n\nloss 1\n    main (fit.py:99)\n"), "");
}

TEST(RankStacks, BackwardGoesOnInAThreadOfAutograd) {
  const std::string main =
      "Thread 42 (idle): \"MainThread\"\n    backward (torch/autograd/__init__.py:266)\n"
      "    step (fit.py:46)\n";
  const std::string monitor =
      "Thread 43 (idle): \"Thread-1\"\n    wait (threading.py:324)\n    run (monitor.py:6)\n"
      "    _bootstrap (threading.py:973)\n";
  const std::string hook =
      "Thread 44 (active)\n    all_gather_into_tensor "
      "(torch/distributed/distributed_c10d.py:2709)\n"
      "    fetch (zero/gather.py:60)\n";
  EXPECT_EQ(read(main + monitor), "pid 42: in step (fit.py:46)");
  EXPECT_EQ(read(main + monitor + hook),
            "pid 42: waiting in all_gather_into_tensor (gather.py:60)");
}

TEST(RankStacks, ServersBesideTheSchedulersOfAnEngineAreNoRanks) {
  const auto dump = [](int pid, const std::string& name) {
    return fmt::format(
        "Process {0}: sglang::{1}\nPython v3.12.3 (/usr/bin/python3.12)\n\n"
        "Thread {0} (active): \"MainThread\"\n    synchronize (torch/cuda/streams.py:227)\n"
        "    event_loop (scheduler.py:700)\n    <module> (serve.py:3)\n\n",
        pid, name);
  };
  const std::string schedulers = dump(51, "scheduler_DP0_TP0") + dump(52, "scheduler_DP1_TP1");
  EXPECT_NE(read(schedulers), "");
  EXPECT_EQ(read(dump(50, "detokenizer") + schedulers), read(schedulers));
}

TEST(RankStacks, FilesOfRanksAndWorkersNameThem) {
  for (const std::string name : {"rank", "worker"}) {
    std::vector<std::pair<std::string, std::string>> files;
    for (int i = 0; i < 3; ++i) {
      files.emplace_back(name + std::to_string(i) + ".log",
                         stack("", {i == 1 ? kLoader : kBarrier, kStep, kMain}));
    }
    EXPECT_EQ(read(job_from_files(files)),
              "rank 0: waiting in barrier (fit.py:46); rank 1: in the data loader (fit.py:46); "
              "rank 2: waiting in barrier (fit.py:46)");
    files.emplace_back("master.log", stack("", {kBarrier, kStep, kMain}));
    if (name != "worker") continue;
    EXPECT_EQ(read(job_from_files(files)).find("rank"), std::string::npos);
  }
}

TEST(RankStacks, JsonOfPySpySaysWhatItsTextSays) {
  const auto import =
      import_py_spy(R"([{"pid": 4121, "thread_id": 139852, "thread_name": "MainThread",
    "os_thread_id": 4121, "active": false, "owns_gil": false, "frames": [
      {"name": "wait", "filename": "/usr/lib/python3.12/threading.py", "line": 355},
      {"name": "ncclGroupEnd", "filename": "/opt/libnccl.so.2", "line": 0},
      {"name": "<module>", "filename": "/srv/fit.py", "line": 60}],
    "process_info": {"pid": 4121, "command_line": "python fit.py"}}])");
  EXPECT_EQ(import.problem, "");
  EXPECT_EQ(import.value, (std::vector<std::string>{
                              "Process 4121: python fit.py", "Thread 4121 (idle): \"MainThread\"",
                              "    wait (/usr/lib/python3.12/threading.py:355)",
                              "    ncclGroupEnd (libnccl.so.2)", "    <module> (/srv/fit.py:60)"}));
  for (const std::string_view bytes : {"[]", "[{", "{}", "[1, null, {\"frames\": 3}]"}) {
    import_py_spy(bytes);
  }
}

TEST(RankStacks, StackOfAMillionFramesIsBounded) {
  std::string log = "[rank0]: Current thread 0x00007f31c2a41740 (most recent call first):\n";
  for (int i = 0; i < 1'000'000; ++i) {
    log += "[rank0]:   File \"/srv/fit.py\", line " + std::to_string(i) + " in f\n";
  }
  const Job job = job_from_text(log);
  EXPECT_LE(job.logs.front().stack_lines->size(), 4096U);
  EXPECT_TRUE(rank_stacks(job).empty());  // Its heading is lost.
}

// Who is accused?

std::string answer(const std::vector<std::string>& logs) {
  std::string log;
  for (const std::string& each : logs) log += each;
  const FactValue value = fact_of("job.rank_stuck_by_stacks", log);
  return is_yes(value) ? value.what : "nobody";
}

TEST(RankStuck, OddOneIsNamedWhereAllOthersWait) {
  const auto at = [](int rank, const std::vector<std::string>& frames) {
    return stack("[rank" + std::to_string(rank) + "]: ", frames);
  };
  const std::string kOwn = R"(File "/srv/lcs.py", line 25 in lcs)";
  const std::string kOwnNext = R"(File "/srv/lcs.py", line 26 in lcs)";
  const struct {
    std::vector<std::string> logs;
    std::string_view wanted;
  } kRows[] = {
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain}), at(2, {kLoader, kStep, kMain})},
       "rank 2 was in the data loader (fit.py:46) while ranks 0,1 were waiting in barrier "
       "(fit.py:60)"},
      {{at(0, {kBarrier, kMain}), at(1, {kOwn, kMain}), at(2, {kBarrier, kMain})},
       "rank 1 was in lcs (lcs.py:25) while ranks 0,2 were waiting in barrier (fit.py:60)"},
      // One against one, at a line of its own: most others may be there.
      {{at(0, {kBarrier, kMain}), at(1, {kOwn, kMain})}, "nobody"},
      {{at(0, {kBarrier, kMain}), at(1, {kLoader, kMain})},
       "rank 1 was in the data loader (fit.py:60) while rank 0 was waiting in barrier (fit.py:60)"},
      // All alike, all waiting, one alone.
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain})}, "nobody"},
      {{at(0, {kBarrier, kMain}), at(1, {kSynchronize, kMain})}, "nobody"},
      {{at(0, {kLoader, kMain})}, "nobody"},
      // As many wait as do not.
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain}), at(2, {kOwn, kMain}),
        at(3, {kOwn, kMain})},
       "nobody"},
      // At one moment of a job that runs some wait for the GPU; where that lasts, it counts.
      {{at(0, {kSynchronize, kMain}), at(1, {kSynchronize, kMain}), at(2, {kOwn, kMain})},
       "nobody"},
      {{at(0, {kSynchronize, kMain}), at(1, {kSynchronize, kMain}), at(2, {kOwn, kMain}),
        at(0, {kSynchronize, kMain}), at(1, {kSynchronize, kMain}), at(2, {kOwnNext, kMain})},
       "rank 2 was in lcs (lcs.py:26) while ranks 0,1 were waiting for the GPU in synchronize "
       "(fit.py:60)"},
      // Stages of a pipeline: most wait in calls that need everybody, one for the GPU.
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain}), at(2, {kBarrier, kMain}),
        at(3, {kSynchronize, kMain}), at(4, {kLoader, kStep, kMain})},
       "rank 4 was in the data loader (fit.py:46) while ranks 0-3 were elsewhere, 3 of "
       "them waiting in barrier (fit.py:60)"},
      // The others may wait at a line of their own, but not once.
      {{at(0, {kStep, kMain}), at(1, {kStep, kMain}), at(2, {kLoader, kMain})}, "nobody"},
      {{at(0, {kStep, kMain}), at(1, {kStep, kMain}), at(2, {kLoader, kMain}),
        at(0, {kStep, kMain}), at(1, {kStep, kMain}), at(2, {kLoader, kMain})},
       "rank 2 was in the data loader (fit.py:60) while ranks 0,1 were in step (fit.py:46)"},
      // The odd one of the first stacks came.
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain}), at(2, {kLoader, kMain}),
        at(2, {kBarrier, kMain})},
       "nobody"},
      // In a library of which nothing is known.
      {{at(0, {kBarrier, kMain}), at(1, {kBarrier, kMain}),
        at(2, {R"(File "/opt/site-packages/torch/autograd/graph.py", line 8 in run)", kMain})},
       "nobody"},
      {{at(0, {kBarrier, kMain}), at(1, {kLoader, kMain}), "[rank0]: step 40 loss 2.1\n",
        "[rank0]: step 41 loss 2.1\n"},
       "nobody"},
  };
  for (const auto& row : kRows) EXPECT_EQ(answer(row.logs), row.wanted);
}

}  // namespace
}  // namespace ncclog::testing
