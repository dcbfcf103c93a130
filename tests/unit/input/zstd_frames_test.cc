#include "input/zstd_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/compressed.h"

namespace ncclog {
namespace {

using namespace std::string_literals;

/// "a line\n" as the zstd tool writes it from a pipe: descriptor with checksum flag, window byte,
/// one raw block, checksum.
const std::string kWithChecksum = "\x28\xb5\x2f\xfd\x04\x58\x39\0\0a line\n"s + "\xaa\xbb\xcc\xdd"s;
const std::string kSkippable = "\x50\x2a\x4d\x18\x03\0\0\0abc"s;
const std::string kEmptySkippable = "\x5a\x2a\x4d\x18\0\0\0\0"s;
/// One segment of 5 bytes, a repeated byte.
const std::string kRepeated = "\x28\xb5\x2f\xfd\x20\x05\x2b\0\0x"s;
/// Dictionary id of 4 bytes, content size of 2; an empty last block.
const std::string kDictionary = "\x28\xb5\x2f\xfd\x43\x58wxyz\0\0\x01\0\0"s;

/// How many bytes of `bytes` are passed, in chunks of `chunk`; at the boundaries in `ends`.
size_t walk(const std::string& bytes, size_t chunk, std::vector<size_t>& ends) {
  ZstdFrames frames;
  size_t at = 0;
  while (at < bytes.size()) {
    const char* begin = bytes.data() + at;
    const size_t count = frames.next(begin, begin + std::min(chunk, bytes.size() - at));
    if (count == 0) break;
    frames.advance(begin, count);
    at += count;
    if (frames.at_boundary()) ends.push_back(at);
  }
  return at;
}

TEST(ZstdFrames, FindsTheEndOfEveryFrame) {
  std::string bytes;
  std::vector<size_t> expected;
  for (const std::string& frame :
       {kWithChecksum, kSkippable, kRepeated, kEmptySkippable, kDictionary, kWithChecksum,
        testing::compressed(Compression::Zstd, std::string(300000, 'x') + "end")}) {
    bytes += frame;
    expected.push_back(bytes.size());
  }
  for (const size_t chunk : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{100000}}) {
    std::vector<size_t> ends;
    EXPECT_EQ(walk(bytes, chunk, ends), bytes.size()) << chunk;
    EXPECT_EQ(ends, expected) << chunk;
  }
}

TEST(ZstdFrames, StopsWhereAFrameShouldStartAndDoesNot) {
  std::vector<size_t> ends;
  EXPECT_EQ(walk(kRepeated + "junk", 1000, ends), kRepeated.size());
  EXPECT_EQ(walk("\x28\xb5\x2f\xfe"s, 1000, ends), 0u);
}

TEST(ZstdFrames, IsAtABoundaryBeforeAnything) { EXPECT_TRUE(ZstdFrames().at_boundary()); }

}  // namespace
}  // namespace ncclog
