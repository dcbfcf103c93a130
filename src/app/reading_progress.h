// How far is the reading? What the workers tell, for those who show it.
//
//   read_job: begin(inputs, threads), enter(path) for each unit, end()
//   progress line, -v: snapshot()
//
// A process reads one job at a time and has one standard error, so there is one of it.

#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

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

/// The process's own.
ReadingProgress& reading_progress();

}  // namespace ncclog
