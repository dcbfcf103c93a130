#include "input/gzip_members.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/compressed.h"

namespace ncclog {
namespace {

struct Unpacked {
  std::string text;
  int members = 0;
  bool is_corrupt = false;

  bool operator==(const Unpacked&) const = default;
};

/// Through a window of `room` bytes, until nothing moves any more.
template <typename Codec>
Unpacked unpack(std::string_view bytes, size_t room) {
  Codec codec;
  Unpacked unpacked;
  std::string window(room, ' ');
  const char* in = bytes.data();
  const char* const end = in + bytes.size();
  for (;;) {
    const char* const before = in;
    char* out = window.data();
    const auto result = codec.filter(in, end, out, window.data() + window.size());
    unpacked.text.append(window.data(), out);
    unpacked.members += result == GzipResult::MemberEnd ? 1 : 0;
    unpacked.is_corrupt = result == GzipResult::Corrupt;
    const bool is_stuck = in == before && out == window.data();
    if (unpacked.is_corrupt || (in == end && result == GzipResult::MemberEnd) || is_stuck) {
      return unpacked;
    }
  }
}

std::string log_text() {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "n1:77:77 [0] NCCL INFO AllReduce: opCount " + std::to_string(random()) + "\n";
  }
  return text;
}

TEST(ZlibGzip, UnpacksWhatIsalUnpacks) {
  const std::string one = testing::compressed(Compression::Gzip, log_text());
  for (const std::string& bytes : {one, one + one, std::string(), one.substr(0, 3)}) {
    for (const size_t room : {size_t{1}, size_t{100}, size_t{1} << 20}) {
      EXPECT_EQ(unpack<ZlibGzip>(bytes, room), unpack<IsalGzip>(bytes, room));
    }
  }
  EXPECT_EQ(unpack<ZlibGzip>(one + one, 1000).text, log_text() + log_text());
}

TEST(ZlibGzip, GivesAllThatACutStreamDetermines) {
  const std::string bytes = testing::compressed(Compression::Gzip, log_text());
  for (size_t length = 0; length < bytes.size(); length += 7) {
    const Unpacked cut = unpack<ZlibGzip>(bytes.substr(0, length), 4096);
    EXPECT_TRUE(cut.text.starts_with(unpack<IsalGzip>(bytes.substr(0, length), 4096).text));
    EXPECT_TRUE(log_text().starts_with(cut.text)) << length;
    EXPECT_EQ(cut.members, 0);
    EXPECT_FALSE(cut.is_corrupt);
  }
}

TEST(ZlibGzip, NoticesDamageAndKeepsWhatCameBefore) {
  const std::string text = log_text();
  const std::string bytes = testing::compressed(Compression::Gzip, text);
  for (size_t place = 10; place < bytes.size(); place += 11) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
    const Unpacked unpacked = unpack<ZlibGzip>(damaged, 4096);
    EXPECT_TRUE(unpacked.is_corrupt || unpacked.members == 0) << place;
  }
  std::string wrong_sum = bytes;
  wrong_sum[bytes.size() - 8] ^= 1;
  EXPECT_TRUE(unpack<ZlibGzip>(wrong_sum, 4096).is_corrupt);
  EXPECT_EQ(unpack<ZlibGzip>(wrong_sum, 4096).text, text);
}

}  // namespace
}  // namespace ncclog
