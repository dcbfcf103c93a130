// What was a thread doing, as the frames of its stack show it?
//
//   File "/usr/lib/python3.12/threading.py", line 359 in wait                    a library's
//   File "/opt/…/torch/utils/data/dataloader.py", line 1310 in _try_get_data      tells: the loader
//   File "/srv/train.py", line 13 in train_epoch                                  its own
//         → in the data loader (train.py:13): it works, and has not come to where others wait
//
// What a frame tells is a row of frame_classes.table, and the innermost frame of which a row tells
// counts. What a line of the program's own waits for is not printed: loss.item() waits for the GPU
// as torch's synchronize does.

#pragma once

#include <string>
#include <vector>

#include "model/statements.h"

namespace ncclog {

struct StackFrame {
  std::string function;
  std::string file;  ///< Source or library; empty: not printed.
  int line = -1;     ///< -1: not printed.
  Evidence shown;

  std::string place() const;  ///< "metrics.py:25", "libc.so.6"; empty where none was printed.
  /// "in lcs (metrics.py:25)"; "at sft.py:46" of what stands outside of functions.
  std::string words() const;
  bool is_same_place(const StackFrame& other) const {
    return function == other.function && file == other.file && line == other.line;
  }
};

/// What somebody who stands there does to the others.
enum class Stands {
  Waits,     ///< For them: in a collective call, the store, NCCL's initialisation.
  WaitsGpu,  ///< For the GPU, and so perhaps for them.
  Works,     ///< Nothing that needs them: it has not come to where they are.
  Unclear,   ///< Nothing tells.
  Helps,     ///< It is no rank.
};

/// A main thread at one moment.
struct MainStack {
  std::vector<StackFrame> frames;  ///< The innermost first; at least one.
  std::string prompt;              ///< "Overwrite? [y/N]": waits to be answered; empty: none does.
  size_t own_place = 0;            ///< Of own().
  size_t telling_place = 0;        ///< Of the frame that says what it does.
  bool is_in_library = false;      ///< The innermost frame is.
  Stands stands = Stands::Unclear;
  std::string
      words;  ///< "in the data loader (train.py:13)", "waiting in all_reduce (train.py:88)".

  /// The innermost frame of the program's own; the telling one where libraries have them all.
  const StackFrame& own() const { return frames[own_place]; }
};

/// Fills in all that follows from the frames and the prompt of these.
void judge_stacks(const std::vector<MainStack*>& stacks);

}  // namespace ncclog
