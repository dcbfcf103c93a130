#include "log/word_index.h"

#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr size_t kBytes = sizeof(uint64_t);

/// Most words differ in their first or last bytes, or in their length.
uint64_t hash_of(std::string_view word) {
  const uint64_t last = word.size() > kBytes ? bytes_at(word, word.size() - kBytes) : 0;
  const uint64_t mixed = (bytes_at(word, 0) ^ (last * 31) ^ word.size()) * 0x9e3779b97f4a7c15u;
  return mixed >> 32;
}

}  // namespace

std::string_view first_word(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && !is_blank(text[n])) ++n;
  return text.substr(0, n);
}

void WordIndex::add(std::string_view word, const WordingPattern& pattern, std::string_view behind) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[place_of(word)];
  if (slot.word.empty()) {
    slot.word = word;
    ++used_;
  }
  slot.candidates.push_back({&pattern, leading_bytes(behind)});
}

std::span<const Candidate> WordIndex::find(std::string_view word) const {
  return slots_[place_of(word)].candidates;
}

size_t WordIndex::place_of(std::string_view word) const {
  size_t place = hash_of(word) & (slots_.size() - 1);
  while (!slots_[place].word.empty() && slots_[place].word != word) {
    place = (place + 1) & (slots_.size() - 1);
  }
  return place;
}

void WordIndex::grow() {
  std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (Slot& slot : before) {
    if (!slot.word.empty()) slots_[place_of(slot.word)] = std::move(slot);
  }
}

}  // namespace ncclog
