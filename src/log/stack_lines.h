// The lines of which stacks of programs consist: where did the threads of a process stand?
//
//   Thread 0x00007f31c2a41740 (most recent call first):                 Python's faulthandler
//     File "/srv/train.py", line 88 in step
//   Process 4121: sglang::scheduler_TP3                                 py-spy dump
//   Thread 4121 (idle): "MainThread"
//       wait (threading.py:324)
//       ncclGroupEnd (libnccl.so.2.27.5)
//   Thread 1 (Thread 0x7f16a03ad000 (LWP 4121) "python3"):              gdb, thread apply all bt
//   #13 0x00007f16a0c82fe6 in cudaLaunchKernel () from /usr/lib/libnccl.so.2
//   TID 4121:                                                           eu-stack
//   #0  0x00007f2c791e5117 __poll
//   === Rank 1: http://node02:40111/handler/dump_traceback? ===         PyTorch's debug server
//   Error: 503
//   Not all ranks joining collective, sequence number: 41               torchfrtrace
//   missing ranks: {2}
//    evaluate at /srv/sft.py:30
//
// A line is told by its shape alone, behind whatever prefix. What the lines of one printer say
// together is read from the job (diagnose/outcome/rank_stacks.h): ranks may mix theirs line by line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "log/line/header.h"

namespace ncclog {

/// What a line of a stack says. Views point into the line.
struct StackLine {
  enum class Kind {
    None,      ///< The line is of no stack.
    Process,   ///< From here on the stacks are of the process `number`, titled `text`, if it is not
               ///< empty.
    Rank,      ///< From here on they are of the global rank `number`.
    Answer,    ///< "Error: 503": who was asked for its stacks did not give them; `text`.
    Thread,    ///< A thread begins.
    Frame,     ///< A frame of the thread, the innermost first.
    Analysis,  ///< Of PyTorch's analysis of Flight Recorder dumps, which prints stacks; `text`.
  };

  Kind kind = Kind::None;
  int64_t number = -1;  ///< Of a process, a rank; of a thread its id, if it is that of a process.
  std::string_view
      text;  ///< Of a thread: what stands before its heading without line end, a prompt.
  bool is_main = false;    ///< The heading says that it is the main thread.
  bool is_native = false;  ///< Of a thread and its frames: a debugger's, whose frames have numbers.
  // Of a frame.
  std::string_view function;
  std::string_view file;  ///< Source or library; empty: not printed.
  int line = -1;          ///< -1: not printed.
};

/// `line` without ANSI codes, `prefix` as parse_prefix has it. Never throws, whatever the bytes.
StackLine parse_stack_line(std::string_view line, size_t prefix);

/// True if a line with that header is one of a stack.
inline bool is_stack_line(std::string_view line, const Header& header) {
  return header.level == Level::None &&
         parse_stack_line(line, header.prefix.length).kind != StackLine::Kind::None;
}

/// True if faulthandler's or py-spy's heading of a thread begins `text`: behind a prompt without line
/// end, another rank's stack goes on in the same line.
bool begins_stack(std::string_view text);

}  // namespace ncclog
