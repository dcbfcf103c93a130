#include "rules/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/coverage.h"
#include "diagnose/facts/fact.h"
#include "log/line/words.h"

namespace ncclog {
namespace {

/// A shorter beginning does not say what happened.
constexpr size_t kLeast = 40;

/// Of valid UTF-8.
size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Bytes of the first `count` characters, all if there are not as many.
size_t bytes_of(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((text[at] & 0xC0) != 0x80 && count-- == 0) break;
  }
  return at;
}

/// A quotation is open at that place, and closed after it.
bool is_quoted(std::string_view message, size_t at) {
  return std::count(message.begin(), message.begin() + static_cast<ptrdiff_t>(at), '"') % 2 == 1 &&
         message.find('"', at) != message.npos;
}

/// What stands in parentheses, of those that stand in none.
struct Note {
  size_t begin = 0;  ///< Of the "(".
  size_t end = 0;    ///< Behind the ")".
};

std::vector<Note> notes_of(std::string_view text) {
  std::vector<Note> notes;
  size_t depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' && depth++ == 0) begin = at;
    if (text[at] == ')' && depth > 0 && --depth == 0) notes.push_back({begin, at + 1});
  }
  return notes;
}

/// "names()" is a name; a note stands behind a blank.
bool is_note(std::string_view text, const Note& note) {
  return note.begin > 0 && text[note.begin - 1] == ' ' && !is_quoted(text, note.begin);
}

/// "Ranks 0,1 on node-a", "2 processes": whom it is about, and nothing that happened.
bool is_subject(std::string_view text) {
  constexpr std::string_view kBegins[] = {"Rank ", "Ranks ", "All ", "Process ", "The program"};
  constexpr std::string_view kOn = " on ";
  constexpr size_t kMostWords = 3;
  const size_t on = std::min(text.find(kOn), text.size());
  const std::string_view who = text.substr(0, on);
  const auto hosts = split_blanks(text.substr(std::min(on + kOn.size(), text.size())));
  const bool are_hosts = std::ranges::all_of(hosts, [&](std::string_view host) {
    return host.ends_with(',') || host.data() == hosts.back().data();
  });
  return are_hosts && split_blanks(who).size() <= kMostWords &&
         (starts_with_one_of(who, kBegins) || who.ends_with(" processes"));
}

/// The last place before `most` bytes at which a clause begins that may go; npos: none.
size_t last_clause(std::string_view text, size_t most, std::span<const std::string_view> marks) {
  const std::vector<Note> notes = notes_of(text);
  const auto is_inside = [&](size_t at) {
    // "[359, 1, 1435, 16]" is one value.
    const std::string_view before = text.substr(0, at);
    return std::ranges::count(before, '[') > std::ranges::count(before, ']') ||
           std::ranges::any_of(notes,
                               [&](const Note& note) { return note.begin < at && at < note.end; });
  };
  size_t last = text.npos;
  for (const std::string_view mark : marks) {
    for (size_t at = text.find(mark, kLeast); at < most; at = text.find(mark, at + 1)) {
      const bool fits = last == text.npos || at > last;
      if (fits && !is_inside(at) && !is_quoted(text, at) && !is_subject(text.substr(0, at)))
        last = at;
    }
  }
  return last;
}

/// Characters of the longest word in a headline that is too long, and in one that so just fits.
constexpr size_t kLongestWord = 40;
constexpr size_t kShortenedWord = 28;

/// A name of a file, a hash, an address may be longer than all that is said of it: its middle goes.
std::string with_shorter_words(std::string_view text, size_t longest) {
  std::string out;
  for (const std::string_view word : split_blanks(text)) {
    if (!out.empty()) out += ' ';
    const size_t length = characters(word);
    if (length <= longest) {
      out += word;
      continue;
    }
    out += word.substr(0, bytes_of(word, longest / 2 - 1));
    out += "…";
    out += word.substr(bytes_of(word, length - longest / 2));
  }
  return out;
}

/// Whose word it is, is told by the message.
constexpr std::string_view kSource = "y the Flight Recorder's dumps, ";

/// A quotation loses its middle: the reason stands at its end. As it is, if too little would be left.
std::string with_shorter_quotation(const std::string& text, size_t room) {
  const size_t begin = text.find('"') + 1;
  const size_t end = text.rfind('"');
  if (begin == 0 || begin > end) return text;
  const std::string_view quoted = std::string_view(text).substr(begin, end - begin);
  const size_t length = characters(quoted);
  const size_t others = characters(text) - length;
  if (others + length <= room || others + kLeast > room) return text;
  const size_t left = room - others - 1;
  size_t head = bytes_of(quoted, left / 2);
  size_t tail = bytes_of(quoted, length - (left - left / 2));
  // Between words, where they are not too long for that.
  constexpr size_t kLongWord = 24;
  const size_t word_end = head > 0 ? quoted.rfind(' ', head - 1) : quoted.npos;
  const size_t word_begin = quoted.find(' ', tail);
  if (word_end != quoted.npos && head - word_end < kLongWord) head = word_end + 1;
  if (word_begin != quoted.npos && word_begin - tail < kLongWord) tail = word_begin;
  // "remote process exited or there was a network error" must not lose one of the two.
  constexpr std::string_view kTelling[] = {" or ", " not ", " no "};
  if (holds_one_of(quoted.substr(head, tail - head), kTelling)) return text;
  return fmt::format("{}{}…{}", text.substr(0, begin), quoted.substr(0, head),
                     text.substr(begin + tail));
}

/// "call 67 of communicator 0x65a1 (4 ranks): …, at /w/train.py:54": what identifies a thing for who
/// looks for it in the logs, and says nothing of what happened.
std::string without_identities(std::string text) {
  if (const size_t at = text.find(kSource); at != text.npos && at > 0) {
    text.erase(at - 1, kSource.size() + 1);
    if (at == 1) text = capitalised(std::move(text));
  }
  for (const std::string_view begin : listed_words("identity")) {
    for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
      // Up to what stands behind the name and a note of its size.
      size_t end = std::min(text.find_first_of(" ,;", at + begin.size()), text.size());
      if (text[end - 1] == ':') --end;
      if (text.substr(end).starts_with(" ("))
        end = std::min(text.find(')', end), text.size() - 1) + 1;
      text.erase(at, end - at);
    }
  }
  return text;
}

}  // namespace

std::string without_unknown(std::string text) {
  constexpr std::string_view kUnknown = "(unknown)";
  for (size_t at = text.find(kUnknown); at != text.npos; at = text.find(kUnknown, at)) {
    size_t begin = at;
    size_t end = at + kUnknown.size();
    for (const Note& note : notes_of(text)) {
      if (note.begin < at && at < note.end && is_note(text, note)) {
        begin = note.begin;
        end = note.end;
      }
    }
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    text.erase(begin, end - begin);
    at = begin;
  }
  return text;
}

std::string fitted_headline(std::string_view sentence, size_t room) {
  std::string text = printable(sentence);
  const bool has_stop = text.ends_with('.') && !text.ends_with("..");
  const auto fits = [&] { return characters(text) <= room; };
  if (fits()) return text;
  // The stop stands for the sentence, not for its last clause.
  if (has_stop) text.pop_back();
  const auto closed = [&] { return has_stop ? text + "." : text; };
  --room;
  constexpr std::string_view kApart[] = {"; "};
  text = without_identities(std::move(text));
  for (size_t at; !fits() && (at = last_clause(text, text.size(), kApart)) != text.npos;) {
    text.erase(at);
  }
  // "(max)" may be just what differs; notes of several words are asides.
  const auto is_aside = [&](const Note& note) {
    const std::string_view inside =
        std::string_view(text).substr(note.begin, note.end - note.begin);
    return note.begin >= kLeast && is_note(text, note) && inside.find(' ') != inside.npos;
  };
  while (!fits()) {
    std::vector<Note> notes = notes_of(text);
    std::erase_if(notes, [&](const Note& note) { return !is_aside(note); });
    if (notes.empty()) break;
    text.erase(notes.back().begin - 1, notes.back().end - notes.back().begin + 1);
  }
  if (!fits()) text = with_shorter_words(text, kLongestWord);
  // Shorter words rather than a clause less: it may name the file that is missing.
  std::string shorter = fits() ? text : with_shorter_words(text, kShortenedWord);
  if (characters(shorter) <= room) text = std::move(shorter);
  if (!fits()) text = with_shorter_quotation(text, room);
  if (!fits()) {
    const size_t at = last_clause(text, bytes_of(text, room), listed_words("clause"));
    if (at != text.npos) text.erase(text.find_last_not_of(" ,;:", at - 1) + 1);
  }
  if (fits()) return closed();
  const size_t blank = text.rfind(' ', bytes_of(text, room));
  text.erase(blank == text.npos || blank < kLeast ? bytes_of(text, room) : blank);
  return text + "…";
}

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::string first_sentence(std::string_view message) {
  const std::vector<Note> notes = notes_of(message);
  for (size_t dot = message.find(". "); dot != message.npos; dot = message.find(". ", dot + 1)) {
    const size_t next = dot + 2;
    const bool begins = next < message.size() && message[next] >= 'A' && message[next] <= 'Z';
    const bool is_inside = std::ranges::any_of(
        notes, [&](const Note& note) { return note.begin < dot && dot < note.end; });
    if (begins && !is_inside && !is_quoted(message, dot)) {
      return std::string(message.substr(0, dot + 1));
    }
  }
  return std::string(message);
}

std::string_view empty_word(std::string_view headline) {
  for (const std::string_view word : listed_words("empty")) {
    const size_t at = headline.find(word);
    if (at != headline.npos && !headline.substr(at).starts_with("A process group")) return word;
  }
  return {};
}

std::string headline_of(const Finding& finding) {
  return finding.headline.empty() ? fitted_headline(first_sentence(finding.message))
                                  : finding.headline;
}

std::string ranks_in_headline(const Job& job, const std::vector<int>& ranks) {
  constexpr size_t kLongest = 24;
  std::string names = ranks_phrase(ranks);
  const int64_t all = told_ranks(job);
  if (ranks.size() > 2 && std::ssize(ranks) == all) return fmt::format("all {} ranks", all);
  if (names.size() <= kLongest) return names;
  return std::ssize(ranks) < all ? fmt::format("{} of {} ranks", ranks.size(), all)
                                 : fmt::format("{} ranks", ranks.size());
}

std::string hosts_in_headline(const Job& job, const std::vector<std::string>& hosts) {
  constexpr size_t kLongest = 45;
  std::string names = join(hosts, ", ");
  if (hosts.size() <= kMostInHeadline && (hosts.size() <= 1 || names.size() <= kLongest))
    return names;
  const size_t all = job.hosts.size();
  if (hosts.size() == all) return fmt::format("all {} hosts", all);
  return hosts.size() < all ? fmt::format("{} of {} hosts", hosts.size(), all)
                            : fmt::format("{} hosts", hosts.size());
}

}  // namespace ncclog
