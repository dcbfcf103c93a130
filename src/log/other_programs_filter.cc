#include "log/other_programs_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "log/event.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/named_failure.h"
#include "log/record_starts.h"
#include "log/unwrapper.h"
#include "log/wording/other_programs.h"

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
  return (bytes + length) * 0x9e3779b97f4a7c15U >> 46;
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

// What matters, gathered from the tables that give it a meaning.

namespace {

/// Longer lines are read one by one: they may be cut.
constexpr size_t kLongest = 4096;

bool holds_record(std::string_view line) { return parse_header(line).level != Level::None; }
bool holds_start(std::string_view line) { return next_record_start(line) != line.npos; }
bool names_failure(std::string_view line) { return named_failure_in(line) != nullptr; }

/// Texts one of which stands in everything that fits: its longest literal, or the words of a choice
/// and what stands before them.
std::vector<std::string> needles_of(const Wording& wording) {
  std::vector<std::string> best;
  size_t longest = 0;
  const auto offer = [&](std::vector<std::string> texts) {
    const size_t shortest = std::ranges::min(texts, {}, &std::string::size).size();
    if (shortest > longest) best = std::move(texts);
    longest = std::max(longest, shortest);
  };
  for (const PatternStep& step : wording.steps) {
    // The last literal may be printed without its blanks.
    if (!trim(step.literal).empty()) offer({std::string(trim(step.literal))});
    std::vector<std::string> words;
    for (const std::string_view choice : step.choices)
      words.push_back(std::string(step.literal).append(choice));
    if (!words.empty()) offer(std::move(words));
  }
  return best;
}

/// With what everything begins that fits; empty: with anything.
std::vector<std::string> beginnings_of(const Wording& wording) {
  const PatternStep& first = wording.steps.front();
  std::string literal(first.literal);
  // The last literal may be printed without its blanks.
  if (first.hole == HoleType::None) literal.erase(literal.find_last_not_of(" \t") + 1);
  std::vector<std::string> beginnings;
  for (const std::string_view choice : first.choices)
    beginnings.push_back(literal + std::string(choice));
  if (beginnings.empty() && !literal.empty()) beginnings.push_back(std::move(literal));
  return beginnings;
}

/// A colour whose ESC is lost begins the line.
bool begins_with_remnant(std::string_view line) {
  if (line.size() < 2 || line[0] != '[' || !is_digit(line[1])) return false;
  std::string ignored;
  return strip_ansi(line, ignored).data() != line.data();
}

}  // namespace

ForeignFilter::ForeignFilter(std::span<const std::string> wanted, const MarkerFinder& finder) {
  // What no table lists: headers, marks of tearing, escape sequences, bytes that are no text.
  constexpr std::string_view kNul("\0", 1);
  for (const std::string_view needle :
       {kAnchor, kRepetitionEnd, kMemlockQuestion[0], std::string_view("[0m"),
        std::string_view("[0;0m"), std::string_view("\x1b"), kNul, std::string_view("\r")})
    add(needle, {});
  for (const std::string_view begin : kCppRecordBegins) add(begin, {holds_record});
  for (const std::string_view group : {"[Rank ", "[PG "}) add(group, {holds_record});
  add(kProcessMark, {holds_process});
  for (const std::string_view mark : {kTaskTagMark, kTracebackStart, kWorkerPid})
    add(mark, {holds_start});
  for (const std::string_view place : kGlogPlaces) add(place, {holds_start});
  for (const std::string_view key : kMessageKeys) add(key, {may_be_collector_json});
  for (const std::string_view words : error_needles()) add(words, {looks_like_error});
  for (const std::string& words : named_failure_needles()) add(words, {names_failure});
  std::vector<std::string> texts = marker_needles(finder);
  texts.insert(texts.end(), wanted.begin(), wanted.end());
  for (const std::string& text : texts) {
    wants_all_ |= text.empty();
    if (!text.empty()) add(text, {});
  }
  std::vector<std::string_view> certain;
  for (const auto& [needle, questions] : needles_) {
    if (is_certain(questions)) certain.push_back(needle);
  }
  for (const Kind& kind : all_kinds()) {
    for (const Wording& wording : kind.wordings) {
      // Those stand behind NCCL's anchor only, which is a needle of its own.
      if (kind.source == Source::Nccl && !wording.quotable) continue;
      add_wording(wording, certain);
    }
  }
  // Few and rare needles are what makes the search quick.
  drop_longer_needles();
  texts.clear();
  for (auto& [text, questions] : needles_) {
    texts.push_back(text);
    questions_.push_back(is_certain(questions) ? Questions(1) : std::move(questions));
  }
  literals_.emplace(std::move(texts));
}

void ForeignFilter::add(std::string_view needle, Question question) {
  needles_.try_emplace(std::string(needle)).first->second.push_back(question);
}

bool ForeignFilter::Question::says_yes(std::string_view line, std::string_view message) const {
  Message ignored;
  return wording != nullptr ? match_wording(*wording, message, ignored) : asks(line);
}

/// One of the questions is none: whatever holds the needle matters.
bool ForeignFilter::is_certain(const Questions& questions) {
  return std::ranges::any_of(
      questions, [](auto& question) { return !question.asks && question.wording == nullptr; });
}

/// Enters by what a message of this wording is told best: its beginning, unless that is a byte or
/// two, what stands behind its first blank, or a needle. What holds one of `certain` is found without.
void ForeignFilter::add_wording(const Wording& wording, std::span<const std::string_view> certain) {
  constexpr size_t kCertain = 3;
  if (wording.recogniser != nullptr) {
    for (const std::string_view needle : wording.recogniser->needles) add(needle, {{}, &wording});
    for (const std::string_view text : wording.recogniser->begins) beginnings_.add(text);
    return;
  }
  const auto holds_certain_needle = [&](const PatternStep& step) {
    return holds_one_of(trim(step.literal), certain);
  };
  if (std::ranges::any_of(wording.steps, holds_certain_needle)) return;
  const std::vector<std::string> beginnings = beginnings_of(wording);
  std::string_view second = behind_first_blank(wording);
  second = second.substr(0, second.find_last_not_of(" \t") + 1);
  const bool is_long =
      !beginnings.empty() &&
      std::ranges::all_of(beginnings, [&](const auto& text) { return text.size() >= kCertain; });
  if (!is_long && !second.empty()) return second_beginnings_.add(second);
  const std::vector<std::string> needles = needles_of(wording);
  // A byte or two begin too many lines.
  if (is_long || (needles.empty() && !beginnings.empty())) {
    for (const std::string& text : beginnings) beginnings_.add(text);
    return;
  }
  for (const std::string& needle : needles) add(needle, {{}, &wording});
  wants_all_ |= needles.empty();
}

/// Where one needle stands in another, it is enough to look for it alone.
void ForeignFilter::drop_longer_needles() {
  for (auto longer = needles_.begin(); longer != needles_.end();) {
    const auto shorter = std::ranges::find_if(needles_, [&](const auto& other) {
      return other.first.size() < longer->first.size() &&
             longer->first.find(other.first) != std::string::npos;
    });
    if (shorter == needles_.end()) {
      ++longer;
      continue;
    }
    auto& [text, questions] = *shorter;
    questions.insert(questions.end(), longer->second.begin(), longer->second.end());
    longer = needles_.erase(longer);
  }
}

/// True if what the line begins with matters; if not, `message` is what stands behind it, without
/// blanks at its ends.
bool ForeignFilter::matters_by_start(std::string_view line, std::string_view& message) const {
  message = trim(line);
  if (message.empty()) return false;
  if (may_have_prefix(line)) {
    const Prefix prefix = parse_prefix(line);
    const bool is_all = prefix.length > 0 && prefix.length == line.size();
    const bool names_somebody = prefix.rank >= 0 || prefix.local_rank >= 0 || prefix.pid >= 0 ||
                                !prefix.host.empty() || !prefix.address.empty() ||
                                !prefix.stream.empty() || !prefix.progress_title.empty();
    if (is_all || names_somebody || begins_with_remnant(line)) return true;
    if (may_begin_python_record(line, prefix.length) && holds_record(line)) return true;
    message = trim(line.substr(prefix.length));
  } else if (may_begin_python_record(message, 0) && holds_record(line)) {
    return true;
  }
  const auto blank = std::ranges::find_if(message, is_blank);
  const std::string_view behind(blank == message.end() ? blank : blank + 1, message.end());
  const bool may_be_known = beginnings_.may_begin(message) || second_beginnings_.may_begin(behind);
  if (may_be_known && all_wordings().foreign.parse(message).kind != nullptr) return true;
  if (begins_row_of_test(message) && holds_start(line)) return true;
  return is_header_stub(line);
}

/// Needles in `text`, of which the line is a part.
bool ForeignFilter::can_matter(std::string_view line, std::string_view text,
                               std::span<const Found> needles) const {
  const auto begin = static_cast<size_t>(line.data() - text.data());
  const auto in_line = [&](const Found& needle) {
    return needle.end > begin && needle.end <= begin + line.size();
  };
  const auto is_certain_one = [&](const Found& needle) {
    return in_line(needle) && is_certain(questions_[needle.number]);
  };
  std::string_view message;
  if (std::ranges::any_of(needles, is_certain_one) || matters_by_start(line, message)) return true;
  return std::ranges::any_of(needles, [&](const Found& needle) {
    return in_line(needle) && std::ranges::any_of(questions_[needle.number], [&](auto& question) {
             return question.says_yes(line, message);
           });
  });
}

LineRun ForeignFilter::boring_lines(std::string_view block, size_t most) const {
  std::array<std::string_view, kMostLines> lines;
  size_t line_count = 0;
  size_t size = 0;
  for (; line_count < std::min(most, kMostLines) && !wants_all_; ++line_count) {
    const size_t end = block.find('\n', size);
    if (end == block.npos || end - size > kLongest) break;
    lines[line_count] = block.substr(size, end - size);
    size = end + 1;
  }
  block = block.substr(0, size);
  std::array<Found, 64> found;
  size_t count = 0;
  const bool are_too_many = literals_->any_of(block, [&](size_t number, size_t end) {
    if (count == found.size()) return true;
    found[count++] = {number, end};
    return false;
  });
  if (are_too_many) return most == 1 ? LineRun() : boring_lines(block, 1);
  LineRun boring{.is_ascii = false};
  for (const std::string_view line : std::span(lines).first(line_count)) {
    if (can_matter(line, block, std::span(found).first(count))) break;
    boring.bytes += line.size() + 1;
    ++boring.lines;
    ++boring.numbers;
  }
  return boring;
}

}  // namespace ncclog
