#include "model/unknown_prefixes.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr char kind_of(char c) { return is_digit(c) ? '0' : is_alpha(c) ? 'a' : c; }

}  // namespace

uint64_t shape_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  char last = '\0';
  for (const char c : text) {
    const char kind = kind_of(c);
    const bool goes_on = kind == last && (kind == '0' || kind == 'a');
    if (!goes_on) hash = (hash ^ static_cast<unsigned char>(kind)) * 0x100000001b3u;
    last = kind;
  }
  return hash | 1;
}

const UnknownPrefixes::Seen* UnknownPrefixes::find(uint64_t shape) const {
  const auto found = std::find_if(seen_.begin(), seen_.end(),
                                  [&](const Seen& seen) { return seen.shape == shape; });
  return found == seen_.end() ? nullptr : &*found;
}

void UnknownPrefixes::add(uint64_t shape) {
  ++records_;
  if (shape == 0) return;
  const auto place = std::find_if(seen_.begin(), seen_.end(),
                                  [&](const Seen& seen) { return seen.shape == shape; });
  if (place != seen_.end()) {
    ++place->count;
    return;
  }
  *std::min_element(seen_.begin(), seen_.end(),
                    [](const Seen& a, const Seen& b) { return a.count < b.count; }) = {shape, 1};
}

bool UnknownPrefixes::is_prefix(uint64_t shape) const {
  const Seen* seen = find(shape);
  return seen != nullptr && seen->count >= kOften && 2 * seen->count > records_;
}

bool UnknownPrefixes::is_prefix_of_few(uint64_t shape) const {
  const Seen* seen = find(shape);
  return records_ < 2 * kOften && seen != nullptr && 2 * seen->count > records_;
}

}  // namespace ncclog
