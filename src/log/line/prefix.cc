#include "log/line/prefix.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "log/line/launcher_prefixes.h"
#include "log/line/scanner.h"

namespace ncclog {
namespace {

constexpr int kMaxPrefixes = 64;  ///< A line of many progress bars has that many.

/// The forms that may begin with a byte, in the order in which they are tried.
struct FormsOfByte {
  std::vector<const PrefixForm*> certain;
  std::vector<const PrefixForm*> in_front_of_record;
};
using FormsByByte = std::array<FormsOfByte, 256>;

const FormsByByte& forms_by_byte() {
  static const FormsByByte all = [] {
    FormsByByte forms;
    for (const PrefixForm& form : prefix_forms()) {
      for (size_t byte = 0; byte < forms.size(); ++byte) {
        const bool may_begin =
            form.first_bytes.empty() ||
            form.first_bytes.find(static_cast<char>(byte)) != std::string_view::npos;
        auto& [certain, in_front_of_record] = forms[byte];
        if (may_begin) (form.needs_record ? in_front_of_record : certain).push_back(&form);
      }
    }
    return forms;
  }();
  return all;
}

const FormsOfByte& forms_of(std::string_view text) {
  return forms_by_byte()[static_cast<unsigned char>(text[0])];
}

/// What was taken off a line so far.
struct Reading {
  Prefix prefix;
  bool after_stamp = false;  ///< The piece before was a time: a logger's own words may follow.
};

/// Takes the prefix of one form off `text`; its length, 0 if there is none.
size_t take(const PrefixForm& form, std::string_view text, Reading& reading) {
  Scanner scan(text);
  return form.recognise(scan, reading.prefix) ? scan.taken() : 0;
}

/// Takes one prefix that cannot mean anything else off `text`.
size_t take_certain(std::string_view text, Reading& reading) {
  if (text.empty()) return 0;
  for (const PrefixForm* form : forms_of(text).certain) {
    if (form->needs_stamp && !reading.after_stamp) continue;
    const size_t length = take(*form, text, reading);
    if (length == 0) continue;
    reading.after_stamp = form->is_stamp;
    return length;
  }
  return 0;
}

constexpr int kMaxPasted = 4;  ///< Shapes of ordinary output that may stand one after the other.

size_t take_in_front_of_record(std::string_view text, Reading& reading, int more);

/// True if a record follows, behind up to `more` of the shapes that ordinary output has too.
bool begins_record_or_prefix(std::string_view text, int more) {
  if (begins_record(text)) return true;
  Reading ignored;
  return take_certain(text, ignored) > 0 || take_in_front_of_record(text, ignored, more) > 0;
}

/// Takes one of the shapes that ordinary output has too off `text`.
size_t take_in_front_of_record(std::string_view text, Reading& reading, int more) {
  if (more == 0 || text.empty()) return 0;
  for (const PrefixForm* form : forms_of(text).in_front_of_record) {
    Reading attempt = reading;
    const size_t length = take(*form, text, attempt);
    if (length == 0 || !begins_record_or_prefix(text.substr(length), more - 1)) continue;
    reading = attempt;
    reading.after_stamp = false;
    return length;
  }
  return 0;
}

/// Takes a prefix off that somebody indented. Words behind blanks are ordinary text too often.
size_t take_indented(std::string_view text, Reading& reading) {
  const size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  if (blanks == 0 || blanks == text.size()) return 0;
  Reading attempt = reading;
  const std::string_view inner = text.substr(blanks);
  size_t length = take_certain(inner, attempt);
  const bool is_word = length > 0 && is_alpha(inner[0]);
  if (is_word && !begins_record_or_prefix(inner.substr(length), kMaxPasted)) return 0;
  if (length == 0) length = take_in_front_of_record(inner, attempt, kMaxPasted);
  if (length == 0) return 0;
  reading = attempt;
  return blanks + length;
}

}  // namespace

// A glance.

namespace {

/// Bytes that are the mark of some form, each with a bit of its own, and blanks.
struct MarkBits {
  static constexpr uint8_t kBlank = 1;
  static constexpr uint8_t kUnsure = 0x80;  ///< Of a first byte: some form has no mark.

  std::array<uint8_t, 256> of_byte{};   ///< What a byte is.
  std::array<uint8_t, 256> by_first{};  ///< Marks of all forms that may begin with a byte.

  void add(size_t first, char mark) {
    uint8_t& bits = of_byte[static_cast<unsigned char>(mark)];
    if (mark != '\0' && bits == 0 && next_ < kUnsure) {
      bits = next_;
      next_ = static_cast<uint8_t>(next_ << 1);
    }
    by_first[first] |= mark == '\0' || bits == 0 ? kUnsure : bits;
  }

 private:
  uint8_t next_ = kBlank << 1;
};

const MarkBits& mark_bits() {
  static const MarkBits all = [] {
    MarkBits marks;
    for (const char blank : {' ', '\t'}) {
      marks.of_byte[static_cast<unsigned char>(blank)] = MarkBits::kBlank;
    }
    for (size_t byte = 0; byte < marks.by_first.size(); ++byte) {
      const FormsOfByte& forms = forms_by_byte()[byte];
      for (const auto* list : {&forms.certain, &forms.in_front_of_record}) {
        for (const PrefixForm* form : *list) {
          if (!form->needs_stamp && !form->is_bar) marks.add(byte, form->mark);
        }
      }
    }
    return marks;
  }();
  return all;
}

}  // namespace

bool may_have_prefix(std::string_view line) {
  const MarkBits& bits = mark_bits();
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto is = [&](uint8_t wanted) {
    return (bits.of_byte[static_cast<unsigned char>(*at)] & wanted) != 0;
  };
  // The first word is looked through for a mark, and the byte with which the second one begins.
  while (at < end && is(MarkBits::kBlank)) ++at;
  if (at == end) return false;
  const uint8_t marks = bits.by_first[static_cast<unsigned char>(*at)];
  if ((marks & MarkBits::kUnsure) != 0) return true;
  while (at < end && !is(MarkBits::kBlank | marks)) ++at;
  while (at < end && is(MarkBits::kBlank)) ++at;
  return at < end && is(marks);
}

// All prefixes of a line.

Prefix parse_prefix(std::string_view line) {
  Reading reading;
  for (int i = 0; i < kMaxPrefixes; ++i) {
    const std::string_view rest = line.substr(reading.prefix.length);
    // The surest shapes first: the others also fit ordinary output.
    size_t length = take_certain(rest, reading);
    if (length == 0) length = take_indented(rest, reading);
    if (length == 0) length = take_in_front_of_record(rest, reading, kMaxPasted);
    if (length == 0) break;
    reading.prefix.length += length;
  }
  return reading.prefix;
}

// Escape sequences of terminals: colours (CSI), titles and links (OSC).

namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';

/// Length of the sequence at the start of `text`, which begins with ESC.
size_t escape_length(std::string_view text) {
  Scanner scan(text.substr(1));
  if (scan.skip('[')) {
    scan.take_while([](char c) { return c >= 0x20 && c < 0x40; });
    scan.skip(scan.peek());
    return 1 + scan.taken();
  }
  if (scan.skip(']')) {
    scan.take_while([](char c) { return c != kBell && c != kEscape; });
    if (!scan.skip(kBell)) scan.skip("\x1b\\");
    return 1 + scan.taken();
  }
  return 1 + (scan.done() ? 0 : 1);
}

bool is_colour(int code) {
  return code <= 9 || (code >= 22 && code <= 49) || (code >= 90 && code <= 107);
}

/// Length of "[1;36m" at the start of `text`; 0 if it is anything else.
size_t remnant_length(std::string_view text) {
  Scanner scan(text);
  int code = 0;
  if (!scan.skip('[')) return 0;
  do {
    if (!scan.number(code) || !is_colour(code)) return 0;
  } while (scan.skip(';'));
  return scan.skip('m') ? scan.taken() : 0;
}

/// A line that lost its ESC bytes, or has them spelled out, begins with a colour or resets one.
bool has_remnants(std::string_view line) {
  if (remnant_length(line) > 0) return true;
  for (size_t at = line.find("[0"); at != line.npos; at = line.find("[0", at + 1)) {
    const std::string_view rest = line.substr(at);
    if (rest.starts_with("[0m") || rest.starts_with("[0;0m")) return true;
  }
  return false;
}

/// Takes ESC off the end of `text`, as JSON, syslog, "cat -v" and shells spell it.
void drop_spelled_escape(std::string& text) {
  constexpr std::string_view kSpellings[] = {"\\u001b", "\\u001B", "\\x1b", "\\x1B",
                                             "\\033",   "\\e",     "#033",  "^["};
  for (const std::string_view spelling : kSpellings) {
    if (!text.ends_with(spelling)) continue;
    text.resize(text.size() - spelling.size());
    // JSON inside JSON doubles the backslashes.
    if (spelling[0] == '\\') text.erase(text.find_last_not_of('\\') + 1);
    return;
  }
}

std::string_view strip(std::string_view line, char begin, size_t (*length_of)(std::string_view),
                       std::string& buffer) {
  buffer.clear();
  while (!line.empty()) {
    const size_t at = std::min(line.find(begin), line.size());
    buffer.append(line.substr(0, at));
    line.remove_prefix(at);
    if (line.empty()) break;
    const size_t length = length_of(line);
    if (length == 0) buffer.push_back(begin);
    if (length > 0 && begin == '[') drop_spelled_escape(buffer);
    line.remove_prefix(std::max<size_t>(length, 1));
  }
  return buffer;
}

}  // namespace

std::string_view strip_ansi(std::string_view line, std::string& buffer) {
  if (line.find(kEscape) != line.npos) return strip(line, kEscape, escape_length, buffer);
  if (has_remnants(line)) return strip(line, '[', remnant_length, buffer);
  return line;
}

}  // namespace ncclog
