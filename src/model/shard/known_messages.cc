#include "model/shard/known_messages.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/shard/known_shapes.h"

namespace ncclog {
namespace {

constexpr size_t kHeads = 16384;
constexpr size_t kMessages = 4096;
constexpr size_t kMaxLonger = 64;  ///< Bytes by which numbers make messages longer.
constexpr std::string_view kInfoAnchor = "] NCCL INFO ";

/// Up to and with "INFO "; empty if the bytes do not begin with the head of an INFO line.
std::string_view head_in(std::string_view bytes) {
  bytes = bytes.substr(0, KnownMessages::kMaxHeadBytes);
  const size_t anchor = bytes.find(kInfoAnchor);
  return anchor == bytes.npos ? std::string_view() : bytes.substr(0, anchor + kInfoAnchor.size());
}

/// True for "node-a:41:41 [0] NCCL INFO ": a glance, because most heads have stamps in front.
bool may_be_bare(std::string_view head) {
  constexpr std::string_view kDigits = "0123456789";
  head.remove_suffix(std::min(kInfoAnchor.size(), head.size()));
  const size_t dev = head.find_last_not_of(kDigits);
  if (dev == head.npos || dev == 0 || head[dev] != '[' || head[dev - 1] != ' ') return false;
  return head.find(' ') == dev - 1;
}

/// Lines of calls are known by other means (model/shard/known_calls.h).
bool is_call(const Event& event) { return event.message.kind->index == kKindIndex<CollectiveCall>; }

// Messages in other numbers. A number is a row of digits, or one of hexadecimal digits behind "0x".
//
//   comm 0x5e0 rank 12 nranks 16      comm 0x rank 0 nranks 0

/// Puts the text without its numbers, by which texts are compared, into `shape`.
void read_shape(std::string_view text, std::string& shape) {
  shape.resize(text.size());
  char* to = shape.data();
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char c = *at++;
    *to++ = is_digit(c) ? '0' : c;
    if (!is_digit(c)) continue;
    if (c == '0' && at != end && *at == 'x') {
      *to++ = *at++;
      while (at != end && is_hex_digit(*at)) ++at;
    } else {
      while (at != end && is_digit(*at)) ++at;
    }
  }
  shape.resize(static_cast<size_t>(to - shape.data()));
}

std::string shape_of(std::string_view text) {
  std::string shape;
  read_shape(text, shape);
  return shape;
}

/// Where the number ends that begins at `begin`; `begin`: none does.
size_t end_of_number(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  const bool is_hex = end == begin + 1 && text.substr(begin).starts_with("0x");
  if (!is_hex) return end;
  ++end;
  while (end < text.size() && is_hex_digit(text[end])) ++end;
  return end;
}

/// Where the number begins that ends at `at`, or has `at` in it; `at`: none does.
size_t begin_of_number(std::string_view text, size_t at) {
  const auto digits_from = [&](auto is_one) {
    size_t begin = at;
    while (begin > 0 && is_one(text[begin - 1])) --begin;
    return begin;
  };
  const size_t hex = digits_from(is_hex_digit);
  if (hex >= 2 && text[hex - 1] == 'x' && text[hex - 2] == '0' &&
      (hex == 2 || !is_digit(text[hex - 3]))) {
    return hex - 2;
  }
  return digits_from(is_digit);
}

/// Bytes with which both begin.
size_t same_bytes(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  size_t same = 0;
  for (uint64_t in_a = 0, in_b = 0; same + sizeof(in_a) <= size; same += sizeof(in_a)) {
    std::memcpy(&in_a, a.data() + same, sizeof(in_a));
    std::memcpy(&in_b, b.data() + same, sizeof(in_b));
    if (in_a != in_b) break;
  }
  while (same < size && a[same] == b[same]) ++same;
  return same;
}

/// True if the texts differ in nothing but the numbers that are put into `changed`.
bool differ_in_numbers(std::string_view known, std::string_view now,
                       std::vector<ChangedNumber>& changed) {
  changed.clear();
  for (;;) {
    const size_t at = same_bytes(known, now);
    if (at == known.size() && at == now.size()) return true;
    const size_t begin = begin_of_number(known, at);
    const size_t end = end_of_number(known, begin);
    const size_t end_now = end_of_number(now, begin);
    const bool is_hex = end > begin + 1 && known[begin + 1] == 'x';
    const bool is_hex_now = end_now > begin + 1 && now[begin + 1] == 'x';
    // Both have to be numbers of one sort, and to go on behind the difference.
    if (end < std::max(at, begin + 1) || end_now < std::max(at, begin + 1) || is_hex != is_hex_now)
      return false;
    changed.push_back({known.substr(begin, end - begin), now.substr(begin, end_now - begin)});
    known.remove_prefix(end);
    now.remove_prefix(end_now);
  }
}

/// A part of the text that begins at `known`, in the other text; nullopt if it begins or ends inside
/// a number.
std::optional<std::string_view> moved_part(std::string_view part, const char* known,
                                           std::string_view now,
                                           const std::vector<ChangedNumber>& changed) {
  std::ptrdiff_t begin = part.data() - known;
  std::ptrdiff_t end = begin + static_cast<std::ptrdiff_t>(part.size());
  const char* const first = part.data();
  const char* const last = first + part.size();
  for (const ChangedNumber& number : changed) {
    const char* const number_end = number.known.data() + number.known.size();
    const auto longer = static_cast<std::ptrdiff_t>(number.now.size()) -
                        static_cast<std::ptrdiff_t>(number.known.size());
    const auto is_inside = [&](const char* at) {
      const bool behind_0x = number.known.starts_with("0x") && at == number.known.data() + 2;
      return at > number.known.data() && at < number_end && !behind_0x;
    };
    if (is_inside(first) || is_inside(last)) return std::nullopt;
    if (first >= number_end) begin += longer;
    if (last >= number_end) end += longer;
  }
  return now.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

/// A wording that may fit one text and not another of the same shape.
struct Rival {
  const Wording* wording = nullptr;
  std::vector<std::vector<std::string>> needs;  ///< Shapes of which each text holds one.
};

bool holds_number(std::string_view literal) {
  return literal.find_first_of("0123456789") != literal.npos && literal != "0x";
}

/// True if how the wording takes a text apart does not depend on the digits in it.
bool is_regular(const Wording& wording) {
  return wording.recogniser == nullptr &&
         std::ranges::none_of(wording.steps, [](const PatternStep& step) {
           std::string_view literal = step.literal;
           if (literal.ends_with(" 0x")) literal.remove_suffix(2);
           return literal.find_first_of("0123456789") != literal.npos ||
                  std::ranges::any_of(step.choices, holds_number);
         });
}

std::vector<Rival> find_rivals() {
  std::vector<Rival> rivals;
  for (const Kind& kind : all_kinds()) {
    if (kind.source != Source::Nccl) continue;
    for (const Wording& wording : kind.wordings) {
      Rival rival{&wording, {}};
      bool is_rival = wording.recogniser != nullptr;
      for (const PatternStep& step : wording.steps) {
        is_rival |= holds_number(step.literal) || std::ranges::any_of(step.choices, holds_number);
        rival.needs.push_back({shape_of(step.literal)});
        auto& choices = rival.needs.emplace_back();
        for (const std::string_view choice : step.choices) choices.push_back(shape_of(choice));
        if (choices.empty()) rival.needs.pop_back();
      }
      if (wording.recogniser != nullptr) rival.needs.clear();
      if (is_rival) rivals.push_back(std::move(rival));
    }
  }
  return rivals;
}

/// True if another wording may fit a text of that shape.
bool has_rivals(const Wording& wording, std::string_view shape) {
  static const std::vector<Rival> kRivals = find_rivals();
  return std::ranges::any_of(kRivals, [&](const Rival& rival) {
    return rival.wording != &wording && std::ranges::all_of(rival.needs, [&](const auto& one_of) {
             return std::ranges::any_of(
                 one_of, [&](const std::string& part) { return shape.find(part) != shape.npos; });
           });
  });
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

}  // namespace

KnownMessages::KnownMessages(const LineMatcher& matcher, RecordTexts& texts)
    : matcher_(matcher),
      texts_(texts),
      learns_(!matcher ||
              (matcher.literals && std::ranges::none_of(*matcher.literals, may_be_in_numbers))) {}

/// The head with which the bytes begin; nullptr if it cannot be known.
KnownMessages::Head* KnownMessages::head_at(std::string_view bytes) {
  const std::string_view text = head_in(bytes);
  if (text.empty()) return nullptr;
  Head* head = heads_[message_hash(text) % kHeads].get();
  return head != nullptr && head->text->text == text ? head : learn_head(text);
}

/// nullptr if it names no process as NCCL does, or a pattern may match a line because of it.
KnownMessages::Head* KnownMessages::learn_head(std::string_view text) {
  if (!may_be_bare(text)) return nullptr;
  Header header;
  read_header(text, header);
  // A host of digits may be the rest of another head.
  const bool is_plain = header.level == Level::Info && !header.host.empty() &&
                        header.host.data() == text.data() && header.pid >= 0 &&
                        header.file.empty() && !header.torn && header.unexplained.empty() &&
                        header.process_group.empty() && header.message.empty() &&
                        header.host.find_first_not_of("0123456789") != header.host.npos;
  if (!is_plain) return nullptr;
  if (quiet_host_ != header.host) {
    if (matcher_ && holds_one(matcher_, std::string(header.host) + ':')) return nullptr;
    quiet_host_ = header.host;
  }
  auto& head = heads_[message_hash(text) % kHeads];
  if (head.get() == last_head_) last_head_ = nullptr;
  head = std::make_unique<Head>(Head{texts_.head(text, header), header});
  head->header.host = std::string_view(head->text->text).substr(0, header.host.size());
  head->header.message = {};
  return head.get();
}

/// The message with which `rest`, and its line, begins, if it is the one that was foreseen.
KnownMessages::Known* KnownMessages::foresee(std::string_view rest) const {
  if (last_ == nullptr) return nullptr;
  for (const size_t next : {last_->next, last_->next_before}) {
    Known* known = messages_[next].get();
    if (known == nullptr) continue;
    const size_t size = known->text->text.size();
    if (size < rest.size() && rest[size] == '\n' &&
        std::memcmp(rest.data(), known->text->text.data(), size) == 0) {
      return known;
    }
  }
  return nullptr;
}

/// The message of which `text` is one in other numbers, if that was foreseen; then `said` is what
/// it says.
KnownMessages::Known* KnownMessages::foresee_alike(std::string_view text, Message& said) {
  Known* known = last_ == nullptr ? nullptr : in_numbers_[last_->next_in_numbers].get();
  if (known == nullptr || !known->is_regular) return nullptr;
  const std::string_view before = known->text->text;
  if (text.size() + kMaxLonger < before.size() || before.size() + kMaxLonger < text.size() ||
      !differ_in_numbers(before, text, changed_)) {
    return nullptr;
  }
  said = known->said;
  for (size_t i = 0; i < said.kind->fields.size(); ++i) {
    if (said.fields[i].data() == nullptr) continue;
    const auto moved = moved_part(said.fields[i], before.data(), text, changed_);
    if (!moved) return nullptr;
    said.fields[i] = *moved;
  }
  return known;
}

/// The message of which `text` is one in other numbers; then `said` is what it says.
KnownMessages::Known* KnownMessages::find_alike(std::string_view text, Message& said) {
  if (Known* const known = foresee_alike(text, said)) return known;
  read_shape(text, shape_);
  const size_t place = message_hash(shape_) % kMessages;
  Known* known = in_numbers_[place].get();
  if (known == nullptr || known->has_rivals || known->shape != shape_) return nullptr;
  said = {};
  if (!match_wording(*known->said.wording, trim(text), said)) return nullptr;
  if (last_ != nullptr) last_->next_in_numbers = place;
  return known;
}

size_t KnownMessages::find(std::string_view bytes, KnownMessageLine& line) {
  if (heads_.empty()) return 0;
  if (last_head_ == nullptr || !bytes.starts_with(last_head_->text->text)) {
    Head* head = head_at(bytes);
    if (head == nullptr) return 0;
    last_head_ = head;
  }
  const size_t begin = last_head_->text->text.size();
  const std::string_view rest = bytes.substr(begin);
  Known* known = foresee(rest);
  std::string_view text;
  bool is_new = false;
  if (known != nullptr) {
    text = rest.substr(0, known->text->text.size());
    line.hash = known->text->hash;
  } else {
    text = rest.substr(0, rest.substr(0, kMaxMessageBytes + 1).find('\n'));
    if (text.size() > kMaxMessageBytes || text.size() == rest.size()) return 0;
    line.hash = message_hash(text);
    const size_t place = line.hash % kMessages;
    known = messages_[place].get();
    if (known != nullptr && known->text->hash == line.hash && known->text->text == text) {
      if (last_ != nullptr) last_->next_before = std::exchange(last_->next, place);
    } else {
      known = find_alike(text, line.event.message);
      if (known == nullptr) return 0;
      is_new = true;
    }
  }
  line.text = bytes.substr(0, begin + text.size());
  line.rest = is_new ? nullptr : known->text.get();
  line.names_comm = known->names_comm;
  line.is_quiet = known->is_quiet;
  if (std::exchange(last_head_->reader, reader_) != reader_) last_head_->log = nullptr;
  line.log = &last_head_->log;
  if (line.head != last_head_->text) {
    line.head = last_head_->text.get();
    line.event.fate = LineFate::Recognised;
    line.event.header = last_head_->header;
  }
  line.event.header.host = line.text.substr(0, last_head_->header.host.size());
  line.event.header.message = text;
  if (!is_new) line.event.message = known->said;
  last_ = known;
  // Ranks that come up print such messages alike, too.
  if (is_new && has_come(line.hash)) {
    last_ = &learn(messages_, line.hash, line.event, line.is_quiet);
    line.rest = last_->text.get();
  }
  return line.text.size() + 1;
}

/// True if a message with that hash came lately; the next time it has.
bool KnownMessages::has_come(uint64_t hash) {
  return std::exchange(seen_[hash % kMessages], hash) == hash;
}

KnownMessages::Known& KnownMessages::learn(Table& table, uint64_t place, const Event& event,
                                           bool is_quiet) {
  auto& known = table[place % kMessages];
  if (known.get() == last_) last_ = nullptr;
  const std::string_view text = event.header.message;
  known = std::make_unique<Known>();
  known->text = texts_.message(text, message_hash(text), *event.message.wording);
  known->is_quiet = is_quiet;
  known->names_comm = text.find("comm 0x") != text.npos;
  known->said = moved(event.message, text, known->text->text);
  return *known;
}

void KnownMessages::learn(std::string_view text, const Event& event) {
  const Header& header = event.header;
  const std::string_view said = header.message;
  const bool is_plain =
      learns_ && event.fate == LineFate::Recognised && header.level == Level::Info &&
      !header.host.empty() && header.host.data() == text.data() && header.pid >= 0 &&
      header.file.empty() && !header.torn && !header.anchored_twice && header.repeated == 0 &&
      header.unexplained.empty() && header.process_group.empty() &&
      said.size() <= kMaxMessageBytes && said.data() + said.size() == text.data() + text.size();
  if (!is_plain || is_call(event)) return;
  const std::string_view head = head_in(text);
  if (head.empty() || head.data() + head.size() != said.data()) return;
  if (heads_.empty()) {
    heads_.resize(kHeads);
    messages_.resize(kMessages);
    in_numbers_.resize(kMessages);
    seen_.resize(kMessages);
  }
  const std::string with_anchor = std::string(kInfoAnchor).append(said);
  read_shape(said, shape_);
  const uint64_t place = message_hash(shape_);
  const Known* alike = in_numbers_[place % kMessages].get();
  if (has_come(place) && (alike == nullptr || alike->shape != shape_)) {
    Known& known = learn(in_numbers_, place, event, !may_match(matcher_, with_anchor));
    known.has_rivals = has_rivals(*event.message.wording, shape_);
    known.is_regular = !known.has_rivals && is_regular(*event.message.wording);
    known.shape = shape_;
  }
  const uint64_t hash = message_hash(said);
  if (!has_come(hash)) return;
  const Known* known = messages_[hash % kMessages].get();
  if (known != nullptr && known->text->text == said) return;
  learn(messages_, hash, event, !matcher_ || !holds_one(matcher_, with_anchor));
}

}  // namespace ncclog
