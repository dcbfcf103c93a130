// Which of NCCL's WARNs should be read first, and what does it mean?
//
//   misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-x to 9637892 bytes
//   misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer n2<41822>
//   → the first: the second only follows from a rank that ended.
//
// Most WARNs of a failed job are consequences. Those that say so themselves come last, as do those
// that NCCL survives. Among equals the one that stands first in the input counts: two processes are
// not ordered in time.

#pragma once

#include <optional>
#include <string>

#include "diagnose/fact.h"
#include "log/warning.h"

namespace ncclog {

/// A WARN of the log, with what it means.
struct ExplainedWarning {
  Evidence line;
  std::string text;  ///< Its message, safe to print, cut at 160 bytes.
  Warning warning;
};

/// Some wording of the kind is a WARN whose meaning is known.
bool has_warnings(const Kind& kind);

/// The thread that printed the WARN went on with the initialisation: it printed rings, trees or
/// Init COMPLETE after it, and no error before those. So what failed was done without.
bool is_outlived_in_init(const SpeakerLog& log, const Record& warning);

/// The WARN that is nearest to a cause; nullopt if there is none whose meaning is known. One that
/// its initialisation outlived is no more than degraded.
std::optional<ExplainedWarning> first_warning(const Job& job);

/// The process prints a WARN after which its call fails, and not because of an earlier error: it is
/// no mere victim, and did not outlive it.
bool reports_own_failure(const Job& job, const Process& process);

}  // namespace ncclog
