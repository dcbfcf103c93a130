#include "diagnose/settings/nccl_variables.h"

#include <gtest/gtest.h>

#include "diagnose/facts/job_facts.h"

namespace ncclog {
namespace {

struct FilterRow {
  const char* filter;
  const char* name;
  int port;
  bool admitted;
};

constexpr FilterRow kFilters[] = {
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
  for (const FilterRow& row : kFilters) {
    EXPECT_EQ(admits(parse_name_filter(row.filter), row.name, row.port), row.admitted)
        << row.filter << " " << row.name << ":" << row.port;
  }
}

TEST(NcclVariables, HaveReleasesInOrderAndReplacementsThatExist) {
  for (const NcclVariable& variable : nccl_variables()) {
    EXPECT_TRUE(is_release(variable.first)) << variable.name;
    EXPECT_TRUE(variable.last.empty() || compare_releases(variable.first, variable.last) <= 0)
        << variable.name;
    EXPECT_TRUE(variable.replacement.empty() || find_nccl_variable(variable.replacement) != nullptr)
        << variable.name;
    const OtherVariable* other = find_other_variable(variable.name);
    EXPECT_TRUE(other == nullptr || !other->is_unread()) << variable.name;
  }
}

TEST(OtherVariables, AreNoneOfNcclsAndHaveReplacementsThatExist) {
  for (const OtherVariable& variable : other_variables()) {
    // RCCL has kept NCCL_RINGS, which NCCL read up to 2.4.8.
    EXPECT_EQ(find_nccl_variable(variable.name) != nullptr, variable.name == "NCCL_RINGS")
        << variable.name;
    EXPECT_EQ(find_other_variable(variable.name), &variable) << variable.name;
    const OtherVariable* now = find_other_variable(variable.instead);
    EXPECT_TRUE(variable.instead.empty() || variable.is_unread() || now != nullptr ||
                variable.instead.starts_with("TORCH_"))
        << variable.name;
  }
}

TEST(NcclVariables, AreThoseOfEveryRelease) {
  EXPECT_NE(find_nccl_variable("NCCL_DEBUG"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_WORK_FIFO_DEPTH"), nullptr);
  EXPECT_EQ(find_nccl_variable("NCCL_TIMEOUT"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_RUN_DIAGNOSTICS"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_PROGRESS_COUNTERS"), nullptr);
  EXPECT_TRUE(is_rccl_variable("RCCL_MSCCL_ENABLE"));
  EXPECT_TRUE(is_rccl_variable("NCCL_RINGS_REMAP"));
  EXPECT_FALSE(is_rccl_variable("NCCL_DEBUG"));
}

}  // namespace

}  // namespace ncclog
