#include "diagnose/name_filter.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

/// What stands before the number that ends it, as atoi reads it.
int leading_number(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && end < 6 && is_digit(text[end])) ++end;
  return static_cast<int>(parse_int(text.substr(0, end)).value_or(0));
}

}  // namespace

NameFilter parse_name_filter(std::string_view text) {
  NameFilter filter;
  if (text.starts_with('^')) filter.excludes = true, text.remove_prefix(1);
  if (text.starts_with('=')) filter.exact = true, text.remove_prefix(1);
  // NCCL's list reader skips one more of these signs itself.
  if (text.starts_with('^') || text.starts_with('=')) text.remove_prefix(1);
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.find(':');
    const std::string_view name = part.substr(0, colon);
    if (name.empty()) continue;
    const int port = colon == part.npos ? -1 : leading_number(part.substr(colon + 1));
    filter.entries.push_back({name, port});
  }
  return filter;
}

bool speaks_of(const NameFilter& filter, const FilterEntry& entry, std::string_view name,
               int port) {
  const bool named = filter.exact ? name == entry.name : name.starts_with(entry.name);
  return named && (port < 0 || entry.port < 0 || port == entry.port);
}

bool admits(const NameFilter& filter, std::string_view name, int port) {
  if (filter.entries.empty()) return true;
  const bool matched =
      std::any_of(filter.entries.begin(), filter.entries.end(),
                  [&](const FilterEntry& entry) { return speaks_of(filter, entry, name, port); });
  return matched != filter.excludes;
}

}  // namespace ncclog
