#include <gtest/gtest.h>

#include "log/address.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
