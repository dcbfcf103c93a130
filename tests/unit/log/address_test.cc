#include "log/address.h"

#include <gtest/gtest.h>

#include <string>

namespace ncclog {
namespace {

struct AddressCase {
  std::string_view text;
  std::string_view ip;
  std::string_view scope;
  int port;
};

TEST(Address, TakesAddressesApart) {
  const AddressCase cases[] = {
      {"172.17.0.1<34599>", "172.17.0.1", "", 34599},
      {"fe80::1%ib0<41822>", "fe80::1", "ib0", 41822},
      {"node09.cluster<41822>", "node09.cluster", "", 41822},
      {"10.1.2.3", "10.1.2.3", "", -1},
      {"10.1.2.3<418", "10.1.2.3", "", 418},
      {"10.1.2.3<99999>", "10.1.2.3", "", -1},
      {"10.1.2.3<x>", "10.1.2.3", "", -1},
      {" 10.1.2.3<1> ", "10.1.2.3", "", 1},
      {"", "", "", -1},
      {"<", "", "", -1},
      {"%<>", "", "", -1},
  };
  for (const AddressCase& c : cases) {
    const Address address = parse_address(c.text);
    EXPECT_EQ(address.ip, c.ip) << c.text;
    EXPECT_EQ(address.scope, c.scope) << c.text;
    EXPECT_EQ(address.port, c.port) << c.text;
  }
}

TEST(Address, ReadsIpv4Only) {
  EXPECT_EQ(parse_ipv4("10.1.2.3"), 0x0A010203u);
  EXPECT_EQ(parse_ipv4("::ffff:10.1.2.3"), 0x0A010203u);
  EXPECT_EQ(parse_ipv4("255.255.255.255"), 0xFFFFFFFFu);
  for (const std::string_view text :
       {"", "10.1.2", "10.1.2.256", "10.1.2.3.4", "10..2.3", "a.b.c.d", "10.1.2.-3", "10.1.2.+3",
        "0010.1.2.3", "fe80::1"}) {
    EXPECT_FALSE(parse_ipv4(text)) << text;
  }
}

struct RangeCase {
  std::string_view ip;
  std::string_view range;
};

TEST(Address, KnowsAddressesThatLeadNowhere) {
  const RangeCase cases[] = {
      {"127.0.0.1", "loopback"}, {"127.8.9.1", "loopback"},
      {"::1", "loopback"},       {"169.254.7.1", "link-local"},
      {"fe80::1", "link-local"}, {"febf::1", "link-local"},
      {"172.17.0.1", ""},        {"172.18.0.1", ""},
      {"10.1.2.3", ""},          {"192.168.50.21", ""},
      {"fec0::1", ""},           {"2001:db8::1", ""},
      {"node09.cluster", ""},    {"", ""},
  };
  for (const RangeCase& c : cases) {
    EXPECT_EQ(is_loopback(c.ip), c.range == "loopback") << c.ip;
    EXPECT_EQ(is_link_local(c.ip), c.range == "link-local") << c.ip;
  }
}

TEST(Address, ComparesSubnets) {
  EXPECT_TRUE(same_subnet("10.1.2.3", "10.1.2.77", 24));
  EXPECT_FALSE(same_subnet("10.1.2.3", "10.1.3.3", 24));
  EXPECT_TRUE(same_subnet("10.1.2.3", "10.1.3.3", 16));
  EXPECT_TRUE(same_subnet("10.1.2.3", "11.1.3.3", 0));
  EXPECT_FALSE(same_subnet("10.1.2.3", "10.1.2.2", 32));
  EXPECT_FALSE(same_subnet("10.1.2.3", "fe80::1", 0));
  EXPECT_FALSE(same_subnet("10.1.2.3", "10.1.2.3", 33));
}

}  // namespace
}  // namespace ncclog
