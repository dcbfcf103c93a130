#include "rules/quantity.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

struct Row {
  const char* text;
  Quantity::Sort sort;
  double value;
};

constexpr Row kRows[] = {
    {"1048576", Quantity::Sort::Plain, 1048576}, {"-3", Quantity::Sort::Plain, -3},
    {"12.5", Quantity::Sort::Plain, 12.5},       {"4 MiB", Quantity::Sort::Bytes, 4194304},
    {"64M", Quantity::Sort::Bytes, 67108864},    {"1 GB", Quantity::Sort::Bytes, 1e9},
    {"200 Gb/s", Quantity::Sort::Rate, 200e9},   {"48.0 GB/s", Quantity::Sort::Rate, 384e9},
    {"500 ms", Quantity::Sort::Time, 0.5},       {"2 min", Quantity::Sort::Time, 120},
};

TEST(Quantity, ReadsNumbersWithUnits) {
  for (const Row& row : kRows) {
    const auto quantity = parse_quantity(row.text);
    ASSERT_TRUE(quantity) << row.text;
    EXPECT_EQ(quantity->sort, row.sort) << row.text;
    EXPECT_DOUBLE_EQ(quantity->value, row.value) << row.text;
  }
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text : {"", "-", ".5", "4 apples", "MiB", "1e5", "nan", "1.2.3", "4 MiB more"}) {
    EXPECT_FALSE(parse_quantity(text)) << text;
  }
  EXPECT_FALSE(parse_leading_quantity("none"));
}

TEST(Quantity, OfAPrintedTextTheBeginningCounts) {
  EXPECT_EQ(parse_leading_quantity("48.0 GB/s (8 links)"), parse_quantity("48.0 GB/s"));
  EXPECT_EQ(parse_leading_quantity("16 links"), parse_quantity("16"));
}

TEST(Quantity, ComparesOnlyWhatIsOfOneSort) {
  const auto compared = [](const char* a, const char* b) {
    return compare(*parse_quantity(a), *parse_quantity(b));
  };
  EXPECT_EQ(compared("1 MiB", "1024 KiB"), 0);
  EXPECT_EQ(compared("1 MB", "1 MiB"), -1);
  EXPECT_EQ(compared("1048577", "1 MiB"), 1);
  EXPECT_EQ(compared("3 s", "2999 ms"), 1);
  EXPECT_EQ(compared("3", "3 s"), std::nullopt);
  EXPECT_EQ(compared("3 MiB", "3 s"), std::nullopt);
}

}  // namespace
}  // namespace ncclog
