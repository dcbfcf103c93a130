#include "diagnose/nccl_version.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kParts = 4;

std::array<int64_t, kParts> parts_of(std::string_view release) {
  std::array<int64_t, kParts> numbers{};
  size_t at = 0;
  for (const std::string_view part : split(release, '.')) {
    size_t end = 0;
    while (end < part.size() && end < 9 && is_digit(part[end])) ++end;
    if (at == kParts || end == 0) break;
    numbers[at++] = parse_int(part.substr(0, end)).value_or(0);
    if (end < part.size()) break;
  }
  return numbers;
}

}  // namespace

int compare_releases(std::string_view a, std::string_view b) {
  const auto left = parts_of(a);
  const auto right = parts_of(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

bool is_release(std::string_view text) {
  const auto parts = split(text, '.');
  return parts.size() >= 2 && parts.size() <= kParts &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && part.size() <= 4 &&
                  std::all_of(part.begin(), part.end(), is_digit);
         });
}

}  // namespace ncclog
