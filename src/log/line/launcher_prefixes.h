// The shapes of single prefixes, which log/line/prefix.cc takes off one after the other.
//
//   [1,3]<stdout>:        launchers: Open MPI, srun, torchrun, Ray
//   [pod/w-3/pytorch]     collectors: Kubernetes, Loki, syslog, journald
//   [titan] 2026-01-05 …  loggers: Python's, glog's, vLLM's
//   >  12 |               pasted text: quotes, line numbers
//
// A form answers for one prefix at the start of a text. Nothing here keeps state between lines.

#pragma once

#include <span>
#include <string_view>

#include "log/line/prefix.h"
#include "log/line/scanner.h"

namespace ncclog {

/// The shape of one prefix.
struct PrefixForm {
  /// Bytes of which the prefix begins with one; empty: it may begin with any.
  std::string_view first_bytes;

  /// Takes the prefix off `scan`. Where it answers false the caller forgets what was taken; then
  /// nothing is noted in `prefix`.
  bool (*recognise)(Scanner& scan, Prefix& prefix);

  bool is_stamp = false;  ///< A logger's own words may follow, as behind a time.

  /// It counts only behind a time.
  bool needs_stamp = false;

  /// Ordinary output has this shape too: it counts only in front of what begins a record.
  bool needs_record = false;

  /// A byte that stands in the first word of every text with such a prefix, or begins the second
  /// one; NUL: none is known. Most lines are let go by it, without a closer look.
  char mark = '\0';

  bool is_bar = false;  ///< A progress bar, for which may_have_prefix does not look.
};

constexpr bool is_host_char(char c) { return is_word(c) || c == '-' || c == '.'; }

/// Text that begins a record of its own, so that whatever stands before it is a prefix. True for no
/// text at all: NCCL's own header, cut off by the caller, begins there.
bool begins_record(std::string_view text);

/// All shapes, in the order in which they are tried.
std::span<const PrefixForm> prefix_forms();

}  // namespace ncclog
