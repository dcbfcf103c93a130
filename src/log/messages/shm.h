// Shared memory between ranks of one host, and system calls that fail.
//
//   Error while creating shared memory segment /dev/shm/nccl-hZE4Lz (size 9637888), error: No space
//   left on device (28)
//
// A failed segment prints up to three WARNs from the inside out: the system call or the file, the
// mapping, the segment. Names may hold garbage bytes when the other rank's message was lost.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A segment could not be made (misc/shmutils.cc, os/linux.cc): as a rule /dev/shm is full.
struct ShmCreateFailed {
  std::string_view name;   ///< "/dev/shm/nccl-hZE4Lz"; without directory up to 2.11.
  int64_t size = -1;       ///< Bytes.
  std::string_view error;  ///< strerror's text; empty up to 2.21.
  int code = -1;           ///< errno; -1 if not printed.

  static constexpr std::string_view kKind = "shm_create_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A shared memory segment could not be made, as a rule because /dev/shm is full. The WARN "
      "before names the step; raise the container's shm size."};
  static constexpr Wording kWordings[] = {
      {.text = "Error while creating shared memory segment {name} (size {size}), error: {error} "
               "({code})",
       .example = "Error while creating shared memory segment /dev/shm/nccl-hZE4Lz (size 9637888), "
                  "error: No space left on device (28)",
       .quotable = true},
      {.text = "Error while creating shared memory segment {name} (size {size}), error: {error...}",
       .example = "Error while creating shared memory segment /dev/shm/nccl-hZE4Lz (size 9637888), "
                  "error: No space left",
       .quotable = true,
       .general = true},
      {.text = "Error while creating shared memory segment {name} (size {size})",
       .example = "Error while creating shared memory segment nccl-shm-recv-6756c86b2c094cc9-0-0-1 "
                  "(size 9637888)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("size", self.size);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// The segment that another rank made is not visible here (misc/shmutils.cc, os/linux.cc):
/// ranks of one host have different /dev/shm, or the name was lost.
struct ShmAttachFailed {
  std::string_view name;   ///< May be empty or garbage.
  int64_t size = -1;       ///< Bytes; 0 with a lost name.
  std::string_view error;  ///< strerror's text; empty up to 2.21.
  int code = -1;           ///< errno; -1 if not printed.

  static constexpr std::string_view kKind = "shm_attach_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A segment made by another rank of this host is not visible here: the ranks have different "
      "/dev/shm or IPC namespaces. Share /dev/shm, or set NCCL_HOSTID in each container."};
  static constexpr Wording kWordings[] = {
      {.text = "Error while attaching to shared memory segment {name} (size {size}), error: "
               "{error} ({code})",
       .example = "Error while attaching to shared memory segment /dev/shm/nccl-hZE4Lz (size 0), "
                  "error: No such file or directory (2)",
       .quotable = true},
      {.text =
           "Error while attaching to shared memory segment {name} (size {size}), error: {error...}",
       .example = "Error while attaching to shared memory segment /dev/shm/nccl-hZE4Lz (size 0), "
                  "error: No such file",
       .quotable = true,
       .general = true},
      {.text = "Error while attaching to shared memory segment {name} (size {size})",
       .example = "Error while attaching to shared memory segment "
                  "nccl-shm-send-6756c86b2c094cc9-0-0-1 (size 4096)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("size", self.size);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// /dev/shm has no room for the segment (misc/shmutils.cc, os/linux.cc, 2.12.7 and later).
struct ShmExtendFailed {
  std::string_view name;
  int64_t size = -1;       ///< Bytes.
  std::string_view error;  ///< Empty up to 2.21.
  int code = -1;           ///< errno; -1 if not printed.

  static constexpr std::string_view kKind = "shm_extend_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "/dev/shm has no room for the segment. Raise --shm-size or "
                                    "mount a larger tmpfs, and remove left-over nccl-* files."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: failed to extend {name} to {size} bytes, error: {error} ({code})",
       .example = "Error: failed to extend /dev/shm/nccl-hZE4Lz to 9637892 bytes, error: No space "
                  "left on device (28)",
       .quotable = true},
      {.text = "Error: failed to extend {name} to {size} bytes, error: {error...}",
       .example =
           "Error: failed to extend /dev/shm/nccl-hZE4Lz to 9637892 bytes, error: No space left",
       .quotable = true,
       .general = true},
      {.text = "Error: failed to extend {name} to {size} bytes",
       .example = "Error: failed to extend /dev/shm/nccl-hZE4Lz to 9637892 bytes",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("size", self.size);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// The file of a segment could not be made (misc/shmutils.cc, os/linux.cc, 2.22.3 and later).
struct ShmFileFailed {
  std::string_view name;  ///< A pointer in 2.22 and 2.23.
  std::string_view error;
  int code = -1;  ///< errno; -1 if not printed.

  static constexpr std::string_view kKind = "shm_file_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "No file could be made in /dev/shm: it is missing, read-only or holds too many files."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: failed to create shared memory file {name}, error {error} ({code})",
       .example = "Error: failed to create shared memory file /dev/shm/nccl-XXXXXX, error "
                  "Read-only file system (30)",
       .quotable = true},
      {.text = "Error: failed to create shared memory file {name}, error {error...}",
       .example = "Error: failed to create shared memory file /dev/shm/nccl-XXXXXX, error "
                  "Read-only file system",
       .quotable = true,
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// A segment could not be mapped (misc/shmutils.cc, os/linux.cc, 2.12.7 and later).
struct ShmMapFailed {
  std::string_view name;
  int64_t size = -1;       ///< Bytes; -1 up to 2.15.
  std::string_view error;  ///< Empty up to 2.15.
  int code = -1;           ///< errno; -1 if not printed.

  static constexpr std::string_view kKind = "shm_map_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "A shared memory segment could not be mapped. Check the host's "
                                    "memory, cgroup and overcommit limits."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: Could not map {name} size {size}, error: {error} ({code})",
       .example = "Error: Could not map /dev/shm/nccl-hZE4Lz size 9637892, error: Cannot allocate "
                  "memory (12)",
       .quotable = true},
      {.text = "Could not map {name} size {size}, error: {error...}",
       .example = "Could not map /dev/shm/nccl-hZE4Lz size 9637892, error: Cannot allocate memory",
       .quotable = true},
      {.text = "Could not map {name:word}",
       .example = "Could not map /dev/shm/nccl-hZE4Lz",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("size", self.size);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// A step of making a segment is tried again (os/linux.cc, 2.22.3 and later).
struct ShmRetry {
  std::string_view name;
  std::string_view error;
  int code = -1;  ///< errno.

  static constexpr std::string_view kKind = "shm_retry";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Wording kWordings[] = {
      {.text =
           "fallocate: Failed to extend {name} to {:int} bytes, error: {error} ({code}) - retrying",
       .example = "fallocate: Failed to extend /dev/shm/nccl-hZE4Lz to 9637892 bytes, error: "
                  "Interrupted system call (4) - retrying"},
      {.text = "mkstemp: Failed to create {name}, error: {error} ({code}) - retrying",
       .example = "mkstemp: Failed to create /dev/shm/nccl-XXXXXX, error: Interrupted system call "
                  "(4) - retrying"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("error", self.error);
    visit("code", self.code);
  }
};

/// A segment could not be taken down (misc/shmutils.cc, os/linux.cc).
struct ShmCleanupFailed {
  std::string_view name;  ///< Address for munmap; empty if not printed.
  std::string_view error;

  static constexpr std::string_view kKind = "shm_cleanup_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{WarnSeverity::Info, WarnOrigin::Symptom,
                                    "A segment could not be released, because something else had "
                                    "removed or unmapped it. Only the clean-up fails."};
  static constexpr Wording kWordings[] = {
      {.text = "unlink shared memory {name} failed, error: {error...}",
       .example = "unlink shared memory /dev/shm/nccl-hZE4Lz failed, error: No such file or "
                  "directory (2)"},
      {.text = "munmap of shared memory {name} size {:int} failed, error: {error...}",
       .example = "munmap of shared memory 0x7f21e0000000 size 9637892 failed, error: Invalid "
                  "argument (22)"},
      {.text = "munmap of shared memory failed", .example = "munmap of shared memory failed"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("error", self.error);
  }
};

/// A shared buffer was made or opened (transport/shm.cc, os/linux.cc).
struct ShmNote {
  std::string_view text;

  static constexpr std::string_view kKind = "shm_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Wording kWordings[] = {
      {.text = "Allocated {text:word} bytes of shared memory in {...}",
       .example = "Allocated 9637892 bytes of shared memory in /dev/shm/nccl-hZE4Lz"},
      {.text = "{:word}:{:int} ({:word}) Allocated {text:word} bytes of shared memory in {...}",
       .example = "os/linux.cc:412 (ncclOsShmCreate) Allocated 9637892 bytes of shared memory in "
                  "/dev/shm/nccl-hZE4Lz"},
      {.text = "CUMEM {text:allocated|imported} shareable {...}",
       .example = "CUMEM allocated shareable buffer 0x7f21e0000000 size 9637892"},
      {.text = "MMAP {text:allocated|imported} shareable {...}",
       .example = "MMAP allocated shareable host buffer /dev/shm/nccl-hZE4Lz size 9637892 ptr "
                  "0x7f21e0000000"},
      {.text = "SHM legacy: sharing buffer with GPU via {text...}",
       .example = "SHM legacy: sharing buffer with GPU via cudaHostRegister + "
                  "cudaHostGetDevicePointer (host 0x7f21e000 size 4096)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

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

/// cuMem host memory does not work, so shared memory comes from /dev/shm (cudawrap.cc, 2.26.3
/// and later): container runtimes without NUMA support.
struct CumemHostFallback {
  static constexpr std::string_view kKind = "cumem_host_fallback";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Wording kWordings[] = {
      {.text = "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ "
               "based implementation.{}",
       .example = "cuMem host allocations do not appear to be working; falling back to a /dev/shm/ "
                  "based implementation. This could be due to the container runtime disabling NUMA "
                  "support. To disable this warning, set NCCL_CUMEM_HOST_ENABLE=0",
       .quotable = true},
  };
  static void each_field(auto&, auto&&) {}
};

/// Ranks of one host could not exchange a file descriptor over a Unix socket
/// (misc/ipcsocket.cc, 2.17.1 and later).
struct UdsFailed {
  std::string_view text;   ///< What was tried.
  std::string_view error;  ///< Empty if not printed.

  static constexpr std::string_view kKind = "uds_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Ranks of one host could not pass a file descriptor over a Unix socket. Check that they "
      "share a network namespace (NCCL_IPC_USE_ABSTRACT_SOCKET) and that the peer lives."};
  static constexpr Wording kWordings[] = {
      {.text = "UDS: {text:Binding to socket|Sending data over socket|Receiving data over socket} "
               "{} failed : {error...}",
       .example =
           "UDS: Sending data over socket nccl-socket-3-9c1b2f0a failed : Connection refused (111)",
       .quotable = true},
      {.text = "UDS: {text:Receiving data over socket} {} failed",
       .example = "UDS: Receiving data over socket nccl-socket-3-9c1b2f0a failed",
       .quotable = true},
      {.text = "UDS: {text:Receiving data over socket} failed",
       .example = "UDS: Receiving data over socket failed",
       .quotable = true},
      {.text = "UDS: {text:Receiving data over socket} failed : {error...}",
       .example = "UDS: Receiving data over socket failed : 104",
       .quotable = true},
      {.text = "UDS: {text:Socket creation} error : {error...}",
       .example = "UDS: Socket creation error : Too many open files (24)",
       .quotable = true},
      {.text = "UDS: Cannot {text:bind provided name to socket|connect to provided name for "
               "socket}. Name too large",
       .example = "UDS: Cannot bind provided name to socket. Name too large",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("text", self.text);
    visit("error", self.error);
  }
};

using ShmMessages = Kinds<ShmCreateFailed, ShmAttachFailed, ShmExtendFailed, ShmFileFailed,
                          ShmMapFailed, ShmRetry, ShmCleanupFailed, ShmNote, SystemCallFailed,
                          SystemCallRetry, CumemHostFallback, UdsFailed>;

}  // namespace ncclog
