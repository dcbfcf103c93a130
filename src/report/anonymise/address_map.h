// Which address stands for which, so that nobody learns the real ones and subnets stay subnets.
//
//   10.10.0.11 → 10.0.0.17     10.10.0.12 → 10.0.0.21     10.10.7.3 → 10.0.4.17
//   fe80::1c5e:86ff:fee4:151 → fe80::11
//
// Two addresses agree in as many leading bits as before: in a /24, /31 or /64 they stay in one. Of
// each address only those bits survive in which others differ from it, and the bits of its class
// (10/8, 192.168/16, fe80::/64, the first byte of any other): what is left cannot be turned back
// without the mapping. Loopback, link-local IPv4, multicast, 0.0.0.0 and the networks that Docker
// and libvirt make on every host are nobody's own, and stay.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ncclog {

/// The bits of an address, the first one the highest of bytes[0]; IPv4 has the first four bytes.
struct AddressBits {
  std::array<uint8_t, 16> bytes{};
  int bits = 32;  ///< 32 or 128.

  auto operator<=>(const AddressBits&) const = default;
};

/// "10.1.2.3", "fe80::1", "0000:…:ffff:0a78:021f": all of `text` as an address; nullopt otherwise.
/// An IPv4 address written as IPv6 (::ffff:0:0/96) is an IPv6 address here.
std::optional<AddressBits> parse_address_bits(std::string_view text);

/// Collects addresses, then says what replaces each of them.
class AddressMap {
 public:
  /// Adds an address as printed. False if it is none, or one of those that stay.
  bool add(std::string_view printed);

  /// Chooses the replacements, none of which is an address that was added where that can be
  /// avoided. To be called once, after the last add.
  void assign();

  /// What replaces that address, in the same notation; nullopt if it stays.
  std::optional<std::string> replacement(std::string_view printed) const;

  /// All that were added as printed, with what replaces them, sorted.
  std::map<std::string, std::string> all() const;

 private:
  std::map<AddressBits, AddressBits> replacements_;
  std::set<std::string, std::less<>> printed_;
};

}  // namespace ncclog
