#include "log/wording/wording_table.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace ncclog {

// Names, in the order of each enum.

Source source_of(Library library) {
  if (library == Library::Framework) return Source::Framework;
  return library > Library::Framework ? Source::Pasted : Source::Nccl;
}

std::string_view Message::field(std::string_view name) const {
  if (kind == nullptr) return {};
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) return fields[i];
  }
  return {};
}

const Warning* warning_of(const Wording& wording) {
  return wording.warning.severity == WarnSeverity::None ? nullptr : &wording.warning;
}

const Warning* warning_of(const Message& message) {
  return message.wording == nullptr ? nullptr : warning_of(*message.wording);
}

void Message::set(std::string_view name, std::string_view text) {
  if (kind == nullptr) return;
  for (size_t i = 0; i < kind->fields.size(); ++i) {
    if (kind->fields[i].name == name) fields[i] = text;
  }
}

// Matching.

namespace {

size_t integer_length(std::string_view text) {
  size_t n = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t sign = n;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n == sign ? 0 : n;
}

/// is_hex_digit as a table: pointers are looked at byte by byte.
constexpr auto kIsHexDigit = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = is_hex_digit(static_cast<char>(c));
  return table;
}();

size_t hex_length(std::string_view text) {
  if (text.starts_with("(nil)")) return 5;
  const bool has_prefix = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const size_t prefix = has_prefix ? 2 : 0;
  size_t n = prefix;
  while (n < text.size() && kIsHexDigit[static_cast<unsigned char>(text[n])]) ++n;
  return n == prefix ? 0 : n;
}

size_t word_length(std::string_view text, std::string_view next) {
  size_t n = 0;
  while (n < text.size() && !is_blank(text[n])) ++n;
  if (!next.empty()) {
    const size_t found = text.substr(0, n + next.size()).find(next);
    if (found != text.npos) n = std::min(n, found);
  }
  return n;
}

/// "2.5", "-1e-05", "inf", "nan": what printf writes for %f and %g.
size_t number_length(std::string_view text) {
  size_t n = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  for (const std::string_view word : {"inf", "nan"}) {
    if (text.substr(n).starts_with(word)) return n + word.size();
  }
  bool any = false;
  for (; n < text.size() && (is_digit(text[n]) || (text[n] == '.' && any)); ++n) any = true;
  if (!any) return 0;
  if (text[n - 1] == '.') return n - 1;
  if (n < text.size() && text[n] == 'e') {
    const size_t exponent = integer_length(text.substr(n + 1));
    if (exponent > 0) n += 1 + exponent;
  }
  return n;
}

/// Numbers separated by blanks, to the end of the text; NCCL ends a list that it cut with dots.
size_t integers_length(std::string_view text) {
  bool any = false;
  for (const char c : text) {
    if (!is_digit(c) && !is_blank(c) && c != '-' && c != '.') return 0;
    any |= is_digit(c);
  }
  return any ? text.size() : 0;
}

/// True if `text` begins with the step's literal.
inline bool begins_with_literal(std::string_view text, const PatternStep& step) {
  if (((bytes_at(text, 0) ^ step.leading.bytes) & step.leading.mask) != 0) return false;
  const size_t size = step.literal.size();
  if (size <= sizeof(uint64_t)) return size <= text.size();
  return text.starts_with(step.literal);
}

size_t choice_length(std::string_view text, const PatternStep& step) {
  // Most choices differ in their first byte.
  const char first = text.empty() ? '\0' : text.front();
  for (const std::string_view choice : step.choices) {
    if (first == choice.front() && text.starts_with(choice)) return choice.size();
  }
  return 0;
}

constexpr size_t kNoMatch = static_cast<size_t>(-1);

/// The text before the last literal reaches to the end, whatever it holds: "'it's'" in quotes.
size_t length_before_last(std::string_view text, std::string_view last) {
  while (!last.empty() && is_blank(last.back())) last.remove_suffix(1);
  return text.ends_with(last) ? text.size() - last.size() : kNoMatch;
}

/// Where `next` stands first; a long line may have its first byte, a blank, in many places.
size_t find_literal(std::string_view text, std::string_view next) {
  constexpr size_t kLong = 128;
  if (text.size() < kLong) return text.find(next);
  const void* at = ::memmem(text.data(), text.size(), next.data(), next.size());
  return at == nullptr ? kNoMatch : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

/// Bytes of `text` that the hole takes, or kNoMatch.
size_t hole_length(const PatternStep& step, std::string_view text) {
  const std::string_view next = step.next;
  const auto some = [](size_t n) { return n == 0 ? kNoMatch : n; };
  switch (step.hole) {
    case HoleType::None:
      return 0;
    case HoleType::Integer:
      return some(integer_length(text));
    case HoleType::Hex:
      return some(hex_length(text));
    case HoleType::Word:
      return some(word_length(text, next));
    case HoleType::Number:
      return some(number_length(text));
    case HoleType::Integers:
      return some(integers_length(text));
    case HoleType::Choice:
      return some(choice_length(text, step));
    case HoleType::Rest:
      return text.size();
    case HoleType::Text:
      if (step.before_last) return length_before_last(text, next);
      return next.empty() ? text.size() : find_literal(text, next);
  }
  return kNoMatch;
}

/// Takes the wording's steps from `first` on off the front of `text`; true if nothing is left.
bool take_steps(const Wording& wording, size_t first, std::string_view& text, Message& message,
                Trail& trail) {
  const size_t count = wording.steps.size();
  for (size_t i = first; i < count; ++i) {
    const PatternStep& step = wording.steps[i];
    trail.failed = i;
    if (i < Trail::kLongest) trail.begins[i] = text.data();
    if (!begins_with_literal(text, step)) {
      // The last literal may end in blanks that were taken off the text's end.
      const bool last = i + 1 == count && step.hole == HoleType::None;
      if (!last || text != trim(step.literal)) return false;
      text = {};
      return true;
    }
    text.remove_prefix(step.literal.size());
    const size_t length = hole_length(step, text);
    if (length == kNoMatch) return false;
    if (step.field >= 0) {
      // Some formats have no blank before a text that brings its own: "Bootstrap : Using%s".
      const bool is_number = step.hole == HoleType::Integer || step.hole == HoleType::Hex;
      const std::string_view taken = text.substr(0, length);
      message.fields[step.field] = is_number ? taken : trim(taken);
    }
    text.remove_prefix(length);
  }
  trail.failed = count;
  if (count < Trail::kLongest) trail.begins[count] = text.data();
  return text.empty();
}

/// Clears what the last try read from step `first` on.
void forget(const Trail& trail, size_t first, Message& message) {
  if (trail.wording == nullptr) return;
  const size_t end = std::min(trail.failed, trail.wording->steps.size());
  for (size_t i = first; i < end; ++i) {
    const int field = trail.wording->steps[i].field;
    if (field >= 0) message.fields[field] = {};
  }
}

/// True if what both take off a text, and what they leave, is the same.
bool is_same_step(const PatternStep& a, const PatternStep& b) {
  const bool looks_ahead = a.hole == HoleType::Text || a.hole == HoleType::Word;
  return a.literal == b.literal && a.hole == b.hole && a.field == b.field &&
         std::ranges::equal(a.choices, b.choices) &&
         (!looks_ahead || (a.next == b.next && a.before_last == b.before_last));
}

}  // namespace

LeadingBytes leading_bytes(std::string_view text) {
  text = text.substr(0, sizeof(uint64_t));
  constexpr std::string_view kAll = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF";
  return {bytes_at(text, 0), bytes_at(kAll.substr(0, text.size()), 0)};
}

size_t shared_steps(const Wording& a, const Wording& b) {
  if (a.recogniser != nullptr || b.recogniser != nullptr) return 0;
  const auto [end, ignored] = std::ranges::mismatch(a.steps, b.steps, is_same_step);
  return std::min(static_cast<size_t>(end - a.steps.begin()), Trail::kLongest - 1);
}

bool match_wording(const Wording& wording, std::string_view text, Message& message) {
  Trail trail;
  return match_wording_after(trail, 0, wording, text, message);
}

bool match_wording_after(Trail& trail, size_t shared, const Wording& wording, std::string_view text,
                         Message& message) {
  // What both begin with does not fit: most candidates of a long list end here.
  if (trail.failed < shared) return false;
  if (shared > 0) {
    text = {trail.begins[shared], static_cast<size_t>(trail.end - trail.begins[shared])};
  } else {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    const PatternStep& first = wording.steps.front();
    const bool by_holes = wording.recogniser == nullptr && first.hole != HoleType::None;
    if (by_holes && !begins_with_literal(text, first)) {
      forget(trail, 0, message);
      trail.wording = nullptr;
      trail.failed = 0;
      return false;
    }
    trail.end = text.data() + text.size();
  }
  forget(trail, shared, message);
  if (wording.recogniser != nullptr) {
    message.kind = wording.kind;
    message.wording = &wording;
    if (wording.recogniser->recognise(text, message)) return true;
    message = {};
    trail.wording = nullptr;
    return false;
  }
  trail.wording = &wording;
  if (!take_steps(wording, shared, text, message, trail)) return false;
  message.kind = wording.kind;
  message.wording = &wording;
  return true;
}

size_t matched_bytes(const Wording& wording, std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const size_t size = text.size();
  Message ignored;
  Trail trail;
  take_steps(wording, 0, text, ignored, trail);
  return size - text.size();
}

namespace {

constexpr size_t kBytes = sizeof(uint64_t);

/// Most words differ in their first or last bytes, or in their length.
uint64_t hash_of(std::string_view word) {
  const uint64_t last = word.size() > kBytes ? bytes_at(word, word.size() - kBytes) : 0;
  const uint64_t mixed = (bytes_at(word, 0) ^ (last * 31) ^ word.size()) * 0x9e3779b97f4a7c15u;
  return mixed >> 32;
}

}  // namespace

std::string_view behind_first_blank(const Wording& wording) {
  for (const PatternStep& step : wording.steps) {
    const size_t blank = step.literal.find_first_of(" \t");
    if (blank != step.literal.npos) return step.literal.substr(blank + 1);
    const bool without_blanks =
        step.hole == HoleType::Word || step.hole == HoleType::Integer || step.hole == HoleType::Hex;
    if (!without_blanks) return {};
  }
  return {};
}

std::string_view first_word(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && !is_blank(text[n])) ++n;
  return text.substr(0, n);
}

void WordIndex::add(std::string_view word, const Wording& wording, std::string_view behind) {
  std::vector<Candidate>& list = candidates_[word];
  const size_t shared = list.empty() ? 0 : shared_steps(*list.back().wording, wording);
  list.push_back({&wording, leading_bytes(behind), shared});
}

void WordIndex::finish() {
  slots_.assign(std::bit_ceil(2 * candidates_.size() + 1), {});
  for (const auto& [word, candidates] : candidates_) {
    size_t place = hash_of(word) & (slots_.size() - 1);
    while (!slots_[place].word.empty()) place = (place + 1) & (slots_.size() - 1);
    slots_[place] = {word, candidates};
  }
}

std::span<const Candidate> WordIndex::find(std::string_view word) const {
  size_t place = hash_of(word) & (slots_.size() - 1);
  while (!slots_[place].word.empty() && slots_[place].word != word) {
    place = (place + 1) & (slots_.size() - 1);
  }
  return slots_[place].candidates;
}

namespace {

/// Words made of a literal and one of the choices behind it: "NET/" + "IB" for " : Using",
/// "AllReduce" + ":" for ": opCount". Their text is kept in `storage`.
std::vector<std::string_view> choice_words(const Wording& wording,
                                           std::deque<std::string>& storage) {
  const PatternStep& step = wording.steps.front();
  const bool in_first_word = step.literal.find_first_of(" \t") == std::string_view::npos;
  if (!in_first_word || step.hole != HoleType::Choice) return {};
  const bool last = wording.steps.size() == 1;
  const std::string_view next = last ? std::string_view{} : wording.steps[1].literal;
  const std::string_view tail = first_word(next);
  const bool complete = last || tail.size() < next.size() ||
                        (wording.steps.size() == 2 && wording.steps[1].hole == HoleType::None);
  std::vector<std::string_view> result;
  for (const std::string_view choice : step.choices) {
    const std::string word = std::string(step.literal) + std::string(choice) + std::string(tail);
    const std::string_view first = first_word(word);
    if (!complete && first.size() == word.size()) return {};
    if (std::ranges::find(result, first) != result.end()) continue;
    storage.emplace_back(first);
    result.push_back(storage.back());
  }
  return result;
}

/// The word behind the first blank of texts of this wording; empty: it is not always the same.
std::string_view second_word(const Wording& wording) {
  if (wording.recogniser != nullptr) return {};
  const std::string_view rest = behind_first_blank(wording);
  const std::string_view word = first_word(rest);
  const PatternStep& last = wording.steps.back();
  const bool is_end = last.hole == HoleType::None &&
                      rest.data() + rest.size() == last.literal.data() + last.literal.size();
  return word.size() < rest.size() || is_end ? word : std::string_view{};
}

/// Bytes with which texts of this wording begin; empty: any.
std::string first_bytes(const Wording& wording) {
  const PatternStep& step = wording.steps.front();
  if (!step.literal.empty()) return std::string(1, step.literal.front());
  std::string bytes;
  const auto add_first = [&](std::string_view begin) {
    if (bytes.find(begin.front()) == bytes.npos) bytes.push_back(begin.front());
  };
  std::ranges::for_each(step.choices, add_first);
  // With needles, too, its texts may begin otherwise.
  const Recogniser* recogniser = wording.recogniser;
  if (recogniser != nullptr && recogniser->needles.empty())
    std::ranges::for_each(recogniser->begins, add_first);
  return bytes;
}

/// Tries the wordings in turn that may fit; true when one does. `at`: where the word ends by which
/// they were found; 0: they were not found by one.
bool match_any(std::span<const Candidate> candidates, std::string_view text, size_t at,
               Trail& trail, Message& message) {
  if (candidates.empty()) return false;
  const uint64_t behind = bytes_at(text, at);
  const Candidate* tried = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.may_fit(behind)) continue;
    const bool follows = tried != nullptr && tried + 1 == &candidate;
    const size_t shared = follows ? candidate.shared : 0;
    if (match_wording_after(trail, shared, *candidate.wording, text, message)) return true;
    tried = &candidate;
  }
  return false;
}

/// A number is told from a name by one byte.
bool begins_with_number(const Wording& wording) {
  const PatternStep& first = wording.steps.front();
  return first.literal.empty() && first.hole == HoleType::Integer;
}

}  // namespace

void Dispatch::add(const Wording& wording) {
  const PatternStep& step = wording.steps.front();
  const std::string_view first = first_word(step.literal);
  const bool is_whole = first.size() < step.literal.size() || step.hole == HoleType::None;
  if (!first.empty() && is_whole) {
    // Blanks at a text's end are no part of it.
    std::string_view behind = step.literal.substr(first.size());
    while (!behind.empty() && is_blank(behind.back())) behind.remove_suffix(1);
    return by_first_word_.add(first, wording, wording.recogniser == nullptr ? behind : "");
  }
  const std::vector<std::string_view> words = choice_words(wording, words_);
  for (const std::string_view word : words) by_first_word_.add(word, wording, {});
  if (!words.empty()) return;
  const std::string_view second = second_word(wording);
  if (!second.empty()) return by_second_word_.add(second, wording, {});
  const std::string bytes = first_bytes(wording);
  for (const char byte : bytes)
    by_first_byte_[static_cast<unsigned char>(byte)].push_back({&wording});
  if (bytes.empty()) open_.push_back({&wording});
}

void Dispatch::finish() {
  by_first_word_.finish();
  by_second_word_.finish();
}

bool Dispatch::fits_any(std::string_view text, Message& message) const {
  if (text.empty()) return false;
  Trail trail;
  const std::string_view first = first_word(text);
  if (match_any(by_first_word_.find(first), text, first.size(), trail, message)) return true;
  const size_t second_at = std::min(first.size() + 1, text.size());
  const std::string_view second = first_word(text.substr(second_at));
  if (match_any(by_second_word_.find(second), text, second_at + second.size(), trail, message))
    return true;
  const auto byte = static_cast<unsigned char>(text.front());
  return match_any(by_first_byte_[byte], text, 0, trail, message) ||
         match_any(open_, text, 0, trail, message);
}

void Dispatch::read(std::string_view text, Message& message) const {
  if (!fits_any(text, message)) message = {};
}

void WordingTable::enter_wordings() {
  for (const Kind& kind : kinds) by_name.try_emplace(kind.name, &kind);
  // " 0 : NET/0 …" is no "{op:word} : invalid root …".
  for (const bool of_numbers : {true, false}) {
    for (const Kind& kind : kinds) {
      for (const Wording& wording : kind.wordings) {
        if (begins_with_number(wording) != of_numbers || wording.is_only_asked()) continue;
        const bool is_nccl = kind.source == Source::Nccl;
        if (is_nccl) nccl.add(wording);
        if (!is_nccl || wording.quotable) foreign.add(wording);
      }
    }
  }
  nccl.finish();
  foreign.finish();
}

std::vector<const Wording*> WordingTable::all_matches(std::string_view text, Source source) const {
  std::vector<const Wording*> matches;
  for (const Kind& kind : kinds) {
    for (const Wording& wording : kind.wordings) {
      const bool is_nccl = kind.source == Source::Nccl;
      const bool looked_at = source == Source::Nccl ? is_nccl : !is_nccl || wording.quotable;
      Message message;
      if (looked_at && !wording.is_only_asked() && match_wording(wording, text, message))
        matches.push_back(&wording);
    }
  }
  return matches;
}

}  // namespace ncclog
