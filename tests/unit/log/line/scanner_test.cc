#include "log/line/scanner.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

struct StampRow {
  std::string_view text;
  size_t length;
};

/// How much of the text is taken; the rest stays.
size_t taken(std::string_view (*take)(Scanner&), std::string_view text) {
  Scanner scan(text);
  const std::string_view stamp = take(scan);
  EXPECT_EQ(stamp, text.substr(0, stamp.size()));
  EXPECT_EQ(scan.taken(), stamp.size()) << text;
  return stamp.size();
}

TEST(TimeStamp, TakesClocksWithFractionAndZone) {
  constexpr StampRow kRows[] = {
      {"12:00:00", 8},
      {"12:00:00.123456789 x", 18},
      {"12:00:00,123 x", 12},
      {"12:00:00Z", 9},
      {"12:00:00.1+01:00 x", 16},
      {"12:00:00-0800 x", 13},
      {"12:00:00-", 8},
      {"12:00", 0},
      {"12:00:0", 0},
      {"", 0},
      {"12:00:00.", 0},
  };
  for (const StampRow& row : kRows) EXPECT_EQ(taken(take_clock, row.text), row.length) << row.text;
}

TEST(TimeStamp, TakesIsoDates) {
  constexpr StampRow kRows[] = {
      {"2026-01-05T12:00:00.1Z x", 22}, {"2026-01-05 12:00:00 x", 19}, {"2026-01-05", 0},
      {"2026-01-05_12:00:00", 0},       {"20260105T12:00:00", 0},
  };
  for (const StampRow& row : kRows)
    EXPECT_EQ(taken(take_iso_stamp, row.text), row.length) << row.text;
}

TEST(TimeStamp, TakesMonthNames) {
  constexpr StampRow kRows[] = {
      {"Jan 05 12:00:00 x", 15},
      {"Jan  5 12:00:00 x", 15},
      {"Mon Jan  5 12:00:00 2026 x", 24},
      {"Mon Jan  5 12:00:00 x", 0},
      {"Foo  5 12:00:00 x", 0},
      {"May 12", 0},
      {"Ja", 0},
  };
  for (const StampRow& row : kRows)
    EXPECT_EQ(taken(take_month_stamp, row.text), row.length) << row.text;
}

}  // namespace
}  // namespace ncclog
