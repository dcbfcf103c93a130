#include "base/hash.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

struct Row {
  std::string bytes;
  const char* hex;
};

// As sha256sum of coreutils prints them; 55, 56 and 64 bytes are where the padding changes.
const Row kRows[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {std::string(55, 'x'), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
    {std::string(56, 'x'), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
    {std::string(64, 'x'), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
    {std::string(1000, '\xFF'), "b4f73dff046400b76728ab32619e3d89e00132653725f660c62ab9fca975b372"},
};

TEST(Sha256, IsWhatSha256sumPrints) {
  for (const Row& row : kRows) EXPECT_EQ(sha256_hex(row.bytes), row.hex) << row.bytes.size();
}

TEST(Sha256, IsWrittenAsPoliciesWantIt) {
  EXPECT_EQ(sha256_base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

}  // namespace
}  // namespace ncclog
