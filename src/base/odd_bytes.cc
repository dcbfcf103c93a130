#include "base/odd_bytes.h"

#include <experimental/simd>

namespace ncclog {
namespace {

using Bytes = std::experimental::native_simd<unsigned char>;

constexpr int kTab = '\t';

/// Tab and newline are neighbours: one comparison leaves both out.
constexpr bool is_control(unsigned char byte) {
  return byte < 0x20 && static_cast<unsigned char>(byte - kTab) > 1;
}

}  // namespace

OddBytes find_odd_bytes(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  Bytes all = 0;
  Bytes::mask_type control(false);
  for (; static_cast<size_t>(end - at) >= Bytes::size(); at += Bytes::size()) {
    const Bytes bytes(at, std::experimental::element_aligned);
    all |= bytes;
    control = control || (bytes < Bytes(0x20) && bytes - Bytes(kTab) > Bytes(1));
  }
  OddBytes odd{any_of(control), any_of(all >= Bytes(0x80))};
  for (; at != end; ++at) {
    odd.control |= is_control(*at);
    odd.high |= *at >= 0x80;
  }
  return odd;
}

}  // namespace ncclog
