#include "report/text_parts.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/text.h"

namespace ncclog {

std::string label(std::string_view name, const TextStyle& style) {
  return paint(pad(fmt::format("  {}", name), kMargin), Tone::Quiet, style);
}

/// Text that wraps behind a label. The label is painted after measuring: codes have no width.
std::string labelled(std::string_view name, std::string_view text, const TextStyle& style) {
  const std::string plain = pad(fmt::format("  {}", name), kMargin);
  std::string out = hang(plain, printable(text), style);
  return out.replace(0, plain.size(), label(name, style));
}

std::string plural(uint64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : one.ends_with('s') ? "es" : "s");
}

std::string channels_text(uint64_t channels) {
  std::vector<int> numbers;
  for (int c = 0; channels != 0; ++c, channels >>= 1) {
    if ((channels & 1) != 0) numbers.push_back(c);
  }
  return ranges_text(std::move(numbers));
}

}  // namespace ncclog
