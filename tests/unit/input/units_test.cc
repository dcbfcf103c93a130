#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <tuple>

#include "input/line_reader.h"
#include "support/compressed.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using namespace std::string_literals;
using testing::TempDir;
using Paths = std::vector<std::string>;

/// A line of an input: number and offset in the input, text, cut.
using Kept = std::tuple<uint64_t, uint64_t, std::string, bool>;

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
