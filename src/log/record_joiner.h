// Records that span lines: a terminal or a web page wrapped them, or a
// command's answer follows it.
//
//   [2025-11-11 16:54:54] node:87133:87286 [1] misc/shmutils.cc:129
//   NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-x
//   (size 0), error: No such file or directory (2)
//
//   $ mpirun -np 1 bash -c 'ulimit -l'
//   8192
//
// Invariant: a line with a whole NCCL INFO header (may_start_unit) is never
// joined to what stands before it, so a log can be cut there.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/line.h"

namespace ncclog {

/// Hands lines on, joined where a record was broken over several. One joiner reads one stretch.
class RecordJoiner {
 public:
  /// Receives each record; the line's text is valid during the call only. A joined record has the
  /// number and offset of its first line. `lines` is how many input lines it consists of.
  using Receiver = std::function<void(const Line& record, int lines)>;

  explicit RecordJoiner(Receiver receive) : receive_(std::move(receive)) {}

  void add(const Line& line);

  /// Hands on what is still held back at the end of the stretch.
  void finish();

 private:
  enum class Waiting { Nothing, ForLevel, ForRest, ForAnswer };

  void hold(const Line& line, Waiting waiting);
  void append(std::string_view text, Waiting waiting);

  Receiver receive_;
  Waiting waiting_ = Waiting::Nothing;
  std::string held_;  ///< Text of the record held back; meaningful unless
                      ///< Waiting::Nothing.
  Line first_;        ///< Its first line; `text` is unused.
  int lines_ = 0;
};

}  // namespace ncclog
