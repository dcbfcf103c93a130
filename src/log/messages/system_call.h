// System calls that fail, of whatever part of NCCL makes them.
//
//   Call to posix_fallocate failed : No space left on device
//   Call to connect returned Connection refused, retrying
//
// The first ends what NCCL was about to do and is followed by a WARN of the part that wanted it;
// the second is repeated, and often goes through.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A system call failed (checks.h: SYSCHECK). A blank stands before the colon up to 2.22.3.
struct SystemCallFailed {
  std::string_view call;   ///< "posix_fallocate", "setsockopt SO_RCVBUF".
  std::string_view error;  ///< strerror's text.

  static constexpr std::string_view kKind = "system_call_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A call to the operating system failed; the text names it and the reason. Look at limits on "
      "open files and memory, and at permissions."};
  static constexpr Warning kSocket{WarnSeverity::Fatal, WarnOrigin::System,
                                   "A socket call failed. Check the limit on open files, ports in "
                                   "use, and the permissions and seccomp rules of the container."};
  static constexpr Warning kSharedMemory{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Shared memory could not be made, sized or mapped: as a rule /dev/shm is too small. Raise "
      "the container's shm size."};
  static constexpr Warning kThread{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A helper thread could not be started, joined or sized. Check the limits on threads and "
      "processes (pids cgroup), and NCCL_SET_CPU_STACK_SIZE."};
  static constexpr Warning kFileLimit{WarnSeverity::Fatal, WarnOrigin::System,
                                      "The limit on open files could not be read or raised, which "
                                      "the rendezvous of many ranks needs. Check RLIMIT_NOFILE."};
  static constexpr Warning kAffinity{WarnSeverity::Fatal, WarnOrigin::System,
                                     "The CPU affinity of a thread could not be read or set. Check "
                                     "the cpuset of the job or container."};
  static constexpr Wording kWordings[] = {
      {.text = "Call to "
               "{call:accept|bind|connect|fcntl|getifaddrs|getsockname|getsockopt|listen|poll|recv|"
               "setsockopt|shutdown|socket} failed: {error...}",
       .example = "Call to bind failed: Address already in use",
       .quotable = true,
       .warning = kSocket},
      {.text = "Call to {call:mmap|posix_fallocate|shm_open|shm_unlink} failed: {error...}",
       .example = "Call to posix_fallocate failed: No space left on device",
       .quotable = true,
       .warning = kSharedMemory},
      {.text = "Call to "
               "{call:pthread_attr_destroy|pthread_attr_getstacksize|pthread_attr_init|pthread_"
               "attr_setdetachstate|pthread_attr_setstacksize|pthread_create|pthread_detach|"
               "pthread_join|pthread_setattr_default_np} failed: {error...}",
       .example = "Call to pthread_create failed: Resource temporarily unavailable",
       .warning = kThread},
      {.text = "Call to {call:getrlimit|setrlimit} failed: {error...}",
       .example = "Call to setrlimit failed: Operation not permitted",
       .warning = kFileLimit},
      {.text = "Call to {call:sched_getaffinity|sched_setaffinity} failed: {error...}",
       .example = "Call to sched_getaffinity failed: Invalid argument",
       .warning = kAffinity},
      {.text = "Call to {call:close|open|read|stat|unlink|write} failed: {error...}",
       .example = "Call to open failed: No such file or directory",
       .quotable = true},
      {.text = "Call to "
               "{call:accept|bind|connect|fcntl|getifaddrs|getsockname|getsockopt|listen|poll|recv|"
               "setsockopt|shutdown|socket} failed : {error...}",
       .example = "Call to bind failed : Address already in use",
       .quotable = true,
       .warning = kSocket},
      {.text = "Call to {call:mmap|posix_fallocate|shm_open|shm_unlink} failed : {error...}",
       .example = "Call to posix_fallocate failed : No space left on device",
       .quotable = true,
       .warning = kSharedMemory},
      {.text = "Call to "
               "{call:pthread_attr_destroy|pthread_attr_getstacksize|pthread_attr_init|pthread_"
               "attr_setdetachstate|pthread_attr_setstacksize|pthread_create|pthread_detach|"
               "pthread_join|pthread_setattr_default_np} failed : {error...}",
       .example = "Call to pthread_create failed : Resource temporarily unavailable",
       .warning = kThread},
      {.text = "Call to {call:getrlimit|setrlimit} failed : {error...}",
       .example = "Call to setrlimit failed : Operation not permitted",
       .warning = kFileLimit},
      {.text = "Call to {call:sched_getaffinity|sched_setaffinity} failed : {error...}",
       .example = "Call to sched_getaffinity failed : Invalid argument",
       .warning = kAffinity},
      {.text = "Call to {call:close|open|read|stat|unlink|write} failed : {error...}",
       .example = "Call to open failed : No such file or directory",
       .quotable = true},
      {.text = "Call to {call} failed: {error...}",
       .example = "Call to setsockopt TCP NODELAY failed: Operation not permitted",
       .general = true},
      {.text = "Call to {call} failed : {error...}",
       .example = "Call to dup2 failed : Bad file descriptor",
       .general = true},
      {.text = "{call:sched_getaffinity|sched_setaffinity} failed with error: {error...}",
       .example = "sched_getaffinity failed with error: Invalid argument",
       .warning = kAffinity},
      {.text = "{call:close} failed: {error...}", .example = "close failed: Bad file descriptor"},
      {.text = "Thread {call:creation|join} failed: {error...}",
       .example = "Thread creation failed: Resource temporarily unavailable",
       .warning = kThread},
      {.text = "Error waiting for {call:pthread_join}: {error...}",
       .example = "Error waiting for pthread_join: No such process",
       .warning = kThread},
      {.text = "Error waiting for {call:pthread_join} : {error...}",
       .example = "Error waiting for pthread_join : No such process",
       .warning = kThread},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("call", self.call);
    visit("error", self.error);
  }
};

/// A system call failed in a way that may pass, and is repeated (checks.h: SYSCHECK).
struct SystemCallRetry {
  std::string_view call;
  std::string_view error;

  static constexpr std::string_view kKind = "system_call_retry";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Call to {call} returned {error}, retrying",
       .example = "Call to connect returned Connection refused, retrying"},
      {.text = "{:word}:{:int} ({:word}) Call to {call} returned {error}, retrying",
       .example = "misc/socket.cc:142 (ncclSocketListen) Call to bind returned Address already in "
                  "use, retrying"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("call", self.call);
    visit("error", self.error);
  }
};

}  // namespace ncclog
