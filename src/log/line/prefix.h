// What launchers, collectors, loggers and terminals put in front of every line.
//
//   [1,3]<stdout>:…   3: …   [default3]:[rank3]: …   (TrainWorker pid=4242, ip=10.0.0.7) …
//
// Prefixes nest. They are recognised by shape, one after the other, until nothing more fits. A
// shape that ordinary output has too ("name: ", "> ", "[3] ") counts only where it cannot mean
// anything else, or where being wrong costs nothing.

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

/// A glance, because most lines have no prefix, and tell by a byte or a word.
/// False if parse_prefix finds nothing in front of `line` for certain, but for a progress bar:
/// those hold "%|".
bool may_have_prefix(std::string_view line);

/// What stands in front of a line, added up over nested prefixes.
struct Prefix {
  size_t length = 0;  ///< Bytes of the line that are prefix.
  /// Global rank as the framework states it ("[rank3]: "), else as the launcher numbers its tasks
  /// ("[1,3]<stdout>:", "3: "); -1 if none. Task numbers equal ranks with one task per GPU.
  int rank = -1;
  bool rank_is_stated = false;  ///< By the framework; a launcher's number does not replace it.
  /// The number that a launcher gives its task: a rank, or a node that runs eight of them; -1 if
  /// none. Of "[1,3]<stdout>:[rank7]: Traceback …" it is 3, and the rank 7.
  int task = -1;
  int local_rank = -1;       ///< torchrun's "[default3]:"; -1 if none.
  std::string_view host;     ///< "nodea: ", "[pod/worker-3/pytorch] "; empty if none.
  std::string_view address;  ///< Ray's "ip=" of a remote node; empty if none.
  int64_t pid = -1;          ///< Ray's and vLLM's "pid="; -1 if none.
  std::string_view time;     ///< The innermost stamp, as printed; empty if none.
  std::string_view stream;   ///< "stdout", "stderr", "stddiag"; empty if none says.
  /// Title of the tqdm bar that stands, without newline, before the rest of the line: "Validation".
  std::string_view progress_title;
};

/// The prefixes at the start of `line`; length 0 if there are none. Views point into `line`.
Prefix parse_prefix(std::string_view line);

/// Text that begins a record of its own, or a row of nccl-tests, so that whatever stands before it is
/// a prefix. True for no text at all: NCCL's own header, cut off by the caller, begins there.
bool begins_record(std::string_view text);

/// True for a row of nccl-tests' table, whole or not, and for the comments around it.
bool begins_row_of_test(std::string_view text);

}  // namespace ncclog
