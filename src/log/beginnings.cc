#include "log/beginnings.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ncclog {
namespace {

/// The first `length` bytes, zeros behind them.
uint64_t first_bytes(std::string_view text, size_t length) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), length);
  return bytes;
}

}  // namespace

size_t Beginnings::hash_of(uint64_t bytes, size_t length) {
  return (bytes + length) * 0x9e3779b97f4a7c15U >> 50;
}

void Beginnings::add(std::string_view text) {
  const size_t length = std::min(text.size(), kMost);
  auto& lengths = lengths_[static_cast<unsigned char>(text[0])];
  lengths = static_cast<uint8_t>(lengths | 1U << (length - 1));
  hashes_.set(hash_of(first_bytes(text, length), length));
}

bool Beginnings::may_begin(std::string_view text) const {
  if (text.empty()) return false;
  for (unsigned lengths = lengths_[static_cast<unsigned char>(text[0])]; lengths != 0;
       lengths &= lengths - 1) {
    const auto length = static_cast<size_t>(std::countr_zero(lengths)) + 1;
    if (length > text.size()) return false;
    if (hashes_.test(hash_of(first_bytes(text, length), length))) return true;
  }
  return false;
}

}  // namespace ncclog
