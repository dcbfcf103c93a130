#include "model/records.h"

#include <cstring>
#include <tuple>

#include "base/text.h"
#include "log/known_messages.h"

namespace ncclog {

namespace {

/// True if the headers say the same but for their messages.
bool is_same(const Header& a, const Header& b) {
  const auto parts = [](const Header& header) {
    const Prefix& prefix = header.prefix;
    return std::tie(header.level, header.host, header.pid, header.tid, header.cuda_dev, header.file,
                    header.line, header.process_group, header.process_group_name, header.group_rank,
                    header.repeated, header.torn, header.anchored_twice, header.unexplained,
                    prefix.length, prefix.rank, prefix.rank_is_stated, prefix.task,
                    prefix.local_rank, prefix.host, prefix.address, prefix.pid, prefix.time,
                    prefix.stream, prefix.progress_title);
  };
  return parts(a) == parts(b);
}

/// What stands before the message, if it means the same without it; nullptr if not.
boost::intrusive_ptr<const LineHead> head_of(std::string_view head, const Header& header) {
  Header alone;
  read_header(head, alone);
  if (!is_same(alone, header)) return nullptr;
  return LineHead::make(head, {header.level});
}

}  // namespace

std::string Record::text() const {
  if (rest == nullptr) return {};
  std::string text;
  text.reserve((head == nullptr ? 0 : head->text().size()) + rest->text().size());
  if (head != nullptr) text += head->text();
  return text += rest->text();
}

uint64_t message_hash(std::string_view message) {
  uint64_t hash = 0xcbf29ce484222325u ^ message.size();
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  uint64_t word = 0;
  for (; message.size() >= sizeof(word); message.remove_prefix(sizeof(word))) {
    std::memcpy(&word, message.data(), sizeof(word));
    mix(word);
  }
  word = 0;
  message.copy(reinterpret_cast<char*>(&word), message.size());
  mix(word);
  return hash;
}

uint64_t message_hash(const Event& event) {
  const Header& header = event.header;
  const uint64_t hash = message_hash(header.message);
  const bool names_rank = header.level == Level::Framework && header.group_rank >= 0;
  return names_rank ? hash + static_cast<uint64_t>(header.group_rank) + 1 : hash;
}

boost::intrusive_ptr<const RecordText> make_text(std::string_view text, uint64_t hash,
                                                 const Wording* wording) {
  return RecordText::make(text, {hash, wording});
}

OwnedRecord make_record(SourceRef where, std::string_view line, const Event& event) {
  return {
      where, nullptr,
      make_text(line.substr(0, Record::kMaxTextBytes), message_hash(event), event.message.wording)};
}

OwnedRecord make_record(SourceRef where, std::string_view line) {
  return {where, nullptr, make_text(line.substr(0, Record::kMaxTextBytes), 0, nullptr)};
}

Event parse_record(const Record& record) {
  if (record.rest == nullptr) return {};
  Event event;
  if (record.head == nullptr) {
    event = parse_event(record.rest->text(), all_wordings());
    // What it is only the lines before it may have told, as those of a traceback do.
    if (event.message.kind == nullptr && record.rest->wording != nullptr &&
        match_wording(*record.rest->wording, trim(event.header.message), event.message))
      event.fate = LineFate::Recognised;
    return event;
  }
  read_header(record.head->text(), event.header);
  event.header.message = record.rest->text();
  event.message = parse_message(record);
  event.fate = LineFate::Recognised;
  return event;
}

Message parse_message(const Record& record) {
  return record.head == nullptr ? parse_record(record).message : parse_message(*record.rest);
}

Message parse_message(const RecordText& text) {
  Message message;
  match_wording(*text.wording, trim(text.text()), message);
  return message;
}

Level level_of(const Record& record) {
  return record.head != nullptr ? record.head->level : parse_record(record).header.level;
}

LineTime time_of(const Record& record) {
  if (record.head != nullptr) return find_line_time(record.head->text());
  return record.rest == nullptr ? LineTime() : time_of_line(record.rest->text());
}

boost::intrusive_ptr<const LineHead> TextCache::head(std::string_view text, const Header& header) {
  auto& known = heads_[message_hash(text) % kHeads];
  if (known != nullptr && known->text() == text) return known;
  auto made = head_of(text, header);
  if (made != nullptr) known = made;
  return made;
}

boost::intrusive_ptr<const RecordText> TextCache::message(std::string_view text, uint64_t hash,
                                                          const Wording* wording) {
  auto& known = messages_[hash % kMessages];
  const bool is_known =
      known != nullptr && known->hash == hash && known->text() == text && known->wording == wording;
  if (!is_known) known = make_text(text, hash, wording);
  return known;
}

OwnedRecord TextCache::record(SourceRef where, std::string_view line, const Event& event,
                              uint64_t hash) {
  const Header& header = event.header;
  const std::string_view message = header.message;
  const auto before = static_cast<size_t>(message.data() - line.data());
  const Wording* wording = event.message.wording;
  const bool is_plain = is_nccl(header) && wording != nullptr && !header.anchored_twice &&
                        header.repeated == 0 && before + message.size() == line.size() &&
                        line.size() <= Record::kMaxTextBytes;
  auto shared = is_plain ? head(line.substr(0, before), header) : nullptr;
  if (shared == nullptr) return make_record(where, line, event);
  return {where, std::move(shared), this->message(message, hash, wording)};
}

OwnedRecord TextCache::line(SourceRef where, std::string_view text) {
  text = text.substr(0, Record::kMaxTextBytes);
  return {where, nullptr, message(text, message_hash(text), nullptr)};
}

}  // namespace ncclog
