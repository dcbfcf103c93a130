// Nearly every NCCL line is read by a short way (log/line/header.cc). It gives what the long way
// gives.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "log/line/header.h"
#include "support/paths.h"

namespace ncclog {
namespace {

/// All that a header says of a line without a launcher's prefix.
std::string show(const Header& header) {
  return fmt::format("{} {}:{}:{} [{}] {}:{} x{} {}{} '{}' | {}", to_string(header.level),
                     header.host, header.pid, header.tid, header.cuda_dev, header.file, header.line,
                     header.repeated, header.torn, header.anchored_twice, header.unexplained,
                     header.message);
}

/// A blank in front of a line leads the long way and means nothing. True if there was something to
/// compare.
bool expect_both_ways_alike(const std::string& line) {
  const Header header = parse_header(line);
  if (header.level == Level::None || header.level == Level::Framework) return false;
  if (header.host.empty() || header.prefix.length > 0 || !header.unexplained.empty()) return false;
  const std::string shifted = " " + line;
  EXPECT_EQ(show(header), show(parse_header(shifted))) << line;
  return true;
}

template <typename Check>
void for_every_sample_line(Check check) {
  namespace fs = std::filesystem;
  for (const auto& entry :
       fs::recursive_directory_iterator(testing::source_dir() / "sample_logs")) {
    if (!entry.is_regular_file() || entry.path().parent_path().filename() != "logs") continue;
    std::istringstream text(testing::read_file(entry.path()));
    for (std::string line; std::getline(text, line);) check(line);
  }
}

TEST(HeaderProperty, TheShortWayReadsWhatTheLongWayReads) {
  size_t compared = 0;
  for_every_sample_line([&](const std::string& line) { compared += expect_both_ways_alike(line); });
  EXPECT_GT(compared, 5000u);
}

/// Bytes that headers consist of, in any order and number.
TEST(HeaderProperty, TheShortWayReadsWhatTheLongWayReadsOfDamagedHeaders) {
  constexpr std::string_view kPieces[] = {
      "node07",    ":",    "41",          "42",   " ",  "[3]", "[-1]",
      "[1234567]", "NCCL", " NCCL INFO ", "WARN", "\t", ".",   "-",
      "04:05",     "_",    "2026-",       "CALL", "[",  "]",   "1234567890123456789"};
  std::mt19937 random(7);
  size_t compared = 0;
  for (uint64_t i = 0; i < testing::affordable(200'000); ++i) {
    std::string line = "node07:41:42 [3] NCCL INFO x";
    for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % line.size();
      line.replace(at, random() % 4, kPieces[random() % std::size(kPieces)]);
    }
    compared += expect_both_ways_alike(line);
  }
  EXPECT_GT(compared, testing::affordable(10'000));
}

}  // namespace
}  // namespace ncclog
