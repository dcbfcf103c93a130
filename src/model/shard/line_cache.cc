#include "model/shard/line_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "base/wide_vectors.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "log/line/prefix.h"
#include "log/line/scanner.h"
#include "log/literal_set.h"
#include "log/messages.h"
#include "log/named_failure.h"
#include "log/wording/other_programs.h"
#include "model/timeline.h"

namespace ncclog {
namespace {

constexpr size_t kHeads = 16384;
constexpr size_t kShapes = 16384;
constexpr size_t kMessages = 16384;
constexpr std::string_view kInfoAnchor = "] NCCL INFO ";

/// True if no line that differs from `text` in hexadecimal digits only can hold `literal`: a part
/// of it that is no such number stands nowhere in `text`, whose pairs are given.
bool is_out_of_question(std::string_view literal, std::string_view text, const BytePairs& pairs) {
  const auto varies = [](char c) { return is_hex_digit(c) || c == 'x'; };
  for (size_t begin = 0; begin < literal.size();) {
    size_t end = begin;
    while (end < literal.size() && !varies(literal[end])) ++end;
    const std::string_view part = literal.substr(begin, end - begin);
    if (!pairs.may_hold(part) || text.find(part) == text.npos) return true;
    begin = end + 1;
  }
  return false;
}

// Heads of NCCL's lines.

/// Up to and with "INFO "; empty if the bytes do not begin with the head of an INFO line.
std::string_view head_in(std::string_view bytes) {
  bytes = bytes.substr(0, LineCache::kMaxHeadBytes);
  const size_t anchor = bytes.find(kInfoAnchor);
  return anchor == bytes.npos ? std::string_view() : bytes.substr(0, anchor + kInfoAnchor.size());
}

/// True if the header of the line begins with its host and is nothing out of the ordinary: only
/// host, pid and device differ from those of other processes.
bool has_plain_header(const Header& header, std::string_view line) {
  return header.level == Level::Info && !header.host.empty() && header.host.data() == line.data() &&
         header.pid >= 0 && header.file.empty() && !header.torn && header.unexplained.empty() &&
         header.process_group.empty();
}

/// True for "node-a:41:41 [0] NCCL INFO ": a glance, because most heads have stamps in front.
bool may_be_bare(std::string_view head) {
  constexpr std::string_view kDigits = "0123456789";
  head.remove_suffix(std::min(kInfoAnchor.size(), head.size()));
  const size_t dev = head.find_last_not_of(kDigits);
  if (dev == head.npos || dev == 0 || head[dev] != '[' || head[dev - 1] != ' ') return false;
  return head.find(' ') == dev - 1;
}

/// Chars that stand behind the host in a head.
constexpr std::string_view kNumbers = "0123456789:[] ";

bool holds_one(const LineMatcher& matcher, std::string_view text) {
  return std::ranges::any_of(*matcher.literals, [&](const std::string& literal) {
    return text.find(literal) != text.npos;
  });
}

/// True if the literal may stand where heads differ, other than in the host.
bool may_be_in_numbers(std::string_view literal) {
  const size_t colon = literal.find(':');
  const bool names_pid =
      colon != literal.npos && colon + 1 < literal.size() && is_digit(literal[colon + 1]);
  return literal.find_first_not_of(kNumbers) == literal.npos ||
         literal.find("] NCCL") != literal.npos || names_pid;
}

// Messages of NCCL of which no digit decides what they say.

/// Lines of calls are known by other means (model/shard/call_cache.h).
bool is_call(const Message& message) { return message.kind->index == kKindIndex<CollectiveCall>; }

/// Makes every digit of the pointers in `text` a "1" in `shape`, in which other digits are.
void mark_pointers(std::string_view text, char* shape) {
  for (size_t at = text.find('x'); at != text.npos; at = text.find('x', at + 1)) {
    const bool is_pointer = at > 0 && text[at - 1] == '0' && (at == 1 || !is_digit(text[at - 2]));
    if (!is_pointer) continue;
    shape[at - 1] = '0';
    while (at + 1 < text.size() && is_hex_digit(text[at + 1])) shape[++at] = '1';
  }
}

bool holds_digit(std::string_view text) { return std::ranges::any_of(text, is_digit); }

/// True if whether the wording fits a text, and how, may depend on digits of the text.
bool depends_on_digits(const Wording& wording) {
  return wording.recogniser != nullptr ||
         std::ranges::any_of(wording.steps, [](const PatternStep& step) {
           std::string_view literal = step.literal;
           if (literal.ends_with("0x")) literal.remove_suffix(2);
           return holds_digit(literal) || std::ranges::any_of(step.choices, holds_digit);
         });
}

/// The text with a "1" for every digit, those of pointers and their "0x" too.
std::string in_ones(std::string_view text) {
  std::string ones(text);
  mark_pointers(text, ones.data());
  std::ranges::replace_if(ones, is_digit, '1');
  return ones;
}

/// Of a wording that depends on digits, in ones: of each a text that it fits holds one.
using Needs = std::vector<std::vector<std::string>>;

std::vector<Needs> find_digit_wordings() {
  std::vector<Needs> all;
  for (const Kind& kind : all_kinds()) {
    if (kind.source != Source::Nccl) continue;
    for (const Wording& wording : kind.wordings) {
      if (!depends_on_digits(wording)) continue;
      Needs& needs = all.emplace_back();
      if (wording.recogniser != nullptr) continue;
      for (const PatternStep& step : wording.steps) {
        needs.push_back({in_ones(step.literal)});
        if (step.choices.empty()) continue;
        auto& choices = needs.emplace_back();
        for (const std::string_view choice : step.choices) choices.push_back(in_ones(choice));
      }
    }
  }
  return all;
}

/// True if all texts that differ from one of the wording in digits only have it, too, and their
/// fields in the same places.
bool is_regular(const Wording& wording, std::string_view text) {
  static const std::vector<Needs> kDigitWordings = find_digit_wordings();
  const std::string ones = in_ones(text);
  const auto may_fit = [&](const Needs& needs) {
    return std::ranges::all_of(needs, [&](const std::vector<std::string>& one_of) {
      return std::ranges::any_of(
          one_of, [&](const std::string& need) { return ones.find(need) != ones.npos; });
    });
  };
  return !depends_on_digits(wording) && std::ranges::none_of(kDigitWordings, may_fit);
}

// Lines of other programs of which no digit decides what they say.

/// Lines that say one thing whatever their digits: no kind but those of steps and bars, no header,
/// nothing that is compared with a certain number.
bool is_alike(std::string_view shape, const Event& event) {
  // A number that may be too large to be one, colours without ESC, and what may begin a record.
  static const std::string kLongNumber(19, '1');
  constexpr std::string_view kTelling[] = {"NCCL", "[1m",   "[1;1", "\x1b",
                                           "\r",   ".cpp:", "\"",   "ulimit"};
  const Header& header = event.header;
  const Kind* kind = event.message.kind;
  const bool is_step = kind != nullptr && (kind->index == kKindIndex<IterationLine> ||
                                           kind->index == kKindIndex<ProgressBar> ||
                                           kind->index == kKindIndex<EvalProgress>);
  std::string plain;
  return (is_step || event.fate == LineFate::Foreign) && header.level == Level::None &&
         header.unexplained.empty() && header.host.empty() && header.repeated == 0 &&
         !trim(header.message).empty() && header.prefix.stream.empty() &&
         shape.find(kLongNumber) == shape.npos && shape.find('\0') == shape.npos &&
         !holds_one_of(shape, kTelling) && !holds_one_of(shape, error_needles()) &&
         named_failure_in(shape) == nullptr &&
         !may_begin_python_record(shape, header.prefix.length) && !may_be_header_stub(shape) &&
         !holds_process(shape) && find_task_tag(shape, true) == shape.npos &&
         strip_ansi(shape, plain).data() == shape.data();
}

/// True if no line of that shape has a prefix: numbers count there by how large they are, or as a
/// row of zeros or a one.
bool never_has_prefix(std::string shape) {
  if (parse_prefix(shape).length > 0) return false;
  std::ranges::replace(shape, '1', '0');
  return parse_prefix(shape).length == 0;
}

}  // namespace

bool may_match(const LineMatcher& matcher, std::string_view text) {
  if (!matcher) return false;
  if (!matcher.literals) return true;
  const BytePairs pairs(text);
  return std::any_of(
      matcher.literals->begin(), matcher.literals->end(),
      [&](const std::string& literal) { return !is_out_of_question(literal, text, pairs); });
}

LineCache::LineCache(const LineMatcher& matcher, const MarkerFinder& finder, TextCache& texts)
    : matcher_(matcher),
      finder_(finder),
      texts_(texts),
      learns_messages_(!matcher || (matcher.literals &&
                                    std::ranges::none_of(*matcher.literals, may_be_in_numbers))) {}

// Shapes.

/// Puts the shape of the text into shape_; its hash.
NCCLOG_WIDE_VECTORS uint64_t LineCache::read_shape(std::string_view text, bool is_of_nccl) {
  // In pieces of one size, so that compilers use vectors, and with sums that do not wait for each
  // other.
  constexpr size_t kPiece = 32;
  char* const begin = bytes_.data();
  char* const end = begin + (text.size() + kPiece - 1) / kPiece * kPiece;
  text.copy(begin, text.size());
  std::memset(begin + text.size(), 0, static_cast<size_t>(end - begin) - text.size());
  for (char* piece = begin; piece != end; piece += kPiece) {
    for (size_t i = 0; i < kPiece; ++i) piece[i] = is_digit(piece[i]) ? '1' : piece[i];
  }
  if (is_of_nccl) mark_pointers(text, begin);
  std::array<uint64_t, kPiece / sizeof(uint64_t)> sums{};
  for (const char* piece = begin; piece != end; piece += kPiece) {
    std::array<uint64_t, sums.size()> words;
    std::memcpy(words.data(), piece, kPiece);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = (sums[i] ^ words[i]) * 0x9e3779b97f4a7c15U;
      sums[i] ^= sums[i] >> 32;
    }
  }
  shape_ = {begin, text.size()};
  uint64_t hash = 2 * text.size() + (is_of_nccl ? 1 : 0);
  for (const uint64_t sum : sums) hash = (hash ^ sum) * 0xd6e8feb86659fd93U, hash ^= hash >> 32;
  return hash;
}

/// That of the text; nullptr if it is not known.
LineCache::Shape* LineCache::find_shape(std::string_view text, bool is_of_nccl) {
  Shape* const shape = shapes_[read_shape(text, is_of_nccl) % kShapes].get();
  const bool is_it = shape != nullptr && shape->is_alike && shape->is_of_nccl == is_of_nccl &&
                     shape->shape == shape_;
  return is_it ? shape : nullptr;
}

/// True if a shape or message with that hash came lately; the next time it has.
bool LineCache::has_come(uint64_t hash) {
  return std::exchange(seen_[hash % kShapes], hash) == hash;
}

/// A place for the shape of the text; nullptr if it has not come before, or has one.
LineCache::Shape* LineCache::learn_shape(std::string_view text, bool is_of_nccl) {
  if (shapes_.empty()) {
    heads_.resize(kHeads);
    shapes_.resize(kShapes);
    messages_.resize(kMessages);
    seen_.resize(kShapes);
  }
  const uint64_t hash = read_shape(text, is_of_nccl);
  if (!has_come(hash)) return nullptr;
  auto& shape = shapes_[hash % kShapes];
  if (shape != nullptr && shape->is_of_nccl == is_of_nccl && shape->shape == shape_) return nullptr;
  if (shape.get() == last_) last_ = nullptr;
  shape = std::make_unique<Shape>();
  shape->place = shape->next = hash % kShapes;
  shape->shape = shape_;
  shape->is_of_nccl = is_of_nccl;
  return shape.get();
}

// Messages of NCCL.

/// The head with which the bytes begin; nullptr if it cannot be known.
LineCache::Head* LineCache::head_at(std::string_view bytes) {
  const std::string_view text = head_in(bytes);
  if (text.empty()) return nullptr;
  const uint64_t hash = message_hash(text);
  Head* const head = heads_[hash % kHeads].get();
  return head != nullptr && head->text->text() == text ? head : learn_head(text, hash);
}

/// nullptr if it names no process as NCCL does, or a pattern may match a line because of it.
LineCache::Head* LineCache::learn_head(std::string_view text, uint64_t hash) {
  if (!may_be_bare(text)) return nullptr;
  Header header;
  read_header(text, header);
  // A host of digits may be the rest of another head.
  const bool names_host = header.host.find_first_not_of("0123456789") != header.host.npos;
  if (!has_plain_header(header, text) || !header.message.empty() || !names_host) return nullptr;
  if (quiet_host_ != header.host) {
    if (matcher_ && holds_one(matcher_, std::string(header.host) + ':')) return nullptr;
    quiet_host_ = header.host;
  }
  auto& head = heads_[hash % kHeads];
  if (head.get() == last_head_) last_head_ = nullptr;
  head = std::make_unique<Head>(Head{texts_.head(text, header), header});
  head->header.host = head->text->text().substr(0, header.host.size());
  head->header.message = {};
  return head.get();
}

/// Makes `text` the one of its shape that came last; false if it is no message that may be known.
bool LineCache::read_message(Shape& shape, std::string_view text) {
  Message& message = shape.event.message;
  if (shape.text != text) {
    text.copy(shape.text.data(), text.size());
    shape.hash = message_hash(text);
    shape.rest = nullptr;
    if (!shape.is_regular) {
      message = {};
      all_wordings().nccl.read(trim(shape.text), message);
    }
  }
  if (message.kind == nullptr || is_call(message)) return false;
  // Ranks that come up print such messages alike, too.
  if (shape.rest == nullptr) {
    auto& known = messages_[shape.hash % kMessages];
    const bool is_known = known != nullptr && known->hash == shape.hash && known->text() == text;
    if (!is_known && !has_come(shape.hash)) return true;
    if (!is_known) known = texts_.message(text, shape.hash, message.wording);
    shape.rest = known;
  }
  return true;
}

/// The shape that came behind the last one before, if the message with which `bytes` begin is its
/// last one, too; then `bytes` become that.
LineCache::Shape* LineCache::foresee(std::string_view& bytes) const {
  Shape* const next = last_ == nullptr ? nullptr : shapes_[last_->next].get();
  if (next == nullptr || !next->is_of_nccl) return nullptr;
  const size_t size = next->text.size();
  if (size >= bytes.size() || bytes[size] != '\n' || !bytes.starts_with(next->text)) return nullptr;
  bytes = bytes.substr(0, size);
  return next;
}

size_t LineCache::find_message(std::string_view bytes, CachedLine& line) {
  if (heads_.empty()) return 0;
  if (last_head_ == nullptr || !bytes.starts_with(last_head_->text->text())) {
    Head* const head = head_at(bytes);
    if (head == nullptr) return 0;
    last_head_ = head;
    event_.fate = LineFate::Recognised;
    event_.header = head->header;
  }
  Head& head = *last_head_;
  const size_t begin = head.text->text().size();
  std::string_view text = bytes.substr(begin, kMaxBytes + 1);
  Shape* shape = foresee(text);
  if (shape == nullptr) {
    text = text.substr(0, text.find('\n'));
    if (text.size() > kMaxBytes || begin + text.size() == bytes.size()) return 0;
    shape = find_shape(text, true);
    if (shape == nullptr) return 0;
    if (last_ != nullptr) last_->next = shape->place;
  }
  if (!read_message(*shape, text)) return 0;
  last_ = shape;
  if (std::exchange(head.reader, reader_) != reader_) head.log = nullptr;
  event_.header.host = bytes.substr(0, head.header.host.size());
  event_.header.message = text;
  // Without the fields that its kind does not have.
  const Message& message = shape->event.message;
  event_.message.kind = message.kind;
  event_.message.wording = message.wording;
  std::copy_n(message.fields.begin(), message.kind->fields.size(), event_.message.fields.begin());
  line = {.text = bytes.substr(0, begin + text.size()),
          .event = &event_,
          .head = head.text.get(),
          .rest = shape->rest.get(),
          .hash = shape->hash,
          .names_comm = shape->names_comm,
          .is_quiet = shape->is_quiet,
          .log = &head.log};
  return line.text.size() + 1;
}

void LineCache::learn_message(std::string_view text, const Event& event) {
  const Header& header = event.header;
  const std::string_view message = header.message;
  const bool is_whole = !header.anchored_twice && header.repeated == 0 &&
                        message.size() <= kMaxBytes &&
                        message.data() + message.size() == text.data() + text.size();
  const bool may_be_known = learns_messages_ && event.fate == LineFate::Recognised &&
                            has_plain_header(header, text) && is_whole;
  if (!may_be_known || is_call(event.message)) return;
  const std::string_view head = head_in(text);
  if (head.empty() || head.data() + head.size() != message.data()) return;
  Shape* const shape = learn_shape(message, true);
  if (shape == nullptr) return;
  shape->is_alike = true;
  shape->text = message;
  shape->event.message = moved(event.message, message, shape->text);
  shape->is_quiet = !may_match(matcher_, std::string(kInfoAnchor).append(message));
  shape->is_regular = is_regular(*event.message.wording, message);
  shape->names_comm = message.find("comm 0x") != message.npos;
  shape->hash = message_hash(message);
}

// Lines of other programs.

size_t LineCache::find_other(std::string_view bytes, CachedLine& line) {
  if (shapes_.empty()) return 0;
  bytes = bytes.substr(0, kMaxBytes);
  const size_t newline = bytes.find('\n');
  const size_t end = std::min(bytes.substr(0, newline).find('\r'), newline);
  if (end == bytes.npos) return 0;
  const std::string_view text = bytes.substr(0, end);
  Shape* const shape = find_shape(text, false);
  if (shape == nullptr) return 0;
  text.copy(shape->text.data(), text.size());
  if (shape->has_prefix) {
    const Prefix prefix = parse_prefix(shape->text);
    if (prefix.length != shape->event.header.prefix.length) return 0;
    shape->event.header.prefix = prefix;
  }
  line = {.text = text,
          .event = &shape->event,
          .marker = shape->has_marker ? &shape->marker : nullptr,
          .is_dated = shape->is_dated,
          .names_step = shape->names_step};
  return text.size();
}

void LineCache::learn_other(std::string_view text, const Event& event) {
  if (text.size() >= kMaxBytes || finder_.wants_all_lines()) return;
  Shape* const shape = learn_shape(text, false);
  if (shape == nullptr) return;
  shape->is_alike = is_alike(shape->shape, event) && !may_match(matcher_, text);
  if (!shape->is_alike) return;
  shape->text = text;
  shape->event = moved(event, text, shape->text);
  shape->has_marker = finder_.find(shape->text, shape->marker);
  // Of all times with digits in those places this one is certain to be one.
  shape->is_dated = find_line_time(shape->shape).known();
  shape->names_step = Pulse::names_step(text);
  shape->has_prefix = event.header.prefix.length > 0 || !never_has_prefix(shape->shape);
}

}  // namespace ncclog
