// Shared memory between ranks of one host.
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
#include "log/messages/system_call.h"

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
