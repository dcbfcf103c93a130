// Lines that are kept as they are, so that facts and rules can read them again.
//
//   node-a:41:41 [0] NCCL INFO Using network IB
//   └ LineHead ───────────────┘└ RecordText: the same of thousands of ranks
//
// Thousands of ranks print the same messages, and each prints many behind the same words. So a
// record holds both by pointers, and who makes records shares them (TextCache). How many lines
// are kept is decided in model/record_lists.h.

#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"

namespace ncclog {

/// A text and what belongs to it, in one piece of memory that its owners share.
template <typename About>
class SharedText : public About, public boost::intrusive_ref_counter<SharedText<About>> {
 public:
  static boost::intrusive_ptr<const SharedText> make(std::string_view text, const About& about) {
    void* const memory = ::operator new(sizeof(SharedText) + text.size());
    auto* const made = new (memory) SharedText(about, text.size());
    text.copy(reinterpret_cast<char*>(made + 1), text.size());
    return boost::intrusive_ptr<const SharedText>(made);
  }

  /// Valid as long as this.
  std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), size_}; }

  /// Of more memory than the type tells.
  static void operator delete(void* memory) { ::operator delete(memory); }

 private:
  SharedText(const About& about, size_t size) : About(about), size_(static_cast<uint32_t>(size)) {}

  uint32_t size_;
};

struct AboutHead {
  Level level = Level::None;
};

struct AboutText {
  uint64_t hash = 0;                 ///< message_hash of the message.
  const Wording* wording = nullptr;  ///< That fits the message; nullptr: none does.
};

/// What stands before the messages of kept lines: launchers' prefixes and NCCL's header.
using LineHead = SharedText<AboutHead>;

/// The message of kept lines, or all of one line.
using RecordText = SharedText<AboutText>;

/// A kept line. Views its texts, which whoever keeps it owns.
struct Record {
  SourceRef where;
  const LineHead* head = nullptr;    ///< nullptr: `rest` is the whole line.
  const RecordText* rest = nullptr;  ///< nullptr: there is no line.

  static constexpr uint16_t kNoKind = 0xFFFF;
  static constexpr size_t kMaxTextBytes = 2048;

  explicit operator bool() const { return rest != nullptr; }

  /// Index of the message kind.
  uint16_t kind() const {
    const bool has_kind = rest != nullptr && rest->wording != nullptr;
    return has_kind ? rest->wording->kind->index : kNoKind;
  }

  /// The record as read, ANSI codes removed, at most kMaxTextBytes.
  std::string text() const;

  bool operator==(const Record&) const = default;
};

/// A line, with its texts. Copies share them.
struct OwnedRecord {
  SourceRef where;
  boost::intrusive_ptr<const LineHead> head;
  boost::intrusive_ptr<const RecordText> rest;

  /// Valid as long as the texts have an owner.
  operator Record() const { return {where, head.get(), rest.get()}; }
};

inline OwnedRecord keep(const Record& record) { return {record.where, record.head, record.rest}; }

/// Hash by which messages count as equal; the same on every run of one machine.
uint64_t message_hash(std::string_view message);

/// The same, and of a record of PyTorch that of the rank in its group, which stands before the
/// message: where nothing else names the ranks, two of them say the same.
uint64_t message_hash(const Event& event);

/// A message with that message_hash, which all of the wording fits; nullptr: none does.
boost::intrusive_ptr<const RecordText> make_text(std::string_view text, uint64_t hash,
                                                 const Wording* wording);

/// The record of a line that shares nothing; `event` is what the line says.
OwnedRecord make_record(SourceRef where, std::string_view line, const Event& event);

/// The same of a line of which nobody asks what it says.
OwnedRecord make_record(SourceRef where, std::string_view line);

/// Takes a kept line apart again. Views in the result point into the record's texts.
Event parse_record(const Record& record);

/// The same of its message alone, which takes a fraction of the time.
Message parse_message(const Record& record);

/// The same of a message that stands behind a head.
Message parse_message(const RecordText& text);

/// The level at which it was printed.
Level level_of(const Record& record);

/// The time in front of its message; unknown if it carries none. Views the record's texts.
LineTime time_of(const Record& record);

/// Makes records that share their texts. Of what came lately only: memory is bounded.
class TextCache {
 public:
  /// The record of a line that says `event`; `hash` is that of its message.
  OwnedRecord record(SourceRef where, std::string_view line, const Event& event, uint64_t hash);

  /// The record of a line that says nothing by itself, as far as kMaxTextBytes.
  OwnedRecord line(SourceRef where, std::string_view text);

  /// What stands before the message of a line with that header; nullptr if it does not mean the
  /// same alone.
  boost::intrusive_ptr<const LineHead> head(std::string_view text, const Header& header);

  /// The message with that message_hash, which all of the wording fits.
  boost::intrusive_ptr<const RecordText> message(std::string_view text, uint64_t hash,
                                                 const Wording* wording);

 private:
  /// By hash; another text of the same place takes its place.
  static constexpr size_t kHeads = 1024;
  static constexpr size_t kMessages = 4096;
  std::vector<boost::intrusive_ptr<const LineHead>> heads_{kHeads};
  std::vector<boost::intrusive_ptr<const RecordText>> messages_{kMessages};
};

}  // namespace ncclog
