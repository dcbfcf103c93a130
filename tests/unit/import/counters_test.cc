// Law: whoever lists a counter, it is known whose it is; other lines give none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "import/import.h"

namespace ncclog {
namespace {

std::string summary(const PortCounter& counter) {
  return fmt::format("{}{}{}/{} {}={}", counter.host, counter.host.empty() ? "" : " ",
                     counter.device, counter.port, counter.name, counter.value);
}

std::string summary(std::string_view text) {
  std::string all;
  for (const PortCounter& counter : import_counters(text, 1, "f").value) {
    all += fmt::format("{}:{}\n", counter.where.line, summary(counter));
  }
  return all;
}

struct Row {
  std::string_view name;
  std::string_view text;
  std::string_view counters;
};

constexpr Row kRows[] = {
    {"grep over /sys", "/sys/class/infiniband/mlx5_1/ports/1/hw_counters/out_of_sequence:5123\n",
     "1:mlx5_1/1 out_of_sequence=5123\n"},
    {"nvidia-smi -q: states, numbers with units, sections",
     "GPU 00000000:1B:00.0\n    Product Name   : NVIDIA H100\n    Clocks Event Reasons\n"
     "        HW Slowdown   : Not Active\n            HW Thermal Slowdown : Active\n"
     "    Clocks Event Reasons Counters\n        HW Thermal Slowdown : 4711 us\n"
     "    Remapped Rows\n        Pending   : Yes\n    GPU Power Readings\n"
     "        Current Power Limit : 300.00 W\n        Default Power Limit : N/A\n",
     "4:GPU 00000000:1B:00.0/-1 Clocks Event Reasons/HW Slowdown=0\n"
     "5:GPU 00000000:1B:00.0/-1 Clocks Event Reasons/HW Thermal Slowdown=1\n"
     "9:GPU 00000000:1B:00.0/-1 Remapped Rows/Pending=1\n"
     "11:GPU 00000000:1B:00.0/-1 GPU Power Readings/Current Power Limit=300\n"},
    {"nvidia-smi -q by grep names no GPU", "        HW Slowdown          : Active\n",
     "1:a GPU/-1 HW Slowdown=1\n"},
    {"dcgmi nvlink -s",
     "GPUs:\n    gpuId 1:\n        U D X _\nNvSwitches:\n    physicalId 9:\n        D\n",
     "3:GPU 1/0 inactive=0\n3:GPU 1/1 inactive=1\n"},
    {"ethtool -S by grep names no device", "     rx_prio0_bytes: 7\n", "1:/-1 rx_prio0_bytes=7\n"},
    {"find with a blank", "./mlx5_1/ports/2/counters/link_downed 3\n",
     "1:mlx5_1/2 link_downed=3\n"},
    {"counters of a device", "/sys/class/infiniband/mlx5_1/hw_counters/lifespan:10\n",
     "1:mlx5_1/-1 lifespan=10\n"},
    {"below the device", "hw_counters/lifespan:10\n", "1:/-1 lifespan=10\n"},
    {"tail of many files",
     "==> /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed <==\n255\n\n",
     "2:mlx5_1/1 link_downed=255\n"},
    {"behind a host's name",
     "node-a: /sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n",
     "1:node-a mlx5_1/1 link_downed=3\n"},
    {"below a host's name",
     "==== node-a ====\n/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n",
     "2:node-a mlx5_1/1 link_downed=3\n"},
    {"a moment is no host",
     "==== before ====\n/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n",
     "2:mlx5_1/1 link_downed=3\n"},
    {"rdma statistic", "link mlx5_0/1 rx_write_requests 812 out_of_sequence 5\n",
     "1:mlx5_0/1 rx_write_requests=812\n1:mlx5_0/1 out_of_sequence=5\n"},
    {"rdma statistic -p", "link mlx5_0/1 \n\tout_of_sequence 5\n",
     "2:mlx5_0/1 out_of_sequence=5\n"},
    {"rdma -j statistic",
     "[{\"ifindex\":0,\"ifname\":\"mlx5_0\",\"port\":1,\"rx_write_requests\":812},{\"ifindex\":1,"
     "\"ifname\":\"mlx5_1\",\"port\":1,\"out_of_sequence\":5}]\n",
     "1:mlx5_0/1 rx_write_requests=812\n1:mlx5_1/1 out_of_sequence=5\n"},
    {"rdma -jp statistic",
     "[ {\n        \"ifname\": \"mlx5_0\",\n        \"port\": 2,\n        \"out_of_sequence\": 5\n "
     "   } ]\n",
     "4:mlx5_0/2 out_of_sequence=5\n"},
    {"ethtool", "$ ethtool -S ens1f0\nNIC statistics:\n     rx_discards_phy: 1201\n",
     "3:ens1f0/-1 rx_discards_phy=1201\n"},
    {"ethtool without its command", "NIC statistics:\n     rx_discards_phy: 1201\n",
     "2:/-1 rx_discards_phy=1201\n"},
    {"ethtool whose second list has no command",
     "$ ethtool -S ens1f0\nNIC statistics:\n     a: 1\nNIC statistics:\n     a: 2\n",
     "3:ens1f0/-1 a=1\n5:/-1 a=2\n"},
    {"perfquery", "# Port counters: Lid 7 port 1 (CapMask: 0x1400)\nPortRcvErrors:....12\n",
     "2:lid 7/1 PortRcvErrors=12\n"},
    {"perfquery by device",
     "$ perfquery -C mlx5_1\n# Port counters: Lid 7 port 1 (CapMask: "
     "0x1400)\nPortRcvErrors:....12\n",
     "3:mlx5_1/1 PortRcvErrors=12\n"},
    {"nvidia-smi nvlink -e", "GPU 0: NVIDIA H100 (UUID: GPU-5d2e)\n\t Link 3: Replay Errors: 17\n",
     "2:GPU 0/3 Replay Errors=17\n"},
    {"nvidia-smi nvlink -s",
     "GPU 0: NVIDIA H100 (UUID: GPU-5d2e)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n",
     "2:GPU 0/0 inactive=0\n3:GPU 0/1 inactive=1\n"},
    {"dcgmi nvlink -e", "| GPU 1 |\n| Link 2 | CRC FLIT Error | 4 |\n",
     "2:GPU 1/2 CRC FLIT Error=4\n"},
    {"a rule of a table", "| GPU 1 |\n| : |\n| Link 2 | CRC FLIT Error | 4 |\n",
     "3:GPU 1/2 CRC FLIT Error=4\n"},
    {"PCI Express", "/sys/bus/pci/devices/0000:17:00.0/aer_dev_fatal:TOTAL_ERR_FATAL 1\n",
     "1:0000:17:00.0/-1 TOTAL_ERR_FATAL=1\n"},
    {"no number",
     "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:-1\nNIC statistics:\n     a: x\n",
     ""},
    {"more than 64 bits",
     "/sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data:99999999999999999999\n", ""},
};

TEST(Counters, AreReadFromEveryListing) {
  for (const Row& row : kRows) EXPECT_EQ(summary(row.text), row.counters) << row.name;
}

TEST(Counters, OfAFileAreNamedByItsPath) {
  const auto read = [](std::string_view path, std::string_view bytes) {
    const auto counter = import_counter_file(bytes, 1, path);
    return counter ? counter->source + "|" + summary(*counter) : "none";
  };
  EXPECT_EQ(read("before/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed", "3\n"),
            "before/sys/class/infiniband/|mlx5_1/1 link_downed=3");
  EXPECT_EQ(read("mlx5_1/ports/1/hw_counters/lifespan", "10"), "|mlx5_1/1 lifespan=10");
  EXPECT_EQ(read("mlx5_1/ports/1/counters/notes", "a log"), "none");
  EXPECT_EQ(read("logs/rank0.log", "10"), "none");
}

TEST(Counters, KnowTheLineWithATimeBeforeThem) {
  const auto import = import_counters(
      "2026-01-05 12:00:00 now\n/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n", 1,
      "f");
  ASSERT_EQ(import.value.size(), 1u);
  EXPECT_EQ(import.value.front().stamp, "2026-01-05 12:00:00 now");
}

TEST(Counters, KnowTheHeadingWithAMomentBeforeThem) {
  const auto stamp_below = [](std::string_view head) {
    const auto import = import_counters(
        std::string(head) + "/sys/class/infiniband/mlx5_1/ports/1/counters/link_downed:3\n", 1,
        "f");
    return import.value.back().stamp;
  };
  EXPECT_EQ(stamp_below("==== Before ====\n"), "==== Before ====");
  EXPECT_EQ(stamp_below("2026-01-05 12:00:00 now\n==== after ====\n"), "2026-01-05 12:00:00 now")
      << "a time says more";
  EXPECT_EQ(stamp_below("2026-01-05 12:00:00 now\nhw_counters/lifespan:10\n==== after ====\n"),
            "==== after ====")
      << "the time is of the reading before";
}

}  // namespace
}  // namespace ncclog
