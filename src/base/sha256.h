// The SHA-256 of bytes, as FIPS 180-4 defines it.
//
//   sha256_hex("abc")      ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad
//   sha256_base64("abc")   ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ncclog {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

/// 64 hexadecimal digits in lower case, as sha256sum prints them.
std::string sha256_hex(std::string_view bytes);

/// 44 characters, as content security policies want it.
std::string sha256_base64(std::string_view bytes);

}  // namespace ncclog
