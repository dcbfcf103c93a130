#include "log/stack_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "log/line/prefix.h"

namespace ncclog {
namespace {

/// "frame wait threading.py:355", "thread 4121 main", "".
std::string read(std::string_view line) {
  using Kind = StackLine::Kind;
  const StackLine read = parse_stack_line(line, parse_prefix(line).length);
  switch (read.kind) {
    case Kind::None:
      return "";
    case Kind::Process:
      return fmt::format("process {} {}", read.number, read.text);
    case Kind::Rank:
      return fmt::format("rank {}", read.number);
    case Kind::Answer:
      return fmt::format("answer {}", read.text);
    case Kind::Thread:
      return fmt::format("thread {}{}", read.number, read.is_main ? " main" : "");
    case Kind::Frame:
      return fmt::format("frame {} {}:{}", read.function, read.file, read.line);
    case Kind::Analysis:
      return fmt::format("analysis {}", read.text);
  }
  return "?";
}

TEST(StackLines, FramesAndHeadingsOfEachPrinter) {
  const struct {
    std::string_view line;
    std::string_view wanted;
  } kRows[] = {
      // faulthandler
      {"Thread 0x00007f31c2a41740 (most recent call first):", "thread -1"},
      {"Current thread 0x00007f31c2a41740 [MainThread] (most recent call first):", "thread -1"},
      {"Overwrite? [y/N] Thread 0x00007f31c2a41740 (most recent call first):", "thread -1"},
      {"Traceback (most recent call first):", ""},
      {"  File \"/srv/train.py\", line 88 in step", "frame step /srv/train.py:88"},
      {"[default2]:  File \"/srv/a b.py\", line 8 in <module>", "frame <module> /srv/a b.py:8"},
      {"  File \"/srv/train.py\", line 88, in step", ""},
      {"  <no Python frame>", "frame <no Python frame> :-1"},
      {"  Garbage-collecting", "frame Garbage-collecting :-1"},
      // py-spy
      {"Process 4121: python train.py --lr 1", "process 4121 python train.py --lr 1"},
      {"Process group 3: done", ""},
      {"Thread 4121 (active): \"MainThread\"", "thread 4121 main"},
      {"Thread 4240 (idle): \"Thread-1 (_pin_memory_loop)\"", "thread 4240"},
      {"Thread 0x7F31C2A41740 (active+gil): \"MainThread\"", "thread -1 main"},
      {"Thread 4121 (active)", "thread 4121"},
      {"Thread 3 finished", ""},
      {"    wait (threading.py:355)", "frame wait threading.py:355"},
      {"sglang-1  |     <module> (<string>:1)", "frame <module> <string>:1"},
      {"    gloo::transport::tcp::UnboundBuffer::waitRecv (libtorch_cpu.so)",
       "frame gloo::transport::tcp::UnboundBuffer::waitRecv libtorch_cpu.so:-1"},
      {"    0x7fa2d1487d71 (libc.so.6)", "frame 0x7fa2d1487d71 libc.so.6:-1"},
      {"INFO loss went down (train.py:88)", ""},
      {"    step took long (3 of 5)", ""},
      {"[2026-01-29 13:12:37 PP2 TP1] Pyspy dump for PID 88693:", "process 88693 "},
      // gdb
      {"Thread 1 (Thread 0x7f16a03ad000 (LWP 4121) \"python3\"):", "thread 4121 main"},
      {"Thread 12 (Thread 0x7fd07dfff700 (LWP 112)):", "thread 112"},
      {"Thread 2 (LWP 4188):", "thread 4188"},
      {"#13 0x00007f16a0c82fe6 in cudaLaunchKernel () from /usr/lib/libnccl.so.2",
       "frame cudaLaunchKernel /usr/lib/libnccl.so.2:-1"},
      {"#16 groupLaunch (job_=<optimized out>) at group.cc:325", "frame groupLaunch group.cc:325"},
      {"#1  0x00007f0580bb3641 in ?? () from /usr/lib/libcuda.so",
       "frame ?? /usr/lib/libcuda.so:-1"},
      {"#0 all_reduce from /opt/torch/distributed/distributed_c10d.py:2806",
       "frame all_reduce /opt/torch/distributed/distributed_c10d.py:2806"},
      {"# nThread 1 nGpus 1", ""},
      // torchfrtrace
      {"Not all ranks joining collective, sequence number: 41",
       "analysis Not all ranks joining collective, sequence number: 41"},
      {"missing ranks: {2}", "analysis missing ranks: {2}"},
      {" evaluate at /srv/sft.py:30", "analysis evaluate at /srv/sft.py:30"},
      {"Collective sequence number: 41 has errors",
       "analysis Collective sequence number: 41 has errors"},
      {"Collective operations are slow", ""},
      {"raised in step at /srv/sft.py:30", ""},
      // eu-stack
      {"PID 4121 - process", "process 4121 "},
      {"TID 4121:", "thread 4121"},
      {"#0  0x00007f2c791e5117 pthread_cond_wait@@GLIBC_2.3.2", "frame pthread_cond_wait :-1"},
      {"#3  0x00007f2c791e5117 - 1 main - /usr/bin/python3.12", "frame main :-1"},
      // PyTorch's debug server
      {"=== Rank 1: http://node02:40111/handler/dump_traceback? ===", "rank 1"},
      {"Error: 503", "answer Error: 503"},
      {"Error: 503 of 600", ""},
      // Cut.
      {"", ""},
      {"Thread ", ""},
      {"Thread 41", ""},
      {"#", ""},
      {"  File \"/srv", ""},
      {"    (", ""},
      {"=== Rank 99999999999999999999: x ===", ""},
  };
  for (const auto& row : kRows) EXPECT_EQ(read(row.line), row.wanted) << row.line;
}

}  // namespace
}  // namespace ncclog
