#include "bench/log_text.h"

#include <chrono>
#include <numeric>
#include <ostream>

namespace ncclog::testing {

LogText::LogText(const LogOptions& options, std::ostream& out)
    : options_(options), out_(out), random_(options.seed) {
  const bool is_one = options.rank >= 0;
  ranks_.resize(is_one ? 1 : static_cast<size_t>(options.ranks));
  std::iota(ranks_.begin(), ranks_.end(), is_one ? options.rank : 0);
}

const std::vector<int>& LogText::shuffled_ranks() {
  // Not std::shuffle: its result is the library's choice.
  for (size_t i = ranks_.size(); i > 1; --i) std::swap(ranks_[i - 1], ranks_[random(i)]);
  return ranks_;
}

std::string_view LogText::time() {
  constexpr uint64_t kLinesASecond = 4096;
  const uint64_t second = lines_ / kLinesASecond;
  if (second != second_) {
    using namespace std::chrono;
    const auto now = sys_days{year{2026} / November / 20} + seconds{second};
    const auto day = floor<days>(now);
    const year_month_day date{day};
    const hh_mm_ss clock{now - day};
    time_ = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                        clock.hours().count(), clock.minutes().count(), clock.seconds().count());
    second_ = second;
  }
  return time_;
}

void LogText::header(int rank, int thread, bool has_time, std::string_view place,
                     std::string_view level) {
  auto out = std::back_inserter(buffer_);
  if (has_time) fmt::format_to(out, "[{}] ", time());
  fmt::format_to(out, "gpu-{:04}:{}:{} [{}] ", host(rank) + 1, pid(rank), thread, device(rank));
  if (!place.empty()) fmt::format_to(out, "{} ", place);
  fmt::format_to(out, "NCCL {} ", level);
}

void LogText::end_line() {
  buffer_.push_back('\n');
  ++lines_;
  if (buffer_.size() > (1 << 20)) flush();
}

void LogText::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  written_ += buffer_.size();
  buffer_.clear();
}

}  // namespace ncclog::testing
