#include "report/anonymise/address_map.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr int kIpv4Bits = 32;
constexpr int kIpv6Bits = 128;

bool get_bit(const AddressBits& address, int bit) {
  return (address.bytes[bit / 8] >> (7 - bit % 8) & 1) != 0;
}

void set_bit(AddressBits& address, int bit, bool value) {
  uint8_t& byte = address.bytes[bit / 8];
  const auto mask = static_cast<uint8_t>(1U << (7 - bit % 8));
  byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
}

/// Leading zeros are fine, unlike for inet_pton: logs hold "010.012.008.041".
std::optional<AddressBits> parse_four_bytes(std::string_view text) {
  AddressBits address;
  const auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  for (size_t i = 0; i < 4; ++i) {
    const auto byte = parts[i].size() > 3 ? std::nullopt : parse_int(parts[i]);
    if (!byte || *byte > 255 || !is_digit(parts[i][0])) return std::nullopt;
    address.bytes[i] = static_cast<uint8_t>(*byte);
  }
  return address;
}

/// IPv4 written as IPv6: the last four bytes behind ten of 0 and two of 255.
std::optional<AddressBits> mapped_ipv4(const AddressBits& address) {
  constexpr std::array<uint8_t, 12> kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (address.bits != kIpv6Bits ||
      !std::equal(kPrefix.begin(), kPrefix.end(), address.bytes.begin()))
    return std::nullopt;
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

/// The bits of its class, zeros behind.
AddressBits class_of(const AddressBits& address) {
  AddressBits prefix{.bits = address.bits};
  for (int bit = 0; bit < class_bits(address); ++bit) set_bit(prefix, bit, get_bit(address, bit));
  return prefix;
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
  AddressBits pattern = class_of(sorted.front());
  const size_t last = static_cast<size_t>(pattern.bits / 8) - 1;
  pattern.bytes[last] = 0x11;  // So that a fork in the last bit makes no network address.
  pattern.bytes[kept <= 8 && pattern.bits == kIpv4Bits ? 1 : last - 1] = variant;
  std::vector<AddressBits> result(sorted.size(), pattern);
  copy_forks(sorted, result, kept);
  return result;
}

/// In the notation of `like`: sysfs prints GIDs with all eight groups of four digits.
std::string address_text(const AddressBits& address, std::string_view like) {
  constexpr size_t kFullLength = 39;
  std::string full;
  for (size_t i = 0; i < address.bytes.size() && like.size() == kFullLength; ++i) {
    full += fmt::format("{}{:02x}", i > 0 && i % 2 == 0 ? ":" : "", address.bytes[i]);
  }
  if (!full.empty()) return full;
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(address.bits == kIpv4Bits ? AF_INET : AF_INET6, address.bytes.data(), text,
            sizeof text);
  return text;
}

}  // namespace

std::optional<AddressBits> parse_address_bits(std::string_view text) {
  if (text.find(':') == text.npos) return parse_four_bytes(text);
  AddressBits address{.bits = kIpv6Bits};
  if (inet_pton(AF_INET6, std::string(text).c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
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
  std::map<AddressBits, std::vector<AddressBits>> classes;
  for (const auto& [address, replacement] : replacements_) {
    classes[class_of(address)].push_back(address);
  }
  const auto is_taken = [&](const AddressBits& address) {
    return replacements_.contains(address) || stays(address);
  };
  for (const auto& [prefix, members] : classes) {
    std::vector<AddressBits> chosen = renumbered(members, 0);
    for (unsigned variant = 1; variant < 256; ++variant) {
      if (std::ranges::none_of(chosen, is_taken)) break;
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
