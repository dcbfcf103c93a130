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
constexpr size_t kMessages = 16384;
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

/// Where the number ends that begins at `begin`; `begin`: none does. `is_hex`: it begins with "0x".
inline const char* end_of_number(const char* begin, const char* end, bool& is_hex) {
  const char* at = begin;
  while (at != end && is_digit(*at)) ++at;
  is_hex = at == begin + 1 && *begin == '0' && at != end && *at == 'x';
  if (!is_hex) return at;
  ++at;
  while (at != end && is_hex_digit(*at)) ++at;
  return at;
}

template <typename Word>
bool begin_alike(const char* a, const char* b) {
  return std::memcmp(a, b, sizeof(Word)) == 0;  // Of so many bytes it is no call.
}

/// As memcmp tells it, for so few bytes that a call would take longer.
inline bool are_same(const char* a, const char* b, size_t size) {
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    if (!begin_alike<uint64_t>(a + at, b + at)) return false;
  }
  if (at + sizeof(uint32_t) <= size) {
    if (!begin_alike<uint32_t>(a + at, b + at)) return false;
    at += sizeof(uint32_t);
  }
  while (at < size && a[at] == b[at]) ++at;
  return at == size;
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

/// Copies what a message says, without the fields that its kind does not have.
void copy_said(const Message& from, Message& to) {
  to.kind = from.kind;
  to.wording = from.wording;
  std::copy_n(from.fields.begin(), from.kind->fields.size(), to.fields.begin());
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
  const uint64_t hash = message_hash(text);
  Head* const head = at(heads_, hash);
  return head != nullptr && head->text->text() == text ? head : learn_head(text, hash);
}

/// nullptr if it names no process as NCCL does, or a pattern may match a line because of it.
KnownMessages::Head* KnownMessages::learn_head(std::string_view text, uint64_t hash) {
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
  auto& [known_hash, head] = heads_[hash % kHeads];
  if (head.get() == last_head_) last_head_ = nullptr;
  known_hash = hash;
  head = std::make_unique<Head>(Head{texts_.head(text, header), header});
  head->header.host = head->text->text().substr(0, header.host.size());
  head->header.message = {};
  return head.get();
}

/// The message with which `rest`, and its line, begins, if it is the one that was foreseen.
KnownMessages::Known* KnownMessages::foresee(std::string_view rest) const {
  if (last_ == nullptr) return nullptr;
  for (const size_t next : {last_->next, last_->next_before}) {
    Known* known = messages_[next].known.get();
    if (known == nullptr) continue;
    const size_t size = known->bytes.size();
    if (size < rest.size() && rest[size] == '\n' &&
        std::memcmp(rest.data(), known->bytes.data(), size) == 0) {
      return known;
    }
  }
  return nullptr;
}

/// Takes the text apart; false if one of its fields begins or ends inside a number.
bool KnownMessages::Numbers::learn(std::string_view text, const Message& said) {
  pieces.clear();
  fields.clear();
  for (size_t begin = 0, at = 0;;) {
    while (at < text.size() && !is_digit(text[at])) ++at;
    bool is_hex = false;
    const char* const end = end_of_number(text.data() + at, text.data() + text.size(), is_hex);
    pieces.push_back({text.substr(begin, at - begin), begin, is_hex});
    if (end == text.data() + at) break;
    begin = at = static_cast<size_t>(end - text.data());
  }
  // The piece behind whose begin the place keeps its distance.
  const auto piece_of = [&](size_t place) -> std::optional<size_t> {
    const auto next = std::ranges::upper_bound(pieces, place, {}, &Piece::begin);
    const Piece& piece = *std::prev(next);
    const size_t number = piece.begin + piece.text.size();
    const bool is_outside = place <= number || (piece.before_hex && place == number + 2);
    return is_outside ? std::optional(static_cast<size_t>(&piece - pieces.data())) : std::nullopt;
  };
  for (size_t i = 0; i < said.kind->fields.size(); ++i) {
    const std::string_view field = said.fields[i];
    if (field.data() == nullptr) continue;
    const auto begin = static_cast<size_t>(field.data() - text.data());
    const auto first = piece_of(begin);
    const auto last = piece_of(begin + field.size());
    if (!first || !last) return false;
    fields.push_back({i, *first, *last});
  }
  return true;
}

/// Reads a text of the same shape, of which `message`, as that of the text that was learnt, becomes
/// what it says; false if it is of another shape.
bool KnownMessages::Numbers::read(std::string_view text, const char* learnt, Message& message) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (Piece& piece : pieces) {
    const size_t size = piece.text.size();
    if (static_cast<size_t>(end - at) < size || !are_same(at, piece.text.data(), size))
      return false;
    piece.begin_now = static_cast<size_t>(at - text.data());
    at += size;
    if (&piece == &pieces.back()) break;
    bool is_hex = false;
    const char* const number = std::exchange(at, end_of_number(at, end, is_hex));
    if (at == number || is_hex != piece.before_hex) return false;
  }
  if (at != end) return false;
  for (const Field& field : fields) {
    const auto moved = [&](const char* place, size_t piece) {
      return static_cast<size_t>(place - learnt) + pieces[piece].begin_now - pieces[piece].begin;
    };
    std::string_view& said = message.fields[field.index];
    const size_t begin = moved(said.data(), field.first);
    said = text.substr(begin, moved(said.data() + said.size(), field.last) - begin);
  }
  return true;
}

/// The message of which `text` is one in other numbers; then `said` is what it says.
KnownMessages::Known* KnownMessages::find_alike(std::string_view text, Message& said) {
  const auto reads = [&](Known& known) {
    copy_said(known.said, said);
    return known.numbers.read(text, known.bytes.data(), said);
  };
  if (last_ != nullptr) {
    Known* const known = in_numbers_[last_->next_in_numbers].known.get();
    if (known != nullptr && known->is_regular && reads(*known)) return known;
  }
  read_shape(text, shape_);
  const uint64_t hash = message_hash(shape_);
  Known* const known = at(in_numbers_, hash);
  if (known == nullptr || known->has_rivals || known->shape != shape_) return nullptr;
  if (!known->is_regular || !reads(*known)) {
    said = {};
    if (!match_wording(*known->said.wording, trim(text), said)) return nullptr;
  }
  if (last_ != nullptr) last_->next_in_numbers = hash % kMessages;
  return known;
}

size_t KnownMessages::find(std::string_view bytes, KnownMessageLine& line) {
  if (heads_.empty()) return 0;
  if (last_head_ == nullptr || !bytes.starts_with(last_head_->text->text())) {
    Head* head = head_at(bytes);
    if (head == nullptr) return 0;
    last_head_ = head;
  }
  const size_t begin = last_head_->text->text().size();
  const std::string_view rest = bytes.substr(begin);
  Known* known = foresee(rest);
  std::string_view text;
  bool is_new = false;
  if (known != nullptr) {
    text = rest.substr(0, known->bytes.size());
    line.hash = known->text->hash;
  } else {
    text = rest.substr(0, rest.substr(0, kMaxMessageBytes + 1).find('\n'));
    if (text.size() > kMaxMessageBytes || text.size() == rest.size()) return 0;
    line.hash = message_hash(text);
    known = at(messages_, line.hash);
    if (known != nullptr && known->bytes == text) {
      const size_t place = line.hash % kMessages;
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
  if (!is_new) copy_said(known->said, line.event.message);
  last_ = known;
  // What comes next, and the one behind it: other lines have pushed them out of the cache.
  if (const Known* const next = messages_[known->next].known.get()) {
    __builtin_prefetch(next->bytes.data());
    __builtin_prefetch(messages_[next->next].known.get());
  }
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

KnownMessages::Known& KnownMessages::learn(Table<Known>& table, uint64_t hash, const Event& event,
                                           bool is_quiet) {
  auto& [known_hash, known] = table[hash % kMessages];
  if (known.get() == last_) last_ = nullptr;
  const std::string_view text = event.header.message;
  known_hash = hash;
  known = std::make_unique<Known>();
  known->text = texts_.message(text, message_hash(text), *event.message.wording);
  known->bytes = known->text->text();
  known->is_quiet = is_quiet;
  known->names_comm = text.find("comm 0x") != text.npos;
  known->said = moved(event.message, text, known->text->text());
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
  const uint64_t shape_hash = message_hash(shape_);
  const Known* alike = at(in_numbers_, shape_hash);
  if (has_come(shape_hash) && (alike == nullptr || alike->shape != shape_)) {
    Known& known = learn(in_numbers_, shape_hash, event, !may_match(matcher_, with_anchor));
    known.has_rivals = has_rivals(*event.message.wording, shape_);
    known.is_regular = !known.has_rivals && is_regular(*event.message.wording) &&
                       known.numbers.learn(known.text->text(), known.said);
    known.shape = shape_;
  }
  const uint64_t hash = message_hash(said);
  if (!has_come(hash)) return;
  const Known* known = at(messages_, hash);
  if (known != nullptr && known->bytes == said) return;
  learn(messages_, hash, event, !matcher_ || !holds_one(matcher_, with_anchor));
}

}  // namespace ncclog
