// Which lines are whole, where several processes wrote into one file in pieces?
//
//   node-a:41:41 [0] NCCL INFO Channel 00/0 : 1[1] -> node-b:52:52 [1] NCCL INFO Using network IB
//   2[2] via P2P/CUMEM
//
// The first record is cut off by the second; its rest comes later. Where only one reading is
// possible the two pieces are joined. Everywhere else the rest may as well stand behind the
// beginning of a third record and read as that one's words ("rank 1" and "3 nranks 16"): so around
// every other sign of tearing all lines are in doubt, and lines in doubt are no evidence.
//
// Invariant: without a sign every line is handed on unchanged and in order.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"
#include "model/held_lines.h"
#include "model/shard.h"
#include "model/unknown_prefixes.h"

namespace ncclog {

/// True for NCCL's own lines, not for a framework's or another program's.
inline bool is_nccl(const Header& header) {
  return header.level != Level::None && header.level != Level::Framework;
}

/// Holds the last lines of a stretch back until what follows them shows no tear. One guard reads
/// one stretch; its memory is bounded.
class TearGuard {
 public:
  static constexpr size_t kBefore = 64;   ///< Lines before a sign that are in doubt.
  static constexpr size_t kAfter = 192;   ///< Lines after it.
  static constexpr size_t kMaxGap = 16;   ///< Lines from a record's beginning to its rest.
  static constexpr int kOften = 3;        ///< Lines from which on a host is no torn name.
  static constexpr int kMaxJoins = 1024;  ///< Tries to join pieces, each of which costs some lines.

  /// Both must outlive the guard; `matcher` may be empty.
  TearGuard(Shard& shard, const LineMatcher& matcher);

  /// `event` views `record.text`; `lines` is the number of input lines that the record spans.
  void add(const Line& record, const Event& event, int lines);

  /// Notes who speaks in the next known line; false if it has to be read like any other, because
  /// another host has its pid.
  bool accepts(const KnownLine& line) {
    const KnownHead& head = *line.call->head;
    const Known& known = recent_[static_cast<uint64_t>(head.pid) % recent_.size()];
    return known.head == &head || note_speaker(head);
  }

  /// Adds lines about calls that were read before in other words, from line `number` on. All have
  /// to be accepted. Their bytes must stay until settle().
  void add(std::span<const KnownLine> lines, uint64_t number);

  /// True if no record before may go on in the next line: only then runs may be added.
  bool is_quiet() const;

  /// Adds lines of other programs that mean nothing. Their bytes must stay until settle().
  void add(ForeignRun run);

  /// True if the line added last shows nothing of a tear, so that ones like it show nothing either.
  bool is_last_whole();

  /// Copies the lines held back whose bytes go away.
  void settle();

  /// Hands on what is held back at the end of the stretch.
  void finish();

 private:
  struct Known {
    std::string host;
    int64_t pid = -1;
    const KnownHead* head = nullptr;  ///< One that names this process.
  };
  bool is_near_sign() const;
  bool is_clean() const { return since_sign_ >= kAfter && !is_near_sign(); }
  const Known& known_as(const Header& header) const;
  void note_speaker(const Header& header);
  bool note_speaker(const KnownHead& head);

  void count_shape(HeldLine& line);
  void set_sign(HeldLine& line, TearSign sign, size_t begin = 0);
  void find_sign(HeldLine& line);
  TearSign sign_of(const HeldLine& line, size_t& begin) const;
  TearSign foreign_sign(const HeldLine& line) const;
  TearSign cut_sign() const;
  size_t record_begin(const HeldLine& line) const;
  bool is_torn_host(const Header& header) const;
  bool is_often(const Header& header) const;
  void note_odd(const Header& header);

  bool is_beginning(const HeldLine& line) const;
  bool is_record(std::string_view text) const;
  bool is_only_reading(size_t first, std::string_view begun, std::string_view rest);
  void join_to_earlier();
  void join_merged(size_t first, HeldLine& rest);
  void join_cut(size_t first, HeldLine& rest, bool only_records);
  std::vector<size_t> possible_ends(std::string_view begun, std::string_view rest);

  template <typename IsPrefix>
  void accept_prefixes(IsPrefix is_prefix);
  void hand_on_oldest();
  void hand_on_call();
  void hand_on_run();
  void hand_on_line();
  void hand_on(const ForeignRun& run, bool clean);
  void hand_on(HeldLine& line);
  bool ends_inside_record();
  void make_room(size_t bytes);

  Shard& shard_;
  const LineMatcher& matcher_;
  std::vector<int> matched_;
  /// A line leaves when every sign in the kBefore lines behind it has met the rest that may come.
  HeldLines held_;
  static_assert(HeldLines::kLines == kBefore + kMaxGap + 1);
  size_t merged_ = 0;           ///< HeldLine lines that are Merged.
  size_t since_sign_ = kAfter;  ///< Lines handed on since the last Merged one.
  int joins_ = 0;
  bool doubted_ = false;
  UnknownPrefixes prefixes_;
  bool any_host_ = false;  ///< A whole header was seen.
  struct Odd {
    Known named;
    int count = 0;
  };
  std::array<Odd, 64> odd_;       ///< By host and pid: other hosts of a pid in recent_.
  std::array<Known, 64> recent_;  ///< By pid: who spoke, in lines that are no sign.
  std::string piece_;             ///< Two pieces side by side, while they are looked at.
};

}  // namespace ncclog
