#include <gtest/gtest.h>

#include "log/event.h"

namespace ncclog {
namespace {

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

TEST(LineTime, OfALineIsThatInFrontOfItsMessage) {
  EXPECT_EQ(time_of_line("[2026-02-03 04:05:06] n7:41:42 [3] NCCL INFO Using network IB").text,
            "2026-02-03 04:05:06");
  EXPECT_EQ(time_of_line("n7:41:42 [3] NCCL INFO until 2026-02-03 04:05:06").text, "");
  EXPECT_EQ(time_of_line("").text, "");
}

}  // namespace
}  // namespace ncclog
