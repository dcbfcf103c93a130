// From lines to events: the one path on which every line of every log is understood, whether a job is
// built from it or it is only exported.
//
//   Unwrapper       lines taken out of what collectors made of them (log/unwrapper.h)
//   next_record_start   records that stand in one line (log/record_starts.h)
//   RecordJoiner    records that a terminal or a web page wrapped, or that go on below
//   BrokenMessage   NCCL lines whose message was broken in the middle
//   Tracebacks      Python's: what the line behind the frames is
//   HeadedTable     what rows of numbers are, by the heading above them
//   EventReader     all of it: lines of one stretch in, events out
//
// Invariant: a line with a whole NCCL INFO header (may_start_unit) is never joined to what stands
// before it, so a log can be cut there.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "log/event.h"
#include "log/unwrapper.h"

namespace ncclog {

// Records that span lines: a terminal or a web page wrapped them, or a command's answer follows.
//
//   [2025-11-11 16:54:54] node:87133:87286 [1] misc/shmutils.cc:129
//   NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-x
//   (size 0), error: No such file or directory (2)
//
//   [rank6]:[E429 13:55:49.384372190 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG
//   GUID 0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck for 480
//   seconds without making progress in monitoring enqueued collectives.
//
//   $ mpirun -np 1 bash -c 'ulimit -l'
//   8192

/// Hands lines on, joined where a record was broken over several. One joiner reads one stretch.
class RecordJoiner {
 public:
  /// Receives each record; the line's text is valid during the call only. A joined record has the
  /// number and offset of its first line. `lines` is how many input lines it consists of.
  using Receiver = std::function<void(const Line& record, int lines)>;

  explicit RecordJoiner(Receiver receive) : receive_(std::move(receive)) {}

  /// `lines` is how many input lines `line` stands for.
  void add(const Line& line, int lines = 1);

  /// True if a record waits for its rest.
  bool is_holding() const { return held_.pieces > 0; }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  enum class Waiting { Nothing, ForLevel, ForRest, ForAnswer, ForMessage };

  void hold(const Line& line, int lines, Waiting waiting);
  bool go_on(const Line& line, int lines);
  void append(std::string_view text, int lines);
  bool completes_header(std::string_view text) const;
  bool add_wrapped(const Line& line, int lines);

  Receiver receive_;
  Waiting waiting_ = Waiting::Nothing;
  HeldRecord held_;
  size_t width_ = 0;  ///< Of the first line that is held.
};

// NCCL lines whose message a terminal or a page broke in the middle.
//
//   node07:41:42 [3] NCCL INFO comm 0x5e0 rank 3 nranks 8 cudaDev 3 nvmlDev 3
//   busId a1000 commId 0x315c - Init COMPLETE
//
// The header is whole, so nothing but the message itself tells that it goes on: no wording fits the
// first line alone, one fits the lines together. Anything less certain stays as it was printed.
//
//   ValueError:
//   1 validation error for EngineConfig
//
// And the next line of an exception whose message begins or goes on there.

/// Holds an NCCL line that no wording fits, a label, or an exception until the next lines show whether
/// it goes on.
class BrokenMessage {
 public:
  /// Receives each record and what it says; both live during the call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  BrokenMessage(const WordingTable& wordings, Receiver receive)
      : wordings_(wordings), receive_(std::move(receive)) {}

  /// Understands a line and hands it on, at once unless it may be the beginning of a broken one.
  void add(const Line& line, int lines);

  /// True if a line waits for the lines that may go on with it.
  bool is_holding() const { return held_ > 0; }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  /// What the first piece is: of the others one more line follows at most.
  enum class HeldAs { Piece, Label, Exception };

  bool join(const Line& line, int lines);
  bool hand_on_joined(std::string_view separator);
  void hold(const Line& line, int lines);

  const WordingTable& wordings_;
  Receiver receive_;
  std::vector<HeldRecord> pieces_;  ///< Keeps its strings: the first held_ are in use.
  size_t held_ = 0;
  HeldAs held_as_ = HeldAs::Piece;
  HeldRecord joined_;
};

// Python's tracebacks, read as a whole: what does the line behind the frames mean?
//
//   [rank5]: Traceback (most recent call last):
//   [rank5]:   File "/w/train.py", line 210, in main
//   [rank5]:     batch = next(batches)
//   [rank5]: datatools.ShardCorrupt: shard 12      an exception, though its name does not say so
//
//   Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f0>
//   Traceback (most recent call last):
//     …
//   AssertionError: can only test a child process        none: the program went on
//
// Python prints the second form for what __del__ and callbacks of weak references raise
// (Python/errors.c, PyErr_WriteUnraisable): it ends nothing, however bad it reads.
//
// Invariant: a line with a whole NCCL INFO header (may_start_unit) ends what is open, so a log can be
// cut there.

/// Follows the tracebacks of one stretch. Ranks that print into one stream are told apart by their
/// prefixes; its memory is bounded.
class Tracebacks {
 public:
  /// True if lines to come may mean something else than each does on its own.
  bool is_open() const { return !open_.empty(); }

  /// False if `event`, the next one, means what it means on its own.
  bool concern(const Event& event) const;

  /// What `event`, the next one that concerns tracebacks, means where it stands.
  Event read(const Event& event);

  /// The last frame above the exception that was read last, if that has no message that says more;
  /// else empty.
  const std::string& raised_at() const { return raised_at_; }

 private:
  struct Open {
    std::string voice;         ///< Who prints it.
    bool is_ignored = false;   ///< "Exception ignored in" stands above it.
    bool has_begun = false;    ///< Its first line was there, or a frame.
    bool has_frames = false;   ///< Behind its first line.
    bool is_headless = false;  ///< Its first line is lost, or another exception stands above it.
    int lines = 0;             ///< Of all voices, since it was opened.
    std::string frame = {};    ///< The last one: "File "train.py", line 41, in main".
  };

  std::vector<Open> open_;
  std::string raised_at_;
};

// Tables of bandwidth whose columns their heading names: a row of numbers alone may be anything.
//
//   size(MB)   tavg(usec)    tmin(usec)    tmax(usec)  avgbw(GB/sec)
//   1.00      121.5          116.5          151.2         14.41
//
//   Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
//      D\D     0      1
//        0 912.14  19.98
//
// Invariant: as for tracebacks, a line with a whole NCCL INFO header ends it.

/// Follows the table that was headed last, in one stretch.
class HeadedTable {
 public:
  /// True if lines to come may be rows.
  bool is_open() const { return lines_left_ > 0; }

  /// False if `event`, the next one, means what it means on its own.
  bool concerns(const Event& event) const;

  /// What `event`, the next one that concerns tables, is: a row where it says nothing by itself and
  /// has a cell for each column.
  Event read(const Event& event);

 private:
  std::string voice_;   ///< Who printed the heading.
  size_t columns_ = 0;  ///< Of the heading.
  int lines_left_ = 0;  ///< Other lines that may stand before the next row.
};

// All of the above. Records that were broken over lines arrive once, with the place of their first
// line; several lines in one record of a collector arrive one by one. Order is kept, but for lines
// whose end a collector wrote later than whole lines of the other stream.

/// True for a record behind which another one begins in the same line: its end may be lost.
inline bool is_followed(const Line& record, int lines) { return record.cut && lines == 0; }

/// Takes the lines of one stretch in order. Not copyable or movable: its parts call each other.
class EventReader {
 public:
  /// Receives each record, its text without ANSI codes, what it says, and how many input lines it
  /// consists of, 0 for further lines of one collector's record. A record behind which another one
  /// begins in the same line is cut and stands for no line; the last one stands for the line. The
  /// views in both live during the call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  explicit EventReader(Receiver receive);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void add(const Line& line);

  /// True if nothing is held back: the next line can be understood on its own.
  bool is_idle() const {
    return !unwrapper_.is_holding() && !joiner_.is_holding() && !messages_.is_holding() &&
           !tracebacks_.is_open() && !table_.is_open();
  }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  void add_records(const Line& line, int lines);

  std::string plain_;  ///< The line without its ANSI codes.
  Unwrapper unwrapper_;
  RecordJoiner joiner_;
  BrokenMessage messages_;
  Tracebacks tracebacks_;
  HeadedTable table_;
};

}  // namespace ncclog
