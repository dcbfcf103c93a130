#include "app/reading_progress.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "input/bytes_read.h"

namespace ncclog {
namespace {

/// 0 if one of them is no regular file: then the whole is not known.
uint64_t total_size(std::span<const std::string> inputs) {
  uint64_t total = 0;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(input, error)) return 0;
    const uintmax_t size = std::filesystem::file_size(input, error);
    if (!error) total += size;
  }
  return total;
}

}  // namespace

void ReadingProgress::begin(std::span<const std::string> inputs, unsigned threads) {
  const uint64_t total = total_size(inputs);
  const std::lock_guard lock(mutex_);
  const bool is_first = state_.inputs == 0;
  const bool is_known = total > 0 && (is_first || state_.bytes_total > 0);
  state_.is_reading = true;
  state_.inputs += inputs.size();
  state_.bytes_total = is_known ? state_.bytes_total + total : 0;
  state_.threads = threads;
  bytes_before_ = bytes_read();
  began_ = Clock::now();
}

void ReadingProgress::enter(const std::string& path) {
  const std::lock_guard lock(mutex_);
  state_.current = path;
}

void ReadingProgress::end() {
  const ReadingState now = snapshot();
  const std::lock_guard lock(mutex_);
  done_before_ = now.bytes_done;
  seconds_before_ = now.seconds;
  state_.is_reading = false;
}

ReadingState ReadingProgress::snapshot() const {
  const std::lock_guard lock(mutex_);
  ReadingState state = state_;
  state.bytes_done = done_before_;
  state.seconds = seconds_before_;
  if (state.is_reading) {
    state.bytes_done += bytes_read() - bytes_before_;
    state.seconds += std::chrono::duration<double>(Clock::now() - began_).count();
  }
  // Heads of files are read once more when they are opened.
  if (state.bytes_total > 0) state.bytes_done = std::min(state.bytes_done, state.bytes_total);
  return state;
}

ReadingProgress& reading_progress() {
  static ReadingProgress progress;
  return progress;
}

}  // namespace ncclog
