// Lines that are not taken apart, because one that differs from them in digits only was.
//
//   node-a:41:41 [0] NCCL INFO Channel 00/0 : 8[0] -> 9[1] via P2P/CUMEM
//   └ head ─────────────────┘└ message ────────────────────────────────┘
//    iteration       10/     500 | consumed samples:         1280 | lm loss: 4.665381E+00 |
//
// Thousands of ranks print the same while they come up, and a training prints the same at every
// step. What such a line says, but for its numbers, is known from another one of its shape, and in
// which bytes of it the numbers stand: the text is put in the place of the one that was read, and
// the views into that say what it says. Of NCCL's lines, head and message are known apart. A shape
// is learnt when it comes for the second time.
//
// Where a digit decides what a line of another program is, its shape is not learnt. Of a message
// of NCCL only the wording is looked for again.
//
// Heads with a time or a launcher's prefix are not learnt: what they say differs from line to line.
// Others are learnt from their bytes alone, where the message is known.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "log/iteration_marker.h"
#include "model/process_log.h"
#include "model/records.h"

namespace ncclog {

/// True if a pattern might match a line that differs from `text` in its numbers.
bool may_match(const LineMatcher& matcher, std::string_view text);

/// A line that is known, as it stands in a block of bytes.
struct CachedLine {
  std::string_view text;         ///< Without its line end.
  const Event* event = nullptr;  ///< Valid until the next line is looked for.
  // Of NCCL's lines.
  const LineHead* head = nullptr;    ///< Of its record; nullptr: another program's line. Like
  const RecordText* rest = nullptr;  ///< the message; nullptr: it came for the first time.
  uint64_t hash = 0;                 ///< message_hash.
  bool names_comm = false;           ///< It may, as "comm 0x5e0".
  bool is_quiet = true;              ///< No pattern can match it.
  /// For who adds the line: where the log of its process is noted; nullptr stands there until this
  /// reader's first line of the process.
  SpeakerLog** log = nullptr;
  // Of other programs'.
  const MarkerText* marker = nullptr;  ///< nullptr: it has none.
  bool is_dated = false;               ///< It may hold a time.
  bool names_step = false;             ///< As Pulse asks of lines without a time.
};

/// Learns shapes and finds lines of them. Of those that came lately only: memory is bounded. One
/// reader after the other may use it.
class LineCache {
 public:
  static constexpr size_t kMaxHeadBytes = 160;
  static constexpr size_t kMaxBytes = 1024;  ///< Of a message, or a line of another program.

  /// Matcher and texts must outlive it: of each line is known whether the matcher's patterns may
  /// match it, and records share the texts.
  LineCache(const LineMatcher& matcher, const MarkerFinder& finder, TextCache& texts);
  LineCache(const LineCache&) = delete;  // Events view shapes.
  LineCache& operator=(const LineCache&) = delete;

  /// Forgets where lines go: another reader uses it from now on.
  void change_reader() { ++reader_; }

  /// Reads the line of NCCL with which `bytes` begin into `line`; its length with its end. 0 if its
  /// head or its message is not known, or if it does not end in `bytes`.
  size_t find_message(std::string_view bytes, CachedLine& line);

  /// The same for a line of another program, or the piece of one that a "\r" ends. Its length
  /// without its end.
  size_t find_other(std::string_view bytes, CachedLine& line);

  /// Learns `text`, a whole line that says `event`, if nothing but its process and its message make
  /// it what it is, and its shape has come before.
  void learn_message(std::string_view text, const Event& event);

  /// The same for a line of another program.
  void learn_other(std::string_view text, const Event& event);

 private:
  struct Head {
    boost::intrusive_ptr<const LineHead> text;  ///< Up to and with "INFO ".
    Header header;                              ///< Views `text`; without a message.
    uint64_t reader = 0;                        ///< To which `log` belongs.
    SpeakerLog* log = nullptr;
  };
  /// Texts that differ in digits only, and the one of them that came last.
  struct Shape {
    std::string shape;  ///< With a "1" for every digit that may differ.
    size_t place = 0;   ///< In shapes_,
    size_t next = 0;    ///< where the shape of the message is that came behind it last.
    bool is_of_nccl = false;
    bool is_alike = false;  ///< Its lines differ in nothing else; if not, the rest is empty.
    std::string text;
    Event event;  ///< Views `text`. Of a message of NCCL without a header.
    bool is_quiet = false;
    // Of messages of NCCL.
    bool is_regular = false;  ///< No digit decides how one is read.
    bool names_comm = false;
    uint64_t hash = 0;                            ///< message_hash of `text`.
    boost::intrusive_ptr<const RecordText> rest;  ///< With `text`; nullptr: it came once.
    // Of other programs' lines.
    bool has_marker = false;
    MarkerText marker;  ///< Views `text`.
    bool is_dated = false;
    bool names_step = false;
    bool has_prefix = false;  ///< Or another line of the shape may have one.
  };
  /// By hash; another one of the same place takes its place.
  template <typename T>
  using Table = std::vector<std::unique_ptr<T>>;

  Head* head_at(std::string_view bytes);
  Head* learn_head(std::string_view head, uint64_t hash);
  uint64_t read_shape(std::string_view text, bool is_of_nccl);
  Shape* find_shape(std::string_view text, bool is_of_nccl);
  Shape* foresee(std::string_view& bytes) const;
  Shape* learn_shape(std::string_view text, bool is_of_nccl);
  bool read_message(Shape& shape, std::string_view text);
  bool has_come(uint64_t hash);

  const LineMatcher& matcher_;
  const MarkerFinder finder_;
  TextCache& texts_;
  bool learns_messages_;    ///< No pattern asks for what stands in all heads.
  std::string quiet_host_;  ///< The last host that no pattern asks for.

  Table<Head> heads_;
  Table<Shape> shapes_;
  std::vector<boost::intrusive_ptr<const RecordText>> messages_;  ///< Likewise: came twice.
  std::vector<uint64_t> seen_;              ///< Hashes of shapes and of messages that came once.
  std::array<char, kMaxBytes + 32> bytes_;  ///< Of the last text that was looked for, the shape,
  std::string_view shape_;                  ///< which is this.
  Head* last_head_ = nullptr;               ///< Of the last message that was found,
  Shape* last_ = nullptr;                   ///< and its shape.
  Event event_;                             ///< Of that message.
  uint64_t reader_ = 0;
};

}  // namespace ncclog
