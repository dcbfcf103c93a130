// Lines whose process and message were read before, each in some line.
//
//   node-a:41:41 [0] NCCL INFO P2P Chunksize set to 131072
//   └ head ─────────────────┘└ message, as other ranks printed it
//
// Thousands of ranks print the same while they come up. A head that was read says who speaks, and a
// message that was read and fits a wording to its end says what it said there: so neither is taken
// apart again. What is learnt is a message that comes for the second time, because most of those
// that come once name a rank or a pointer.
//
// Heads with a time or a launcher's prefix are not learnt: what they say differs from line to line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "model/process_log.h"

namespace ncclog {

/// A line that is known, as it stands in a block of bytes.
struct KnownMessageLine {
  std::string_view text;  ///< Without its line end.
  Event event;            ///< Views `text`.
  uint64_t hash = 0;      ///< message_hash.
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

  /// `matcher` must outlive it: lines that its patterns may match are not learnt.
  explicit KnownMessages(const LineMatcher& matcher);
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
    std::string text;     ///< Up to and with "INFO ".
    Header header;        ///< Views `text`; without a message.
    uint64_t reader = 0;  ///< To which `log` belongs.
    SpeakerLog* log = nullptr;
  };
  struct Known {
    std::string text;  ///< With further blanks before it.
    uint64_t hash = 0;
    bool is_quiet = false;  ///< No pattern can match its lines.
    Message said;           ///< Views `text`.
  };

  Head* head_at(std::string_view bytes);
  bool learn_head(std::string_view head, const Header& header);

  const LineMatcher& matcher_;
  bool learns_;             ///< No pattern asks for what stands in all heads.
  std::string quiet_host_;  ///< The last host that no pattern asks for.

  // By hash; another one of the same place takes its place.
  std::vector<std::unique_ptr<Head>> heads_;
  std::vector<std::unique_ptr<Known>> messages_;
  std::vector<uint64_t> seen_;  ///< Hashes of messages that came once.
  Head* last_ = nullptr;        ///< Found last.
  uint64_t reader_ = 0;
};

}  // namespace ncclog
