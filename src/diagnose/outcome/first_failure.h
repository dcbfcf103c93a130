// Who failed first: a process that was killed, a rank that raised, or NCCL with a WARN?
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//   [rank1]: RuntimeError: DataLoader worker (pid 4242) exited unexpectedly
//   misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-x to 9637892 bytes
//
// One rank's failure makes all others lose their peer, so most of what a failed job prints is a
// consequence. Each of the three parts says what counts as a cause, and stays silent where it is
// unsure.

#pragma once

#include "diagnose/facts/fact.h"
#include "diagnose/outcome/exit_reports.h"
#include "log/wording/message_kind.h"

namespace ncclog {

// Which processes ended by a signal, and which rank was that?
//
// Launchers (ExitReport) and the kernel each say it in their own way; what they say about one pid
// is one death. Whoever torchrun told to stop is a victim and not listed.

/// The end of a process by a signal.
struct Death {
  int signal = 9;       ///< 9 SIGKILL, 11 SIGSEGV, 7 SIGBUS, 6 SIGABRT.
  int64_t pid = -1;     ///< -1: not printed.
  int rank = -1;        ///< -1: not printed.
  std::string host;     ///< Empty: not printed.
  int local_rank = -1;  ///< As torchrun says it; -1: not printed.
  Evidence line;
};

/// All deaths that the log reports by a signal that comes from outside or from a fault of the
/// process's own memory, each once, in input order.
std::vector<Death> deaths(const Job& job);

/// Likewise the processes that aborted themselves (SIGABRT): nearly always a consequence.
std::vector<Death> aborts(const Job& job);

/// The local rank of the worker that torchrun's agent saw end; -1: another line, or none is printed.
int local_rank_in(const ExitReport& exit);

/// "rank 3 (pid 1021 on node-b)", "local rank 3 (pid 1021)", as far as known.
std::string name_of(const Job& job, const Death& death);

// Which of NCCL's WARNs should be read first, and what does it mean?
//
//   misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-x to 9637892 bytes
//   misc/socket.cc:57 NCCL WARN socketProgress: Connection closed by remote peer n2<41822>
//   → the first: the second only follows from a rank that ended.
//
// Most WARNs of a failed job are consequences. Those that say so themselves come last, as do those
// that NCCL survives. Among equals the one that stands first in the input counts: two processes are
// not ordered in time.

/// A WARN of the log whose meaning is known.
struct ReportedWarning {
  int process = -1;  ///< Into Job::processes.
  Record record;
  /// Its thread went on with the initialisation after it: it printed rings, trees or Init COMPLETE,
  /// and no error before those. So what failed was done without.
  bool outlived = false;
  Warning warning;  ///< If it is outlived, no more than degraded.

  /// Its process's call fails, and not because of an earlier error: that is no mere victim.
  bool is_own_failure() const {
    return warning.severity == WarnSeverity::Fatal && warning.origin != WarnOrigin::Symptom;
  }
};

/// All of them that are kept, process by process.
const std::vector<ReportedWarning>& reported_warnings(const Job& job);

/// By index of the kind: some wording of it is a WARN whose meaning is known.
std::vector<bool> kinds_with_warnings();

/// By log: some line of such a kind may be a WARN. Valid as long as the job is.
const std::vector<bool>& logs_that_may_warn(const Job& job);

/// The WARN that is nearest to a cause; nullptr if there is none whose meaning is known.
const ReportedWarning* first_warning(const Job& job);

/// The process prints a WARN that is its own failure.
bool reports_own_failure(const Job& job, const Process& process);

/// `text` in one line, safe to print, cut at 160 bytes.
std::string excerpt_of(std::string_view text);

/// The words of a closed list (log/named_failure.h) that say in the line what failed; empty: none do.
std::string_view failure_words_in(std::string_view line);

/// The message of a kept line, likewise.
std::string message_of(const Record& record);

// Did the program itself fail first?
//
//   [rank1]: Traceback (most recent call last):
//   [rank1]:   File "/workspace/train.py", line 35, in <module>
//   [rank1]: RuntimeError: DataLoader worker (pid 4242) exited unexpectedly
//
// When one rank raises, the others lose their peer and report NCCL, store and watchdog errors. The
// exception counts as first only if nothing that could have caused it stands before it.

/// An exception of the program, not of NCCL, the store or a lost peer.
struct ProgramException {
  int process = -1;  ///< Into Job::processes.
  int rank = -1;     ///< -1: nothing tells.
  std::string text;  ///< "RuntimeError: …", as excerpt_of() gives it.
  Evidence line;
  /// Other processes that raised something of their own, of which nothing says whether it was before
  /// or after: lines of several processes in one file are in no order.
  int rivals = 0;
};

/// The exceptions that came first: one, or the same text on several ranks. Empty if none is known
/// to be the cause.
const std::vector<ProgramException>& first_exceptions(const Job& job);

/// Those of which the clocks show that the job went on after them: see is_long_before_timeout().
const std::vector<ProgramException>& outlived_exceptions(const Job& job);

/// By the clocks a watchdog gave up ten minutes or more after that line, and began to wait after it;
/// between the two the job trained on, or made a communicator. What was raised there, caught or in a
/// run before, is not what the watchdog waited for.
bool is_long_before_timeout(const Job& job, const Evidence& line);

/// The exceptions of processes that lost the other end of a connection, where nothing else is known
/// to have failed before: the process there went away, and its log is missing or silent.
const std::vector<ProgramException>& lost_first(const Job& job);

/// Lines by which somebody told the program to end, with Ctrl-C or a signal that it caught, and after
/// which no work is seen.
const std::vector<SourceRef>& interruptions(const Job& job);

/// Exceptions that the program did not outlive, without those that somebody asked for
/// (KeyboardInterrupt, SystemExit); by process, into Job::processes.
const std::vector<std::pair<int, Record>>& uncaught_exceptions(const Job& job);

/// A time-out, an error of NCCL or of the store, or a worker's end stands before `where` in the same
/// input. That others than the process, where it is known, lost a peer does not count: it may have
/// been that peer, and its words come later than theirs.
bool failed_before(const Job& job, SourceRef where, int process = -1);

/// Training output stands after `where` in the same input, or all ranks go on calling there: what
/// failed was caught, and the job went on.
bool went_on(const Job& job, SourceRef where);

/// The line that tells of all of a shape: the first, or the last where the job went on after the
/// first; nullopt: it went on after both.
std::optional<Evidence> line_that_counts(const Job& job, const UnknownLines& lines);

/// Who printed a line, as far as it tells by itself; -1: nobody whose lines are there. A launcher's
/// number is a rank only where the process of that rank bears it, too.
int process_that_printed(const Job& job, std::string_view line);

}  // namespace ncclog
