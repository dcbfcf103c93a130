#include "log/known_messages.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/hash.h"
#include "log/line/scanner.h"
#include "log/wording/message_file.h"

namespace ncclog {
namespace {

constinit const WordingTable* with_added = nullptr;  ///< nullptr: nothing was added.
constinit uint64_t added_hash = 0;

// Kinds written as message files.

constexpr size_t kFewestLetters = 8;

/// Nothing in it can steer a terminal, and it reads back as it was.
std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool is_valid = is_valid_utf8(text);
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_edge = i == 0 || i + 1 == text.size();
    const bool is_control = byte < 0x20 || byte == 0x7f || (is_edge && byte == ' ');
    if (byte == '\t') {
      result += "\\t";
    } else if (byte == '\\') {
      result += "\\\\";
    } else if (is_control || (byte >= 0x80 && !is_valid)) {
      result += "\\x";
      result += {kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string_view type_name(FieldType type) {
  if (type == FieldType::Integer) return "int";
  return type == FieldType::Hex ? "hex" : "text";
}

/// A '!' line where the meaning changes from that of the wording before.
std::string warning_text(const Wording& wording, const Wording* before) {
  const Warning& warning = wording.warning;
  const bool is_same = before != nullptr && before->warning.severity == warning.severity &&
                       before->warning.origin == warning.origin &&
                       before->warning.meaning == warning.meaning;
  const bool is_none = warning.severity == WarnSeverity::None;
  if (is_same || (is_none && before == nullptr)) return {};
  if (is_none) return "  ! never\n";
  return "  ! " + std::string(to_string(warning.severity)) + " " +
         std::string(to_string(warning.origin)) + "  " + printable(warning.meaning) + "\n";
}

std::string attributes_text(const Wording& wording) {
  std::string text;
  if (wording.quotable) text += " quotable";
  if (wording.general) text += " general";
  if (wording.recogniser != nullptr) text += " by " + std::string(wording.recogniser->name);
  return text.empty() ? text : "  @" + text + "\n";
}

bool is_punctuation(char c) {
  return std::string_view(".,;:()[]{}<>'\"").find(c) != std::string::npos;
}

/// The hole for a word's value; empty if the word is NCCL's own.
std::string_view hole_for(std::string_view word) {
  constexpr std::string_view kNcclWords[] = {"P2P", "LL128", "C2C", "P2C", "p2p", "H2D", "D2H"};
  if (std::ranges::none_of(word, is_digit)) return {};
  if (equals_one_of(word, kNcclWords)) return {};
  if (parse_int(word)) return "{:int}";
  if (word.starts_with("0x") && parse_hex(word)) return "{:hex}";
  return parse_decimal(word) ? "{:number}" : "{:word}";
}

/// A word of a message as a wording has it: its value a hole, brackets and stops as they are.
std::string wording_of_word(std::string_view word) {
  size_t begin = 0;
  size_t end = word.size();
  while (begin < end && is_punctuation(word[begin])) ++begin;
  while (end > begin && is_punctuation(word[end - 1])) --end;
  const auto literal = [](std::string_view text) {
    std::string result;
    for (const char c : text) result.append(c == '{' || c == '}' ? 2 : 1, c);
    return result;
  };
  const std::string_view hole = hole_for(word.substr(begin, end - begin));
  if (hole.empty()) return literal(word);
  return literal(word.substr(0, begin)) + std::string(hole) + literal(word.substr(end));
}

size_t letters_outside_holes(std::string_view wording) {
  size_t letters = 0;
  bool in_hole = false;
  for (const char c : wording) {
    in_hole = c == '{' || (in_hole && c != '}');
    letters += !in_hole && is_alpha(c) ? 1 : 0;
  }
  return letters;
}

/// "site_" and the first words of the wording.
std::string proposed_name(std::string_view wording) {
  std::string name = "site";
  int words = 0;
  for (const std::string_view word : split_blanks(wording)) {
    const bool is_plain = std::ranges::all_of(word, [](char c) { return is_alpha(c) || c == ':'; });
    if (!is_plain || word.size() < 3 || words++ == 3) continue;
    name += '_';
    for (const char c : lower_case(word)) {
      if (is_alpha(c)) name += c;
    }
  }
  return name;
}

// The words of all messages.

constexpr size_t kShortest = 3;

void add_words(std::string_view wording, std::map<std::string, int, std::less<>>& words) {
  std::string word;
  bool in_hole = false;
  const auto finish = [&] {
    if (word.size() >= kShortest) ++words[lower_case(word)];
    word.clear();
  };
  for (const char c : wording) {
    in_hole = c == '{' || (in_hole && c != '}');
    if (!in_hole && is_alpha(c)) {
      word += c;
    } else {
      finish();
    }
  }
  finish();
}

// Shapes of messages.

/// NCCL's own words that hold digits.
constexpr std::string_view kNcclWords[] = {"P2P", "LL128", "C2C", "P2C", "p2p"};

constexpr bool is_name_char(char c) { return is_word(c) || c == '-' || c == '.'; }

/// "'libfoo.so'" and "\"x\"": quoted text that begins at a quote behind a blank or bracket.
bool take_quoted(Scanner& scan, std::string& shape) {
  const char quote = scan.peek();
  if (quote != '\'' && quote != '"') return false;
  if (!shape.empty() && is_word(shape.back())) return false;  // An apostrophe.
  Scanner behind = scan;
  std::string_view inside;
  behind.skip(quote);
  if (!behind.until(quote, inside)) return false;
  scan = behind;
  shape += quote;
  shape += "…";
  shape += quote;
  return true;
}

/// "/sys/class/net/eth0": two slashes at least, the first at the start of a word.
bool take_path(Scanner& scan, std::string& shape) {
  if (scan.peek() != '/' || (!shape.empty() && is_word(shape.back()))) return false;
  Scanner behind = scan;
  std::string_view path =
      behind.take_while([](char c) { return is_name_char(c) || c == '/' || c == ':'; });
  while (!is_word(path.back()) && path.size() > 1) path.remove_suffix(1);
  if (path.find('/', 1) == path.npos) return false;
  scan.skip(path);
  shape += '#';
  return true;
}

/// A word, or '#' if it is a value. A dot or dash at its end belongs to the sentence.
bool take_word(Scanner& scan, std::string& shape) {
  if (!is_word(scan.peek())) return false;
  Scanner behind = scan;
  std::string_view word = behind.take_while(is_name_char);
  while (!is_word(word.back())) word.remove_suffix(1);
  scan.skip(word);
  const bool is_value = std::ranges::any_of(word, is_digit) && !equals_one_of(word, kNcclWords);
  shape += is_value ? "#" : word;
  return true;
}

}  // namespace

const WordingTable& all_wordings() {
  static const WordingTable kBuiltIn(kBuiltInKinds);
  return with_added != nullptr ? *with_added : kBuiltIn;
}

const Kind* find_kind(std::string_view name) {
  const auto& by_name = all_wordings().by_name;
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

void add_messages(std::span<const KindText> kinds) {
  // Kept to the end: messages, rules and reports view into it.
  static std::vector<std::unique_ptr<WordingTable>> tables;
  auto table = std::make_unique<WordingTable>();
  build_messages(all_kinds(), kinds, *table);
  tables.push_back(std::move(table));
  with_added = tables.back().get();
  if (added_hash == 0) added_hash = kFnvBasis;
  for (const KindText& kind : kinds) {
    added_hash = fnv_text(fnv_text(added_hash, kind.replaces), message_text(*find_kind(kind.name)));
  }
}

uint64_t added_messages_hash() { return added_hash; }

void read_fields(const Message& message, std::span<const FieldPlace> places, void* result) {
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string_view text = message.fields[i];
    void* const member = static_cast<char*>(result) + places[i].offset;
    if (text.data() != nullptr) read_field(text, places[i], member);
  }
}

std::string message_text(const Kind& kind) {
  std::string text;
  for (const std::string_view line : split(kind.meaning, '\n')) {
    if (!kind.meaning.empty()) text += "# " + printable(line) + "\n";
  }
  const std::string_view subsystem = to_string(kind.subsystem);
  text += std::string(kind.name) + "  " + std::string(to_string(kind.library)) + " " +
          std::string(subsystem.empty() ? "-" : subsystem) + "\n";
  for (const Field& field : kind.fields) {
    text += "  " + std::string(field.name) + ":" + std::string(type_name(field.type));
    if (!field.meaning.empty()) text += "  " + printable(field.meaning);
    text += "\n";
  }
  const Wording* before = nullptr;
  for (const Wording& wording : kind.wordings) {
    text += warning_text(wording, before);
    text += "  = " + escaped(wording.text) + "\n" + attributes_text(wording);
    text += "  > " + escaped(wording.example) + "\n";
    before = &wording;
  }
  return text;
}

std::string proposed_wording(std::string_view message) {
  std::string wording;
  for (size_t at = 0; at < message.size();) {
    if (is_blank(message[at])) {
      wording += message[at++];
      continue;
    }
    const char quote = message[at];
    const size_t close = quote == '\'' || quote == '"' ? message.find(quote, at + 1) : message.npos;
    if (close != message.npos) {
      wording += std::string(1, quote) + "{}" + quote;
      at = close + 1;
      if (at < message.size() && !is_blank(message[at]) && !is_punctuation(message[at])) return {};
      continue;
    }
    const size_t end = std::min(message.find_first_of(" \t", at), message.size());
    wording += wording_of_word(message.substr(at, end - at));
    at = end;
  }
  return letters_outside_holes(wording) < kFewestLetters ? std::string() : wording;
}

std::string proposed_messages(const std::vector<UnknownMessage>& messages) {
  std::string text =
      "# Proposed for lines that no built-in message fits. Rename the kinds, give holes that "
      "matter a\n"
      "# field, say what WARNs mean, and try it:\n"
      "#\n"
      "#   ncclog messages check THIS-FILE && ncclog analyze --messages THIS-FILE logs/\n\n";
  std::set<std::string> known;
  std::map<std::string, int> names;
  for (const UnknownMessage& unknown : messages) {
    const std::string wording = proposed_wording(trim(unknown.message));
    if (wording.empty() || !is_valid_utf8(wording) || !known.insert(wording).second) continue;
    std::string name = proposed_name(wording);
    if (const int same = ++names[name]; same > 1) name += "_" + std::to_string(same);
    text +=
        "# " + unknown.note + "\n" + name + (unknown.is_nccl ? "  nccl -\n" : "  framework -\n");
    if (unknown.is_warning && unknown.is_nccl)
      text +=
          "  ! fatal system  Not explained yet: say what it means for the job, and where to "
          "look.\n";
    text += "  = " + escaped(wording) + "\n  > " + escaped(trim(unknown.message)) + "\n\n";
  }
  return text;
}

const std::set<std::string, std::less<>>& message_words() {
  static const std::set<std::string, std::less<>> kWords = [] {
    std::map<std::string, int, std::less<>> counts;
    for (const Kind& kind : all_kinds()) {
      for (const Wording& wording : kind.wordings) add_words(wording.text, counts);
    }
    // Three letters that few messages have, such as "idx", begin the names of hosts, too.
    constexpr int kCommon = 6;
    std::set<std::string, std::less<>> words;
    for (const auto& [word, count] : counts) {
      if (word.size() > kShortest || count >= kCommon) words.insert(word);
    }
    return words;
  }();
  return kWords;
}

std::string message_shape(std::string_view message) {
  Scanner scan(trim(message.substr(0, kMaxShapeBytes)));
  std::string shape;
  while (!scan.done()) {
    if (take_quoted(scan, shape) || take_path(scan, shape) || take_word(scan, shape)) continue;
    const char c = scan.peek();
    scan.skip(c);
    if (is_blank(c) && shape.ends_with(' ')) continue;  // Padded numbers.
    shape += is_blank(c) ? ' ' : c;
  }
  return shape;
}

}  // namespace ncclog
