// One line on the terminal that tells a waiting person how long it will take.
//
//   ncclog: 1.2 of 3.4 GB (35 %), 850 MB/s, 3 s left: logs/node7/nccl.txt
//
// It appears after a second, moves five times a second, and is gone before anything else is
// printed. Nobody draws it unless standard error is a terminal.

#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "app/reading_progress.h"

namespace ncclog {

/// The line for that state, in at most `columns` columns, without a newline. Text from paths can
/// steer no terminal.
std::string progress_text(const ReadingState& state, int columns);

/// "read 3.4 GB of 17 inputs in 4.0 s (850 MB/s) with 8 threads"; empty if nothing was read.
std::string reading_summary(const ReadingState& state);

/// "3.4 GB", in steps of 1,000.
std::string bytes_text(uint64_t bytes);

/// Draws the line from a thread of its own until it is destroyed or cleared.
class ProgressLine {
 public:
  /// Whether standard error is a terminal on which a line can be drawn again.
  static bool is_possible();

  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Takes the line away, for good.
  void clear();

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any change_;
  std::jthread thread_;
};

}  // namespace ncclog
