// How ranks find each other before any data network is up.
//
//   Bootstrap : Using ib0:10.1.2.3<0>
//   Bootstrap timings total 0.084130 (create 0.000031, send 0.000152, recv 0.003001, ring 0.080122)
//
// Port <0> is that of the template address and says nothing.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The interface for the out-of-band connections (bootstrap.cc); once per process, none in
/// 2.4.2 to 2.4.7.
struct BootstrapInterface {
  /// "ib0:10.1.2.3<0>"; all candidates with indices up to 2.7.8; "mlx5_0:1" with
  /// NCCL_OOB_NET_ENABLE. See log/device_list.h.
  std::string_view devices;

  static constexpr std::string_view kKind = "bootstrap_interface";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap : Using{devices...}", .example = "Bootstrap : Using ib0:10.1.2.3<0>"},
      {.text = "Bootstrap: Using{devices...}", .example = "Bootstrap: Using ib0:10.1.2.3<0>"},
  };
  static void each_field(auto& self, auto&& visit) { visit("devices", self.devices); }
};

/// Where the time of the rendezvous went (bootstrap.cc, 2.23.4 and later).
struct BootstrapTimings {
  std::string_view total;    ///< Seconds.
  std::string_view timings;  ///< "create 0.000031, send …" in seconds.

  static constexpr std::string_view kKind = "bootstrap_timings";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap timings total {total:word} ({timings})",
       .example = "Bootstrap timings total 0.084130 (create 0.000031, send 0.000152, recv "
                  "0.003001, ring 0.080122, delay 0.000000)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("total", self.total);
    visit("timings", self.timings);
  }
};

/// No usable network interface is left, usually because NCCL_SOCKET_IFNAME or
/// NCCL_OOB_NET_IFNAME names none that exists (bootstrap.cc, net_socket.cc, net_ib.cc).
struct BootstrapNoInterface {
  std::string_view text;  ///< NCCL's words behind the prefix.

  static constexpr std::string_view kKind = "bootstrap_no_interface";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "No usable network interface is left after the filters. Check NCCL_SOCKET_IFNAME and "
      "NCCL_OOB_NET_IFNAME for typing errors, and the container's network."};
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap : {text:no socket interface found}",
       .example = "Bootstrap : no socket interface found",
       .quotable = true},
      {.text = "NET/Socket : {text:No usable listening interface found|no interface found}",
       .example = "NET/Socket : no interface found",
       .quotable = true},
      {.text = "NET/IB : {text:No IP interface found}.",
       .example = "NET/IB : No IP interface found.",
       .quotable = true},
      {.text = "no device found {text:matching|after excluding} {}, verify NCCL_OOB_NET_IFNAME",
       .example = "no device found matching mlx5_9, verify NCCL_OOB_NET_IFNAME",
       .quotable = true},
      {.text = "no device found {text:matching} NCCL_OOB_NET_IFNAME={}, ignoring",
       .example = "no device found matching NCCL_OOB_NET_IFNAME=mlx5_9, ignoring",
       .quotable = true,
       .warning = {WarnSeverity::Degraded, WarnOrigin::User,
                   "No device fits NCCL_OOB_NET_IFNAME, so the setting is ignored."}},
      {.text = "Net : {text:No interface found in the same subnet as remote address} {...}",
       .example = "Net : No interface found in the same subnet as remote address 10.9.8.7<41822>",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A rank reached the root that believes in another world size (bootstrap.cc): two jobs share a
/// rendezvous, or WORLD_SIZE differs.
struct BootstrapRankCountMismatch {
  int local = -1;
  int remote = -1;

  static constexpr std::string_view kKind = "bootstrap_rank_count_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "A rank that reached the rendezvous believes in another world "
                                    "size. Two jobs share one address, or WORLD_SIZE differs."};
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap Root : mismatch in rank count from procs {local} : {remote}",
       .example = "Bootstrap Root : mismatch in rank count from procs 16 : 8",
       .quotable = true},
      {.text =
           "Bootstrap Root : mismatch in info from procs, nranks {local} vs {remote}, nroots {...}",
       .example = "Bootstrap Root : mismatch in info from procs, nranks 16 vs 8, nroots 1 vs 1, "
                  "iroot 0 vs 0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("local", self.local);
    visit("remote", self.remote);
  }
};

/// Two processes claim the same rank (bootstrap.cc).
struct BootstrapRankTwice {
  int rank = -1;
  int nranks = -1;

  static constexpr std::string_view kKind = "bootstrap_rank_twice";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "Two processes claim the same rank. Check the launcher's rank "
                                    "numbers, and for a process left over from an earlier run."};
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap Root : rank {rank} of {nranks} ranks has already checked in",
       .example = "Bootstrap Root : rank 3 of 16 ranks has already checked in",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("nranks", self.nranks);
  }
};

/// A rank number outside the share of this root (bootstrap.cc, 2.29.2 and later).
struct BootstrapRankOutOfRange {
  int local_id = -1;

  static constexpr std::string_view kKind = "bootstrap_rank_out_of_range";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A rank's number lies outside the share of the rendezvous root that it reached. Check the "
      "launcher's rank numbers, and for processes of another job."};
  static constexpr Wording kWordings[] = {
      {.text = "Bootstrap Root : localId {local_id} is out of range",
       .example = "Bootstrap Root : localId 31 is out of range",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("local_id", self.local_id); }
};

/// Two ranks exchanged messages of different sizes (bootstrap.cc): different code paths, NCCL
/// versions or settings.
struct BootstrapMessageTruncated {
  int64_t received = -1;  ///< Bytes.
  int64_t expected = -1;  ///< Bytes.

  static constexpr std::string_view kKind = "bootstrap_message_truncated";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Two ranks exchanged messages of different sizes during the rendezvous: they run different "
      "code, NCCL versions or settings."};
  static constexpr Wording kWordings[] = {
      {.text = "Message truncated : received {received} bytes instead of {expected}",
       .example = "Message truncated : received 256 bytes instead of 512",
       .quotable = true},
      {.text = "Message truncated : received {received},{:int} bytes instead of {expected},{:int}",
       .example = "Message truncated : received 256,4 bytes instead of 512,4",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("received", self.received);
    visit("expected", self.expected);
  }
};

/// The ring of a split communicator's ranks is closed (bootstrap.cc, 2.18.1 to 2.22.3).
struct BootstrapSplit {
  Hex comm;
  Hex parent;
  int rank = -1;
  int nranks = -1;
  int color = -1;
  int key = -1;

  static constexpr std::string_view kKind = "bootstrap_split";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Wording kWordings[] = {
      {.text = "bootstrapSplit: comm {comm} parent {parent} rank {rank} nranks {nranks} color "
               "{color} key {key} prev {:int} next {:int} - DONE",
       .example = "bootstrapSplit: comm 0x7f20b0 parent 0x7f10a0 rank 1 nranks 8 color 1 key 3 "
                  "prev 0 next 2 - DONE"},
      {.text = "bootstrapSplit: rank {rank} nranks {nranks} color {color} key {key} prev {:int} "
               "next {:int} - DONE",
       .example = "bootstrapSplit: rank 1 nranks 8 color 1 key 3 prev 0 next 2 - DONE"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("comm", self.comm);
    visit("parent", self.parent);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("color", self.color);
    visit("key", self.key);
  }
};

/// The bootstrap was closed while messages of other ranks waited (bootstrap.cc): a rank left
/// early.
struct BootstrapLeftover {
  static constexpr std::string_view kKind = "bootstrap_leftover";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Symptom,
      "The rendezvous was closed while messages of other ranks waited, so a rank left early. Look "
      "for the first rank that failed."};
  static constexpr Wording kWordings[] = {
      {.text = "Unexpected connections are not empty",
       .example = "Unexpected connections are not empty",
       .quotable = true},
      {.text = "Unexpected connections are not empty.",
       .example = "Unexpected connections are not empty.",
       .quotable = true},
  };
  static void each_field(auto&, auto&&) {}
};

/// NCCL_COMM_ID or NCCL_RAS_ADDR cannot be read as an address (bootstrap.cc, socket.cc).
struct CommIdInvalid {
  std::string_view text;  ///< NCCL's words.

  static constexpr std::string_view kKind = "comm_id_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Bootstrap;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "NCCL_COMM_ID or NCCL_RAS_ADDR holds no address that NCCL can "
                                    "read. Write it as ip:port, [ipv6]:port or host:port."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Invalid NCCL_COMM_ID}, please use format: {...}",
       .example = "Invalid NCCL_COMM_ID, please use format: <ipv4>:<port> or [<ipv6>]:<port> or "
                  "<hostname>:<port>",
       .quotable = true},
      {.text = "Net : {text:string is null|unsupported IP family}",
       .example = "Net : string is null",
       .quotable = true},
      {.text = "Net : No valid {text:<IPv4_or_hostname>:<port>|[IPv6]:port} pair found",
       .example = "Net : No valid <IPv4_or_hostname>:<port> pair found",
       .quotable = true},
      {.text = "Net : error encountered when getting address info : {text...}",
       .example = "Net : error encountered when getting address info : Name or service not known",
       .quotable = true,
       .warning =
           {WarnSeverity::Fatal, WarnOrigin::System,
            "A host name could not be resolved. Check DNS, and /etc/hosts in the container."}},
      {.text = "Net : {text:Unsupported address family type}",
       .example = "Net : Unsupported address family type"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using BootstrapMessages =
    Kinds<BootstrapInterface, BootstrapTimings, BootstrapNoInterface, BootstrapRankCountMismatch,
          BootstrapRankTwice, BootstrapRankOutOfRange, BootstrapMessageTruncated, BootstrapSplit,
          BootstrapLeftover, CommIdInvalid>;

}  // namespace ncclog
