// How far is the reading? Told by the workers, drawn on the terminal for who waits.
//
//   read_job: begin(inputs, threads), enter(path) for each unit, end()
//   progress line, -v: snapshot()
//   → ncclog: 1.2 of 3.4 GB (35 %), 850 MB/s, 3 s left: logs/node7/nccl.txt
//
// A run of the program has one of it, which its readings share.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

namespace ncclog {

/// What is known at one moment.
struct ReadingState {
  bool is_reading = false;
  uint64_t inputs = 0;
  uint64_t bytes_done = 0;   ///< As they lie on the disk; at most `bytes_total` if that is known.
  uint64_t bytes_total = 0;  ///< Of all regular files; 0: not known.
  unsigned threads = 0;
  double seconds = 0;   ///< Since the reading began, up to its end.
  std::string current;  ///< The input that a worker opened last; empty: none yet.
};

/// Thread-safe. Adds up over several readings, as `diff` makes them; a second look at single lines
/// is none.
class ReadingProgress {
 public:
  /// `inputs` are paths as read_job takes them.
  void begin(std::span<const std::string> inputs, unsigned threads);
  void enter(const std::string& path);
  void end();
  ReadingState snapshot() const;

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;
  ReadingState state_;
  Clock::time_point began_;
  uint64_t bytes_before_ = 0;  ///< Read by the process before this reading.
  uint64_t done_before_ = 0;   ///< By readings that have ended.
  double seconds_before_ = 0;  ///< Of readings that have ended.
};

/// The line for that state, in at most `columns` columns, without a newline. Text from paths can
/// steer no terminal.
std::string progress_text(const ReadingState& state, int columns);

/// "read 3.4 GB of 17 inputs in 4.0 s (850 MB/s) with 8 threads"; empty if nothing was read.
std::string reading_summary(const ReadingState& state);

/// "3.4 GB", in steps of 1,000.
std::string bytes_text(uint64_t bytes);

/// Draws the line from a thread of its own until it is destroyed or cleared: it appears after a
/// second, moves five times a second, and is gone before anything else is printed. Nobody draws it
/// unless standard error is a terminal.
class ProgressLine {
 public:
  /// Whether standard error is a terminal on which a line can be drawn again.
  static bool is_possible();

  explicit ProgressLine(std::shared_ptr<const ReadingProgress> progress);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Takes the line away, for good.
  void clear();

 private:
  void run(const std::stop_token& stop);

  const std::shared_ptr<const ReadingProgress> progress_;
  std::mutex mutex_;
  std::condition_variable_any change_;
  std::jthread thread_;
};

}  // namespace ncclog
