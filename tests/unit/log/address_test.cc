#include "log/address.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace ncclog {
namespace {

struct AddressCase {
  std::string_view text;
  std::string_view ip;
};

TEST(Address, IsFoundInWhatNcclPrintsOfASocket) {
  const AddressCase cases[] = {
      {"172.17.0.1<34599>", "172.17.0.1"},
      {"fe80::1%ib0<41822>", "fe80::1"},
      {"node09.cluster<41822>", "node09.cluster"},
      {"10.1.2.3", "10.1.2.3"},
      {"10.1.2.3<418", "10.1.2.3"},
      {"10.1.2.3<99999>", "10.1.2.3"},
      {"10.1.2.3<x>", "10.1.2.3"},
      {" 10.1.2.3<1> ", "10.1.2.3"},
      {"", ""},
      {"<", ""},
      {"%<>", ""},
  };
  for (const AddressCase& c : cases) EXPECT_EQ(ip_of(c.text), c.ip) << c.text;
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
      {"127.0.0.1", "loopback"},
      {"127.8.9.1", "loopback"},
      {"::1", "loopback"},
      {"169.254.7.1", "link-local"},
      {"::ffff:127.0.0.1", "loopback"},
      {"128.0.0.1", ""},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"172.17.0.1", ""},
      {"172.18.0.1", ""},
      {"10.1.2.3", ""},
      {"192.168.50.21", ""},
      {"fec0::1", ""},
      {"2001:db8::1", ""},
      {"node09.cluster", ""},
      {"", ""},
  };
  for (const RangeCase& c : cases) {
    EXPECT_EQ(is_loopback(c.ip), c.range == "loopback") << c.ip;
    EXPECT_EQ(is_link_local(c.ip), c.range == "link-local") << c.ip;
  }
}

struct BusIdRow {
  std::string_view printed;
  std::optional<uint64_t> number;
};

TEST(BusId, IsOneNumberInEverySpelling) {
  const BusIdRow kRows[] = {
      {"1b000", 0x1b000},
      {"0000:1b:00", 0x1b000},
      {"0000:1b:00.0", 0x1b000},
      {"00000000:1B:00.0", 0x1b000},
      {"0000:8a:00.1", 0x8a001},
      {"0009:01:00.0", 0x901000},
      {"901000", 0x901000},
      {"0x1b", std::nullopt},
      {"", std::nullopt},
      {"0000:1b", std::nullopt},
      {"0000:1b:00.0x", std::nullopt},
      {"0000:1b:00.", std::nullopt},
      {"mlx5_0", std::nullopt},
      {":::", std::nullopt},
  };
  for (const BusIdRow& row : kRows) EXPECT_EQ(bus_number(row.printed), row.number) << row.printed;
}

/// "index name port link address" of every device, separated by "; ".
std::string show_devices(std::string_view devices) {
  std::string result;
  for (const NetDevice& device : parse_device_list(devices)) {
    if (!result.empty()) result += "; ";
    result += std::to_string(device.index) + " " + std::string(device.name) + " " +
              std::to_string(device.port) + " " + std::string(device.link) + " " +
              std::string(device.address);
  }
  return result;
}

struct DevicesCase {
  std::string_view devices;
  std::string_view expected;
};

TEST(DeviceList, TakesListsApart) {
  const DevicesCase cases[] = {
      {"", ""},
      {"[0]mlx5_0:1/IB", "0 mlx5_0 1 IB "},
      {"[0]mlx5_0:1/IB [1]mlx5_1:2/RoCE", "0 mlx5_0 1 IB ; 1 mlx5_1 2 RoCE "},
      {"[0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB} [2]mlx5_3:1/IB",
       "0 mlx5_0 1 IB ; 1 mlx5_1 1 IB ; 1 mlx5_2 1 IB ; 2 mlx5_3 1 IB "},
      {"[0]mlx5_0:1:0:1/RoCE", "0 mlx5_0 1 RoCE "},
      {"[0]mlx5_0:1::1/IB", "0 mlx5_0 1 IB "},
      {"[0]eth0:10.2.2.3<0> [1]eth1:10.3.2.3<0>", "0 eth0 -1  10.2.2.3; 1 eth1 -1  10.3.2.3"},
      {"ib0:10.1.2.3<0>", "-1 ib0 -1  10.1.2.3"},
      {"ib0:fe80::1%ib0<0>", "-1 ib0 -1  fe80::1"},
      {"mlx5_0:1", "-1 mlx5_0 1  "},
      // What a torn line leaves of "[RO]; OOB …" is no device.
      {"[RO", ""},
      {"[RO]; OOB", ""},
      {"[0]mlx5_0:1/IB [R", "0 mlx5_0 1 IB "},
      // Cut at the end of NCCL's buffer.
      {"[0]mlx5_0:1/IB [7]mlx5_7:1/I", "0 mlx5_0 1 IB ; 7 mlx5_7 1  "},
      {"[0]mlx5_0:1/IB [7]", "0 mlx5_0 1 IB "},
      {"[0]mlx5_0:1/IB [7]mlx5", "0 mlx5_0 1 IB "},
      {"[1]={[0] mlx5_1:1/IB,[1] mlx", "1 mlx5_1 1 IB "},
      {"[0]eth0:10.2.2", "0 eth0 -1  10.2.2"},
      // Garbage.
      {"[x]eth0", ""},
      {"={", ""},
      {"[0]={{{", ""},
      {":::", ""},
  };
  for (const DevicesCase& c : cases) EXPECT_EQ(show_devices(c.devices), c.expected) << c.devices;
}

TEST(DeviceList, EndsWithAnyBytes) {
  const std::string line = "[0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB} eth0:fe80::1%e<0>";
  for (size_t at = 0; at < line.size(); ++at) {
    for (const char byte : {'\0', '[', ']', '{', '}', '<', ',', '=', ' ', '\xFF'}) {
      std::string broken = line;
      broken[at] = byte;
      EXPECT_LE(parse_device_list(broken).size(), broken.size());
    }
  }
}

/// NCCL cuts lines at 1023 bytes; from 2.13 to 2.19 bytes from beyond its buffer follow.
TEST(DeviceList, InventsNoDeviceWhereNcclCutTheLine) {
  std::string list;
  for (int i = 0; i < 80; ++i)
    list += "[" + std::to_string(i) + "]mlx5_" + std::to_string(i) + ":1/RoCE ";
  for (int i = 0; i < 4; ++i)
    list += "[" + std::to_string(i) + "]eth" + std::to_string(i) + ":10.1.2.3<0> ";
  std::set<std::string> names;
  for (const NetDevice& device : parse_device_list(list)) names.emplace(device.name);
  ASSERT_EQ(names.size(), 84u);
  for (size_t size = 0; size < list.size(); ++size) {
    for (const std::string_view garbage : {"", "\x01\xFE\x7F"}) {
      const std::string cut = list.substr(0, size) + std::string(garbage);
      for (const NetDevice& device : parse_device_list(cut)) {
        EXPECT_TRUE(names.contains(std::string(device.name))) << size << ": " << device.name;
      }
    }
  }
}

}  // namespace
}  // namespace ncclog
