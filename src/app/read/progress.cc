#include "app/read/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/output.h"
#include "base/posix.h"
#include "base/text.h"
#include "input/byte_source.h"
#include "report/text_layout.h"

namespace ncclog {
void ReadingProgress::begin(std::span<const std::string> inputs, unsigned threads) {
  uint64_t total = 0;  // 0 if one of them is no regular file: then the whole is not known.
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(input, error)) {
      total = 0;
      break;
    }
    const uintmax_t size = std::filesystem::file_size(input, error);
    if (!error) total += size;
  }
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

namespace {

/// Shorter readings show nothing: a line that flashes up says nothing.
constexpr auto kPatience = std::chrono::milliseconds(1000);
constexpr auto kPause = std::chrono::milliseconds(200);

/// Nothing that a progress line could do is worth an error.
void draw(std::string_view text) {
  const std::string all = "\r" + std::string(text) + "\x1b[K";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, all.data(), all.size());
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  return whole < 7200 ? fmt::format("{} min", whole / 60) : fmt::format("{} h", whole / 3600);
}

std::string how_far(const ReadingState& state) {
  const double done = static_cast<double>(state.bytes_done);
  const double rate = state.seconds > 0 ? done / state.seconds : 0;
  const std::string speed = bytes_text(static_cast<uint64_t>(rate)) + "/s";
  if (state.bytes_total == 0) return fmt::format("{}, {}", bytes_text(state.bytes_done), speed);
  const uint64_t left = state.bytes_total - state.bytes_done;
  const std::string wait =
      rate > 0 ? ", " + duration_text(static_cast<double>(left) / rate) + " left" : "";
  return fmt::format("{} of {} ({} %), {}{}", bytes_text(state.bytes_done),
                     bytes_text(state.bytes_total), state.bytes_done * 100 / state.bytes_total,
                     speed, wait);
}

/// The end of a path says more than its beginning.
std::string path_text(const std::string& path, int columns) {
  std::string shown = printable(path);
  if (display_width(shown) <= columns) return shown;
  const std::string name = shown.substr(shown.rfind('/') + 1);
  return columns > 4 ? clip(".../" + name, columns) : std::string();
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit == 0 || value >= 99.95 ? 0 : 1, kUnits[unit]);
}

std::string progress_text(const ReadingState& state, int columns) {
  // The last column stays free: some terminals go to the next line when it is filled.
  const int room = columns - 1;
  if (!state.is_reading) return clip("ncclog: all is read, judging", room);
  std::string text = clip("ncclog: " + how_far(state), room);
  const std::string path = path_text(state.current, room - display_width(text) - 2);
  return path.empty() ? text : text + ": " + path;
}

std::string reading_summary(const ReadingState& state) {
  if (state.inputs == 0) return {};
  const double rate = state.seconds > 0 ? static_cast<double>(state.bytes_done) / state.seconds : 0;
  return fmt::format("read {} of {} in {:.2f} s ({}/s) with {}", bytes_text(state.bytes_done),
                     plural(state.inputs, "input"), state.seconds,
                     bytes_text(static_cast<uint64_t>(rate)), plural(state.threads, "thread"));
}

bool ProgressLine::is_possible() {
  const std::string terminal = environment_variable("TERM");
  return isatty(STDERR_FILENO) == 1 && !terminal.empty() && terminal != "dumb";
}

ProgressLine::ProgressLine(std::shared_ptr<const ReadingProgress> progress)
    : progress_(std::move(progress)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ProgressLine::clear() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void ProgressLine::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_over_within = [&](std::chrono::milliseconds time) {
    return change_.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
  };
  if (is_over_within(kPatience)) return;
  bool is_drawn = false;
  do {
    const ReadingState state = progress_->snapshot();
    if (state.inputs > 0) {
      draw(progress_text(state, terminal_columns(STDERR_FILENO, 80)));
      is_drawn = true;
    }
  } while (!is_over_within(kPause));
  if (is_drawn) draw("");
}

}  // namespace ncclog
