#include "replay/timing_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

bool same_call(const ReplayTiming& a, const ReplayTiming& b) {
  return a.timing.call == b.timing.call && a.timing.op == b.timing.op &&
         a.timing.bytes == b.timing.bytes;
}

using Rows = std::vector<const ReplayTiming*>;

/// By call in the order of their first rows; those without a time or a setting are left out.
std::vector<Rows> rows_by_call(std::span<const ReplayTiming> timings) {
  std::vector<Rows> calls;
  for (const ReplayTiming& row : timings) {
    if (row.settings.empty() || row.timing.median_us <= 0) continue;
    auto found = std::find_if(calls.begin(), calls.end(),
                              [&](const Rows& rows) { return same_call(*rows.front(), row); });
    if (found == calls.end()) found = calls.insert(calls.end(), Rows());
    found->push_back(&row);
  }
  return calls;
}

/// "10.7", "1.04": a small difference needs a digit more.
std::string ratio_text(double ratio) {
  return ratio < 1.1 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.1f}", ratio);
}

std::string comparison(const ReplayTiming& slow, const ReplayTiming& fast) {
  const std::string call =
      fmt::format("{} of {} bytes", printable(slow.timing.op), slow.timing.bytes);
  if (slow.timing.least_us <= fast.timing.most_us) {
    return fmt::format("{}: no difference beyond the spread between {} and {}.", call,
                       printable(slow.settings), printable(fast.settings));
  }
  return fmt::format("{}: {} takes {} times as long as {} ({:.1f} against {:.1f} us).", call,
                     printable(slow.settings),
                     ratio_text(slow.timing.median_us / fast.timing.median_us),
                     printable(fast.settings), slow.timing.median_us, fast.timing.median_us);
}

}  // namespace

std::vector<std::string> time_comparisons(std::span<const ReplayTiming> timings) {
  std::vector<std::string> out;
  for (const Rows& rows : rows_by_call(timings)) {
    const ReplayTiming* fastest = *std::min_element(
        rows.begin(), rows.end(),
        [](const auto* a, const auto* b) { return a->timing.median_us < b->timing.median_us; });
    for (const ReplayTiming* row : rows) {
      if (row != fastest) out.push_back(comparison(*row, *fastest));
    }
  }
  return out;
}

}  // namespace ncclog
