#include "model/output_starts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// 0: the line tells nothing, as short ones do, and those of tracebacks, which repeat themselves.
uint64_t shape_of(std::string_view line) {
  constexpr size_t kLongest = 96;
  constexpr int kFewestLetters = 12;
  if (line.empty() || is_blank(line[0]) || line.starts_with("Traceback")) return 0;
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
  if (count_ < kOpening) {
    ++count_;
    opening_.push_back({where, shape});
  }
  if (left_ > 0) add_behind({where, shape});
}

void OutputStarts::add_behind(OutputLine line) {
  --left_;
  line.behind = std::exchange(break_, OutputBreak::None);
  if (behind_.size() < kMost) behind_.push_back(line);
}

void OutputStarts::end(OutputBreak how) {
  left_ = kWindow;
  break_ = std::max(break_, how);
}

void OutputStarts::merge(const OutputStarts& later) {
  static_assert(kWindow <= kOpening, "what follows a failure may begin the next stretch");
  for (const OutputLine& line : later.opening_) {
    const bool is_before_next = later.behind_.empty() || line.where < later.behind_.front().where;
    if (left_ > 0 && is_before_next) add_behind(line);
    if (count_ < kOpening) {
      ++count_;
      opening_.push_back(line);
    }
  }
  if (later.behind_.empty() && later.left_ == 0) return;  // Nobody failed there.
  left_ = later.left_;
  for (OutputLine line : later.behind_) {
    line.behind = std::max(line.behind, std::exchange(break_, OutputBreak::None));
    if (behind_.size() < kMost) behind_.push_back(line);
  }
  break_ = std::max(break_, later.break_);
}

std::vector<SourceRef> OutputStarts::restarts(bool is_one_voice) const {
  constexpr size_t kFewest = 3;  // Lines of the opening; fewer may come again by chance.
  std::set<uint64_t> opening;
  std::set<uint64_t> repeated;  // By each rank, or in each epoch.
  for (const OutputLine& line : opening_) {
    if (!behind_.empty() && line.where >= behind_.front().where) break;
    if (!opening.insert(line.shape).second) repeated.insert(line.shape);
  }
  for (const uint64_t shape : repeated) opening.erase(shape);
  std::vector<SourceRef> starts;
  std::set<uint64_t> seen;
  SourceRef first;
  bool is_over = false;
  for (const OutputLine& line : behind_) {
    if (line.behind != OutputBreak::None) {
      seen.clear();
      is_over = is_one_voice || line.behind == OutputBreak::End;
    }
    if (!is_over || !opening.contains(line.shape)) continue;
    if (seen.empty()) first = line.where;
    if (seen.insert(line.shape).second && seen.size() == kFewest) starts.push_back(first);
  }
  // Behind so many failures not all are known.
  return behind_.size() < kMost ? starts : std::vector<SourceRef>();
}

}  // namespace ncclog
