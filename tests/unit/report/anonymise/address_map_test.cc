// Are addresses replaced so that subnets stay, and nothing else of them?

#include "report/anonymise/address_map.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ncclog {
namespace {

std::string replaced(std::string_view addresses) {
  AddressMap map;
  for (const std::string_view address : split_blanks(addresses)) map.add(address);
  map.assign();
  std::string result;
  for (const std::string_view address : split_blanks(addresses)) {
    result += (result.empty() ? "" : " ") + map.replacement(address).value_or("stays");
  }
  return result;
}

struct AddressRow {
  const char* addresses;
  const char* replacements;
};

constexpr AddressRow kAddresses[] = {
    {"10.12.8.41 10.12.8.42 10.12.9.1", "10.0.0.17 10.0.0.19 10.0.1.17"},
    {"192.168.5.77 192.168.5.78", "192.168.0.17 192.168.0.19"},
    {"172.30.1.9", "172.30.0.17"},
    {"8.8.4.4", "8.0.0.17"},
    // None of the run's own addresses may come out.
    {"10.0.0.17 10.0.0.18", "10.1.0.17 10.1.0.19"},
    {"127.0.0.1 0.0.0.0 169.254.3.4 172.17.0.3 224.0.0.1 ::1 ::",
     "stays stays stays stays stays stays stays"},
    {"fe80::ee0d:9aff:fe12:3456 fe80::ee0d:9aff:fe12:3457", "fe80::10 fe80::11"},
    {"2a01:4f8:c17:b8f::2 2a01:4f8:c17:b8f::3 2a01:4f8:c17:b8e::2",
     "2a01:0:0:1::10 2a01:0:0:1::11 2a01::11"},
    {"fd12:3456:789a:1::1", "fd00::11"},
    // sysfs writes GIDs in full; behind ::ffff: stands IPv4.
    {"fe80:0000:0000:0000:0c42:a1ff:fe4e:71d2 fe80::c42:a1ff:fe4e:71d2",
     "fe80:0000:0000:0000:0000:0000:0000:0011 fe80::11"},
    {"0000:0000:0000:0000:0000:ffff:0a78:021f 10.120.2.31",
     "0000:0000:0000:0000:0000:ffff:0a00:0011 10.0.0.17"},
    {"10.1.2 10.1.2.256 10.1.2.3.4 1:2:3 gpu ::ffff:zz", "stays stays stays stays stays stays"},
};

TEST(AddressMap, KeepsClassAndSubnets) {
  for (const AddressRow& row : kAddresses) EXPECT_EQ(replaced(row.addresses), row.replacements);
}

int common_bits(const AddressBits& a, const AddressBits& b) {
  int bit = 0;
  while (bit < a.bits &&
         ((a.bytes[static_cast<size_t>(bit / 8)] ^ b.bytes[static_cast<size_t>(bit / 8)]) >>
              (7 - bit % 8) &
          1) == 0) {
    ++bit;
  }
  return bit;
}

TEST(AddressMap, AddressesAgreeInAsManyBitsAsBefore) {
  AddressMap map;
  std::vector<std::string> all;
  for (int i = 0; i < 300; ++i) {
    const int random = (i * 7919 + 13) % 65521;
    all.push_back("10." + std::to_string(random % 3) + "." + std::to_string(random % 251) + "." +
                  std::to_string(random / 256));
    map.add(all.back());
  }
  map.assign();
  for (const std::string& a : all) {
    for (const std::string& b : all) {
      const int before = common_bits(*parse_address_bits(a), *parse_address_bits(b));
      const int after = common_bits(*parse_address_bits(*map.replacement(a)),
                                    *parse_address_bits(*map.replacement(b)));
      ASSERT_EQ(before, after) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace ncclog
