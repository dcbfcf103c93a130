// Which calls an error went up through, and mismatches that NCCL itself noticed.
//
//   transport/net.cc:1034 -> 6
//   group.cc:72 -> 6 [Async thread]
//
// One INFO per level of the call stack, innermost first; the WARN before them is the cause. Result
// 7 (in progress) is no error.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A checked call returned an error to its caller (checks.h, group.cc).
struct ErrorTrace {
  std::string_view file;  ///< "transport/net.cc".
  int line = -1;
  std::string_view function;  ///< From 2.30.7 on; else empty.
  int code = -1;              ///< ncclResult_t, see log/nccl_names.h.
  /// "Async thread", "Progress Thread"; empty on the caller's own thread.
  std::string_view thread;
  std::string_view error;  ///< strerror's text behind a failed system call; else empty.

  static constexpr std::string_view kKind = "error_trace";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{file:word}:{line} -> {code}", .example = "transport/net.cc:1034 -> 6"},
      {.text = "{file:word}:{line} -> {code} [{thread}]",
       .example = "group.cc:72 -> 6 [Async thread]"},
      {.text = "{file:word}:{line} -> {code} ({error})",
       .example = "misc/shmutils.cc:87 -> 2 (No such file or directory)"},
      {.text = "{file:word}:{line} ({function:word}) -> {code}",
       .example = "transport/net.cc:1034 (sendProxyConnect) -> 6"},
      {.text = "{file:word}:{line} ({function:word}) -> {code} [{thread}]",
       .example = "group.cc:72 (ncclAsyncJobMain) -> 6 [Async thread]"},
      {.text = "{file:word}:{line} ({function:word}) -> {code} ({error})",
       .example = "os/linux.cc:87 (ncclOsShmOpen) -> 2 (No such file or directory)"},
      {.text = "{file:word}:{line} -> [{thread}] state unknown {code}",
       .example = "gin/gin_host.cc:87 -> [GIN Progress Thread] state unknown 3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("file", self.file);
    visit("line", self.line);
    visit("function", self.function);
    visit("code", self.code);
    visit("thread", self.thread);
    visit("error", self.error);
  }
};

/// The device code of NCCL 2.4 to 2.7 noticed that ranks run different collectives (init.cc).
/// Later releases do not check.
struct MismatchReported {
  int rank = -1;
  std::string_view text;  ///< NCCL's words.

  static constexpr std::string_view kKind = "mismatch_reported";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Mismatched collective detected}, please check your collective calls at and "
               "around rank {rank}. {...}",
       .example =
           "Mismatched collective detected, please check your collective calls at and around rank "
           "3. You can use NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=COLL to see the collective logs",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "Ranks run different collectives, as the GPU code of this old release noticed. "
                   "Compare the order of calls around the rank that is named."}},
      {.text = "{text:Your program may be hanging}, this may be caused by a collective mismatch "
               "around rank {rank}. {...}",
       .example = "Your program may be hanging, this may be caused by a collective mismatch around "
                  "rank 3. Please check your collective calls at and around this rank.",
       .quotable = true,
       .warning = {WarnSeverity::Info, WarnOrigin::System,
                   "Nothing moved for a while, perhaps because ranks run different collectives. It "
                   "is only a suspicion of this old release."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("text", self.text);
  }
};

/// An initialisation or group job in a helper thread failed (group.cc, 2.14.3 and later).
struct AsyncJobFailed {
  int code = -1;  ///< ncclResult_t.

  static constexpr std::string_view kKind = "async_job_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::Symptom,
                                    "A step that ran in a helper thread failed, and this line only "
                                    "passes the result on. The error was printed before it."};
  static constexpr Wording kWordings[] = {
      {.text = "ncclAsyncJobComplete: job {:hex} failed, job error {code}",
       .example = "ncclAsyncJobComplete: job 0x55d0c0de failed, job error 3",
       .quotable = true},
      {.text = "asyncJobLaunch: failed to join thread for job",
       .example = "asyncJobLaunch: failed to join thread for job",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "The helper thread of an initialisation or group call could not be joined. "
                   "Check the limits on threads and processes."}},
      {.text = "hostStreamPlanCallback() failed : {...}",
       .example = "hostStreamPlanCallback() failed : unhandled system error",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::Symptom,
                   "The network thread could not be set to work from a stream, and the error "
                   "surfaces later. Look for an earlier proxy error."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("code", self.code); }
};

/// Errors met while a communicator was destroyed (init.cc, proxy.cc): consequences of an
/// earlier one.
struct DestroyFailed {
  std::string_view text;
  int code = -1;

  static constexpr std::string_view kKind = "destroy_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Destroy;
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::Symptom,
      "Something failed while the communicator was destroyed, which follows from an error or abort "
      "before. It matters only together with that."};
  static constexpr Wording kWordings[] = {
      {.text = "commDestroySync: comm {:hex} rank {:int} {text:sync hostStream|sync deviceStream} "
               "error {code}",
       .example = "commDestroySync: comm 0x7f10a0 rank 3 sync hostStream error 719"},
      {.text = "commReclaim: {text:cleanup} comm {:hex} rank {:int} failed in destroy/abort, error "
               "{code}",
       .example = "commReclaim: cleanup comm 0x7f10a0 rank 3 failed in destroy/abort, error 1"},
      {.text = "{:commReclaim|ncclProxyStop}: comm {:hex} (rank = {:int}) {text} error {code}",
       .example = "ncclProxyStop: comm 0x7f10a0 (rank = 3) destroys proxy resource error 3"},
      {.text = "ncclCommSetAsyncError: {text:error comm} {:hex} sets state {code}",
       .example = "ncclCommSetAsyncError: error comm 0x7f10a0 sets state 12",
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "A communicator was to be put into a state that does not exist. Suspect memory "
                   "corruption or an NCCL bug."}},
      {.text = "Legacy IPC cleanup {text:callback failed} comm {...}",
       .example = "Legacy IPC cleanup callback failed comm 0x7f10a0 (rank = 3) cb 0x55d0c0de"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("text", self.text);
    visit("code", self.code);
  }
};

using ErrorMessages = Kinds<ErrorTrace, MismatchReported, AsyncJobFailed, DestroyFailed>;

}  // namespace ncclog
