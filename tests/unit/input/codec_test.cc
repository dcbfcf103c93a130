#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "input/byte_source.h"
#include "support/compressed.h"

namespace ncclog {
namespace {

using namespace std::string_literals;

struct Unpacked {
  std::string text;
  DecodeStep end = DecodeStep::More;
};

/// In pieces of `chunk` bytes, through a window of `room` bytes.
Unpacked unpack(Compression compression, std::string_view bytes, size_t chunk, size_t room) {
  const Decoder decode = make_decoder(compression);
  Unpacked unpacked;
  std::string window(room, ' ');
  size_t at = 0;
  while (unpacked.end == DecodeStep::More) {
    const size_t end = std::min(at + chunk, bytes.size());
    DecodeSpan span{bytes.data() + at, bytes.data() + end, window.data(),
                    window.data() + window.size(), end == bytes.size()};
    unpacked.end = decode(span);
    unpacked.text.append(window.data(), span.out);
    at = static_cast<size_t>(span.in - bytes.data());
  }
  return unpacked;
}

std::string log_text() {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "n1:77:77 [0] NCCL INFO AllReduce: opCount " + std::to_string(random()) + "\n";
  }
  return text;
}

TEST(GzipDecoder, UnpacksMembersThroughAnyWindow) {
  const std::string one = testing::compressed(Compression::Gzip, log_text());
  for (const size_t room : {size_t{1}, size_t{100}, size_t{1} << 20}) {
    const Unpacked unpacked = unpack(Compression::Gzip, one + one, 1000, room);
    EXPECT_EQ(unpacked.text, log_text() + log_text());
    EXPECT_EQ(unpacked.end, DecodeStep::End);
  }
}

TEST(GzipDecoder, GivesTheBeginningOfACutStream) {
  const std::string bytes = testing::compressed(Compression::Gzip, log_text());
  for (size_t length = 1; length < bytes.size(); length += 7) {
    const Unpacked cut = unpack(Compression::Gzip, bytes.substr(0, length), 100000, 4096);
    EXPECT_TRUE(log_text().starts_with(cut.text)) << length;
    EXPECT_EQ(cut.end, DecodeStep::Starved);
  }
}

TEST(GzipDecoder, NoticesDamageAndKeepsWhatCameBefore) {
  const std::string text = log_text();
  const std::string bytes = testing::compressed(Compression::Gzip, text);
  for (size_t place = 10; place < bytes.size(); place += 11) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
    EXPECT_NE(unpack(Compression::Gzip, damaged, 100000, 4096).end, DecodeStep::End) << place;
  }
  std::string wrong_sum = bytes;
  wrong_sum[bytes.size() - 8] ^= 1;
  EXPECT_EQ(unpack(Compression::Gzip, wrong_sum, 100000, 4096).end, DecodeStep::Corrupt);
  EXPECT_EQ(unpack(Compression::Gzip, wrong_sum, 100000, 4096).text, text);
}

/// "a line\n" as the zstd tool writes it from a pipe: descriptor with checksum flag, window byte,
/// one raw block, checksum.
const std::string kWithChecksum = "\x28\xb5\x2f\xfd\x04\x58\x39\0\0a line\n"s + "\x29\x79\xad\xa0"s;
const std::string kSkippable = "\x50\x2a\x4d\x18\x03\0\0\0abc"s;
const std::string kEmptySkippable = "\x5a\x2a\x4d\x18\0\0\0\0"s;
/// One segment of 5 bytes, a repeated byte.
const std::string kRepeated = "\x28\xb5\x2f\xfd\x20\x05\x2b\0\0x"s;

TEST(ZstdDecoder, TellsTheEndOfAFrameFromItsMiddle) {
  const std::string large(300000, 'x');
  const std::pair<std::string, std::string> frames[] = {
      {kWithChecksum, "a line\n"},
      {kSkippable, ""},
      {kRepeated, "xxxxx"},
      {kEmptySkippable, ""},
      {kWithChecksum, "a line\n"},
      {testing::compressed(Compression::Zstd, large + "end"), large + "end"}};
  std::string bytes;
  std::string text;
  for (const auto& [frame, content] : frames) {
    for (size_t length = 1; length < frame.size(); ++length) {
      const Unpacked cut = unpack(Compression::Zstd, bytes + frame.substr(0, length), 100, 100000);
      EXPECT_EQ(cut.end, DecodeStep::Starved) << bytes.size() << ' ' << length;
      EXPECT_TRUE((text + content).starts_with(cut.text));
    }
    bytes += frame;
    text += content;
    for (const size_t chunk : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{100000}}) {
      const Unpacked whole = unpack(Compression::Zstd, bytes, chunk, 1 << 20);
      EXPECT_EQ(whole.end, DecodeStep::End) << chunk;
      EXPECT_EQ(whole.text, text) << chunk;
    }
  }
}

TEST(ZstdDecoder, StopsWhereAFrameShouldStartAndDoesNot) {
  const Unpacked unpacked = unpack(Compression::Zstd, kRepeated + "junk", 1000, 1000);
  EXPECT_EQ(unpacked.end, DecodeStep::Stray);
  EXPECT_EQ(unpacked.text, "xxxxx");
}

}  // namespace
}  // namespace ncclog
