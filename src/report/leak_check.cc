#include "report/leak_check.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <utility>

#include "base/text.h"
#include "report/address_map.h"

namespace ncclog {
namespace {

/// What a reader takes for a name. Group 1 is the name.
struct Look {
  const char* pattern;
  std::string_view why;
};

constexpr Look kLooks[] = {
    {R"(([A-Za-z][\w.-]+):\d{2,10}:\d{2,10} \[)", "stood before a process id"},
    {R"(\b(?:ip|host|hostname|HOSTNAME|MASTER_ADDR)=([A-Za-z][\w.-]{3,}))",
     "stood where a host does"},
    {R"(srun: error: ([A-Za-z][\w-]*\d+):)", "stood where srun names a host"},
    {R"([:\s=\]](\d{1,3}(?:\.\d{1,3}){3})<\d+>)", "was an address with a port"},
    {R"(:((?:[0-9a-f]{1,4}:)+[0-9a-f:]*[0-9a-f])(?:%\w+)?<\d+>)", "was an address with a port"},
    {R"((?:^|[^:\w])((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})(?:[^:\w]|$))", "was a MAC address"},
    {R"(([\w.+-]+@[\w-]+(?:\.[a-z]{2,})+))", "was a mail address"},
    {R"(/(?:home|Users)/([A-Za-z][\w.-]{2,}))", "was the owner of a home"},
    {R"(\b(?:USER|LOGNAME|user|username)=([A-Za-z][\w.-]{2,}))", "was a user"},
    {R"((?i)(?:token|secret|password|api_key)["']?\s?[=:]\s?["']?([\w+/.~-]{12,}))",
     "was a secret"},
    {R"(\b(?:s3|gs|abfss?|hdfs)://([\w.-]{3,}))", "was a bucket"},
    {R"((?:--job-name[= ]|JOB_NAME=)([A-Za-z][\w.-]{3,}))", "was the name of a job"},
};

struct CompiledLook {
  std::unique_ptr<RE2> pattern;
  std::string_view why;
};

const std::vector<CompiledLook>& compiled_looks() {
  static const std::vector<CompiledLook> kCompiled = [] {
    RE2::Options options;
    options.set_encoding(RE2::Options::EncodingLatin1);  // Logs hold any bytes.
    options.set_log_errors(false);
    std::vector<CompiledLook> looks;
    for (const Look& look : kLooks) {
      looks.push_back({std::make_unique<RE2>(look.pattern, options), look.why});
    }
    return looks;
  }();
  return kCompiled;
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }
bool has_letter(std::string_view text) { return std::any_of(text.begin(), text.end(), is_alpha); }

/// Names that are everybody's, and addresses that every host has.
bool is_nobody(std::string_view name) {
  if (is_plain_word(name)) return true;
  // What replaces names is made of these.
  constexpr std::string_view kReplacements =
      "host- domain- .example mail- @ user- name- job- folder- file- hardware- guid- secret- c0de";
  if (kReplacements.find(lower_case(name)) != kReplacements.npos) return true;
  if (name.find_first_not_of("0:-") == name.npos || name.find_first_not_of("fF:-") == name.npos)
    return true;
  AddressMap addresses;
  return parse_address_bits(name) && !addresses.add(name);
}

uint16_t start_of(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(lower_case(text[at]));
  const auto second = static_cast<unsigned char>(lower_case(text[at + 1]));
  return static_cast<uint16_t>(first << 8 | second);
}

// Texts inside of others.

/// Appends a character as UTF-8.
void append_character(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (code >> 12 & 0x0F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// The number that `digits` are, all of them; false if they are none.
bool parse_code(std::string_view digits, int base, uint32_t& code) {
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  return !digits.empty() && end.ptr == digits.data() + digits.size();
}

/// Copies `text`; where `mark` stands, `take(rest, out)` may write what the escape means, and says
/// how long it is: 0 for none.
template <typename Take>
std::string unescaped(std::string_view text, char mark, Take&& take) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find(mark, at), text.size());
    out += text.substr(at, next - at);
    at = next;
    if (at == text.size()) break;
    const size_t length = take(text.substr(at), out);
    if (length == 0) out += mark;
    at += length == 0 ? 1 : length;
  }
  return out;
}

size_t take_entity(std::string_view rest, std::string& out) {
  constexpr size_t kLongest = 10;
  const size_t end = rest.substr(0, kLongest).find(';');
  if (end == rest.npos) return 0;
  const std::string_view name = rest.substr(1, end - 1);
  constexpr std::pair<std::string_view, char> kNames[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [known, character] : kNames) {
    if (name != known) continue;
    out += character;
    return end + 1;
  }
  uint32_t code = 0;
  const bool hexadecimal = name.starts_with("#x") || name.starts_with("#X");
  if (!name.starts_with('#') ||
      !parse_code(name.substr(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10, code))
    return 0;
  append_character(out, code);
  return end + 1;
}

struct Writing {
  char mark;
  std::string (*undo)(std::string_view text);
};

constexpr Writing kWritings[] = {
    {'%', without_percent_escapes}, {'\\', without_backslashes}, {'&', without_entities}};

}  // namespace

LeakCheck::LeakCheck(const OrdinaryWords& ordinary, const std::set<std::string>& replaced)
    : ordinary_(ordinary) {
  for (const std::string& name : replaced) add(name, "was replaced elsewhere");
}

void LeakCheck::add(std::string_view name, std::string_view why) {
  if (name.size() < 2) return;
  const std::string lower = lower_case(name);
  starts_.set(start_of(lower, 0));
  lengths_[start_of(lower, 0)].insert(lower.size());
  names_.try_emplace(lower, why);
}

void LeakCheck::read(std::string_view text) {
  for (const CompiledLook& look : compiled_looks()) {
    re2::StringPiece rest(text.data(), text.size());
    re2::StringPiece found;
    while (RE2::FindAndConsume(&rest, *look.pattern, &found)) {
      std::string_view name(found.data(), found.size());
      while (!name.empty() && !is_alnum(name.back())) name.remove_suffix(1);
      const bool tells = has_letter(name) ? name.size() >= 3 : has_digit(name);
      const bool is_secret = look.why == "was a secret";
      const bool is_host = look.why.starts_with("stood");
      if (!tells || is_nobody(name) || ordinary_.contains(lower_case(name))) continue;
      if (is_secret && !(has_digit(name) && has_letter(name))) continue;
      // "host=memory" names nobody.
      if (is_host && !has_digit(name) && name.find_first_of("-.") == name.npos) continue;
      add(name, look.why);
    }
  }
}

/// Whether `name` at `at` names somebody: not as a part of a longer number or an ordinary word.
bool LeakCheck::is_left(std::string_view line, size_t at, std::string_view name) const {
  const size_t end = at + name.size();
  const char before = at > 0 ? line[at - 1] : ' ';
  const char after = end < line.size() ? line[end] : ' ';
  const bool joins_before = is_alnum(before) && is_alnum(name.front());
  const bool joins_after = is_alnum(after) && is_alnum(name.back());
  if (!joins_before && !joins_after) return true;
  if (name.size() < 4) return false;
  if (joins_before && is_digit(before) && is_digit(name.front())) return false;
  if (joins_after && is_digit(after) && is_digit(name.back())) return false;
  const bool is_hex = std::all_of(name.begin(), name.end(), is_hex_digit);
  if (is_hex && name.size() < 8 && (is_hex_digit(before) || is_hex_digit(after))) return false;
  size_t word_begin = at;
  size_t word_end = end;
  while (word_begin > 0 && is_alpha(line[word_begin - 1])) --word_begin;
  while (word_end < line.size() && is_alpha(line[word_end])) ++word_end;
  return !ordinary_.contains(lower_case(line.substr(word_begin, word_end - word_begin)));
}

/// The first name in `line`; empty: none.
std::string LeakCheck::find_in(std::string_view line) const {
  for (size_t at = 0; at + 1 < line.size(); ++at) {
    const uint16_t start = start_of(line, at);
    if (!starts_.test(start)) continue;
    for (const size_t length : lengths_.at(start)) {
      if (at + length > line.size()) break;
      const std::string name = lower_case(line.substr(at, length));
      if (names_.contains(name) && is_left(line, at, name)) return name;
    }
  }
  return {};
}

std::vector<Leak> LeakCheck::find(std::string_view path, std::string_view text) const {
  std::vector<Leak> leaks;
  const auto look_at = [&](const std::string& place, std::string_view line) {
    std::string name = find_in(line);
    for (const auto& [mark, undo] : kWritings) {
      if (name.empty() && line.find(mark) != line.npos) name = find_in(undo(line));
    }
    if (!name.empty()) leaks.push_back({place, name, names_.at(name)});
  };
  look_at(std::string(path), path);
  size_t number = 0;
  for (size_t begin = 0; begin < text.size() && leaks.size() < kMost;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    look_at(fmt::format("{}:{}", path, ++number), text.substr(begin, end - begin));
    begin = end + 1;
  }
  return leaks;
}

std::string without_percent_escapes(std::string_view text) {
  return unescaped(text, '%', [](std::string_view rest, std::string& out) -> size_t {
    uint32_t code = 0;
    if (rest.size() < 3 || !parse_code(rest.substr(1, 2), 16, code)) return 0;
    out += static_cast<char>(code);
    return 3;
  });
}

std::string without_backslashes(std::string_view text) {
  return unescaped(text, '\\', [](std::string_view rest, std::string& out) -> size_t {
    if (rest.size() < 2) return 0;
    uint32_t code = 0;
    if (rest[1] == 'u' && rest.size() >= 6 && parse_code(rest.substr(2, 4), 16, code)) {
      append_character(out, code);
      return 6;
    }
    if (is_word(rest[1])) return 0;
    out += rest[1];
    return 2;
  });
}

std::string without_entities(std::string_view text) { return unescaped(text, '&', take_entity); }

}  // namespace ncclog
