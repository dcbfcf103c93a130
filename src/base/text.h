// Words for taking text apart and for showing it safely. Nothing here allocates unless it returns
// a std::string; nothing depends on the locale.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex_digit(char c) {
  const int letter = c | 0x20;  // Lower case.
  return is_digit(c) || (letter >= 'a' && letter <= 'f');
}
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_alpha(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
constexpr bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '_'; }

/// `text` without blanks at either end.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool equals_one_of(std::string_view text, std::span<const std::string_view> words) {
  for (const std::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

/// None of `starts` is empty.
constexpr bool starts_with_one_of(std::string_view text, std::span<const std::string_view> starts) {
  if (text.empty()) return false;
  for (const std::string_view start : starts) {
    // Most differ in their first byte, which is quicker to compare than to call for.
    if (text.front() == start.front() && text.starts_with(start)) return true;
  }
  return false;
}

/// One of `parts` stands somewhere in `text`.
constexpr bool holds_one_of(std::string_view text, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) != text.npos) return true;
  }
  return false;
}

/// The parts of `text` between blanks, none of them empty. Views into `text`.
std::vector<std::string_view> split_blanks(std::string_view text);

/// The parts of `text` between `separator`s; empty parts are kept. Views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

/// All of `text` as a decimal number with optional sign; nullopt if it is anything else.
std::optional<int64_t> parse_int(std::string_view text);

/// All of `text` as a hexadecimal number, "0x" optional; nullopt if it is anything else.
std::optional<uint64_t> parse_hex(std::string_view text);

/// All of `text` as a finite decimal number such as "48.0"; nullopt if it is anything else.
std::optional<double> parse_decimal(std::string_view text);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// "0-3,7" for {0,1,2,3,7}: sorted unique numbers as ranges. Empty for no numbers.
std::string ranges_text(std::span<const int> numbers);

/// The same for a sentence, about 60 bytes long: "0-20276:4" is every fourth number up to 20276, and
/// what has no room is counted: "3,9,21 and 1204 more".
std::string short_ranges(std::span<const int> numbers);

/// Insertions, deletions and replacements that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance to `name`, if it is close enough to be meant.
/// Ties go to the first candidate. nullopt when nothing is near.
std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates);

/// "did you mean 'json'?"; where none of `names` is like the word, `otherwise`, or if that is empty
/// "one of: text, json".
std::string hint_for(std::string_view word, std::span<const std::string_view> names,
                     std::string_view otherwise = {});

/// "1 line", "2 lines", "2 processes".
std::string plural(int64_t n, std::string_view one);

/// "SIGTERM" for 15; "signal 42" for one without a name.
std::string signal_name(int signal);

/// "0-3,7" for a set of channels, bit c for channel c.
std::string channels_text(uint64_t channels);

bool is_valid_utf8(std::string_view bytes);

/// `bytes` with every invalid UTF-8 sequence replaced by U+FFFD.
std::string to_valid_utf8(std::string_view bytes);

/// Appends the character with that code, up to 0x10FFFF.
void append_utf8(std::string& out, uint32_t code);

/// Appends `bytes` as a JSON string with its quotes, for output too large to be built as one JSON
/// value. Invalid UTF-8 becomes U+FFFD; control characters are escaped.
void append_json_string(std::string& out, std::string_view bytes);

/// Valid UTF-8 in which no character can steer a terminal: C0 and C1 controls, DEL and the
/// bidirectional overrides are written as \xNN or \u{NNNN}; a tab becomes a blank.
std::string printable(std::string_view bytes);

constexpr bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }

constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// `text` with the letters of ASCII in lower case; all other bytes stay.
inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower_case(c);
  return result;
}

/// "Do not" for "do not".
inline std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

// The values of enums, as files, rules and reports spell them.
//
//   enum class Role { Cause, Symptom, Advice };
//   constexpr std::string_view enum_words(Role) { return "cause|symptom|advice"; }
//       → to_string(Role::Symptom) is "symptom"
//
// enum_words() stands beside the enum, with the words of its values in their order.

template <typename Enum>
requires requires(Enum value) { enum_words(value); }
constexpr std::string_view to_string(Enum value) {
  std::string_view words = enum_words(value);
  for (auto n = static_cast<size_t>(value); n > 0; --n) words.remove_prefix(words.find('|') + 1);
  return words.substr(0, words.find('|'));
}

/// All of them, in the enum's order.
template <typename Enum>
std::vector<std::string_view> words_of_enum() {
  return split(enum_words(Enum()), '|');
}

// Which bytes does a text hold that most log lines do not?
//
//   "n1:7:7 [0] NCCL INFO Using network Socket"   neither
//   "\x1b[36mn1:7:7 ..."   "50%\r"   "a\0b"       control
//   "größer"   "█▌ 3/9"                           high
//
// One pass with the processor's vectors, so that every later search for such a byte can be left
// out.

/// Kinds of bytes that occur.
struct OddBytes {
  bool control = false;  ///< Below 0x20, but for tab and newline.
  bool high = false;     ///< 0x80 and above: not ASCII.

  bool operator==(const OddBytes&) const = default;
};

/// The odd bytes of `text`, which may hold any bytes.
OddBytes find_odd_bytes(std::string_view text);

/// How many "\n" are in `text`.
uint64_t count_newlines(std::string_view text);

// Numbers in as few bytes as they need: seven bits a byte, the lowest first; the last byte of a
// number is below 128.
//
//   5 → 05      300 → AC 02

inline void append_varint(std::string& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80U);
  bytes += static_cast<char>(number);
}

/// Takes one number from the front of `bytes`, which append_varint wrote.
inline uint64_t take_varint(std::string_view& bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7FU} << (shift & 63U);
    if (byte < 0x80) break;
  }
  return number;
}

}  // namespace ncclog
