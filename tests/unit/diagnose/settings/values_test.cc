#include "diagnose/settings/values.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

struct Row {
  const char* filter;
  const char* name;
  int port;
  bool admitted;
};

constexpr Row kRows[] = {
    {"eth0", "eth0", -1, true},
    {"eth", "eth10", -1, true},
    {"eth0", "ens5", -1, false},
    {"ens5,eth", "eth1", -1, true},
    {"=eth1", "eth10", -1, false},
    {"=eth1", "eth1", -1, true},
    {"^docker,lo", "lo", -1, false},
    {"^docker,lo", "eth0", -1, true},
    {"^=mlx5_1", "mlx5_10", -1, true},
    {"^=mlx5_1", "mlx5_1", -1, false},
    {"mlx5_0:1", "mlx5_0", 1, true},
    {"mlx5_0:1", "mlx5_0", 2, false},
    {"mlx5_0:2", "mlx5_0", -1, true},
    {"mlx5_0:1:0:1", "mlx5_0", 1, true},
    {"Eth0", "eth0", -1, false},
    {"eth0, ib0", "ib0", -1, false},
    {"", "eth0", -1, true},
    {"^", "eth0", -1, true},
    {",,", "eth0", -1, true},
    {"==eth0", "eth0", -1, true},
};

TEST(NameFilter, AdmitsWhatNcclDoes) {
  for (const Row& row : kRows) {
    EXPECT_EQ(admits(parse_name_filter(row.filter), row.name, row.port), row.admitted)
        << row.filter << " " << row.name << ":" << row.port;
  }
}

}  // namespace

}  // namespace ncclog
