#include "model/output_starts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// 0: the line tells nothing, as short ones do, and those of tracebacks, which repeat themselves.
uint64_t shape_of(std::string_view line) {
  constexpr size_t kLongest = 96;
  constexpr int kFewestLetters = 12;
  if (line.empty() || is_blank(line[0]) || line.starts_with("Traceback")) return 0;
  // Printed while the interpreter leaves, behind whatever it raised.
  if (line.substr(0, kLongest).find("wandb") != line.npos) return 0;
  uint64_t shape = 0xcbf29ce484222325u;
  int letters = 0;
  bool is_colour = false;
  for (const char c : line.substr(0, kLongest)) {
    if (c == '\x1b') is_colour = true;
    if (!is_colour && !is_digit(c) && !is_blank(c)) {
      letters += is_alpha(c) ? 1 : 0;
      shape = (shape ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    if (is_colour && is_alpha(c)) is_colour = false;
  }
  return letters < kFewestLetters ? 0 : std::max<uint64_t>(shape, 1);
}

}  // namespace

void OutputStarts::note(SourceRef where, std::string_view line) {
  const uint64_t shape = shape_of(line);
  if (shape == 0) return;
  if (opening_.size() < kOpening) opening_.push_back({where, shape});
  if (left_ > 0) add_after_break({where, shape});
}

void OutputStarts::add_after_break(OutputLine line) {
  --left_;
  line.follows = std::exchange(break_, OutputBreak::None);
  if (after_breaks_.size() < kMost) after_breaks_.push_back(line);
}

void OutputStarts::end(OutputBreak how) {
  left_ = kWindow;
  break_ = std::max(break_, how);
}

void OutputStarts::keep_ending(const OwnedRecord& line) {
  if (endings_.size() < kEndings) endings_.push_back(line);
}

void OutputStarts::merge(const OutputStarts& later) {
  static_assert(kWindow <= kOpening, "what follows a break may begin the next stretch");
  for (const OutputLine& line : later.opening_) {
    const bool is_before_next =
        later.after_breaks_.empty() || line.where < later.after_breaks_.front().where;
    if (left_ > 0 && is_before_next) add_after_break(line);
    if (opening_.size() < kOpening) opening_.push_back(line);
  }
  for (const OwnedRecord& ending : later.endings_) keep_ending(ending);
  finished_ = std::max(finished_, later.finished_);
  if (later.after_breaks_.empty() && later.left_ == 0) return;  // No break is there.
  left_ = later.left_;
  for (OutputLine line : later.after_breaks_) {
    line.follows = std::max(line.follows, std::exchange(break_, OutputBreak::None));
    if (after_breaks_.size() < kMost) after_breaks_.push_back(line);
  }
  break_ = std::max(break_, later.break_);
}

std::vector<SourceRef> OutputStarts::restarts(bool is_one_voice) const {
  constexpr size_t kFewest = 3;  // Lines of the opening; fewer may come again by chance.
  // The opening ends where the first run does. What stands in it twice is printed by each rank.
  std::vector<uint64_t> opening;
  for (const OutputLine& line : opening_) {
    const bool is_over = !after_breaks_.empty() && line.where >= after_breaks_.front().where;
    if (is_over) break;
    opening.push_back(line.shape);
  }
  const auto is_once = [&](uint64_t shape) { return std::ranges::count(opening, shape) == 1; };
  // Behind too many breaks not all is kept.
  if (opening.empty() || !is_once(opening.front()) || after_breaks_.size() >= kMost) return {};
  std::vector<SourceRef> starts;
  SourceRef first;
  size_t met = 0;  // Lines of the opening that came again, in their order.
  size_t next = 0;
  bool is_over = false;
  for (const OutputLine& line : after_breaks_) {
    if (line.follows != OutputBreak::None) {
      met = next = 0;
      is_over = is_one_voice || line.follows == OutputBreak::End;
      // Who catches what was raised says so, or goes on; who starts the program again does not.
      if (line.follows == OutputBreak::Failure) is_over &= line.shape == opening.front();
    }
    const auto wanted = opening.begin() + static_cast<std::ptrdiff_t>(next);
    const auto found = std::find(wanted, next == 0 ? wanted + 1 : opening.end(), line.shape);
    const bool is_met =
        is_over && found != (next == 0 ? wanted + 1 : opening.end()) && is_once(line.shape);
    if (!is_met) continue;
    next = static_cast<size_t>(found - opening.begin()) + 1;
    if (met == 0) first = line.where;
    if (++met == kFewest) starts.push_back(first);
  }
  return starts;
}

}  // namespace ncclog
