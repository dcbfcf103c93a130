// What do all mixes of generated logs have in common? Who is on which host, what stands in front of
// a line, and when the log is long enough.
//
//   gpu-0002:40010:40010 [1] NCCL INFO …                       info
//   gpu-0002:40010:40778 [1] NCCL INFO …                       proxy_info: another thread
//
//   [2026-11-20 20:50:11] gpu-0002:40010:40778 [1] misc/socket.cc:72 NCCL WARN …      warn

#pragma once

#include <fmt/format.h>

#include <array>
#include <iosfwd>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/log_generator.h"

namespace ncclog::testing {

/// Writes lines through a buffer: a stream call a line would make the generator the slow part.
class LogText {
 public:
  /// Both live as long as the object.
  LogText(const LogOptions& options, std::ostream& out);
  LogText(const LogText&) = delete;
  LogText& operator=(const LogText&) = delete;
  ~LogText() { flush(); }

  const LogOptions& options() const { return options_; }
  bool is_full() const {
    return written_ + buffer_.size() >= options_.bytes || calls_ >= options_.calls;
  }
  uint64_t lines() const { return lines_; }
  void count_call() { ++calls_; }

  int host(int rank) const { return rank / options_.ranks_per_host; }
  int device(int rank) const { return rank % options_.ranks_per_host; }
  int pid(int rank) const { return 40001 + rank; }
  uint64_t random(uint64_t below) { return random_() % below; }
  /// One number for each bound, drawn in their order. Arguments of one call are evaluated in an
  /// order that is the compiler's choice, so several numbers for one line are drawn before it.
  template <size_t N>
  std::array<uint64_t, N> random(const uint64_t (&below)[N]) {
    std::array<uint64_t, N> drawn;
    for (size_t i = 0; i < N; ++i) drawn[i] = random(below[i]);
    return drawn;
  }
  /// The ranks that speak, in an order of their own at each call. Valid until the next call.
  const std::vector<int>& shuffled_ranks();

  template <typename... Values>
  void info(int rank, fmt::format_string<Values...> text, Values&&... values) {
    header(rank, pid(rank), options_.has_times, {}, "INFO");
    line(text, std::forward<Values>(values)...);
  }

  template <typename... Values>
  void proxy_info(int rank, fmt::format_string<Values...> text, Values&&... values) {
    header(rank, proxy_thread(rank), options_.has_times, {}, "INFO");
    line(text, std::forward<Values>(values)...);
  }

  /// `place` is the file and line in NCCL's source.
  template <typename... Values>
  void warn(int rank, std::string_view place, fmt::format_string<Values...> text,
            Values&&... values) {
    line("");
    header(rank, proxy_thread(rank), true, place, "WARN");
    line(text, std::forward<Values>(values)...);
  }

  /// A whole line of somebody else.
  template <typename... Values>
  void line(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Values>(values)...);
    end_line();
  }

  /// The time of the line that comes next: "2026-11-20 20:50:11".
  std::string_view time();

 private:
  int proxy_thread(int rank) const { return pid(rank) + 8192; }
  void header(int rank, int thread, bool has_time, std::string_view place, std::string_view level);
  void end_line();
  void flush();

  const LogOptions& options_;
  std::ostream& out_;
  std::mt19937 random_;  ///< Its numbers are the standard's; those of its distributions are not.
  fmt::memory_buffer buffer_;
  std::vector<int> ranks_;
  std::string time_;
  uint64_t second_ = UINT64_MAX;  ///< That time_ tells, since the start of the log.
  uint64_t written_ = 0;
  uint64_t lines_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace ncclog::testing
