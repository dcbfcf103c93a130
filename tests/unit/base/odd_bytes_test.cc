#include <gtest/gtest.h>

#include <string>

#include "base/text.h"

namespace ncclog {
namespace {

OddBytes expected_of(unsigned char byte) {
  return {byte < 0x20 && byte != '\t' && byte != '\n', byte >= 0x80};
}

TEST(OddBytes, AreFoundAtEveryPlaceOfTextsOfEveryLength) {
  for (size_t size = 1; size < 100; ++size) {
    std::string text(size, '~');
    ASSERT_EQ(find_odd_bytes(text), OddBytes{});
    for (size_t at = 0; at < size; ++at) {
      for (const int byte : {0x00, 0x08, 0x09, 0x0a, 0x0b, 0x1f, 0x20, 0x7f, 0x80, 0xff}) {
        text[at] = static_cast<char>(byte);
        ASSERT_EQ(find_odd_bytes(text), expected_of(static_cast<unsigned char>(byte)))
            << size << ' ' << at << ' ' << byte;
      }
      text[at] = '~';
    }
  }
}

TEST(Newlines, AreCountedInTextsOfEveryLength) {
  std::string text;
  uint64_t count = 0;
  for (size_t i = 0; i < 20000; ++i) {
    const bool ends_line = i % 3 == 0 || i % 7 == 0 || i > 5000;
    text += ends_line ? '\n' : '\v';
    count += ends_line ? 1 : 0;
    if (i < 200 || i % 997 == 0) {
      ASSERT_EQ(count_newlines(text), count) << i;
    }
  }
  EXPECT_EQ(count_newlines(text), count);
}

TEST(OddBytes, OfBothKindsAreToldApart) {
  EXPECT_EQ(find_odd_bytes(""), OddBytes{});
  EXPECT_EQ(find_odd_bytes("\x1b[0m gr\xc3\xbc"), (OddBytes{true, true}));
  EXPECT_EQ(find_odd_bytes(std::string(20, 'x') + "\r" + std::string(20, '\xe4')),
            (OddBytes{true, true}));
}

}  // namespace
}  // namespace ncclog
