#include "report/pseudonyms.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

bool is_container_name(std::string_view host) {
  return host.size() == 12 && std::all_of(host.begin(), host.end(), is_hex_digit);
}

/// "a" to "z", "aa" and so on.
std::string letters(size_t number) {
  std::string text;
  for (; number > 0; number = (number - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (number - 1) % 26));
  }
  return text;
}

size_t digits_of(size_t count) { return fmt::formatted_size("{}", count); }

std::string host_name(std::string_view original, size_t number, size_t count) {
  if (is_container_name(original)) return fmt::format("c0de{:08x}", number);
  const bool has_digit = std::any_of(original.begin(), original.end(), is_digit);
  return has_digit ? fmt::format("host-{:0{}}", number, digits_of(count))
                   : "host-" + letters(number);
}

/// Other digits at the places of the digits: 02, zeros, the number.
std::string hexadecimal(std::string_view original, size_t number) {
  const auto digits =
      static_cast<size_t>(std::count_if(original.begin(), original.end(), is_hex_digit));
  std::string value = fmt::format("{:0{}x}", number, digits);
  value = value.substr(value.size() - digits);
  if (digits >= 6) value[1] = '2';
  std::string text(original);
  size_t at = 0;
  for (char& c : text) {
    if (is_hex_digit(c)) c = value[at++];
  }
  return text;
}

std::string decimal(std::string_view original, size_t number) {
  std::string value = fmt::format("{:0{}}", number, original.size());
  value[0] = '1';
  return value;
}

/// ".py" of "x.py", if it says nothing; else empty.
std::string_view ending_of(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == file.npos || !is_known_component(file.substr(dot + 1))) return {};
  return file.substr(dot);
}

}  // namespace

std::string make_pseudonym(IdentityKind kind, std::string_view original, size_t number,
                           size_t count) {
  switch (kind) {
    case IdentityKind::Host:
      return host_name(original, number, count);
    case IdentityKind::Guid:
    case IdentityKind::Hardware:
      return hexadecimal(original, number);
    case IdentityKind::JobNumber:
      return decimal(original, number);
    case IdentityKind::Lid:
      return fmt::format("{}", number);
    case IdentityKind::Domain:
      return fmt::format("domain-{}.example", number);
    case IdentityKind::Email:
      return fmt::format("mail-{}@domain.example", number);
    case IdentityKind::File:
      return fmt::format("file-{}{}", number, ending_of(original));
    default:
      return fmt::format("{}-{}", to_string(kind), number);
  }
}

}  // namespace ncclog
