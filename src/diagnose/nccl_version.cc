#include "diagnose/nccl_version.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {

std::vector<int> version_parts(std::string_view version) {
  constexpr size_t kMaxDigits = 6;
  std::vector<int> parts;
  for (const std::string_view part : split(version, '.')) {
    const size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
    const auto number = parse_int(part.substr(0, digits));
    if (!number || digits > kMaxDigits) break;
    parts.push_back(static_cast<int>(*number));
    if (digits < part.size()) break;
  }
  return parts;
}

int compare_releases(std::string_view a, std::string_view b) {
  std::vector<int> left = version_parts(a);
  std::vector<int> right = version_parts(b);
  const size_t parts = std::max(left.size(), right.size());
  left.resize(parts);
  right.resize(parts);
  return left < right ? -1 : left > right ? 1 : 0;
}

bool is_release(std::string_view text) {
  constexpr size_t kMostParts = 4;
  const auto parts = split(text, '.');
  return parts.size() >= 2 && parts.size() <= kMostParts &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && part.size() <= 4 &&
                  std::all_of(part.begin(), part.end(), is_digit);
         });
}

}  // namespace ncclog
