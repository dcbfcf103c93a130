#include "part/part_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "input/input_walk.h"
#include "log/event.h"
#include "log/known_messages.h"

namespace ncclog {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 4;

uint64_t checksum_of(uint64_t before, std::string_view frame) {
  return fnv_step(before, message_hash(frame));
}

/// All of them, as parts number them.
const std::vector<const Wording*>& listed_wordings() {
  static const std::vector<const Wording*> kAll = [] {
    std::vector<const Wording*> all;
    for (const Kind& kind : all_kinds()) {
      for (const Wording& wording : kind.wordings) all.push_back(&wording);
    }
    return all;
  }();
  return kAll;
}

/// Its place in listed_wordings(), from 1; 0 for nullptr.
uint64_t wording_number(const Wording* wording) {
  static const std::unordered_map<const Wording*, uint64_t> kNumbers = [] {
    std::unordered_map<const Wording*, uint64_t> numbers = {{nullptr, 0}};
    for (const Wording* each : listed_wordings()) numbers.emplace(each, numbers.size());
    return numbers;
  }();
  return kNumbers.at(wording);
}

/// The array of a frame, as it comes: its first number says its kind.
struct FrameValues : nlohmann::json_sax<json> {
  std::vector<std::string>* texts = nullptr;  ///< nullptr: the frame may hold none.
  std::vector<uint64_t> numbers;
  bool is_open = false;

  bool number_integer(number_integer_t value) override {
    numbers.push_back(static_cast<uint64_t>(value));
    return is_open;
  }
  bool number_unsigned(number_unsigned_t value) override {
    numbers.push_back(value);
    return is_open;
  }
  bool string(string_t& value) override {
    if (texts != nullptr) texts->push_back(std::move(value));
    return is_open && texts != nullptr;
  }
  // One array is all there is: hostile bytes can make nothing nest.
  bool start_array(std::size_t) override { return !std::exchange(is_open, true); }
  bool end_array() override { return true; }
  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_float(number_float_t, const string_t&) override { return false; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return false; }
  bool key(string_t&) override { return false; }
  bool end_object() override { return false; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }
};

/// Takes a frame apart; false if it is none.
bool read_values(std::string_view frame, FrameValues& values) {
  return json::sax_parse(frame.begin(), frame.end(), &values, json::input_format_t::cbor) &&
         !values.numbers.empty();
}

boost::intrusive_ptr<const LineHead> read_head(const std::string& text, uint64_t level) {
  Header header;
  read_header(text, header);
  if (level != static_cast<uint64_t>(header.level)) return nullptr;
  return LineHead::make(text, {header.level});
}

/// A message of that wording, or a whole line with such a message; nullptr if the text is neither.
boost::intrusive_ptr<const RecordText> read_message_text(TextCache& shared, std::string_view text,
                                                         uint64_t hash, uint64_t wording) {
  if (text.size() > Record::kMaxTextBytes) return nullptr;
  if (wording == 0) return make_text(text, hash, nullptr);
  if (wording > listed_wordings().size()) return nullptr;
  const Wording* const known = listed_wordings()[wording - 1];
  Message message;
  if (match_wording(*known, trim(text), message)) return shared.message(text, hash, known);
  // A line that was cut may have lost what made it one of that wording.
  message = parse_event(text, all_wordings()).message;
  const bool is_cut = text.size() == Record::kMaxTextBytes;
  const bool is_it = message.wording != nullptr && message.wording->kind == known->kind;
  return is_it || is_cut ? make_text(text, hash, known) : nullptr;
}

}  // namespace

void PartWriter::text(const std::string& text) {
  const auto [known, is_new] = texts_.try_emplace(text, texts_.size());
  if (is_new) new_texts_.push_back(text);
  numbers_.push_back(known->second);
}

void PartWriter::place(const SourceRef& where) {
  numbers_.push_back(where.unit);
  numbers_.push_back(where.line);
}

void PartWriter::head(const boost::intrusive_ptr<const LineHead>& head) {
  if (head == nullptr) return numbers_.push_back(0);
  const auto [known, is_new] = heads_.try_emplace(head, heads_.size() + 1);
  if (is_new) new_heads_.push_back(head);
  numbers_.push_back(known->second);
}

void PartWriter::message(const boost::intrusive_ptr<const RecordText>& message) {
  const auto known = messages_.find(message);
  if (known != messages_.end()) return numbers_.push_back(known->second);
  // Threads that read side by side have texts of their own.
  const uint64_t wording = wording_number(message->wording);
  const std::string key = std::to_string(wording) + ":" + std::string(message->text());
  const auto [place, is_new] = messages_by_text_.try_emplace(key, messages_by_text_.size());
  if (is_new) new_messages_.push_back(message);
  messages_.emplace(message, place->second);
  numbers_.push_back(place->second);
}

void PartWriter::write_frame(FrameKind kind, std::vector<std::string>& texts,
                             std::vector<uint64_t>& numbers) {
  json values = json::array({static_cast<uint8_t>(kind)});
  for (std::string& text : texts) values.push_back(std::move(text));
  for (const uint64_t number : numbers) {
    // What is -1 in most places takes a byte this way.
    const auto whole = static_cast<int64_t>(number);
    values.push_back(whole < 0 ? json(whole) : json(number));
  }
  const std::vector<uint8_t> bytes = json::to_cbor(values);
  const std::string_view frame(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  char length[kLengthBytes];
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length[i] = static_cast<char>((frame.size() >> (8 * i)) & 0xFF);
  }
  out_.write(length, kLengthBytes);
  out_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
  checksum_ = checksum_of(checksum_, frame);
  ++frames_;
  texts.clear();
  numbers.clear();
}

void PartWriter::end_frame(FrameKind kind) {
  std::vector<std::string> texts;
  std::vector<uint64_t> numbers;
  if (!new_texts_.empty()) write_frame(FrameKind::Texts, new_texts_, numbers);
  for (const auto& head : new_heads_) {
    texts.emplace_back(head->text());
    numbers.push_back(static_cast<uint64_t>(head->level));
  }
  if (!texts.empty()) write_frame(FrameKind::Heads, texts, numbers);
  new_heads_.clear();
  for (const auto& message : new_messages_) {
    texts.emplace_back(message->text());
    numbers.push_back(message->hash);
    numbers.push_back(wording_number(message->wording));
  }
  if (!texts.empty()) write_frame(FrameKind::Messages, texts, numbers);
  new_messages_.clear();
  write_frame(kind, texts, numbers_);
}

void PartWriter::finish() {
  numbers_ = {frames_, checksum_};
  std::vector<std::string> no_texts;
  write_frame(FrameKind::End, no_texts, numbers_);
}

PartReader::PartReader(std::string_view frame, const PartTables& tables, size_t patterns,
                       const PartPlace& place, SharedTrie* trie)
    : tables_(tables), patterns_(patterns), place_(place), trie_(trie) {
  FrameValues values;
  failed_ = !read_values(frame, values);
  numbers_ = std::move(values.numbers);
  at_ = 1;  // Behind the kind.
}

void PartReader::number(uint64_t& number) {
  if (failed_ || at_ >= numbers_.size()) {
    failed_ = true;
    number = 0;
    return;
  }
  number = numbers_[at_++];
}

void PartReader::size(size_t& count) {
  number(count);
  if (failed_ || count > numbers_.size() - at_) {
    failed_ = true;
    count = 0;
  }
}

void PartReader::text(std::string& text) {
  uint64_t place = 0;
  number(place);
  if (place >= tables_.texts.size()) return fail();
  text = tables_.texts[place];
}

void PartReader::unit(uint64_t& number) {
  this->number(number);
  const uint64_t index = number / kNumbersPerUnit;
  if (index == 0 || index > place_.units) return fail();
  number += (place_.first_unit - 1) * kNumbersPerUnit;
}

void PartReader::input(uint64_t& number) {
  this->number(number);
  if (number / kNumbersPerUnit != 1) return fail();
  number += (place_.input - 1) * kNumbersPerUnit;
}

void PartReader::place(SourceRef& where) {
  uint64_t unit = 0;
  number(unit);
  number(where.line);
  where.unit = 0;
  constexpr uint64_t kMostLines = uint64_t{1} << 40;  // As a settled record counts them.
  if (where.line >= kMostLines) return fail();
  if (unit == 0 && where.line == 0) return;
  const uint64_t index = unit / kNumbersPerUnit;
  if (index == 0 || index > place_.units) return fail();
  where.unit = unit + (place_.first_unit - 1) * kNumbersPerUnit;
}

void PartReader::head(boost::intrusive_ptr<const LineHead>& head) {
  uint64_t place = 0;
  number(place);
  if (place > tables_.heads.size()) return fail();
  head = place == 0 ? nullptr : tables_.heads[place - 1];
}

void PartReader::message(boost::intrusive_ptr<const RecordText>& message) {
  uint64_t place = 0;
  number(place);
  if (place >= tables_.messages.size()) return fail();
  message = tables_.messages[place];
}

bool FrameReader::read_exactly(std::string& bytes, size_t count) {
  bytes.resize(count);
  for (size_t done = 0; done < count;) {
    const size_t got = read_(bytes.data() + done, count - done);
    if (got == 0) return false;
    done += got;
  }
  return true;
}

bool FrameReader::read_frame(std::string& frame) {
  std::string length;
  if (!read_exactly(length, kLengthBytes)) return false;
  size_t count = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    count |= static_cast<size_t>(static_cast<unsigned char>(length[i])) << (8 * i);
  }
  return count > 0 && count <= kMaxFrameBytes && read_exactly(frame, count);
}

bool FrameReader::add_table(FrameKind kind, const std::string& frame) {
  std::vector<std::string> texts;
  FrameValues values;
  values.texts = kind == FrameKind::Texts ? &tables_.texts : &texts;
  if (!read_values(frame, values)) return false;
  if (kind == FrameKind::Texts) return values.numbers.size() == 1;
  const size_t numbers_each = kind == FrameKind::Heads ? 1 : 2;
  if (values.numbers.size() != 1 + numbers_each * texts.size()) return false;
  for (size_t i = 0; i < texts.size(); ++i) {
    const uint64_t* const numbers = &values.numbers[1 + numbers_each * i];
    if (kind == FrameKind::Heads) {
      tables_.heads.push_back(read_head(texts[i], numbers[0]));
      if (tables_.heads.back() == nullptr) return false;
    } else {
      auto message = read_message_text(shared_, texts[i], numbers[0], numbers[1]);
      if (message == nullptr) return false;
      tables_.messages.push_back(std::move(message));
    }
  }
  return true;
}

bool FrameReader::next(FrameKind& kind, std::string& frame) {
  while (!is_damaged_ && read_frame(frame)) {
    // [n elements: the first byte, or more of a longer array; then the kind, a small number.
    const auto first = static_cast<unsigned char>(frame.front());
    constexpr size_t kHeadBytesOf[] = {1, 2, 3, 5, 9};
    const unsigned extra = (first & 0x1FU) < 24 ? 0 : (first & 0x1FU) - 23;
    const size_t at = extra < std::size(kHeadBytesOf) ? kHeadBytesOf[extra] : frame.size();
    if (first >> 5 != 4 || at >= frame.size()) break;
    kind = static_cast<FrameKind>(frame[at]);
    if (kind == FrameKind::End) {
      PartReader end(frame, tables_, 0, {});
      uint64_t frames = 0;
      uint64_t checksum = 0;
      end.number(frames);
      end.number(checksum);
      is_damaged_ = !end.is_done() || frames != frames_ || checksum != checksum_;
      return false;
    }
    checksum_ = checksum_of(checksum_, frame);
    ++frames_;
    const bool is_table =
        kind == FrameKind::Texts || kind == FrameKind::Heads || kind == FrameKind::Messages;
    if (!is_table) return true;
    if (!add_table(kind, frame)) break;
  }
  is_damaged_ = true;
  return false;
}

}  // namespace ncclog
