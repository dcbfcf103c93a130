#include "support/text_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace ncclog::testing {
namespace {

constexpr size_t kContext = 2;
/// Lines a side that are compared, counted from the first difference: the table is quadratic.
constexpr size_t kMaxLines = 2000;

struct DiffLine {
  char mark;  ///< ' ', '-' or '+'.
  std::string_view text;
};

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines = split(text, '\n');
  if (lines.back().empty()) {
    lines.pop_back();
  } else {
    lines.emplace_back("(no newline at the end)");
  }
  return lines;
}

/// Drops what both begin with, except its last lines, and what lies too far behind.
void keep_around_first_difference(Lines& a, Lines& b) {
  size_t same =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  size_t dropped = same - std::min(same, kContext);
  for (Lines* lines : {&a, &b}) {
    lines->erase(lines->begin(), lines->begin() + static_cast<ptrdiff_t>(dropped));
    lines->resize(std::min(lines->size(), kMaxLines));
  }
}

/// The edit script along a longest common subsequence.
std::vector<DiffLine> compare(const Lines& a, const Lines& b) {
  size_t width = b.size() + 1;
  std::vector<uint32_t> common((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::vector<DiffLine> script;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      script.push_back({' ', a[i++]});
      ++j;
    } else if (j == b.size() ||
               (i < a.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      script.push_back({'-', a[i++]});
    } else {
      script.push_back({'+', b[j++]});
    }
  }
  return script;
}

bool is_near_change(const std::vector<DiffLine>& script, size_t at) {
  size_t begin = at < kContext ? 0 : at - kContext;
  size_t end = std::min(script.size(), at + kContext + 1);
  return std::any_of(script.begin() + static_cast<ptrdiff_t>(begin),
                     script.begin() + static_cast<ptrdiff_t>(end),
                     [](const DiffLine& line) { return line.mark != ' '; });
}

}  // namespace

std::string text_diff(std::string_view expected, std::string_view actual) {
  if (expected == actual) return {};
  Lines a = lines_of(expected);
  Lines b = lines_of(actual);
  keep_around_first_difference(a, b);
  std::vector<DiffLine> script = compare(a, b);
  std::string out;
  bool skipped = false;
  for (size_t i = 0; i < script.size(); ++i) {
    bool shown = is_near_change(script, i);
    if (shown) {
      if (skipped && !out.empty()) out += "  …\n";
      out += {script[i].mark, ' '};
      out += script[i].text;
      out += '\n';
    }
    skipped = !shown;
  }
  return out;
}

}  // namespace ncclog::testing
