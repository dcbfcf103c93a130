#include "report/address_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr int kIpv4Bits = 32;
constexpr int kIpv6Bits = 128;

bool get_bit(const AddressBits& address, int bit) {
  return (address.bytes[static_cast<size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0;
}

void set_bit(AddressBits& address, int bit, bool value) {
  uint8_t& byte = address.bytes[static_cast<size_t>(bit / 8)];
  const auto mask = static_cast<uint8_t>(1U << (7 - bit % 8));
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

std::optional<AddressBits> parse_four_bytes(std::string_view text) {
  AddressBits address;
  const auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  for (size_t i = 0; i < 4; ++i) {
    const auto byte = parts[i].size() > 3 ? std::nullopt : parse_int(parts[i]);
    if (!byte || *byte < 0 || *byte > 255 || !is_digit(parts[i][0])) return std::nullopt;
    address.bytes[i] = static_cast<uint8_t>(*byte);
  }
  return address;
}

/// The groups between colons; nullopt if one of them is none.
std::optional<std::vector<uint16_t>> parse_groups(std::string_view text) {
  std::vector<uint16_t> groups;
  if (text.empty()) return groups;
  for (const std::string_view part : split(text, ':')) {
    unsigned value = 0;
    const auto end = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    if (part.empty() || part.size() > 4 || end.ptr != part.data() + part.size()) {
      return std::nullopt;
    }
    groups.push_back(static_cast<uint16_t>(value));
  }
  return groups;
}

std::optional<AddressBits> parse_ipv6(std::string_view text) {
  const size_t gap = text.find("::");
  const auto front = parse_groups(text.substr(0, gap));
  const auto back = parse_groups(gap == text.npos ? std::string_view() : text.substr(gap + 2));
  if (!front || !back) return std::nullopt;
  const size_t named = front->size() + back->size();
  if (gap == text.npos ? named != 8 : named > 7) return std::nullopt;
  AddressBits address{.bits = kIpv6Bits};
  const auto put = [&](size_t group, uint16_t value) {
    address.bytes[2 * group] = static_cast<uint8_t>(value >> 8);
    address.bytes[2 * group + 1] = static_cast<uint8_t>(value & 0xFF);
  };
  for (size_t i = 0; i < front->size(); ++i) put(i, (*front)[i]);
  for (size_t i = 0; i < back->size(); ++i) put(8 - back->size() + i, (*back)[i]);
  return address;
}

/// IPv4 written as IPv6: the last four bytes behind ten of 0 and two of 255.
std::optional<AddressBits> mapped_ipv4(const AddressBits& address) {
  if (address.bits != kIpv6Bits) return std::nullopt;
  for (size_t i = 0; i < 12; ++i) {
    if (address.bytes[i] != (i < 10 ? 0 : 0xFF)) return std::nullopt;
  }
  AddressBits inner;
  std::copy_n(address.bytes.begin() + 12, 4, inner.bytes.begin());
  return inner;
}

bool stays(const AddressBits& address) {
  const auto& b = address.bytes;
  if (address.bits == kIpv4Bits) {
    return b[0] == 0 || b[0] == 127 || b[0] >= 224 || (b[0] == 169 && b[1] == 254) ||
           (b[0] == 172 && b[1] == 17 && b[2] == 0);
  }
  const bool tiny = std::all_of(b.begin(), b.begin() + 14, [](uint8_t byte) { return byte == 0; });
  return tiny || b[0] == 0xFF;
}

/// Leading bits that say what sort of address it is, and stay.
int class_bits(const AddressBits& address) {
  const auto& b = address.bytes;
  if (address.bits == kIpv6Bits) {
    if (b[0] == 0xFE && (b[1] & 0xC0) == 0x80) return 64;
    return (b[0] & 0xFE) == 0xFC ? 8 : 16;
  }
  const bool sixteen = (b[0] == 192 && b[1] == 168) || (b[0] == 172 && b[1] / 16 == 1);
  return sixteen ? 16 : 8;
}

/// Carries over the bits in which the addresses differ from each other, from `bit` on. Both lists
/// go together; `from` is sorted.
void copy_forks(std::span<const AddressBits> from, std::span<AddressBits> to, int bit) {
  for (; from.size() > 1 && bit < from.front().bits; ++bit) {
    const auto fork = std::partition_point(from.begin(), from.end(),
                                           [&](const AddressBits& a) { return !get_bit(a, bit); });
    const auto zeros = static_cast<size_t>(fork - from.begin());
    if (zeros == 0 || zeros == from.size()) continue;
    for (size_t i = 0; i < to.size(); ++i) set_bit(to[i], bit, i >= zeros);
    copy_forks(from.first(zeros), to.first(zeros), bit + 1);
    from = from.subspan(zeros);
    to = to.subspan(zeros);
  }
}

/// What the addresses of one class become where the bits that nobody differs in are those of
/// `variant`.
std::vector<AddressBits> renumbered(std::span<const AddressBits> sorted, uint8_t variant) {
  const int kept = class_bits(sorted.front());
  AddressBits pattern{.bits = sorted.front().bits};
  for (int bit = 0; bit < kept; ++bit) set_bit(pattern, bit, get_bit(sorted.front(), bit));
  const size_t last = static_cast<size_t>(pattern.bits / 8) - 1;
  pattern.bytes[last] = 0x11;  // So that a fork in the last bit makes no network address.
  pattern.bytes[kept <= 8 && pattern.bits == kIpv4Bits ? 1 : last - 1] = variant;
  std::vector<AddressBits> result(sorted.size(), pattern);
  copy_forks(sorted, result, kept);
  return result;
}

std::string four_bytes_text(std::span<const uint8_t> b) {
  return fmt::format("{}.{}.{}.{}", b[0], b[1], b[2], b[3]);
}

uint16_t group_of(const AddressBits& address, size_t group) {
  return static_cast<uint16_t>(address.bytes[2 * group] << 8 | address.bytes[2 * group + 1]);
}

/// All eight groups with four digits each, as sysfs prints GIDs.
std::string full_text(const AddressBits& address) {
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    text += fmt::format("{}{:04x}", i == 0 ? "" : ":", group_of(address, i));
  }
  return text;
}

/// The longest run of zero groups as "::", as inet_ntop prints it.
std::string short_text(const AddressBits& address) {
  size_t best = 0, best_length = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t end = i;
    while (end < 8 && group_of(address, end) == 0) ++end;
    if (end - i > best_length) best = i, best_length = end - i;
  }
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    if (best_length > 1 && i == best) {
      text += "::";
      i += best_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", group_of(address, i));
  }
  return text;
}

/// In the notation of `like`.
std::string address_text(const AddressBits& address, std::string_view like) {
  if (address.bits == kIpv4Bits) return four_bytes_text(address.bytes);
  return like.size() == 39 ? full_text(address) : short_text(address);
}

}  // namespace

std::optional<AddressBits> parse_address_bits(std::string_view text) {
  return text.find(':') == text.npos ? parse_four_bytes(text) : parse_ipv6(text);
}

bool AddressMap::add(std::string_view printed) {
  auto address = parse_address_bits(printed);
  if (!address) return false;
  if (const auto inner = mapped_ipv4(*address)) address = inner;
  if (stays(*address)) return false;
  replacements_.try_emplace(*address);
  printed_.emplace(printed);
  return true;
}

void AddressMap::assign() {
  std::map<std::pair<int, std::string>, std::vector<AddressBits>> classes;
  for (const auto& [address, replacement] : replacements_) {
    AddressBits prefix{.bits = address.bits};
    for (int bit = 0; bit < class_bits(address); ++bit) {
      set_bit(prefix, bit, get_bit(address, bit));
    }
    classes[{address.bits, address_text(prefix, "")}].push_back(address);
  }
  for (const auto& [name, members] : classes) {
    std::vector<AddressBits> chosen = renumbered(members, 0);
    const auto is_taken = [&](const AddressBits& address) {
      return replacements_.contains(address) || stays(address);
    };
    for (unsigned variant = 1; variant < 256; ++variant) {
      if (std::none_of(chosen.begin(), chosen.end(), is_taken)) break;
      chosen = renumbered(members, static_cast<uint8_t>(variant));
    }
    for (size_t i = 0; i < members.size(); ++i) replacements_[members[i]] = chosen[i];
  }
}

std::optional<std::string> AddressMap::replacement(std::string_view printed) const {
  const auto address = parse_address_bits(printed);
  if (!address) return std::nullopt;
  const auto inner = mapped_ipv4(*address);
  const auto found = replacements_.find(inner ? *inner : *address);
  if (found == replacements_.end()) return std::nullopt;
  if (!inner) return address_text(found->second, printed);
  AddressBits outer = *address;
  std::copy_n(found->second.bytes.begin(), 4, outer.bytes.begin() + 12);
  return address_text(outer, printed);
}

std::map<std::string, std::string> AddressMap::all() const {
  std::map<std::string, std::string> result;
  for (const std::string& printed : printed_) {
    if (auto text = replacement(printed)) result.emplace(printed, std::move(*text));
  }
  return result;
}

}  // namespace ncclog
