#include "input/line_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using namespace std::string_literals;
using testing::compressed;
using testing::TempDir;

/// A line, kept: number, offset, text, cut.
using Kept = std::tuple<uint64_t, uint64_t, std::string, bool>;

struct ReadLines {
  std::vector<Kept> lines;
  uint64_t newlines = 0;
  bool operator==(const ReadLines&) const = default;
};

/// Gives out `text` in blocks whose sizes `next_size` says.
template <typename NextSize>
ReadLines read_lines(std::string_view text, NextSize next_size) {
  LineReader reader([&](char* buffer, size_t capacity) {
    const size_t count = text.copy(buffer, std::min<size_t>(capacity, next_size()));
    text.remove_prefix(count);
    return count;
  });
  ReadLines reading;
  for (Line line; reader.next(line);) {
    // What a line is said to be without must not be in it; what is odd is looked at line by line.
    const OddBytes odd = find_odd_bytes(line.text);
    EXPECT_EQ((OddBytes{line.has_control, line.has_high}), odd) << line.offset;
    reading.lines.emplace_back(line.number, line.offset, line.text, line.cut);
  }
  Line line;
  EXPECT_FALSE(reader.next(line));
  reading.newlines = reader.newlines();
  return reading;
}

ReadLines read_whole(std::string_view text) {
  return read_lines(text, [] { return size_t{1} << 30; });
}

/// What the rules in line_reader.h say, one byte after the other.
ReadLines reference(const std::string& text) {
  ReadLines reading;
  uint64_t number = 1;
  size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  const auto deliver = [&](size_t end) {
    const std::string piece = text.substr(begin, end - begin);
    reading.lines.emplace_back(number, begin, piece.substr(0, kMaxLineBytes),
                               piece.size() > kMaxLineBytes || end == text.size());
    begin = end + 1;
  };
  for (size_t i = begin; i < text.size(); ++i) {
    const bool ends_cr = text[i] == '\n' && i > 0 && text[i - 1] == '\r' && begin == i;
    if (text[i] == '\r' || (text[i] == '\n' && !ends_cr)) deliver(i);
    if (ends_cr) begin = i + 1;
    if (text[i] == '\n') ++number;
  }
  if (begin < text.size()) deliver(text.size());
  reading.newlines = number - 1;
  return reading;
}

struct LinesCase {
  const char* name;
  std::string text;
  std::vector<Kept> lines;
};

const LinesCase kLinesCases[] = {
    {"nothing", "", {}},
    {"one line", "a\n", {{1, 0, "a", false}}},
    {"no final newline", "a\nlast", {{1, 0, "a", false}, {2, 2, "last", true}}},
    {"empty lines",
     "\n\na\n\n",
     {{1, 0, "", false}, {2, 1, "", false}, {3, 2, "a", false}, {4, 4, "", false}}},
    {"Windows", "a\r\n\r\nb\r\n", {{1, 0, "a", false}, {2, 3, "", false}, {3, 5, "b", false}}},
    {"progress bar",
     "1%\r2%\r3%\nb\n",
     {{1, 0, "1%", false}, {1, 3, "2%", false}, {1, 6, "3%", false}, {2, 9, "b", false}}},
    {"lone carriage return at the end", "a\r", {{1, 0, "a", false}}},
    {"carriage return, then Windows end",
     "a\r\r\nb",
     {{1, 0, "a", false}, {1, 2, "", false}, {2, 4, "b", true}}},
    {"newline, then carriage return",
     "a\n\rb\n",
     {{1, 0, "a", false}, {2, 2, "", false}, {2, 3, "b", false}}},
    {"NULs and odd bytes are bytes",
     "a\0b\xff\xfe\n\0"s,
     {{1, 0, "a\0b\xff\xfe"s, false}, {2, 6, "\0"s, true}}},
    {"byte order mark", "\xEF\xBB\xBFhello\n", {{1, 3, "hello", false}}},
    {"byte order mark alone", "\xEF\xBB\xBF", {}},
    {"half a byte order mark", "\xEF\xBB", {{1, 0, "\xEF\xBB", true}}},
    {"byte order mark later on",
     "a\n\xEF\xBB\xBF",
     {{1, 0, "a", false}, {2, 2, "\xEF\xBB\xBF", true}}},
};

TEST(LineReader, CutsLines) {
  for (const LinesCase& row : kLinesCases) {
    EXPECT_EQ(read_whole(row.text).lines, row.lines) << row.name;
    EXPECT_EQ(reference(row.text).lines, row.lines) << row.name;
  }
}

TEST(LineReader, CutsTheSameLinesFromBlocksOfAnySize) {
  for (const LinesCase& row : kLinesCases) {
    for (size_t size = 1; size <= row.text.size(); ++size) {
      EXPECT_EQ(read_lines(row.text, [&] { return size; }).lines, row.lines) << row.name << size;
    }
  }
}

TEST(LineReader, CountsNewlinesAsGrepDoes) {
  EXPECT_EQ(read_whole("a\rb\r\n\nc").newlines, 2u);
  EXPECT_EQ(read_whole("a\r\n").newlines, 1u);
  EXPECT_EQ(read_whole(std::string(kMaxLineBytes + 1, 'x') + "\n").newlines, 1u);
  EXPECT_EQ(read_whole("").newlines, 0u);
}

TEST(LineReader, CutsOnlyLinesLongerThanTheLimit) {
  for (const std::string end : {"", "\n", "\r\n", "\r"}) {
    const ReadLines exact = read_whole(std::string(kMaxLineBytes, 'x') + end);
    ASSERT_EQ(exact.lines.size(), 1u);
    EXPECT_EQ(std::get<3>(exact.lines[0]), end.empty());  // The last one may go on.
    const ReadLines longer = read_whole(std::string(kMaxLineBytes + 1, 'x') + end);
    ASSERT_EQ(longer.lines.size(), 1u);
    EXPECT_TRUE(std::get<3>(longer.lines[0]));
    EXPECT_EQ(std::get<2>(longer.lines[0]).size(), kMaxLineBytes);
  }
}

TEST(LineReader, SkipsTheRestOfALongLineAndGoesOn) {
  const std::string text =
      "before\n" + std::string(10 << 20, 'x') + "\r" + std::string(1 << 20, 'y') + "\r\nafter\n";
  const ReadLines reading = read_whole(text);
  ASSERT_EQ(reading.lines.size(), 4u);
  EXPECT_EQ(reading, reference(text));
  EXPECT_EQ(reading.lines[3], Kept(3, text.size() - 6, "after", false));
}

TEST(LineReader, StartsWhereItIsTold) {
  std::string_view text = "\xEF\xBB\xBFx\ny";
  LineReader reader(
      [&](char* buffer, size_t capacity) {
        const size_t count = text.copy(buffer, capacity);
        text.remove_prefix(count);
        return count;
      },
      1000);
  Line line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.text, "\xEF\xBB\xBFx") << "a byte order mark is one at the start of a file only";
  EXPECT_EQ(line.offset, 1000u);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.offset, 1005u);
  EXPECT_EQ(line.number, 2u);
}

/// Bytes of which line ends are the most common, and now and then a long line.
std::string random_lines(std::mt19937& random) {
  std::string text = random() % 8 == 0 ? "\xEF\xBB\xBF" : "";
  const size_t pieces = random() % 60;
  for (size_t i = 0; i < pieces; ++i) {
    switch (random() % 8) {
      case 0:
        text += "\r";
        break;
      case 1:
        text += "\n";
        break;
      case 2:
        text += "\r\n";
        break;
      case 3:
        text += '\0';
        break;
      case 4:
        text += "\xEF\xBB\xBF";
        break;
      case 5:
        text += random() % 40 == 0 ? std::string(random() % 400000, 'L') : "l";
        break;
      default:
        text += std::string(random() % 9, 'x');
    }
  }
  return text;
}

TEST(LineReaderProperty, BlocksOfRandomSizesGiveTheReferencesLines) {
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_lines(random);
    const size_t largest = 1 + (text.size() > 5000 ? random() % 300000 : random() % 20);
    const auto next_size = [&] { return 1 + random() % largest; };
    ASSERT_TRUE(read_lines(text, next_size) == reference(text)) << i;
  }
}

/// The lines at the start of `ahead` that may be skipped, `most` at most.
LineRun plain_lines(std::string_view ahead, uint64_t most) {
  LineRun run;
  while (run.lines < most && run.bytes < ahead.size()) {
    const std::string_view rest = ahead.substr(run.bytes);
    const size_t size = rest.find_first_of("\r\n");
    if (find_odd_bytes(rest.substr(0, size)).control) break;
    const bool is_crlf = rest.substr(size).starts_with("\r\n");
    run.bytes += size + (is_crlf ? 2 : 1);
    ++run.lines;
    run.numbers += is_crlf || rest[size] == '\n' ? 1 : 0;
  }
  return run;
}

TEST(LineReaderProperty, LinesAheadCanBeSkippedAndStayUntilTheRefillThatIsAnnounced) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_lines(random);
    const ReadLines expected = reference(text);
    std::string_view rest = text;
    int refills = 0;
    LineReader reader([&](char* buffer, size_t capacity) {
      ++refills;
      const size_t count = rest.copy(buffer, std::min<size_t>(capacity, 1 + random() % 300));
      rest.remove_prefix(count);
      return count;
    });
    size_t at = 0;  // Into the expected lines.
    for (;;) {
      const LineRun run = plain_lines(reader.ahead(), random() % 4);
      if (run.lines > 0) {
        ASSERT_EQ(reader.next_number(), std::get<0>(expected.lines[at]));
        ASSERT_EQ(reader.ahead().substr(0, std::get<2>(expected.lines[at]).size()),
                  std::get<2>(expected.lines[at]));
      }
      reader.skip(run);
      at += run.lines;
      const bool will_refill = reader.will_refill();
      const int before = refills;
      Line line;
      const bool is_line = reader.next(line);
      ASSERT_TRUE(will_refill || refills == before) << i;
      if (!is_line) break;
      ASSERT_LT(at, expected.lines.size());
      ASSERT_EQ(Kept(line.number, line.offset, line.text, line.cut), expected.lines[at]) << i;
      ++at;
    }
    ASSERT_EQ(at, expected.lines.size());
    ASSERT_EQ(reader.lines(), expected.lines.size());
    ASSERT_EQ(reader.newlines(), expected.newlines);
  }
}

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

struct UnitCase {
  const char* name;
  std::string bytes;
  const char* summary;  ///< As `summary` below writes it.
  std::vector<Loss> losses;
};

/// "status compression content bytes/newlines/lines note".
std::string summary(const UnitResult& result) {
  std::string text;
  for (const std::string_view part :
       {to_string(result.status), to_string(result.compression), to_string(result.content)}) {
    text += std::string(part) + ' ';
  }
  return text + std::to_string(result.bytes) + '/' + std::to_string(result.newlines) + '/' +
         std::to_string(result.lines) + (result.note.empty() ? "" : ' ' + result.note);
}

LossTable table(const std::vector<Loss>& losses) {
  LossTable table;
  for (const Loss loss : losses) table.add(loss);
  return table;
}

std::string cut_gzip() {
  std::string bytes = compressed(Compression::Gzip, "one\ntwo\n");
  bytes.resize(bytes.size() - 4);
  return bytes;
}

const UnitCase kUnitCases[] = {
    {"a log", "one\ntwo\r\nthr\ree", "whole none text 15/2/4", {}},
    {"nothing", "", "whole none empty 0/0/0", {}},
    {"compressed nothing", compressed(Compression::Xz, ""), "whole xz empty 0/0/0", {}},
    {"compressed", compressed(Compression::Zstd, "one\ntwo\n"), "whole zstd text 8/2/2", {}},
    {"compressed and cut",
     cut_gzip(),
     "cut gzip text 8/2/2 The gzip data ends early; what could be unpacked was read.",
     {Loss::InputCut}},
    {"not to be unpacked",
     "\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
     "unreadable gzip empty 0/0/0 The gzip data cannot be unpacked.",
     {Loss::InputUnreadable}},
    {"followed by junk",
     compressed(Compression::Bzip2, "one\n") + "junk",
     "whole bzip2 text 4/1/1 Bytes after the end of the bzip2 data were left out.",
     {}},
    {"a compressed archive",
     compressed(Compression::Gzip, "PK\x03\x04 \n\n"),
     "skipped gzip archive 0/0/0 An archive that is not opened here; unpack it to "
     "have the logs in it read.",
     {Loss::InputSkipped}},
    {"a dump",
     "\x80\x02}(X\x09\0\0\0pg_config\n\n"s,
     "skipped none flight_recorder 0/0/0 A Flight Recorder dump of PyTorch, not a text log.",
     {Loss::InputSkipped}},
    {"two lines with NULs",
     "a\0b\0c\nfine\n\0\n"s,
     "whole none text 13/3/3",
     {Loss::NulBytes, Loss::NulBytes}},
    {"invalid UTF-8 once per line",
     "fine\n\xff \xfe\ngr\xc3\xbc\xc3\x9f\ncut \xc3",
     "whole none text 21/3/4",
     {Loss::InvalidUtf8, Loss::InvalidUtf8}},
    {"both in one line", "\0\xff\n"s, "whole none text 3/1/1", {Loss::NulBytes, Loss::InvalidUtf8}},
};

TEST(ReadUnit, SaysWhatBecameOfAnInput) {
  const TempDir dir;
  for (const UnitCase& row : kUnitCases) {
    const UnitResult result = read_unit({}, dir.add("input", row.bytes), {}, [](const Line&) {});
    EXPECT_EQ(summary(result), row.summary) << row.name;
    EXPECT_EQ(result.losses, table(row.losses)) << row.name;
  }
}

TEST(ReadUnit, DoesNotThrowForMissingFiles) {
  const UnitResult result = read_unit({}, "/nowhere/at/all", {}, [](const Line&) { FAIL(); });
  EXPECT_EQ(summary(result),
            "unreadable none empty 0/0/0 Reading failed: No such file or directory.");
  EXPECT_EQ(result.losses, table({Loss::InputUnreadable}));
}

TEST(ReadUnit, StopsAtTheSizeLimit) {
  const TempDir dir;
  const std::string path = dir.add("bomb", compressed(Compression::Xz, std::string(9000, '\n')));
  const UnitResult result = read_unit({}, path, {.max_expanded = 100}, [](const Line&) {});
  EXPECT_EQ(summary(result),
            "cut xz text 100/100/100 Expands past the limit of 100 bytes; read up to there.");
  EXPECT_EQ(result.losses, table({Loss::SizeLimit}));
}

TEST(ReadUnit, CountsCutLinesAndForgivesTheCharacterTheyEndIn) {
  const TempDir dir;
  // Characters of three bytes: the limit falls into one.
  std::string text;
  while (text.size() <= kMaxLineBytes) text += "\xe4\xb8\xad";
  UnitResult result = read_unit({}, dir.add("a", text + "\n"), {}, [](const Line& line) {
    EXPECT_EQ(line.text.size(), kMaxLineBytes);
    EXPECT_TRUE(line.cut);
  });
  EXPECT_EQ(result.losses, table({Loss::LineCut}));
  result = read_unit({}, dir.add("b", "\xff" + text), {}, [](const Line&) {});
  EXPECT_EQ(result.losses, table({Loss::LineCut, Loss::InvalidUtf8}));
}

TEST(ReadUnit, FindsOddBytesInAnyBlockOfALongLog) {
  const TempDir dir;
  for (const size_t before : {0, 1000, 8191, 50000, 100000}) {
    std::string text;
    for (size_t i = 0; i < before; ++i) text += "plain\n";
    text += "\xff\n";
    for (size_t i = 0; i < 100000; ++i) text += "plain\n";
    const UnitResult result = read_unit({}, dir.add("input", text), {}, [](const Line&) {});
    EXPECT_EQ(result.losses, table({Loss::InvalidUtf8})) << before;
    EXPECT_EQ(result.lines, before + 100001);
  }
}

TEST(ReadUnit, ReadsAStretchFromLineOne) {
  const TempDir dir;
  const std::string path = dir.add("input", "one\ntwo\nthree\nfour\n");
  std::vector<std::string> lines;
  const UnitResult result = read_unit({3, 0, 4, 14, false}, path, {}, [&](const Line& line) {
    lines.push_back(std::to_string(line.number) + '@' + std::to_string(line.offset) + ' ' +
                    std::string(line.text));
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"1@4 two", "2@8 three"}));
  EXPECT_EQ(summary(result), "whole none text 10/2/2");
}

using Paths = std::vector<std::string>;

/// All lines of the input at `path`, read unit by unit, numbered through.
std::vector<Kept> lines_of(const std::string& path, const std::vector<Unit>& units) {
  std::vector<Kept> lines;
  uint64_t before = 0;
  for (const Unit& unit : units) {
    const UnitResult result = read_unit(unit, path, {}, [&](const Line& line) {
      lines.emplace_back(before + line.number, line.offset, line.text, line.cut);
    });
    EXPECT_EQ(result.status, InputStatus::Whole);
    before += result.newlines;
  }
  return lines;
}

std::vector<Unit> cut(const std::string& path, const CutOptions& options) {
  return cut_units(Paths{path}, options);
}

TEST(Units, KeepsSmallCompressedAndOtherInputsWhole) {
  const TempDir dir;
  const std::string pipe = dir.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Paths inputs = {"-",
                        dir.add("a", "1\n2\n3\n4\n"),
                        dir.add("b", testing::compressed(Compression::Gzip, "1\n2\n3\n")),
                        dir.add("c",
                                "\x7f"
                                "ELF" +
                                    std::string(50, '\n')),
                        dir.add("empty", ""),
                        dir.path() / "missing",
                        pipe};
  std::vector<Unit> expected;
  for (uint32_t i = 0; i < inputs.size(); ++i) expected.push_back({.index = i, .input = i});
  EXPECT_EQ(cut_units(inputs, {.unit_bytes = 8}).at(1), expected.at(1)) << "not larger than a unit";
  const std::vector<Unit> units = cut_units(inputs, {.unit_bytes = 4});
  ASSERT_EQ(units.size(), inputs.size() + 1);
  EXPECT_EQ(units[1], (Unit{1, 1, 0, 4, false}));
  EXPECT_EQ(units[2], (Unit{2, 1, 4, 8, false}));
  EXPECT_EQ(units[3], (Unit{.index = 3, .input = 2}));
  EXPECT_EQ(units.back(), (Unit{.index = 7, .input = 6}));
}

TEST(Units, BeginsAtLinesThatMayStartOne) {
  const TempDir dir;
  const std::string path = dir.add("a", "HEAD 1\ntail\ntail\nHEAD 2\ntail\nHEAD 3\n");
  const CutOptions options{.unit_bytes = 2, .may_start_unit = [](std::string_view line) {
                             return line.starts_with("HEAD");
                           }};
  EXPECT_EQ(
      cut(path, options),
      (std::vector<Unit>{{0, 0, 0, 17, false}, {1, 0, 17, 29, false}, {2, 0, 29, 36, false}}));
}

TEST(Units, StaysWholeIfNoLineMayStartAUnit) {
  const TempDir dir;
  const std::string path = dir.add("a", "a\nb\nc\n");
  const auto never = [](std::string_view) { return false; };
  EXPECT_EQ(cut(path, {1, never}), (std::vector<Unit>{Unit{}}));
  EXPECT_EQ(cut(dir.add("b", "one long line"), {1, {}}), (std::vector<Unit>{Unit{}}));
}

TEST(Units, DoesNotSearchALongLineToItsEnd) {
  const TempDir dir;
  const std::string path = dir.add("a", "a\n" + std::string(3 << 20, 'x') + "\nb\nc\n");
  const std::vector<Unit> units = cut(path, {1 << 20, {}});
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[1].begin, 3u + (3 << 20)) << "found from the last place, not from the first";
}

const std::string kTexts[] = {
    "one\ntwo\nthree\n",
    "no\nfinal\nnewline",
    "\n\n\n",
    "a\r\nb\r\n\r\nc\r\n",
    "10%\r20%\r30%\ndone\r\n50%\r",
    "\xEF\xBB\xBFmark\n\xEF\xBB\xBFno mark\n",
    "nul\0 \xff\n\0\0\nend"s,
    "text\n{\n\"pg_config\"\n{\"pg_config\"\n\x1f\x8b\x08\nPK\x03\x04\n",
    "x\n" + std::string(70000, 'y') + "\nz\n",
};

TEST(UnitsProperty, AnyUnitSizeGivesTheSameLines) {
  const TempDir dir;
  for (const std::string& text : kTexts) {
    const std::string path = dir.add("input", text);
    const std::vector<Kept> whole = lines_of(path, {Unit{}});
    ASSERT_FALSE(whole.empty());
    const uint64_t largest = std::min<uint64_t>(text.size(), 40);
    for (uint64_t unit_bytes = 1; unit_bytes <= largest; ++unit_bytes) {
      // Offsets of a long line are not worth a million units.
      if (text.size() > 1000 && unit_bytes < 30) continue;
      const std::vector<Unit> units = cut(path, {unit_bytes * (text.size() > 1000 ? 100 : 1), {}});
      EXPECT_TRUE(lines_of(path, units) == whole) << text.substr(0, 50) << unit_bytes;
    }
  }
}

TEST(UnitsProperty, ChosenStartsGiveTheSameLines) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 50; ++i) text += (i % 3 == 0 ? "H" : "t") + std::string(i % 7u, 'x') + "\n";
  const std::string path = dir.add("input", text);
  const std::vector<Kept> whole = lines_of(path, {Unit{}});
  const auto is_head = [](std::string_view line) { return line.starts_with("H"); };
  for (uint64_t unit_bytes = 1; unit_bytes < text.size(); ++unit_bytes) {
    const std::vector<Unit> units = cut(path, {unit_bytes, is_head});
    EXPECT_GT(units.size(), unit_bytes + 20 < text.size() ? 1u : 0u) << unit_bytes;
    for (const Unit& unit : units) EXPECT_EQ(text[unit.begin], 'H');
    EXPECT_TRUE(lines_of(path, units) == whole) << unit_bytes;
  }
}

}  // namespace
}  // namespace ncclog
