#include "diagnose/compare/step_times.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "log/event.h"

namespace ncclog {
namespace {

constexpr size_t kFewest = 10;
constexpr double kLongest = 24 * 3600;  ///< Seconds; what is longer is another run's beginning.

bool is_number_char(char c) { return is_digit(c) || c == '.'; }

/// The number that `text` begins with, behind blanks; -1: none.
double number_at(std::string_view text) {
  text = trim(text);
  const auto end = std::ranges::find_if_not(text, is_number_char);
  return parse_decimal(text.substr(0, static_cast<size_t>(end - text.begin()))).value_or(-1);
}

/// The number in front of `unit`: 2.88 of "1:23:01,  2.88s/it]"; -1: none.
double number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.rfind(unit);
  if (end == line.npos) return -1;
  size_t begin = end;
  while (begin > 0 && is_number_char(line[begin - 1])) --begin;
  return parse_decimal(line.substr(begin, end - begin)).value_or(-1);
}

/// What frameworks print in front of the time of a step, and in which unit of a second.
struct TimeWord {
  std::string_view word;
  double unit;
};

constexpr TimeWord kTimeWords[] = {{"elapsed time per iteration (ms):", 1e-3},
                                   {"elapsed time per iteration (s):", 1},
                                   {"iter time (s):", 1},
                                   {"train_step_timing in s:", 1},
                                   {"train_step_timing in s=", 1},
                                   {"global_step_time:", 1}};

struct TimedStep {
  double seconds = 0;
  const Evidence* line = nullptr;
};

/// By what lines print, or else by the clocks in front of them.
std::vector<TimedStep> timed_steps(std::span<const StepLine> lines) {
  std::vector<TimedStep> printed;
  std::vector<TimedStep> stamped;
  int64_t last = -1;
  int64_t stamp_step = -1;
  LineTime stamp;
  for (const StepLine& each : lines) {
    if (each.step <= last) continue;
    last = each.step;
    const double seconds = printed_step_time(each.line.text);
    if (seconds > 0 && seconds < kLongest) printed.push_back({seconds, &each.line});
    const LineTime time = time_of_line(each.line.text);
    if (!time.known()) continue;
    if (stamp_step >= 0) {
      const double passed = static_cast<double>(time.nanoseconds - stamp.nanoseconds) / 1e9 /
                            static_cast<double>(each.step - stamp_step);
      if (passed > 0 && passed < kLongest) stamped.push_back({passed, &each.line});
    }
    stamp = time;
    stamp_step = each.step;
  }
  return printed.size() >= kFewest ? printed : stamped;
}

}  // namespace

double printed_step_time(std::string_view line) {
  for (const TimeWord& each : kTimeWords) {
    const size_t at = line.find(each.word);
    if (at == line.npos) continue;
    const double value = number_at(line.substr(at + each.word.size()));
    if (value > 0) return value * each.unit;
  }
  const double seconds = number_before(line, "s/it");
  if (seconds > 0) return seconds;
  const double rate = number_before(line, "it/s");
  return rate > 0 ? 1 / rate : -1;
}

std::optional<StepTimes> step_times(std::span<const StepLine> lines) {
  std::vector<TimedStep> steps = timed_steps(lines);
  // Warming up: compilation, caches, the first connections.
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>((steps.size() + 9) / 10));
  if (steps.size() < kFewest) return std::nullopt;
  std::ranges::stable_sort(steps, {}, &TimedStep::seconds);
  const TimedStep& middle = steps[steps.size() / 2];
  return StepTimes{steps.size(), middle.seconds, steps[steps.size() / 10].seconds,
                   steps[steps.size() - 1 - steps.size() / 10].seconds, *middle.line};
}

std::optional<SpeedDifference> step_difference(const StepTimes& good, const StepTimes& bad) {
  constexpr double kNoticeable = 1.05;
  const bool bad_is_slower = bad.median > good.median;
  const StepTimes& slower = bad_is_slower ? bad : good;
  const StepTimes& faster = bad_is_slower ? good : bad;
  const double ratio = slower.median / faster.median;
  if (ratio < kNoticeable || slower.low <= faster.high) return std::nullopt;
  const auto side = [](const StepTimes& times) {
    return SpeedSide{.time_us = times.median * 1e6, .line = times.line};
  };
  return SpeedDifference{.op = "a step of the training",
                         .good = side(good),
                         .bad = side(bad),
                         .ratio = ratio,
                         .bad_is_slower = bad_is_slower};
}

}  // namespace ncclog
