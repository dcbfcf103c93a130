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
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/event.h"
#include "model/known_calls.h"
#include "model/shard.h"
#include "model/unknown_prefixes.h"

namespace ncclog {

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

  /// Adds a line about a call that was read before in other words. False: it has to be read like
  /// any other, because its process is no longer known. Its bytes must stay until settle().
  bool add(const KnownLine& line, uint64_t number);

  /// True if the line added last shows nothing of a tear, so that ones like it show nothing either.
  bool is_last_whole() const;

  /// Copies the lines held back whose bytes go away.
  void settle();

  /// Hands on what is held back at the end of the stretch.
  void finish();

 private:
  enum class Sign {
    None,
    Cut,     ///< An NCCL record that no wording fits: perhaps a beginning. No reason for doubt.
    Merged,  ///< Pieces of several records, or a piece without its beginning.
  };
  struct Held {
    std::string text;  ///< `event` views it.
    Line line;         ///< Its `text` is unused.
    int lines = 0;
    bool spent = false;  ///< Joined to a later one.
    Event event;
    uint64_t shape = 0;  ///< Of what stands before the record and is no known prefix; 0: nothing.
    Sign sign = Sign::None;
    size_t begin = 0;  ///< If Merged: where the last record begins; 0 if that cannot be told.
  };
  struct Known {
    std::string host;
    int64_t pid = -1;
    const KnownHead* head = nullptr;  ///< One that names this process.
  };
  /// A held line that is known: nothing of its Held is filled in.
  struct HeldCall {
    KnownLine line;  ///< Without a call: the Held in the same place is the line.
    uint64_t number = 0;
  };

  size_t place_of_held(size_t i) const {
    const size_t place = oldest_ + i;
    return place < ring_.size() ? place : place - ring_.size();
  }
  bool is_call(size_t i) const { return calls_[place_of_held(i)].line.call != nullptr; }
  Held& held(size_t i);
  void hold_calls_as_lines();
  bool is_near_sign();
  const Known& known_as(const Header& header) const;
  void note_speaker(const Header& header);

  void count_shape(Held& line);
  void set_text(Held& line, std::string_view text);
  void set_sign(Held& line, Sign sign, size_t begin = 0);
  void find_sign(Held& line);
  Sign sign_of(const Held& line, size_t& begin) const;
  Sign foreign_sign(const Held& line) const;
  Sign cut_sign() const;
  size_t record_begin(const Held& line) const;
  bool is_torn_host(const Header& header) const;
  bool is_often(const Header& header) const;
  void note_odd(const Header& header);

  bool is_beginning(const Held& line) const;
  bool is_record(std::string_view text) const;
  bool is_only_reading(size_t first, std::string_view begun, std::string_view rest);
  void join_to_earlier();
  void join_merged(size_t first, Held& rest);
  void join_cut(size_t first, Held& rest, bool only_records);
  std::vector<size_t> possible_ends(std::string_view begun, std::string_view rest);

  template <typename IsPrefix>
  void accept_prefixes(IsPrefix is_prefix);
  void hand_on_oldest();
  void hand_on(Held& line);
  bool hand_on_call();

  Shard& shard_;
  const LineMatcher& matcher_;
  std::vector<int> matched_;
  /// A line leaves when every sign in the kBefore lines behind it has met the rest that may come.
  std::array<Held, kBefore + kMaxGap + 1> ring_;
  std::array<HeldCall, kBefore + kMaxGap + 1> calls_;
  size_t oldest_ = 0;
  size_t count_ = 0;
  size_t bytes_ = 0;            ///< Of the held texts.
  size_t merged_ = 0;           ///< Held lines that are Merged.
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
