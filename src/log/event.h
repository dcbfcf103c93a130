// From lines to events, a header and a message each: the one path on which every line of every log
// is understood, whether a job is built from it or it is only exported.
//
//   "\x1b[36mnode07:41:42 [3] NCCL INFO Using network Socket"  →  network_selected{network: Socket}
//
//   parse_event     one line on its own
//   RecordJoiner    records that a terminal or a web page wrapped, or that go on below
//   BrokenMessage   NCCL lines whose message was broken in the middle
//   Tracebacks      Python's: what the line behind the frames is
//   EventReader     all of it: lines of one stretch in, events out
//   LineTime        when a line was printed, as far as it says
//
// Invariant: a line with a whole NCCL INFO header (may_start_unit) is never joined to what stands
// before it, so a log can be cut there.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line.h"
#include "log/line/header.h"
#include "log/unwrapper.h"
#include "log/wording/wording_table.h"

namespace ncclog {

/// What became of a line. Every line has exactly one fate; see base/loss_table.h.
enum class LineFate { Recognised, Unrecognised, Foreign, Unreadable };

/// A line, understood. Views point into the line it was parsed from.
struct Event {
  LineFate fate = LineFate::Foreign;
  Header header;
  Message message;  ///< kind is nullptr unless the fate is Recognised.
  /// Begins or ends a traceback: means something else beside other lines (Tracebacks).
  bool is_of_traceback = false;
};

/// Understands one line on its own; its ANSI codes are already removed. Never throws, whatever the
/// bytes.
Event parse_event(std::string_view line, const WordingTable& wordings);

/// What a WARN means: of a line at that level, or one that repeats a WARN without its header, as
/// behind "Last error:". nullptr for other lines and for WARNs that are not known. Valid for the
/// whole program.
const Warning* warning_of(const Event& event);

/// The message over a copy of its text: `to` holds what `from`, which `message` views, holds.
Message moved(const Message& message, std::string_view from, std::string_view to);

/// The event over a copy of its line, likewise.
Event moved(const Event& event, std::string_view from, std::string_view to);

/// True if a stretch of a log may be read from this line on without having seen the lines before:
/// it carries a whole NCCL INFO header, so nothing earlier can continue into it.
bool may_start_unit(std::string_view line);

// Does a line that no wording fits report an error of NCCL, PyTorch or a launcher?
//
//   [rank3]: ncclRemoteError: A call failed possibly due to a network error …       yes
//   srun: error: n7: task 9: Exited with exit code 134                               yes
//   node7: rank 4 died from signal 6 and dumped core                                 yes
//   worker 3 exited with code 0                                                      no
//   Traceback (most recent call last):                                               its own kind
//
// What is not understood must not end in a clean verdict: such lines are kept, counted in the loss
// table and quoted. The words are few and rare, so that ordinary output holds none of them.

/// Texts one of which stands in every line that looks like an error.
std::span<const std::string_view> error_needles();

/// True if the line reports that a process or a call of NCCL failed.
bool looks_like_error(std::string_view line);

// Does a text hold the beginning of another process's record?
//
//   NET/Socket : Using [0]ethnode-b:52:52 [1] NCCL INFO …     node-b:52:52 [1] begins one
//   frame #3: c10d::Proc[rank1]:[E1120 …                      [rank1]: begins one
//
// Where several processes write into one pipe, a record may be cut anywhere, even inside the name
// of its host.

/// What holds_process and find_task_tag find, as literals of log/literal_set.h.
inline constexpr std::string_view kProcessMark = "\x01 [\x01";
inline constexpr std::string_view kTaskTagMark = "\x01]:";

/// True if "host:pid:tid [dev" stands somewhere in the text, as at the start of NCCL's lines.
bool holds_process(std::string_view text);

/// Where "[rank3]:" or "[default3]:" stands right behind a word of the text, as at the start of
/// PyTorch's records and of what torchrun hands on; npos: nowhere. `from_begin`: also where the
/// text begins, as an NCCL message does not by itself.
size_t find_task_tag(std::string_view text, bool from_begin = false);

/// True if `host` is `known` with other bytes written inside: "node-node-ba" for "node-a". A number
/// beside a number may be another host's: "worker-12" for "worker-2".
bool is_interrupted(std::string_view host, std::string_view known);

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
  bool is_holding() const { return pieces_ > 0; }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  enum class Waiting { Nothing, ForLevel, ForRest, ForAnswer, ForMessage };

  void hold(const Line& line, int lines, Waiting waiting);
  void append(std::string_view text, int lines, Waiting waiting);
  bool completes_header(std::string_view text) const;
  bool add_wrapped(const Line& line, int lines);

  Receiver receive_;
  Waiting waiting_ = Waiting::Nothing;
  std::string held_;  ///< Text of the record held back; meaningful unless Waiting::Nothing.
  Line first_;        ///< Its first line; `text` is unused.
  int pieces_ = 0;    ///< Lines that held_ consists of.
  int lines_ = 0;     ///< Input lines that those stand for.
};

// NCCL lines whose message a terminal or a page broke in the middle.
//
//   node07:41:42 [3] NCCL INFO comm 0x5e0 rank 3 nranks 8 cudaDev 3 nvmlDev 3
//   busId a1000 commId 0x315c - Init COMPLETE
//
// The header is whole, so nothing but the message itself tells that it goes on: no wording fits the
// first line alone, one fits the lines together. Anything less certain stays as it was printed.

/// Holds an NCCL line that no wording fits until the next lines show whether it goes on.
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
  struct Piece {
    std::string text;
    Line place;  ///< `text` is unused.
    int lines = 0;
  };

  bool join(const Line& line, int lines);
  bool hand_on_joined(std::string_view separator);
  void hold(const Line& line, int lines);

  const WordingTable& wordings_;
  Receiver receive_;
  std::vector<Piece> pieces_;  ///< Keeps its strings: the first held_ are in use.
  size_t held_ = 0;
  std::string joined_;
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

  /// What `event`, the next one that concerns tracebacks, means where it stands. Both view `line`.
  Event read(std::string_view line, const Event& event);

 private:
  struct Open {
    std::string voice;        ///< Who prints it.
    bool is_ignored = false;  ///< "Exception ignored in" stands above it.
    bool has_begun = false;   ///< Its first line was there.
    bool has_frames = false;
    int lines = 0;  ///< Of all voices, since it was opened.
  };

  std::vector<Open> open_;
};

// All of the above. Records that were broken over lines arrive once, with the place of their first
// line; several lines in one record of a collector arrive one by one. Order is kept, but for lines
// whose end a collector wrote later than whole lines of the other stream.

/// Takes the lines of one stretch in order. Not copyable or movable: its parts call each other.
class EventReader {
 public:
  /// Receives each record, its text without ANSI codes, what it says, and how many input lines it
  /// consists of, 0 for further lines of one collector's record. The views in both live during the
  /// call only.
  using Receiver = std::function<void(const Line& record, const Event& event, int lines)>;

  explicit EventReader(Receiver receive);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void add(const Line& line);

  /// True if nothing is held back: the next line can be understood on its own.
  bool is_idle() const {
    return !unwrapper_.is_holding() && !joiner_.is_holding() && !messages_.is_holding() &&
           !tracebacks_.is_open();
  }

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  std::string plain_;  ///< The line without its ANSI codes.
  Unwrapper unwrapper_;
  RecordJoiner joiner_;
  BrokenMessage messages_;
  Tracebacks tracebacks_;
};

// When was a line printed, as far as it says?
//
//   [2026-02-03 04:05:06] node07:41:42 [3] …     NCCL's own stamp, local time
//   2026-01-05T12:00:00.000000001Z …             a collector's, with zone
//   [E717 13:20:49.407638053 Process…            PyTorch's: month and day, no year
//   INFO 11-22 08:26:08 [core.py:58] …           vLLM's: month and day, no year
//
// Where several stamps stand in front of a message, the first counts: collectors stamp every line
// with one clock, NCCL only some.

/// A line's time. Two times compare only if both have a zone or neither has.
struct LineTime {
  std::string_view text;  ///< As printed, a view into the line; empty: the line carries no time.
  bool has_zone = false;  ///< Then year and nanoseconds are UTC.
  int year = 0;           ///< 0: not printed.
  /// Since the year began. February has 29 days in every year, so that times with and without a
  /// year compare.
  int64_t nanoseconds = 0;

  bool known() const { return !text.empty(); }
};

/// The time in `head`, what stands in front of a line's message.
LineTime find_line_time(std::string_view head);

/// The time in front of `message`, which views `line`; unknown if it does not or is empty.
LineTime time_before(std::string_view line, std::string_view message);

/// The time in front of the message of a whole line of the log; unknown if it has no message. The
/// result views `line`.
LineTime time_of_line(std::string_view line);

}  // namespace ncclog
