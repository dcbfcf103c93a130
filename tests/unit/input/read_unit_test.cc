#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "input/line_reader.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using namespace std::string_literals;
using testing::compressed;
using testing::TempDir;

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

}  // namespace
}  // namespace ncclog
