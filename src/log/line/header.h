// The header grammar: the part of a line before the message. Who printed it, from where, at which
// level?
//
//   [1,3]<stdout>:[2026-02-03 04:05:06] node07:41:42 [3] misc/socket.cc:57 NCCL WARN Connect…
//   └ launcher ──┘└ time ─────────────┘ host  pid tid dev file         line level    message
//
//   [rank6]:[E717 13:20:49.407638053 ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID 0(default_pg) Rank
//   6] …
//
// NCCL lines are anchored on "NCCL <LEVEL> " at the start of the line or after a blank and read
// leftwards from there, because anything may stand in front of the host. What the parts are is
// fixed by NCCL's debug.cc, releases 2.4 to 2.31. Views point into the line.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/line/prefix.h"

namespace ncclog {

/// What stands in every line with an NCCL header.
inline constexpr std::string_view kAnchor = "NCCL ";

/// What Ray puts behind a message that it prints for several processes: " [repeated 7x across
/// cluster]".
inline constexpr std::string_view kRepetitionEnd = "x across cluster]";

/// False where is_header_stub is false for certain: a glance at the end of the line.
bool may_be_header_stub(std::string_view line);

/// How a line announces itself. Framework and None are not NCCL's words; RCCL's [FATAL ERROR] is
/// Warn.
enum class Level { Version, Warn, Info, Trace, Call, Abort, Diag, Framework, None };

/// As NCCL prints it; "FRAMEWORK" for c10d records, "" for None.
std::string_view to_string(Level level);

/// A line's header. Fields the line lacks keep their defaults.
struct Header {
  Level level = Level::None;
  std::string_view host;  ///< Cut by NCCL at the first dot; empty if the line does not name it.
  int64_t pid = -1;
  int64_t tid = -1;
  int cuda_dev = -1;      ///< Current device of the calling thread; says nothing about the rank.
  std::string_view file;  ///< Source file of a WARN, TRACE or c10d record, as printed.
  int line = -1;          ///< Line in `file`.
  Prefix prefix;          ///< What launchers and collectors put in front.
  /// Process group of a c10d record: its GUID ("0", a hash), before 2.5 its number; empty if it
  /// names none.
  std::string_view process_group;
  std::string_view process_group_name;  ///< Its description: "default_pg"; empty if not printed.
  /// "[Rank 6]" of a c10d record: a rank inside that group, and from 2.3 on possibly inside another
  /// one. Up to 2.1 it is all there is; -1 if not printed.
  int group_rank = -1;
  /// The rest of the line. Of a c10d record it begins behind the process-group tags.
  std::string_view message;
  /// Ray printed this line for so many processes' lines, alike but for their numbers; 0: for
  /// itself.
  int repeated = 0;
  /// Another record stands before this one on the line, cut off by it and lost.
  bool torn = false;
  /// A second "NCCL <LEVEL>" stands in the message, without a host before it.
  bool anchored_twice = false;
  /// Bytes at the start of the line that neither belong to this record nor are a known prefix: a
  /// launcher that nobody knows, or what is left of another record.
  std::string_view unexplained;
};

/// True for NCCL's own lines, not for a framework's or another program's.
inline bool is_nccl(const Header& header) {
  return header.level != Level::None && header.level != Level::Framework;
}

/// The header of any line: of NCCL, of c10d, or only a launcher's prefix. Host and pid of NCCL's may
/// be missing: people quote lines without them.
Header parse_header(std::string_view line);

/// The same into `header`, which must be fresh: a header is large, and this is done for every line.
void read_header(std::string_view line, Header& header);

/// A line that ends inside or right behind its header; the rest was wrapped onto the next line:
///   [2025-11-11 16:54:54] node:87133:87286 [1] misc/shmutils.cc:129
///   node:87133:87286 [1] NCCL
/// True if all of it reads as such a beginning.
bool is_header_stub(std::string_view line);

// Records of PyTorch's loggers, C++ and Python:
//
//   … [E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog …
//   E0105 12:00:00.123000 1400 torch/distributed/elastic/multiprocessing/api.py:826] failed …
//
// A C++ record is searched for anywhere in the line: progress bars without newline stand before it.
// One that lost its beginning is known by its place or its group, at the start of the line.
// "[Rank 6]" inside is a rank of the group, possibly of another one: only "[rank6]:" names the
// global rank (PyTorch 2.2 and later).

/// How records of the C++ side begin, as literals of log/literal_set.h: "[E717 ", "[E ".
inline constexpr std::string_view kCppRecordBegins[] = {"[\x02\x01\x01\x01", "[\x02 "};

/// False where no record of Python's or glog's loggers begins in the prefixes of `line`, the first
/// `prefix` bytes, or right behind them: a glance, for most lines.
bool may_begin_python_record(std::string_view line, size_t prefix);

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

}  // namespace ncclog
