#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "log/address.h"

namespace ncclog {
namespace {

/// "index name port link address socket_port" of every device, separated by "; ".
std::string show_devices(std::string_view devices) {
  std::string result;
  for (const NetDevice& device : parse_device_list(devices)) {
    if (!result.empty()) result += "; ";
    result += std::to_string(device.index) + " " + std::string(device.name) + " " +
              std::to_string(device.port) + " " + std::string(device.link) + " " +
              std::string(device.address) + " " + std::to_string(device.socket_port);
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
      {"[0]mlx5_0:1/IB", "0 mlx5_0 1 IB  -1"},
      {"[0]mlx5_0:1/IB [1]mlx5_1:2/RoCE", "0 mlx5_0 1 IB  -1; 1 mlx5_1 2 RoCE  -1"},
      {"[0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB} [2]mlx5_3:1/IB",
       "0 mlx5_0 1 IB  -1; 1 mlx5_1 1 IB  -1; 1 mlx5_2 1 IB  -1; 2 mlx5_3 1 IB  -1"},
      {"[0]mlx5_0:1:0:1/RoCE", "0 mlx5_0 1 RoCE  -1"},
      {"[0]mlx5_0:1::1/IB", "0 mlx5_0 1 IB  -1"},
      {"[0]eth0:10.2.2.3<0> [1]eth1:10.3.2.3<0>", "0 eth0 -1  10.2.2.3 0; 1 eth1 -1  10.3.2.3 0"},
      {"ib0:10.1.2.3<0>", "-1 ib0 -1  10.1.2.3 0"},
      {"ib0:fe80::1%ib0<0>", "-1 ib0 -1  fe80::1 0"},
      {"mlx5_0:1", "-1 mlx5_0 1   -1"},
      // What a torn line leaves of "[RO]; OOB …" is no device.
      {"[RO", ""},
      {"[RO]; OOB", ""},
      {"[0]mlx5_0:1/IB [R", "0 mlx5_0 1 IB  -1"},
      // Cut at the end of NCCL's buffer.
      {"[0]mlx5_0:1/IB [7]mlx5_7:1/I", "0 mlx5_0 1 IB  -1; 7 mlx5_7 1   -1"},
      {"[0]mlx5_0:1/IB [7]", "0 mlx5_0 1 IB  -1"},
      {"[0]mlx5_0:1/IB [7]mlx5", "0 mlx5_0 1 IB  -1"},
      {"[1]={[0] mlx5_1:1/IB,[1] mlx", "1 mlx5_1 1 IB  -1"},
      {"[0]eth0:10.2.2", "0 eth0 -1  10.2.2 -1"},
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
