// What does a host answer? Every probe asks through here, so that a host can be recorded and asked
// again elsewhere.
//
//   ncclog host record 1
//   file /proc/sys/kernel/hostname
//     gpu-n41
//   space /dev/shm
//     size 67108864
//     available 0
//   list /sys/class/infiniband ! No such file or directory
//
// A question has a kind and a path. A line with two blanks in front belongs to the answer above it;
// " ! " stands before the reason why there is no answer. Records are plain text: tests and bug
// reports write and edit them by hand. What a record does not hold is unknown, not absent.
//
// Nothing is written, no program started, no connection opened, and no question needs root.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ncclog {

struct HostAnswer {
  enum class State {
    Here,     ///< `text` is the answer.
    Absent,   ///< There is no such thing.
    Refused,  ///< It may not be read; `why` is the reason.
    Unasked,  ///< The record does not hold it.
  };
  State state = State::Unasked;
  std::string text;  ///< Lines, without the newline of the last one. Any bytes.
  std::string why;

  bool is_here() const { return state == State::Here; }
  bool is_absent() const { return state == State::Absent; }
};

/// Invariant: each question is asked once; the answer stays as it was. That something is absent is an
/// answer only where the system's folder that would hold it is there: an empty /sys, as in a chroot,
/// says nothing of RDMA devices.
class HostTree {
 public:
  /// This host; below `root`, if that is a folder other than "/". What no file says (addresses,
  /// NVML, the environment) is asked of this host only.
  static HostTree live(std::string root = "/");

  /// Of a record. Throws Error with `path` and the line where `text` is none.
  static HostTree recorded(std::string_view text, const std::string& path);

  /// The answer to a question. Kinds:
  ///   file P     its text, up to 256 KiB         list P    names in a folder; "P/ab*": those
  ///   link P     where it points to                        that begin so
  ///   mode P     "1777 0 0 4096": mode, owner,   space P   "size N", "available N" in bytes
  ///              group, bytes
  ///   mount P    what a table of mounts has on /dev/shm
  ///   access P   "writable", or why not          elf P     "needed libc.so.6", "runpath …",
  ///                                                        "rpath …"
  ///   segments P nccl-* in it: name, bytes, who holds it (process, nobody, unknown), and how many
  ///              seconds ago it was last written
  ///   nccl P     what a copy of NCCL says of itself: "version 2.28.9+cuda13.0", "build-id 8f3c…",
  ///              "bytes N"
  ///   acs P      of a PCI device: "on SrcValid ReqRedir", "off", "none"
  ///   addresses  "eth0 10.1.2.3/24" in the kernel's order
  ///   mempolicy  "ok", or why it is refused      environment   NAME=value of what NCCL reads
  ///   xids       lines of the kernel's log       nvml          what NVML says of driver and GPUs
  /// "~/" at the front of a path is the user's folder.
  const HostAnswer& ask(std::string_view kind, const std::string& path = {});

  /// All that was asked, as a record.
  std::string record() const;

  /// Questions that were refused, with the reason.
  std::vector<std::pair<std::string, std::string>> refused() const;

 private:
  std::map<std::pair<std::string, std::string>, HostAnswer, std::less<>> known_;
  bool is_live_ = false;
  std::string root_;
};

/// Ends the reason of what cannot be seen because the system's folder is not there: "/sys/class is not
/// there".
inline constexpr std::string_view kNotThere = " is not there";

/// The first line of a record.
inline constexpr std::string_view kHostRecordHead = "ncclog host record 1";

/// What NVML says, "nvml" (host/nvml.cc).
HostAnswer answer_nvml();

/// Of `errno`.
HostAnswer no_answer(int error);

/// At most `most` bytes of a file.
HostAnswer read_host_file(const std::string& path, size_t most);

}  // namespace ncclog
