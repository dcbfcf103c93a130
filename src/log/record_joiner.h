// Records that span lines: a terminal or a web page wrapped them, or a
// command's answer follows it.
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
//
// Invariant: a line with a whole NCCL INFO header (may_start_unit) is never
// joined to what stands before it, so a log can be cut there.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/line.h"

namespace ncclog {

/// `line` without its prefix, if it may go on with a record that begins with the line `begun`: it
/// has no header of its own, is not blank, and its prefix is either none or names the same process.
/// A view into `line`.
std::optional<std::string_view> rest_of_record(std::string_view line, std::string_view begun);

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
  std::string held_;  ///< Text of the record held back; meaningful unless
                      ///< Waiting::Nothing.
  Line first_;        ///< Its first line; `text` is unused.
  int pieces_ = 0;    ///< Lines that held_ consists of.
  int lines_ = 0;     ///< Input lines that those stand for.
};

}  // namespace ncclog
