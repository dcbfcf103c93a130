// Calls that NCCL rejects, and ranks that contradict each other.
//
//   Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 50000
//   AllReduce : invalid root 8 (root should be in the 0..8 range)
//
// These name the caller's mistake directly; nothing else needs to be wrong.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Two ranks of a host use one GPU (init.cc, graph/topo.cc). 2.30 prints no rank numbers.
struct DuplicateGpu {
  int rank = -1;  ///< -1 if not printed.
  int other_rank = -1;
  std::string_view bus_id;  ///< Hexadecimal without 0x; empty if not printed.

  static constexpr std::string_view kKind = "duplicate_gpu";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Two ranks of one host use the same GPU. Check LOCAL_RANK, cudaSetDevice and "
      "CUDA_VISIBLE_DEVICES; sharing on purpose needs NCCL_MULTI_RANK_GPU_ENABLE=1."};
  static constexpr Wording kWordings[] = {
      {.text = "Duplicate GPU detected : rank {rank} and rank {other_rank} both on CUDA device "
               "{bus_id:hex}",
       .example = "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 50000",
       .quotable = true},
      {.text = "Multiple Ranks are using the same GPU/Partition. {...}",
       .example = "Multiple Ranks are using the same GPU/Partition. Set "
                  "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this configuration.",
       .quotable = true},
      {.text = "Multiple ranks detected using the same GPU on this node{...}",
       .example = "Multiple ranks detected using the same GPU on this node. Set "
                  "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this configuration.",
       .quotable = true},
      {.text =
           "Detected ranks {rank} and {other_rank} sharing GPU with bus {bus_id:hex} on this node",
       .example = "Detected ranks 0 and 1 sharing GPU with bus 50000 on this node",
       .warning = kNeverWarned},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("other_rank", self.other_rank);
    visit("bus_id", self.bus_id);
  }
};

/// A root or peer outside the communicator (misc/argcheck.cc): often a global rank used inside
/// a smaller communicator.
struct InvalidRoot {
  std::string_view op;  ///< "Broadcast".
  int root = -1;
  int nranks = -1;  ///< As printed behind "0..": the size of the communicator.

  static constexpr std::string_view kKind = "invalid_root";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "A root or peer lies outside the communicator, often because a "
                                    "global rank is used inside a smaller group."};
  static constexpr Wording kWordings[] = {
      {.text = "{op:word} : invalid root {root} (root should be in the 0..{nranks} range)",
       .example = "Broadcast : invalid root 8 (root should be in the 0..8 range)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("root", self.root);
    visit("nranks", self.nranks);
  }
};

/// A call with an argument that cannot be (misc/argcheck.cc, enqueue.cc).
struct InvalidArgument {
  std::string_view op;  ///< "AllReduce", "CommDestroy".
  /// "comm", "type", "reduction operation", "sendbuff"; the words of the complaint where it names
  /// none.
  std::string_view argument;
  std::string_view value;  ///< As printed; empty if it is not.

  static constexpr std::string_view kKind = "invalid_argument";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "A required pointer is null: usually the communicator was "
                                    "destroyed or never finished initialising."};
  static constexpr Warning kReduction{WarnSeverity::Fatal, WarnOrigin::User,
                                      "A reduction that the program made belongs to another "
                                      "communicator or type, or is destroyed already."};
  static constexpr Warning kUnknownPointer{
      WarnSeverity::Fatal, WarnOrigin::User,
      "CUDA does not know this buffer: it is host memory, freed, or of another context. The check "
      "runs because of NCCL_CHECK_POINTERS."};
  static constexpr Warning kOneSided{
      WarnSeverity::Fatal, WarnOrigin::User,
      "An argument of a one-sided call is not allowed in this release; the text names it."};
  static constexpr Wording kWordings[] = {
      {.text = "{op:word} : {argument:word} argument is NULL",
       .example = "CommDestroy : comm argument is NULL",
       .quotable = true},
      {.text = "{op:word} : invalid {argument:type|reduction operation} {value:int}",
       .example = "AllReduce : invalid type 12",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "The data type or reduction is unknown to this library. The program was built "
                   "against newer headers than the NCCL it runs."}},
      {.text =
           "{op:word} : {argument:reduction operation} {value:int} unknown to this communicator",
       .example = "AllReduce : reduction operation 7 unknown to this communicator",
       .quotable = true,
       .warning = kReduction},
      {.text = "{op:word} : {argument:word} {value:hex} is not a valid pointer",
       .example = "AllReduce : sendbuff 0x55d0c0de is not a valid pointer",
       .quotable = true,
       .warning = kUnknownPointer},
      {.text = "{op:word} : {argument:word} is not a valid pointer",
       .example = "AllReduce : sendbuff is not a valid pointer",
       .quotable = true,
       .warning = kUnknownPointer},
      {.text = "{op:ncclRedOpDestroy} : {argument:operator|invalid communicator} {value...}",
       .example = "ncclRedOpDestroy : operator unknown to this communicator.",
       .quotable = true,
       .warning = kReduction},
      // NCCL's typing: two blanks.
      {.text = "{op:ncclRedOpDestroy} :  {argument:operator} {value...}",
       .example = "ncclRedOpDestroy :  operator is garbage.",
       .quotable = true,
       .warning = kReduction},
      {.text = "{argument:Data type} supplied to user-created ncclRedOp_t does not match type "
               "given to reduction operation",
       .example = "Data type supplied to user-created ncclRedOp_t does not match type given to "
                  "reduction operation",
       .quotable = true,
       .warning = kReduction},
      {.text = "{argument:Context|Flags|Signal index} {value:int} is invalid (must be 0)",
       .example = "Context 1 is invalid (must be 0)",
       .quotable = true,
       .warning = kOneSided},
      {.text = "{op:ncclPutSignal|ncclSignal|ncclWaitSignal}: {value...}",
       .example = "ncclPutSignal: peerWin is NULL",
       .quotable = true,
       .warning = kOneSided},
      {.text = "{op:ncclPutSignal} currently {value...}",
       .example = "ncclPutSignal currently does not support VAs with host-backed cuMem segments",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "One-sided puts cannot use memory that is split over several physical segments "
                   "or backed by the host."}},
      {.text = "{argument:Deregister}: Could not find handle",
       .example = "Deregister: Could not find handle",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "ncclCommDeregister got a handle that this communicator does not know, perhaps "
                   "for the second time."}},
      {.text = "{argument:FP8 reduction} support begins with sm90 capable devices.",
       .example = "FP8 reduction support begins with sm90 capable devices.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "Reductions in fp8 need a GPU of generation sm90 or later. Use another data "
                   "type on this one."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("argument", self.argument);
    visit("value", self.value);
  }
};

/// A buffer lies on another GPU than the communicator's (misc/argcheck.cc; only with
/// NCCL_CHECK_POINTERS).
struct WrongDevicePointer {
  std::string_view op;
  std::string_view pointer;  ///< "sendbuff" or "recvbuff".
  int device = -1;
  int nccl_device = -1;

  static constexpr std::string_view kKind = "wrong_device_pointer";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A buffer lies on another GPU than the communicator's. Set the right device before "
      "allocating; the check runs because of NCCL_CHECK_POINTERS."};
  static constexpr Wording kWordings[] = {
      {.text = "{op:word} : {pointer:word} allocated on device {device} mismatchs with NCCL device "
               "{nccl_device}",
       .example = "AllReduce : sendbuff allocated on device 0 mismatchs with NCCL device 3",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("pointer", self.pointer);
    visit("device", self.device);
    visit("nccl_device", self.nccl_device);
  }
};

/// A rank, a size or a device out of range when a communicator is made (init.cc).
struct InvalidRank {
  int rank = -1;  ///< Rank or device number; -1 if the line is about a count.
  int nranks = -1;

  static constexpr std::string_view kKind = "invalid_rank";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A rank, size or device number is out of range. Check RANK, WORLD_SIZE and "
      "CUDA_VISIBLE_DEVICES as the launcher sets them."};
  static constexpr Wording kWordings[] = {
      {.text = "Invalid rank requested : {rank}/{nranks}",
       .example = "Invalid rank requested : 8/8",
       .quotable = true},
      {.text = "rank {rank} exceeds ndev={nranks}",
       .example = "rank 8 exceeds ndev=8",
       .quotable = true},
      {.text = "Invalid device {rank} (totalnDev={nranks})",
       .example = "Invalid device 8 (totalnDev=8)",
       .quotable = true},
      {.text = "invalid device count ({nranks}) requested",
       .example = "invalid device count (0) requested",
       .quotable = true},
      {.text = "Invalid device count requested : {nranks}",
       .example = "Invalid device count requested : 0",
       .quotable = true},
      {.text = "improper usage of ncclCommInitRank: nId = {rank}, nranks={nranks}",
       .example = "improper usage of ncclCommInitRank: nId = 9, nranks=8",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "The number of unique ids given to ncclCommInitRankScalable is below one or "
                   "above the number of ranks."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("nranks", self.nranks);
  }
};

/// A field of ncclConfig_t out of range, or a structure that was not initialised (init.cc,
/// 2.14.3 and later).
struct InvalidConfig {
  std::string_view attribute;  ///< "blocking", "min/max channels"; the structure's name.
  std::string_view value;      ///< Empty if not printed.

  static constexpr std::string_view kKind = "invalid_config";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A field of the communicator's configuration or NCCL_COMM_BLOCKING is out of range. Correct "
      "the ncclConfig_t of the caller."};
  static constexpr Warning kNotInitialised{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A structure was passed without its initialiser, or by a program built against other "
      "headers. Use the macro that the text names."};
  static constexpr Wording kWordings[] = {
      {.text = "Invalid config {attribute} attribute value {value...}",
       .example = "Invalid config splitShare attribute value 7",
       .quotable = true},
      // NCCL's typing.
      {.text = "Invalig config {attribute} attribute value {value...}",
       .example = "Invalig config graphUsageMode attribute value 7",
       .quotable = true},
      {.text = "{attribute:ncclConfig_t|ncclSimInfo_t} argument not initialized via {...}",
       .example = "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER",
       .quotable = true,
       .warning = kNotInitialised},
      {.text = "Cannot {:create device communicator|get communicator properties}: {attribute:word} "
               "argument must be initialized via {...}",
       .example = "Cannot create device communicator: ncclDevCommRequirements_t argument must be "
                  "initialized via NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER",
       .quotable = true,
       .warning = kNotInitialised},
      {.text = "Invalid {attribute:NCCL_COMM_BLOCKING} value {value:int}",
       .example = "Invalid NCCL_COMM_BLOCKING value 7",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("attribute", self.attribute);
    visit("value", self.value);
  }
};

/// Ranks run different NCCL releases (init.cc, 2.23.4 and later; RAS, 2.24.3 and later).
struct VersionMismatch {
  int rank = -1;     ///< -1 in RAS's form.
  int version = -1;  ///< Code as in nccl.h: 22304 is 2.23.4.
  int other_rank = -1;
  int other_version = -1;
  std::string_view peer;  ///< RAS only.

  static constexpr std::string_view kKind = "version_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "Ranks run different NCCL releases. Load the same library on "
                                    "every node: compare containers, LD_LIBRARY_PATH and wheels."};
  static constexpr Warning kRasOnly{
      WarnSeverity::Degraded, WarnOrigin::System,
      "A RAS peer runs another NCCL release, so its connection is dropped. Two jobs share a RAS "
      "port, or nodes have different libraries."};
  static constexpr Wording kWordings[] = {
      {.text = "Mismatched NCCL version detected : rank {rank} version {version} rank {other_rank} "
               "version {other_version}",
       .example = "Mismatched NCCL version detected : rank 0 version 22304 rank 8 version 22005",
       .quotable = true},
      {.text = "NCCL version mismatch with remote peer {peer} (local: {version}, remote "
               "{other_version})",
       .example =
           "NCCL version mismatch with remote peer 10.1.2.3<41822> (local: 22809, remote 22703)",
       .quotable = true,
       .warning = kRasOnly},
      // 2.30.3 and later print them as text.
      {.text = "NCCL version mismatch with remote peer {peer} (local: {:word}, remote {})",
       .example =
           "NCCL version mismatch with remote peer 10.1.2.3<41822> (local: 2.30.7, remote 2.29.7)",
       .quotable = true,
       .general = true,
       .warning = kRasOnly},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("version", self.version);
    visit("other_rank", self.other_rank);
    visit("other_version", self.other_version);
    visit("peer", self.peer);
  }
};

/// Settings leave no way to run an operation (enqueue.cc): NCCL_ALGO or NCCL_PROTO is too
/// narrow for it.
struct AlgorithmUnavailable {
  std::string_view function;  ///< Empty up to 2.23.
  std::string_view datatype;  ///< Empty up to 2.23.
  std::string_view settings;  ///< "NCCL_ALGO was set to NVLS."; empty where nothing is set.

  static constexpr std::string_view kKind = "algorithm_unavailable";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "No algorithm and protocol is left for this operation and data type. NCCL_ALGO or NCCL_PROTO "
      "is too narrow, or a tuner plugin forbids the rest."};
  static constexpr Wording kWordings[] = {
      {.text = "{:Error : no|No} algorithm/protocol available for function {function:word} with "
               "datatype {datatype}.{settings...}",
       .example = "No algorithm/protocol available for function AllReduce with datatype "
                  "ncclFloat8e4m3. NCCL_ALGO was set to NVLS.",
       .quotable = true},
      // 2.31.
      {.text = "No algorithm/protocol nor symKernelId available for function {function:word} with "
               "datatype {datatype}.{settings...}",
       .example = "No algorithm/protocol nor symKernelId available for function Reduce with "
                  "datatype ncclFloat64. NCCL_ALGO was set to allgather:ring.",
       .quotable = true},
      {.text = "Error : no algorithm/protocol available",
       .example = "Error : no algorithm/protocol available",
       .quotable = true},
      {.text = "Error: no symmetric kernel available for function {function:word}.{settings...}",
       .example =
           "Error: no symmetric kernel available for function AllReduce. NCCL_SYM_KERNEL was set.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "No kernel for symmetric memory is left for this operation. NCCL_SYM_KERNEL is "
                   "too narrow."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("datatype", self.datatype);
    visit("settings", self.settings);
  }
};

/// Two ranks cannot reach each other in any way (transport.cc): P2P and SHM are off or
/// impossible, and there is no network.
struct NoTransport {
  int rank = -1;  ///< -1 up to 2.11.
  int peer = -1;

  static constexpr std::string_view kKind = "no_transport";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Two ranks cannot reach each other: P2P and shared memory are off or impossible, and no "
      "network serves them. Check the NCCL_*_DISABLE settings and the NICs."};
  static constexpr Wording kWordings[] = {
      {.text = "No transport found for rank {rank}[{:hex}] -> rank {peer}[{:hex}]",
       .example = "No transport found for rank 0[1a000] -> rank 1[1b000]",
       .quotable = true},
      {.text = "No transport found !", .example = "No transport found !", .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("peer", self.peer);
  }
};

/// Ranks see different numbers of network devices (init.cc, 2.30.3 and later): a NIC failed or
/// is missing on a node.
struct DeviceCountsMixed {
  std::string_view kind;  ///< "Net" or "CollNet".
  int min = -1;
  int max = -1;

  static constexpr std::string_view kKind = "device_counts_mixed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Detected mixed local {kind:Net|CollNet} device counts across ranks (min {min}, max "
               "{max}). {...}",
       .example = "Detected mixed local Net device counts across ranks (min 7, max 8). Set "
                  "NCCL_IGNORE_NET_MISMATCH=1 to continue.",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "Ranks see different numbers of network devices. Look for a failed NIC, a "
                   "missing driver or another NCCL_IB_HCA on one node."}},
      {.text = "Local {kind:Net|CollNet} device counts across ranks: min {min} max {max}",
       .example = "Local Net device counts across ranks: min 8 max 8"},
      {.text = "Rank {:int} has {min} local {kind:Net|CollNet} devices (max {max}).",
       .example = "Rank 3 has 7 local Net devices (max 8)."},
      {.text = "Rank {:int}: {min} {kind:Net|CollNet} devices", .example = "Rank 3: 8 Net devices"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("min", self.min);
    visit("max", self.max);
  }
};

using UserMessages =
    Kinds<DuplicateGpu, InvalidRoot, InvalidArgument, WrongDevicePointer, InvalidRank,
          InvalidConfig, VersionMismatch, AlgorithmUnavailable, NoTransport, DeviceCountsMixed>;

}  // namespace ncclog
