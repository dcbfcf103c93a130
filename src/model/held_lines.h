// The last lines of a stretch, held back until what follows them shows whether they are whole.
//
//   read    node-a:41:41 [0] NCCL INFO Using network IB     taken apart, its text copied
//   call    node-a:41:41 [0] NCCL INFO AllGather: …         known by its bytes, left where it lies
//   run     37 lines of a training script that mean nothing, left where they lie
//
// Nearly all lines of a large log are of the last two kinds, and leave as they came. One that is
// looked at after all is read then.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/line.h"
#include "log/event.h"
#include "model/foreign_run.h"
#include "model/known_calls.h"

namespace ncclog {

/// What shows that records were torn.
enum class TearSign {
  None,
  Cut,     ///< An NCCL record that no wording fits: perhaps a beginning. No reason for doubt.
  Merged,  ///< Pieces of several records, or a piece without its beginning.
};

/// A held line that was read.
struct HeldLine {
  std::string text;  ///< `event` views it.
  Line line;         ///< Its `text` is unused.
  int lines = 0;
  bool spent = false;  ///< Joined to a later one.
  Event event;
  uint64_t shape = 0;  ///< Of what stands before the record and is no known prefix; 0: nothing.
  TearSign sign = TearSign::None;
  size_t begin = 0;  ///< If Merged: where the last record begins; 0 if that cannot be told.
};

/// A ring of entries, 0 the oldest. Its memory is bounded; what calls and runs view must stay until
/// settle().
class HeldLines {
 public:
  enum class Kind { Read, Call, Run };

  /// The oldest entry leaves when so many lines would stand behind it, or at so many bytes.
  static constexpr size_t kLines = 81;
  static constexpr size_t kMaxBytes = size_t{256} << 10;

  size_t size() const { return count_; }
  Kind kind(size_t i) const { return entries_[place(i)].kind; }
  bool is_read(size_t i) const { return kind(i) == Kind::Read; }
  /// Lines that an entry stands for.
  uint64_t lines(size_t i) const {
    const Entry& entry = entries_[place(i)];
    return entry.kind == Kind::Run ? entry.run.lines : 1;
  }

  /// True if the oldest entry has to leave before one of `bytes` may come.
  bool is_full(size_t bytes) const {
    return count_ > 0 && (lines_ - lines(0) + 1 >= kLines || bytes_ + bytes > kMaxBytes);
  }

  /// Appends; is_full has to be false.
  HeldLine& push(const Line& record, const Event& event, int lines);
  void push(const KnownLine& call, uint64_t number) {
    Entry& entry = append(Kind::Call, call.text.size());
    entry.call = call;
    entry.number = number;
  }
  /// A run has fewer than kLines lines.
  void push(const ForeignRun& run);

  TearSign sign(size_t i) const { return is_read(i) ? read_[place(i)].sign : TearSign::None; }

  /// The entry as a line that was read; a call is read for it. Not for runs.
  HeldLine& read(size_t i);
  const KnownLine& call(size_t i) const { return entries_[place(i)].call; }
  uint64_t call_number(size_t i) const { return entries_[place(i)].number; }
  const ForeignRun& run(size_t i) const { return entries_[place(i)].run; }

  /// Gives a line that was read another text.
  void set_text(HeldLine& line, std::string_view text);

  /// The oldest entry leaves.
  void pop();

  /// The oldest entry, a run, loses its first line; it may be left with none.
  ForeignRun take_line_of_run();

  /// Copies what lies elsewhere.
  void settle();

 private:
  struct Entry {
    Kind kind = Kind::Read;
    KnownLine call;
    uint64_t number = 0;  ///< Line of the call.
    ForeignRun run;
  };

  size_t place(size_t i) const {
    const size_t at = oldest_ + i;
    return at < kLines ? at : at - kLines;
  }
  Entry& append(Kind kind, size_t bytes) {
    Entry& entry = entries_[place(count_++)];
    entry.kind = kind;
    bytes_ += bytes;
    ++lines_;
    return entry;
  }
  size_t bytes(size_t i) const;

  std::array<Entry, kLines> entries_;
  /// By place: the line, if the entry there was read; else its `text` may hold a settled copy.
  std::array<HeldLine, kLines> read_;
  size_t oldest_ = 0;
  size_t count_ = 0;
  uint64_t lines_ = 0;
  size_t bytes_ = 0;
};

}  // namespace ncclog
