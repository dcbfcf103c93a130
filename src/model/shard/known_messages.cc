#include "model/shard/known_messages.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "log/known_messages.h"
#include "log/messages.h"
#include "model/shard/known_shapes.h"

namespace ncclog {
namespace {

constexpr size_t kHeads = 16384;
constexpr size_t kMessages = 4096;
constexpr std::string_view kInfoAnchor = "] NCCL INFO ";

/// Up to and with "INFO "; empty if the bytes do not begin with the head of an INFO line.
std::string_view head_in(std::string_view bytes) {
  bytes = bytes.substr(0, KnownMessages::kMaxHeadBytes);
  const size_t anchor = bytes.find(kInfoAnchor);
  return anchor == bytes.npos ? std::string_view() : bytes.substr(0, anchor + kInfoAnchor.size());
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

/// A wording that may fit one text and not another of the same shape.
struct Rival {
  const Wording* wording = nullptr;
  std::vector<std::vector<std::string>> needs;  ///< Shapes of which each text holds one.
};

bool holds_number(std::string_view literal) {
  return literal.find_first_of("0123456789") != literal.npos && literal != "0x";
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

KnownMessages::Head* KnownMessages::head_at(std::string_view bytes) {
  const std::string_view text = head_in(bytes);
  if (text.empty()) return nullptr;
  Head* head = heads_[message_hash(text) % kHeads].get();
  return head != nullptr && head->text->text == text ? head : nullptr;
}

/// The message with which `rest`, and its line, begins, if it is the one that was foreseen.
KnownMessages::Known* KnownMessages::foresee(std::string_view rest) const {
  if (last_ == nullptr) return nullptr;
  Known* known = messages_[last_->next].get();
  if (known == nullptr || !known->is_quiet) return nullptr;
  const size_t size = known->text->text.size();
  const bool is_next = size < rest.size() && rest[size] == '\n' &&
                       std::memcmp(rest.data(), known->text->text.data(), size) == 0;
  return is_next ? known : nullptr;
}

/// The message of which `text` is one in other numbers; then `said` is what it says.
KnownMessages::Known* KnownMessages::find_alike(std::string_view text, Message& said) {
  read_shape(text, shape_);
  Known* known = in_numbers_[message_hash(shape_) % kMessages].get();
  if (known == nullptr || !known->is_quiet || known->shape != shape_) return nullptr;
  said = {};
  return match_wording(*known->said.wording, trim(text), said) ? known : nullptr;
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
      if (!known->is_quiet) return 0;
      if (last_ != nullptr) last_->next = place;
    } else {
      known = find_alike(text, line.event.message);
      if (known == nullptr) return 0;
      is_new = true;
    }
  }
  line.text = bytes.substr(0, begin + text.size());
  line.rest = is_new ? nullptr : known->text.get();
  line.names_comm = known->names_comm;
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
    last_ = &learn(messages_, line.hash, line.event, true);
    line.rest = last_->text.get();
  }
  return line.text.size() + 1;
}

/// True if a message with that hash came lately; the next time it has.
bool KnownMessages::has_come(uint64_t hash) {
  return std::exchange(seen_[hash % kMessages], hash) == hash;
}

/// False if a pattern may match a line because of its head.
bool KnownMessages::learn_head(std::string_view text, const Header& header) {
  auto& head = heads_[message_hash(text) % kHeads];
  if (head != nullptr && head->text->text == text) return true;
  if (quiet_host_ != header.host) {
    if (matcher_ && holds_one(matcher_, std::string(header.host) + ':')) return false;
    quiet_host_ = header.host;
  }
  auto shared = texts_.head(text, header);
  if (shared == nullptr) return false;
  if (head.get() == last_head_) last_head_ = nullptr;
  head = std::make_unique<Head>(Head{std::move(shared), header});
  head->header.host = std::string_view(head->text->text).substr(0, header.host.size());
  head->header.message = {};
  return true;
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
  if (!learn_head(head, header)) return;
  const std::string with_anchor = std::string(kInfoAnchor).append(said);
  read_shape(said, shape_);
  const uint64_t place = message_hash(shape_);
  const Known* alike = in_numbers_[place % kMessages].get();
  if (has_come(place) && (alike == nullptr || alike->shape != shape_)) {
    const bool is_quiet =
        !may_match(matcher_, with_anchor) && !has_rivals(*event.message.wording, shape_);
    learn(in_numbers_, place, event, is_quiet).shape = shape_;
  }
  const uint64_t hash = message_hash(said);
  if (!has_come(hash)) return;
  const Known* known = messages_[hash % kMessages].get();
  if (known != nullptr && known->text->text == said) return;
  learn(messages_, hash, event, !matcher_ || !holds_one(matcher_, with_anchor));
}

}  // namespace ncclog
