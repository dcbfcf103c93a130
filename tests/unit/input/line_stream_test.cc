#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "input/line_reader.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::compressed;
using testing::TempDir;

/// A line, kept: number, offset, text, cut.
using Kept = std::tuple<uint64_t, uint64_t, std::string, bool>;

struct ReadStretches {
  std::vector<std::vector<Kept>> stretches;
  UnitResult result;
  std::vector<Kept> lines() const {
    std::vector<Kept> all;
    for (const auto& stretch : stretches) all.insert(all.end(), stretch.begin(), stretch.end());
    return all;
  }
};

Kept kept(const Line& line) { return {line.number, line.offset, std::string(line.text), line.cut}; }

/// Lines that begin with "N" may start a stretch.
bool may_start(std::string_view line) { return line.starts_with('N'); }

ReadStretches read_stretches(const std::string& path, size_t block, int threads) {
  ByteSource source(path);
  UnitReader input({}, source);
  LineStream stream(input, may_start);
  std::mutex mutex;
  std::map<uint32_t, std::vector<Kept>> stretches;
  const auto work = [&] {
    const LineBuffer memory(block);
    for (;;) {
      Stretch stretch(stream, memory.bytes());
      if (stretch.is_none()) return;
      std::vector<Kept> lines;
      for (Line line; stretch.next(line);) lines.push_back(kept(line));
      const std::lock_guard lock(mutex);
      stretches[stretch.index()] = std::move(lines);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(work);
  }
  ReadStretches reading;
  for (auto& [index, lines] : stretches) {
    EXPECT_EQ(index, reading.stretches.size());
    reading.stretches.push_back(std::move(lines));
  }
  reading.result = input.finish();
  return reading;
}

ReadStretches read_in_one_go(const std::string& path) {
  ReadStretches reading;
  reading.stretches.emplace_back();
  reading.result = read_unit({}, path, {},
                             [&](const Line& line) { reading.stretches[0].push_back(kept(line)); });
  return reading;
}

void expect_same(const ReadStretches& reading, const ReadStretches& expected,
                 const std::string& what) {
  EXPECT_TRUE(reading.lines() == expected.lines()) << what;
  EXPECT_EQ(reading.result.lines, expected.result.lines) << what;
  EXPECT_EQ(reading.result.newlines, expected.result.newlines) << what;
  EXPECT_EQ(reading.result.bytes, expected.result.bytes) << what;
  EXPECT_EQ(reading.result.losses, expected.result.losses) << what;
  EXPECT_EQ(reading.result.note, expected.result.note) << what;
}

std::string lines_of(int count, std::string_view start) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(start) + " line " + std::to_string(i) + "\n";
  return text;
}

TEST(LineStream, IsCutOnlyWhereALineMayStart) {
  const TempDir dir;
  const std::string path =
      dir.add("log.gz", compressed(Compression::Gzip, lines_of(500, "N") + lines_of(500, "x")));
  const ReadStretches reading = read_stretches(path, 1000, 2);
  EXPECT_GT(reading.stretches.size(), 5U);
  for (const auto& stretch : reading.stretches) {
    ASSERT_FALSE(stretch.empty());
    EXPECT_TRUE(may_start(std::get<2>(stretch[0])));
  }
  EXPECT_GT(reading.stretches.back().size(), 500U) << "where no line may, it goes on";
}

TEST(LineStream, GivesTheLinesOfTheWholeForAnyNumberOfThreads) {
  const TempDir dir;
  const std::string long_line = "N" + std::string(300000, 'y');
  const std::string texts[] = {"",
                               "\xEF\xBB\xBFN bom\nN\n",
                               lines_of(3000, "N"),
                               lines_of(300, "N") + long_line + "\n" + lines_of(300, "N"),
                               lines_of(30, "N") + "10%\r20%\r" + long_line + "\r30%\r\nN end",
                               lines_of(900, "N \xff") + lines_of(99, "N gr\xc3\xbc") + "N no end"};
  for (const std::string& text : texts) {
    const std::string path = dir.add("log.zst", compressed(Compression::Zstd, text));
    const ReadStretches expected = read_in_one_go(path);
    for (const size_t block : {size_t{300}, size_t{5000}, size_t{1} << 20}) {
      const ReadStretches one = read_stretches(path, block, 1);
      expect_same(one, expected, text.substr(0, 9));
      for (const int threads : {2, 5}) {
        const ReadStretches several = read_stretches(path, block, threads);
        EXPECT_TRUE(several.stretches == one.stretches) << threads << ' ' << block;
        expect_same(several, expected, text.substr(0, 9));
      }
    }
  }
}

TEST(LineStream, SaysHowTheInputEnded) {
  const TempDir dir;
  std::string bytes = compressed(Compression::Gzip, lines_of(9000, "N"));
  bytes.resize(bytes.size() / 2);
  const ReadStretches reading = read_stretches(dir.add("cut.gz", bytes), 4000, 3);
  EXPECT_EQ(reading.result.status, InputStatus::Cut);
  expect_same(reading, read_in_one_go(dir.add("cut.gz", bytes)), "cut");
}

/// Line ends of all kinds, lines that may start a stretch, and now and then a long one.
std::string random_stretches(std::mt19937& random) {
  constexpr std::string_view kPieces[] = {"\n", "\r\n",     "\r",    "N",
                                          "x",  "\nN NCCL", "\n\nx", "\xc3"};
  std::string text;
  for (size_t i = random() % 3000; i > 0; --i) {
    text += kPieces[random() % std::size(kPieces)];
    if (random() % 1000 == 0) text += std::string(random() % 100000, 'L');
  }
  return text;
}

TEST(LineStreamProperty, AnyTextInBlocksOfAnySizeGivesTheSameLines) {
  const TempDir dir;
  std::mt19937 random(5);
  for (int i = 0; i < 150; ++i) {
    const std::string path =
        dir.add("log.gz", compressed(Compression::Gzip, random_stretches(random)));
    expect_same(read_stretches(path, 1 + random() % 4000, 1 + i % 3), read_in_one_go(path),
                std::to_string(i));
  }
}

}  // namespace
}  // namespace ncclog
