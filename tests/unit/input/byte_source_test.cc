#include "input/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "support/compressed.h"
#include "support/damage.h"
#include "support/temp_dir.h"

namespace ncclog {

void PrintTo(SourceState state, std::ostream* out) {
  *out << std::array{"Good", "Cut", "SizeLimit", "Unreadable"}[static_cast<size_t>(state)];
}

namespace {

using testing::compressed;
using testing::kCompressions;
using testing::TempDir;
using testing::utf16_of;

struct Outcome {
  std::string text;
  SourceState state = SourceState::Good;
  std::string note;
  Compression compression = Compression::None;
};

Outcome read_all(const std::string& path, const SourceOptions& options = {}, size_t block = 5000) {
  ByteSource source(path, options);
  Outcome outcome;
  std::string buffer(block, ' ');
  while (const size_t count = source.read(buffer.data(), buffer.size())) {
    outcome.text.append(buffer, 0, count);
  }
  EXPECT_EQ(source.read(buffer.data(), buffer.size()), 0u);
  outcome.state = source.state();
  outcome.note = source.note();
  outcome.compression = source.compression();
  return outcome;
}

/// Numbers that compress, but not to nothing: with several blocks for the smaller sizes too.
std::string log_text(int lines) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "gpu-a1:77:77 [0] NCCL INFO AllReduce: opCount " + std::to_string(random()) + "\n";
  }
  return text;
}

class ByteSourceTest : public ::testing::Test {
 protected:
  Outcome outcome_of(std::string_view bytes, const SourceOptions& options = {},
                     size_t block = 5000) const {
    return read_all(dir_.add("input", bytes), options, block);
  }

  TempDir dir_;
};

TEST_F(ByteSourceTest, DeliversEveryCompressionWhole) {
  const std::string large = log_text(30000);
  for (const std::string_view text : {std::string_view(), std::string_view("x"),
                                      std::string_view("line\n"), std::string_view(large)}) {
    for (const Compression compression : {Compression::None, Compression::Gzip, Compression::Bzip2,
                                          Compression::Xz, Compression::Zstd}) {
      for (const size_t block : {size_t{1000}, size_t{1} << 18}) {
        const Outcome outcome = outcome_of(compressed(compression, text), {}, block);
        EXPECT_TRUE(outcome.text == text) << to_string(compression) << ' ' << text.size();
        EXPECT_EQ(outcome.state, SourceState::Good);
        EXPECT_EQ(outcome.note, "");
        EXPECT_EQ(outcome.compression, compression);
      }
    }
  }
}

TEST_F(ByteSourceTest, ReadsOnOverConcatenatedMembers) {
  const std::string large = log_text(9000);
  for (const Compression compression : kCompressions) {
    const std::string bytes = compressed(compression, "one\n") + compressed(compression, "") +
                              compressed(compression, large) + compressed(compression, "three");
    const Outcome outcome = outcome_of(bytes);
    EXPECT_TRUE(outcome.text == "one\n" + large + "three") << to_string(compression);
    EXPECT_EQ(outcome.state, SourceState::Good);
    EXPECT_EQ(outcome.note, "");
  }
}

/// The bytes that must come out of the first `size` of `all`: every block that is there whole. Only
/// gzip and xz give out parts of a block.
void expect_prefix(const Outcome& outcome, const std::string& text, Compression compression,
                   size_t size) {
  EXPECT_TRUE(text.starts_with(outcome.text)) << to_string(compression) << ' ' << size;
  EXPECT_EQ(outcome.state, SourceState::Cut) << to_string(compression) << ' ' << size;
  EXPECT_EQ(outcome.note, "The " + std::string(to_string(compression)) +
                              " data ends early; what could be unpacked was read.");
}

TEST_F(ByteSourceTest, ReadsAStreamCutAnywhereAsFarAsItGoes) {
  const std::string text = log_text(60);
  for (const Compression compression : kCompressions) {
    const std::string bytes = compressed(compression, text);
    size_t last = 0;
    for (size_t size = 6; size < bytes.size(); ++size) {
      const Outcome outcome = outcome_of(std::string_view(bytes).substr(0, size));
      expect_prefix(outcome, text, compression, size);
      EXPECT_GE(outcome.text.size(), last) << "more input, less output";
      last = outcome.text.size();
    }
    // Zstd without a checksum ends with its last block, so that the last byte's loss costs all of
    // it.
    EXPECT_EQ(last, compression == Compression::Zstd ? 0 : text.size()) << to_string(compression);
  }
}

TEST_F(ByteSourceTest, KeepsFirstMemberWhenTheSecondIsCutAnywhere) {
  const std::string first = log_text(20);
  for (const Compression compression : kCompressions) {
    const std::string one = compressed(compression, first);
    const std::string two = compressed(compression, "second\n");
    for (size_t size = 1; size < two.size(); ++size) {
      const Outcome outcome = outcome_of(one + two.substr(0, size));
      EXPECT_TRUE(outcome.text.starts_with(first)) << to_string(compression) << ' ' << size;
      expect_prefix(outcome, first + "second\n", compression, size);
    }
  }
}

TEST_F(ByteSourceTest, GzipAndXzDeliverPartsOfABlock) {
  const std::string text = log_text(3000);
  for (const Compression compression : {Compression::Gzip, Compression::Xz}) {
    const std::string bytes = compressed(compression, text);
    const Outcome outcome = outcome_of(std::string_view(bytes).substr(0, bytes.size() / 2));
    EXPECT_GT(outcome.text.size(), text.size() / 3) << to_string(compression);
  }
}

TEST_F(ByteSourceTest, ZstdAndBzip2DeliverAllWholeBlocks) {
  const std::string text = log_text(40000);
  for (const Compression compression : {Compression::Zstd, Compression::Bzip2}) {
    const std::string bytes = compressed(compression, text);
    const Outcome outcome = outcome_of(std::string_view(bytes).substr(0, bytes.size() * 3 / 4));
    expect_prefix(outcome, text, compression, bytes.size());
    const size_t block = compression == Compression::Zstd ? 128 << 10 : 900000;
    EXPECT_GT(outcome.text.size() + block, text.size() * 2 / 3) << to_string(compression);
  }
}

TEST_F(ByteSourceTest, NotesBytesAfterTheLastMember) {
  for (const Compression compression : kCompressions) {
    const std::string bytes = compressed(compression, "text\n");
    const Outcome outcome = outcome_of(bytes + "this is not a member of anything");
    EXPECT_EQ(outcome.text, "text\n") << to_string(compression);
    EXPECT_EQ(outcome.state, SourceState::Good) << to_string(compression);
    EXPECT_EQ(outcome.note, "Bytes after the end of the " + std::string(to_string(compression)) +
                                " data were left out.");
  }
}

TEST_F(ByteSourceTest, NotesTextOfAnyLengthAfterTheLastMember) {
  for (const Compression compression : {Compression::Gzip, Compression::Bzip2, Compression::Zstd}) {
    const std::string bytes = compressed(compression, "text\n");
    for (const std::string junk : {"j", "ju", "jun", "junk junk junk"}) {
      const Outcome outcome = outcome_of(bytes + junk);
      EXPECT_EQ(outcome.text, "text\n") << to_string(compression) << junk;
      EXPECT_EQ(outcome.state, SourceState::Good) << to_string(compression) << junk;
      EXPECT_NE(outcome.note, "") << to_string(compression) << junk;
    }
  }
}

TEST_F(ByteSourceTest, TakesFewBytesAfterXzForACutSecondStream) {
  const Outcome outcome = outcome_of(compressed(Compression::Xz, "text\n") + "junk");
  EXPECT_EQ(outcome.text, "text\n");
  EXPECT_EQ(outcome.state, SourceState::Cut);
}

TEST_F(ByteSourceTest, IgnoresZerosThatPadAGzipFile) {
  const Outcome outcome = outcome_of(compressed(Compression::Gzip, "x\n") + std::string(700, '\0') +
                                     compressed(Compression::Gzip, "y\n") + std::string(3, '\0'));
  EXPECT_EQ(outcome.text, "x\ny\n");
  EXPECT_EQ(outcome.state, SourceState::Good);
  EXPECT_EQ(outcome.note, "");
}

TEST_F(ByteSourceTest, KeepsWhatCameBeforeDamage) {
  const std::string first = log_text(2000);
  for (const Compression compression : kCompressions) {
    const std::string one = compressed(compression, first);
    std::string two = compressed(compression, log_text(500));
    // Zstd without a checksum notices damage only where it breaks the structure: a block's header.
    const size_t at = compression == Compression::Zstd ? 6 : two.size() / 3;
    std::fill_n(two.begin() + static_cast<long>(at), 40, '\xff');
    const Outcome outcome = outcome_of(one + two);
    EXPECT_TRUE(outcome.text.starts_with(first)) << to_string(compression);
    EXPECT_EQ(outcome.state, SourceState::Cut) << to_string(compression);
    EXPECT_EQ(outcome.note, "The " + std::string(to_string(compression)) +
                                " data is damaged; what came before was read.");
  }
}

TEST_F(ByteSourceTest, SurvivesAnyByteFlippedInAnyWay) {
  const std::string text = log_text(12);
  for (const Compression compression : kCompressions) {
    const std::string bytes = compressed(compression, text);
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int mask : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ mask);
        outcome_of(damaged, {.max_expanded = 1 << 20});
      }
    }
  }
}

TEST_F(ByteSourceTest, SaysWhenNothingCouldBeUnpacked) {
  for (const Compression compression : kCompressions) {
    std::string bytes = compressed(compression, log_text(500));
    std::fill(bytes.begin() + 10, bytes.begin() + 200, '\xff');
    const Outcome outcome = outcome_of(bytes);
    EXPECT_EQ(outcome.text, "") << to_string(compression);
    EXPECT_EQ(outcome.state, SourceState::Unreadable) << to_string(compression);
  }
}

TEST_F(ByteSourceTest, StopsExpandingAtTheLimit) {
  const std::string text(100000, 'x');
  for (const Compression compression : kCompressions) {
    for (const uint64_t limit : {uint64_t{0}, uint64_t{1}, uint64_t{5000}, uint64_t{99999}}) {
      const Outcome outcome = outcome_of(compressed(compression, text), {.max_expanded = limit});
      EXPECT_EQ(outcome.text.size(), limit) << to_string(compression);
      EXPECT_EQ(outcome.state, SourceState::SizeLimit) << to_string(compression);
      EXPECT_EQ(outcome.note,
                "Expands past the limit of " + std::to_string(limit) + " bytes; read up to there.");
    }
    const Outcome exact = outcome_of(compressed(compression, text), {.max_expanded = 100000});
    EXPECT_EQ(exact.text.size(), 100000u);
    EXPECT_EQ(exact.state, SourceState::Good);
  }
}

TEST_F(ByteSourceTest, HasNoLimitForPlainFiles) {
  EXPECT_EQ(outcome_of("plain text", {.max_expanded = 3}).text, "plain text");
}

TEST_F(ByteSourceTest, DeliversRangesOfPlainFiles) {
  const std::string text = log_text(900);
  const std::string path = dir_.add("ranges", text);
  for (const size_t begin : {size_t{0}, size_t{1}, size_t{4096}, size_t{20000}}) {
    for (const size_t length : {size_t{0}, size_t{1}, size_t{5000}, size_t{9000000}}) {
      const Outcome outcome = read_all(path, {.begin = begin, .end = begin + length});
      EXPECT_EQ(outcome.text, text.substr(begin, length)) << begin << '+' << length;
    }
  }
}

TEST_F(ByteSourceTest, TakesARangeAsItIs) {
  const Outcome outcome = outcome_of("x\n\x1f\x8b\x08 text", {.begin = 2});
  EXPECT_EQ(outcome.text, "\x1f\x8b\x08 text");
  EXPECT_EQ(outcome.compression, Compression::None);
}

TEST_F(ByteSourceTest, ShowsTheHeadOfTheUnpackedBytes) {
  const std::string text = log_text(900);
  for (const Compression compression : kCompressions) {
    const ByteSource source(dir_.add("input", compressed(compression, text)));
    EXPECT_EQ(source.head(), std::string_view(text).substr(0, kHeadBytes));
  }
}

TEST_F(ByteSourceTest, KnowsSizesOfRegularFilesOnly) {
  EXPECT_EQ(ByteSource(dir_.add("a", "12345")).regular_size(), 5u);
  EXPECT_EQ(ByteSource("/dev/null").regular_size(), 0u);
}

TEST_F(ByteSourceTest, SaysWhyAFileCannotBeRead) {
  const Outcome missing = read_all(dir_.path() / "missing");
  EXPECT_EQ(missing.state, SourceState::Unreadable);
  EXPECT_EQ(missing.note, "Reading failed: No such file or directory.");
  const Outcome folder = read_all(dir_.path());
  EXPECT_EQ(folder.state, SourceState::Unreadable);
  EXPECT_EQ(folder.note, "Reading failed: Is a directory.");
}

TEST_F(ByteSourceTest, GivesTheFirstBlockOfAHoleAlone) {
  const std::string path = dir_.add("holes", "begin\n");
  constexpr uint64_t kHole = uint64_t{1} << 40;  // More than anybody reads.
  const int file = open(path.c_str(), O_WRONLY);
  ASSERT_GE(pwrite(file, "end\n", 4, kHole), 4);
  ASSERT_EQ(ftruncate(file, 2 * kHole), 0);
  close(file);
  EXPECT_EQ(next_data(path, 1 << 20), kHole);
  EXPECT_EQ(next_data(path, kHole + (1 << 20)), 2 * kHole);
  ByteSource source(path);
  source.skip_holes();
  std::string text;
  char block[8192];
  while (const size_t count = source.read(block, sizeof(block))) text.append(block, count);
  EXPECT_LT(text.size(), size_t{1} << 20);
  std::erase(text, '\0');
  EXPECT_EQ(text, "begin\nend\n");
  EXPECT_EQ(source.state(), SourceState::Good);
}

TEST_F(ByteSourceTest, NoticesAFileThatBecomesShorter) {
  const std::string path = dir_.add("log", log_text(900));
  ByteSource source(path);  // Which has read the head.
  std::filesystem::resize_file(path, 5000);
  char block[8192];
  while (source.read(block, sizeof(block)) > 0) {
  }
  EXPECT_EQ(source.state(), SourceState::Cut);
  EXPECT_EQ(source.note(), "Reading stopped early: the file became shorter.");
}

TEST_F(ByteSourceTest, ReadsPipesThatDripByteByByte) {
  const std::string path = dir_.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string bytes = compressed(Compression::Xz, "from a pipe\n");
  std::thread writer([&] {
    std::ofstream out(path, std::ios::binary);
    for (const char c : bytes) out << c << std::flush;
  });
  const Outcome outcome = read_all(path);
  writer.join();
  EXPECT_EQ(outcome.text, "from a pipe\n");
  EXPECT_EQ(outcome.state, SourceState::Good);
}

TEST_F(ByteSourceTest, ReadsUtf16HoweverItIsPackedAndCut) {
  std::string text = log_text(3000);
  // Characters of two, three and four bytes, across every border of a block.
  for (size_t at = 70; at < text.size(); at += 97) {
    text.insert(text.rfind('\n', at) + 1, "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
  }
  for (const bool is_big : {false, true}) {
    for (const bool has_mark : {false, true}) {
      const std::string bytes = utf16_of(text, is_big, has_mark);
      for (const Compression compression : {Compression::None, Compression::Gzip}) {
        for (const size_t block : {size_t{1}, size_t{2}, size_t{1000}, size_t{1} << 18}) {
          const Outcome outcome = outcome_of(compressed(compression, bytes), {}, block);
          EXPECT_TRUE(outcome.text == text) << is_big << has_mark << ' ' << block;
          EXPECT_EQ(outcome.state, SourceState::Good);
          EXPECT_EQ(outcome.compression, compression);
        }
      }
    }
  }
}

TEST_F(ByteSourceTest, ReadsUtf16ThatIsDamaged) {
  using namespace std::string_view_literals;
  // Surrogates alone, in the wrong order, at the end; half a character.
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"\xff\xfe\x3d\xd8x\0"sv, "\xed\xa0\xbdx"},
      {"\xff\xfe\x00\xdex\0"sv, "\xed\xb8\x80x"},
      {"\xff\xfe\x3d\xd8\x3d\xd8\x00\xde"sv, "\xed\xa0\xbd\xf0\x9f\x98\x80"},
      {"\xff\xfex\0\x3d\xd8"sv, "x\xed\xa0\xbd"},
      {"\xff\xfex\0y"sv, "x\xff"},
      {"\xff\xfex\0\x3d\xd8\x00"sv, "x\xed\xa0\xbd\xff"},
      {"\xff\xfe"sv, ""},
      {"\xfe\xff\xfe\xff\0x"sv, "\xef\xbb\xbfx"},
      {"\xfe\xff\0x\xfe\xff"sv, "x\xef\xbb\xbf"},
  };
  for (const auto& [bytes, text] : rows) {
    EXPECT_EQ(outcome_of(bytes).text, text);
    EXPECT_EQ(outcome_of(bytes).state, SourceState::Good);
  }
}

TEST_F(ByteSourceTest, SaysOfUtf16WhatItSaysOfThePackedBytes) {
  const std::string packed = compressed(Compression::Gzip, utf16_of(log_text(900), false));
  const Outcome cut = outcome_of(packed.substr(0, packed.size() - 100));
  EXPECT_TRUE(log_text(900).starts_with(cut.text));
  EXPECT_EQ(cut.state, SourceState::Cut);
  EXPECT_EQ(cut.note, "The gzip data ends early; what could be unpacked was read.");
  EXPECT_EQ(outcome_of(packed, {.max_expanded = 10000}).state, SourceState::SizeLimit);
}

TEST_F(ByteSourceTest, ReadsStandardInput) {
  const std::string path = dir_.add("stdin", compressed(Compression::Gzip, "typed\n"));
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(freopen(path.c_str(), "r", stdin), nullptr);
  const Outcome outcome = read_all("-");
  dup2(saved, STDIN_FILENO);
  close(saved);
  EXPECT_EQ(outcome.text, "typed\n");
}

}  // namespace
}  // namespace ncclog
