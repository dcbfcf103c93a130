#include "log/line/line_time.h"

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

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86400 * kSecond;

struct TimeRow {
  const char* head;
  const char* text;  ///< Empty: no time.
  int year;
  int64_t nanoseconds;
  bool has_zone;
};

const TimeRow kTimes[] = {
    {"[2026-02-03 04:05:06] node07:41:42 [3] ", "2026-02-03 04:05:06", 2026,
     33 * kDay + 14706 * kSecond, false},
    {"2026-01-05T12:00:00.000000001Z ", "2026-01-05T12:00:00.000000001Z", 2026,
     4 * kDay + 43200 * kSecond + 1, true},
    {"2026-01-05T12:00:00+02:00 host:1:1 [0] ", "2026-01-05T12:00:00+02:00", 2026,
     4 * kDay + 36000 * kSecond, true},
    {"2024-03-01 00:00:00,250 ", "2024-03-01 00:00:00,250", 2024, 60 * kDay + kSecond / 4, false},
    {"2026-03-01 00:00:00 ", "2026-03-01 00:00:00", 2026, 60 * kDay, false},
    {"[rank3]:[E717 13:20:49.5 ProcessGroupNCCL.cpp:632] ", "717 13:20:49.5", 0,
     198 * kDay + 48049 * kSecond + kSecond / 2, false},
    {"I20260105 12:00:00 4242 x.cpp:1] ", "20260105 12:00:00", 2026, 4 * kDay + 43200 * kSecond,
     false},
    {"Jan  5 12:00:00 node07 kernel: ", "Jan  5 12:00:00", 0, 4 * kDay + 43200 * kSecond, false},
    {"[Mon Jan  5 12:00:00 2026] ", "Mon Jan  5 12:00:00 2026", 0, 4 * kDay + 43200 * kSecond,
     false},
    {"(EngineCore_0 pid=4121) INFO 01-05 12:00:00 [core.py:58] ", "01-05 12:00:00", 0,
     4 * kDay + 43200 * kSecond, false},
    {"between 01-05 12:00:00 and ", "", 0, 0, false},
    {"INFO 13-05 12:00:00 ", "", 0, 0, false},
    // The collector's stamp wins over NCCL's own.
    {"2026-01-05T12:00:00Z [2026-01-05 13:00:00] h:1:1 [0] ", "2026-01-05T12:00:00Z", 2026,
     4 * kDay + 43200 * kSecond, true},
    {"node07:4121:4188 [3] ", "", 0, 0, false},
    {"2026-13-05 12:00:00 ", "", 0, 0, false},
    {"2026-01-00 12:00:00 ", "", 0, 0, false},
    {"E1 ", "", 0, 0, false},
    {"", "", 0, 0, false},
};

TEST(LineTime, IsFoundInFrontOfTheMessage) {
  for (const TimeRow& row : kTimes) {
    const LineTime time = find_line_time(row.head);
    EXPECT_EQ(time.text, row.text) << row.head;
    EXPECT_EQ(time.year, row.year) << row.head;
    EXPECT_EQ(time.nanoseconds, row.nanoseconds) << row.head;
    EXPECT_EQ(time.has_zone, row.has_zone) << row.head;
  }
}

}  // namespace
}  // namespace ncclog
