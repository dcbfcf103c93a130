// Lines whose process and message were read before, each in some line.
//
//   node-a:41:41 [0] NCCL INFO P2P Chunksize set to 131072
//   └ head ─────────────────┘└ message, as other ranks printed it
//
// Thousands of ranks print the same while they come up, and in the same order. A head that was read
// says who speaks, and a message that was read and fits a wording to its end says what it said
// there: so neither is taken apart again, and mostly the message is the one that came behind the
// last one before. What is learnt is a message that comes for the second time.
//
//   Channel 00/0 : 8[0] -> 9[1] via P2P/CUMEM      Channel 00/0 : 16[0] -> 17[1] via P2P/CUMEM
//
// Others name ranks and pointers. One that differs from a message that was read in numbers only has
// its wording, unless some wording tells those numbers apart, and only its holes are read again.
//
// Heads with a time or a launcher's prefix are not learnt: what they say differs from line to line.
// Others are learnt from their bytes alone, where the message is known.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "model/process_log.h"
#include "model/records.h"

namespace ncclog {

/// A line that is known, as it stands in a block of bytes.
struct KnownMessageLine {
  std::string_view text;  ///< Without its line end.
  Event event;            ///< Its header views `text`, its message `text` or what is known of it.
  uint64_t hash = 0;      ///< message_hash.
  const LineHead* head = nullptr;    ///< Of its record, like
  const RecordText* rest = nullptr;  ///< the message; nullptr: it was read in other numbers.
  bool names_comm = false;           ///< As "comm 0x5e0".
  bool is_quiet = false;             ///< No pattern can match it.
  /// For who adds the line: where the log of its process is noted; nullptr stands there until this
  /// reader's first line of the process.
  SpeakerLog** log = nullptr;
};

/// Learns heads and messages and finds lines of them. Of those that came lately only: memory is
/// bounded. One reader after the other may use it.
class KnownMessages {
 public:
  static constexpr size_t kMaxHeadBytes = 160;
  static constexpr size_t kMaxMessageBytes = 1024;

  /// Both must outlive it: of each line is known whether the matcher's patterns may match it, and
  /// records share the texts.
  KnownMessages(const LineMatcher& matcher, RecordTexts& texts);
  KnownMessages(const KnownMessages&) = delete;  // Events view messages.
  KnownMessages& operator=(const KnownMessages&) = delete;

  /// Forgets where lines go: another reader uses it from now on.
  void change_reader() { ++reader_; }

  /// Reads the line with which `bytes` begin into `line`; its length with its end. 0 if its head or
  /// its message is not known, or if it does not end in `bytes`.
  size_t find(std::string_view bytes, KnownMessageLine& line);

  /// Learns `text`, a whole line that says `event`, if nothing but its process and its message make
  /// it what it is, and the message has come before.
  void learn(std::string_view text, const Event& event);

 private:
  struct Head {
    boost::intrusive_ptr<const LineHead> text;  ///< Up to and with "INFO ".
    Header header;                              ///< Views `text`; without a message.
    uint64_t reader = 0;                        ///< To which `log` belongs.
    SpeakerLog* log = nullptr;
  };
  /// A text taken apart at its numbers. In others of its shape, fields lie in the same pieces.
  struct Numbers {
    struct Piece {
      std::string_view text;    ///< Without digits; views the text.
      size_t begin = 0;         ///< In the text that was learnt,
      bool before_hex = false;  ///< The number behind it begins with "0x". Behind the last is none.
      size_t begin_now = 0;     ///< and in the one that was read last.
    };
    struct Field {
      size_t index = 0;
      size_t first = 0;  ///< The piece in which, or right before or behind which, it begins;
      size_t last = 0;   ///< and ends.
    };
    std::vector<Piece> pieces;
    std::vector<Field> fields;

    bool learn(std::string_view text, const Message& said);
    bool read(std::string_view text, const char* learnt, Message& message);
  };
  struct Known {
    std::string_view bytes;                       ///< Of `text`, at hand without a look at it.
    boost::intrusive_ptr<const RecordText> text;  ///< With further blanks before it.
    size_t next = 0;             ///< Place of the message that came behind it last, in messages_,
    size_t next_before = 0;      ///< of the one before that,
    size_t next_in_numbers = 0;  ///< and of the last that was known in other numbers.
    bool is_quiet = false;       ///< No pattern can match its lines.
    bool names_comm = false;
    bool has_rivals = false;  ///< In in_numbers_: other wordings may fit other numbers.
    bool is_regular = false;  ///< In in_numbers_: no digit of a text decides how it is read.
    Message said;             ///< Views `text`.
    Numbers numbers;          ///< If it is regular: reads the same in other numbers.
    std::string shape;        ///< In in_numbers_: `text` without its numbers.
  };
  /// By hash; another one of the same place takes its place. What is not asked for is not looked at:
  /// it has long left the cache.
  template <typename T>
  struct Slot {
    uint64_t hash = 0;
    std::unique_ptr<T> known;
  };
  template <typename T>
  using Table = std::vector<Slot<T>>;

  /// What is known by that hash; nullptr: nothing.
  template <typename T>
  static T* at(const Table<T>& table, uint64_t hash) {
    const Slot<T>& slot = table[hash % table.size()];
    return slot.hash == hash ? slot.known.get() : nullptr;
  }

  Head* head_at(std::string_view bytes);
  Head* learn_head(std::string_view head, uint64_t hash);
  Known* foresee(std::string_view rest) const;
  Known* find_alike(std::string_view text, Message& said);
  bool has_come(uint64_t hash);
  Known& learn(Table<Known>& table, uint64_t hash, const Event& event, bool is_quiet);

  const LineMatcher& matcher_;
  RecordTexts& texts_;
  bool learns_;             ///< No pattern asks for what stands in all heads.
  std::string quiet_host_;  ///< The last host that no pattern asks for.

  Table<Head> heads_;
  Table<Known> messages_;
  Table<Known> in_numbers_;     ///< By shape: one of those that differ in numbers only.
  std::vector<uint64_t> seen_;  ///< Hashes of messages that came once.
  std::string shape_;           ///< Of the last message that was looked for by it.
  Head* last_head_ = nullptr;   ///< Found last, like
  Known* last_ = nullptr;       ///< the message.
  uint64_t reader_ = 0;
};

}  // namespace ncclog
