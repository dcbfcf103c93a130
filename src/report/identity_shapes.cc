#include "report/identity_shapes.h"

#include <algorithm>
#include <string>

#include "base/letters.h"
#include "base/text.h"
#include "report/address_map.h"

namespace ncclog {
namespace {

constexpr size_t kLongestShape = 64;

/// A place in a text with what stands around it.
struct Place {
  std::string_view text;
  size_t at;

  /// The character `ahead` of the place; NUL behind the end, a blank before the beginning.
  char peek(size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  char prev() const { return at > 0 ? text[at - 1] : ' '; }

  template <typename Is>
  std::string_view run(Is&& is) const {
    const std::string_view rest = text.substr(at, kLongestShape);
    const auto end = std::find_if_not(rest.begin(), rest.end(), is);
    return rest.substr(0, static_cast<size_t>(end - rest.begin()));
  }
};

/// True for "version 1.18.1.0" and the like: four numbers that are no address.
bool is_behind_version(const Place& place) {
  constexpr size_t kLookBack = 14;
  const size_t begin = place.at < kLookBack ? 0 : place.at - kLookBack;
  const std::string before = lower_case(place.text.substr(begin, place.at - begin));
  return before.find("ver") != before.npos || before.find("release") != before.npos;
}

size_t ipv4_length(const Place& place) {
  const char prev = place.prev();
  if (!is_digit(place.peek(0)) || prev == '_' || prev == '-') return 0;
  if (prev == '.' && place.at > 1 && is_digit(place.text[place.at - 2])) return 0;
  std::string_view run = place.run([](char c) { return is_digit(c) || c == '.'; });
  while (run.ends_with('.')) run.remove_suffix(1);
  const bool is_word_on = is_word(place.peek(run.size()));
  if (run.find('.') == run.npos || is_word_on || is_behind_version(place)) return 0;
  return parse_address_bits(run) ? run.size() : 0;
}

size_t ipv6_length(const Place& place) {
  const char prev = place.prev();
  if (prev == '_' || prev == '.' || is_alnum(prev)) return 0;
  std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == ':'; });
  const char next = place.peek(run.size());
  if (is_word(next) || (next == '.' && is_digit(place.peek(run.size() + 1)))) return 0;
  if (run.ends_with(':')) run.remove_suffix(1);
  const bool tells =
      std::count(run.begin(), run.end(), ':') >= 2 && std::any_of(run.begin(), run.end(), is_digit);
  return tells && parse_address_bits(run) ? run.size() : 0;
}

/// "b8:59:9f:12:34:56": 6, 8 or 20 bytes that are not all 0 or all ff.
size_t hardware_length(const Place& place) {
  const char separator = place.peek(2);
  if (separator != ':' && separator != '-') return 0;
  const std::string_view run = place.run([&](char c) { return is_hex_digit(c) || c == separator; });
  const size_t bytes = (run.size() + 1) / 3;
  if (run.size() % 3 != 2 || (bytes != 6 && bytes != 8 && bytes != 20)) return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == separator) != (i % 3 == 2)) return 0;
  }
  const bool is_one = run.find_first_not_of("0fF:-") != run.npos;
  return is_one && !is_word(place.peek(run.size())) ? run.size() : 0;
}

/// "ec0d:9a03:0012:3456".
size_t guid_length(const Place& place) {
  const std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == ':'; });
  if (run.size() != 19 || is_word(place.peek(19)) || place.prev() == ':') return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == ':') != (i % 5 == 4)) return 0;
  }
  return run.size();
}

size_t uuid_length(const Place& place) {
  const std::string_view run = place.run([](char c) { return is_hex_digit(c) || c == '-'; });
  if (run.size() != 36 || is_alnum(place.peek(36))) return 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if ((run[i] == '-') != (i == 8 || i == 13 || i == 18 || i == 23)) return 0;
  }
  return run.size();
}

/// A network device in NCCL's topology (graph/topo.cc): GUID, port, speed.
size_t asic_length(const Place& place) {
  constexpr size_t kLookBack = 64;
  const size_t begin = place.at < kLookBack ? 0 : place.at - kLookBack;
  const std::string_view before = place.text.substr(begin, place.at - begin);
  if (place.prev() != '(' || before.find("NET/") == before.npos) return 0;
  const std::string_view run = place.run(is_hex_digit);
  const bool fits = run.size() >= 6 && run.size() <= 16 && place.peek(run.size()) == '/' &&
                    is_digit(place.peek(run.size() + 1));
  return fits ? run.size() : 0;
}

struct Shape {
  IdentityKind kind;
  size_t (*length)(const Place& place);
};

constexpr Shape kShapes[] = {
    {IdentityKind::Address, ipv4_length}, {IdentityKind::Hardware, hardware_length},
    {IdentityKind::Address, ipv6_length}, {IdentityKind::Guid, guid_length},
    {IdentityKind::Guid, uuid_length},    {IdentityKind::Guid, asic_length},
};

}  // namespace

FoundIdentity match_shape(std::string_view text, size_t at) {
  for (const Shape& shape : kShapes) {
    const size_t length = shape.length({text, at});
    if (length > 0) return {shape.kind, at, length};
  }
  return {};
}

}  // namespace ncclog
