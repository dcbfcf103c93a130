// What headings of tables of bandwidth name, and what counts as a row below them.

#include "log/wording/headed_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "log/known_messages.h"

namespace ncclog {
namespace {

/// "size:MB time:usec - - bandwidth:GB/sec", a hyphen for what has no meaning here.
std::string columns(std::string_view heading) {
  constexpr std::string_view kNames[] = {"-",    "op",    "ranks", "size",
                                         "time", "algbw", "busbw", "bandwidth"};
  std::string all;
  const HeadedColumns named = headed_columns(heading);
  for (size_t i = 0; i < named.count; ++i) {
    const HeadedColumn& column = named.columns[i];
    if (i > 0) all += ' ';
    all += kNames[static_cast<size_t>(column.is)];
    if (!column.unit.empty() && column.is != BandwidthColumn::Other)
      all.append(":").append(column.unit);
  }
  return all;
}

bool is_heading(std::string_view text) {
  Message message;
  return recognise_bandwidth_columns(text, message);
}

bool is_row(std::string_view text) {
  Message message;
  return recognise_bandwidth_row(text, message);
}

TEST(HeadedTables, AHeadingTellsWhatItsColumnsHold) {
  EXPECT_EQ(columns("size(MB)   tavg(usec)    tmin(usec)    tmax(usec)  avgbw(GB/sec)"),
            "size:MB time:usec - - bandwidth:GB/sec");
  EXPECT_EQ(columns("| Op | Size | Latency (us) | AlgBW (GB/s) | BusBW (GB/s) | Check |"),
            "op size time:us algbw:GB/s busbw:GB/s -");
  EXPECT_EQ(columns("size_bytes,time_ms,algbw_GBps,busbw_GBps"),
            "size:bytes time:ms algbw:GBps busbw:GBps");
  EXPECT_EQ(columns("#    bytes   #iters  time(us)  algbw(GB/s)  busbw(GB/s)"),
            "size - time:us algbw:GB/s busbw:GB/s");
  EXPECT_EQ(columns("  size (B)    count   type   time (us)   algbw (GB/s)   busbw (GB/s)"),
            "size:B - - time:us algbw:GB/s busbw:GB/s");
}

TEST(HeadedTables, AHeadingNamesABandwidthAndWhatItIsOf) {
  EXPECT_TRUE(is_heading("| Size | Time (ms) | BusBW (GB/s) |"));
  EXPECT_FALSE(is_heading("# size count type redop root time algbw busbw #wrong"))
      << "nccl-tests has rows of its own";
  EXPECT_FALSE(is_heading("The bus bandwidth is 320 GB/s at a size of 1 GiB")) << "a sentence";
  EXPECT_FALSE(is_heading("expected busbw: 320, size: 1 GiB"));
  EXPECT_FALSE(is_heading("busbw GB/s")) << "of what?";
  EXPECT_FALSE(is_heading(""));
}

TEST(HeadedTables, ARowIsNumbersButForFewWords) {
  EXPECT_TRUE(is_row("1.00      121.5          116.5          201.6         14.41"));
  EXPECT_TRUE(is_row("| `all_reduce` | 64MB | 2.651 ms | **25.31** | 47.46 |"));
  EXPECT_TRUE(is_row("67108864, 16777216, float, 2650.7, 25.32, 47.47"));
  EXPECT_TRUE(is_row("33554432\tfloat\tsum\t156.35\tRING\tLL128\t64"));
  EXPECT_FALSE(is_row("|------|------|------|"));
  EXPECT_FALSE(is_row("epoch 3 step 12 loss 0.25"));
  EXPECT_FALSE(is_row(""));
}

TEST(HeadedTables, AUnitBehindABlankBelongsToItsCell) {
  const Columns cells = headed_cells("8.00 KB   7.17 us   0.857");
  ASSERT_EQ(cells.count, 3U);
  EXPECT_EQ(cells[0], "8.00 KB");
  EXPECT_EQ(cells[1], "7.17 us");
  const auto size = quantity_of(cells[0]);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->number, 8);
  EXPECT_EQ(size->unit, "KB");
  EXPECT_FALSE(quantity_of("n/a"));
  EXPECT_FALSE(quantity_of(""));
}

/// "64MB 47.46", empty for no such line.
std::string labelled(std::string_view text) {
  Message message{.kind = find_kind("bandwidth_line")};
  if (!recognise_bandwidth_line(text, message)) return {};
  return std::string(message.field("size")) + " " + std::string(message.field("busbw"));
}

TEST(HeadedTables, ALineMayNameASizeAndItsBandwidth) {
  EXPECT_EQ(labelled("all_reduce 64.0 MB: 2.651 ms, algbw 25.31 GB/s, busbw 47.46 GB/s"),
            "64.0 MB 47.46");
  EXPECT_EQ(labelled("8MB   time_ms=0.420  algbw=19.97GB/s busbw=37.44GB/s"), "8MB 37.44");
  EXPECT_EQ(labelled("512MiB  BusBW: 48.22 GB/s"), "512MiB 48.22");
  EXPECT_EQ(labelled("  AllReduce:     0.090 ms | AlgBW: 64.78 GB/s | BusBW: 43.19 GB/s"), "")
      << "of which size?";
  EXPECT_EQ(labelled("at 1 GiB the expected busbw: 320 GB/s"), "") << "a wish";
  EXPECT_EQ(labelled("25.7 GB/s of busbw = 48 GB/s"), "") << "a bandwidth is no size";
}

TEST(HeadedTables, AnyBytesAreSurvived) {
  for (const std::string_view text :
       {std::string_view("|"), std::string_view("||||"), std::string_view(",,,,"),
        std::string_view("(((("), std::string_view("\x00|\xff|\x80", 5), std::string_view("# ")}) {
    is_heading(text);
    is_row(text);
    labelled(text);
  }
  EXPECT_FALSE(is_row(std::string(100000, '|')));
}

}  // namespace
}  // namespace ncclog
