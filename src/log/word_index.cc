#include "log/word_index.h"

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

std::span<const Candidate> WordIndex::find(std::string_view word) const {
  size_t place = hash_of(word) & (slots.size() - 1);
  while (!slots[place].word.empty() && slots[place].word != word) {
    place = (place + 1) & (slots.size() - 1);
  }
  return slots[place].candidates;
}

void WordIndexBuilder::add(std::string_view word, const Wording& wording, std::string_view behind) {
  const auto place_of = [&](std::string_view wanted) {
    size_t place = hash_of(wanted) & (places_.size() - 1);
    while (places_[place] != 0 && entries_[places_[place] - 1].word != wanted) {
      place = (place + 1) & (places_.size() - 1);
    }
    return place;
  };
  size_t place = place_of(word);
  if (places_[place] == 0) {
    entries_.push_back({word, {}});
    places_[place] = entries_.size();
    if (2 * entries_.size() > places_.size()) {
      places_.assign(2 * places_.size(), 0);
      for (size_t i = 0; i < entries_.size(); ++i) places_[place_of(entries_[i].word)] = i + 1;
      place = place_of(word);
    }
  }
  std::vector<Candidate>& list = entries_[places_[place] - 1].candidates;
  const size_t shared = list.empty() ? 0 : shared_steps(*list.back().wording, wording);
  list.push_back({&wording, leading_bytes(behind), shared});
}

WordIndex WordIndexBuilder::index() {
  slots_.assign(places_.size(), {});
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] == 0) continue;
    const Entry& entry = entries_[places_[i] - 1];
    slots_[i] = {entry.word, entry.candidates};
  }
  return {slots_};
}

}  // namespace ncclog
