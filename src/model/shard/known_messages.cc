#include "model/shard/known_messages.h"

#include <algorithm>

#include "base/text.h"
#include "log/messages.h"
#include "model/records.h"

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

/// Kinds whose lines say more than that they were printed to those who watch for torn ones.
bool is_told_apart(const Event& event) {
  const uint16_t kind = event.message.kind->index;
  return kind == kKindIndex<CollectiveCall> ||
         event.header.message.find("comm 0x") != std::string_view::npos;
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

KnownMessages::KnownMessages(const LineMatcher& matcher)
    : matcher_(matcher),
      learns_(!matcher ||
              (matcher.literals && std::ranges::none_of(*matcher.literals, may_be_in_numbers))) {}

KnownMessages::Head* KnownMessages::head_at(std::string_view bytes) {
  const std::string_view text = head_in(bytes);
  if (text.empty()) return nullptr;
  Head* head = heads_[message_hash(text) % kHeads].get();
  return head != nullptr && head->text == text ? head : nullptr;
}

size_t KnownMessages::find(std::string_view bytes, KnownMessageLine& line) {
  if (heads_.empty()) return 0;
  if (last_ == nullptr || !bytes.starts_with(last_->text)) {
    Head* head = head_at(bytes);
    if (head == nullptr) return 0;
    last_ = head;
  }
  std::string_view text = bytes.substr(last_->text.size());
  text = text.substr(0, text.substr(0, kMaxMessageBytes + 1).find('\n'));
  if (text.size() > kMaxMessageBytes || last_->text.size() + text.size() == bytes.size()) return 0;
  const uint64_t hash = message_hash(text);
  const Known* message = messages_[hash % kMessages].get();
  const bool is_known =
      message != nullptr && message->is_quiet && message->hash == hash && message->text == text;
  if (!is_known) return 0;
  const size_t length = last_->text.size() + text.size();
  line.text = bytes.substr(0, length);
  line.hash = hash;
  if (std::exchange(last_->reader, reader_) != reader_) last_->log = nullptr;
  line.log = &last_->log;
  line.event.fate = LineFate::Recognised;
  line.event.header = last_->header;
  line.event.header.host = line.text.substr(0, last_->header.host.size());
  line.event.header.message = text;
  line.event.message = moved(message->said, message->text, text);
  return length + 1;
}

/// False if a pattern may match a line because of its head.
bool KnownMessages::learn_head(std::string_view text, const Header& header) {
  auto& head = heads_[message_hash(text) % kHeads];
  if (head != nullptr && head->text == text) return true;
  if (quiet_host_ != header.host) {
    if (matcher_ && holds_one(matcher_, std::string(header.host) + ':')) return false;
    quiet_host_ = header.host;
  }
  if (head.get() == last_) last_ = nullptr;
  head = std::make_unique<Head>(Head{std::string(text), header});
  head->header.host = std::string_view(head->text).substr(0, header.host.size());
  head->header.message = {};
  return true;
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
  if (!is_plain || is_told_apart(event)) return;
  const std::string_view head = head_in(text);
  if (head.empty() || head.data() + head.size() != said.data()) return;
  if (seen_.empty()) seen_.resize(kMessages);
  const uint64_t hash = message_hash(said);
  if (std::exchange(seen_[hash % kMessages], hash) != hash) return;
  if (heads_.empty()) {
    heads_.resize(kHeads);
    messages_.resize(kMessages);
  }
  if (!learn_head(head, header)) return;
  auto& message = messages_[hash % kMessages];
  if (message != nullptr && message->text == said) return;
  const std::string with_anchor = std::string(kInfoAnchor).append(said);
  const bool is_quiet = !matcher_ || !holds_one(matcher_, with_anchor);
  message = std::make_unique<Known>(Known{std::string(said), hash, is_quiet, {}});
  message->said = moved(event.message, said, message->text);
}

}  // namespace ncclog
