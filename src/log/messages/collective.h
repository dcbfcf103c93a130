// What the application asked NCCL to do, in the order of its calls.
//
//   AllReduce: opCount 1a sendbuff 0x7f21e0000000 recvbuff 0x7f21e0000000 count 1048576 datatype 7
//   op 0 root 0 comm 0x7f10a0 [nranks=16] stream 0x5581aa30
//
// Needs NCCL_DEBUG_SUBSYS=COLL (or CALL). opCount is no sequence number in several releases: order
// calls by their lines within a communicator and a process.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// An operation was enqueued (enqueue.cc), on the caller's thread, before it runs.
/// AllGather and Broadcast give bytes with datatype 0 from 2.7.3 to 2.21.5; Send has its buffer
/// in recvbuff from 2.12.7 on.
struct CollectiveCall {
  std::string_view op;  ///< "AllReduce"; ncclBcast prints "Broadcast".
  Hex op_count;  ///< Shared by the operations of a group; stays 0 on a single node since 2.27.3.
  Hex sendbuff;
  Hex recvbuff;
  int64_t count = -1;  ///< Elements.
  int datatype = -1;   ///< ncclDataType_t, see log/nccl_names.h.
  int redop = -1;      ///< ncclRedOp_t; 5 and above are the user's own.
  int root = -1;       ///< Peer for Send and Recv.
  Hex comm;            ///< Pointer in this process.
  int nranks = -1;

  static constexpr std::string_view kKind = "collective_call";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Wording kWordings[] = {
      {.text = "{op:AllReduce|Broadcast|Reduce|AllGather|ReduceScatter|Send|Recv|AlltoAll|Gather|"
               "Scatter|PutSignal|Signal|WaitSignal}: opCount {op_count} sendbuff {sendbuff} "
               "recvbuff {recvbuff} count {count} datatype {datatype} op {redop} root {root} comm "
               "{comm} [nranks={nranks}] stream {:hex}",
       .example = "AllReduce: opCount 1a sendbuff 0x7f21e0000000 recvbuff 0x7f21e0000000 count "
                  "1048576 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] stream 0x5581aa30"},
      // Operations of releases to come.
      {.text =
           "{op:word}: opCount {op_count} sendbuff {sendbuff} recvbuff {recvbuff} count {count} "
           "datatype {datatype} op {redop} root {root} comm {comm} [nranks={nranks}] stream "
           "{:hex}",
       .example = "AllGatherV: opCount 1a sendbuff 0x7f21e0000000 recvbuff 0x7f21e0000000 count "
                  "4096 datatype 7 op 0 root 0 comm 0x7f10a0 [nranks=16] stream 0x5581aa30",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("op_count", self.op_count);
    visit("sendbuff", self.sendbuff);
    visit("recvbuff", self.recvbuff);
    visit("count", self.count);
    visit("datatype", self.datatype);
    visit("redop", self.redop);
    visit("root", self.root);
    visit("comm", self.comm);
    visit("nranks", self.nranks);
  }
};

/// A call of an operation (enqueue.cc; level CALL, 2.13.4 and later). Counts as in
/// collective_call.
struct CallTrace {
  std::string_view op;  ///< "AllReduce".
  Hex sendbuff;
  Hex recvbuff;
  int64_t count = -1;
  int datatype = -1;  ///< ncclDataType_t, see log/nccl_names.h.
  int redop = -1;
  int root = -1;
  Hex comm;
  Hex stream;

  static constexpr std::string_view kKind = "call_trace";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Call;
  static constexpr Wording kWordings[] = {
      {.text =
           "nccl{op:word}({sendbuff},{recvbuff},{count},{datatype},{redop},{root},{comm},{stream})",
       .example = "ncclAllReduce(7f21e0000000,7f21e0000000,1048576,7,0,0,0x7f10a0,(nil))"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("sendbuff", self.sendbuff);
    visit("recvbuff", self.recvbuff);
    visit("count", self.count);
    visit("datatype", self.datatype);
    visit("redop", self.redop);
    visit("root", self.root);
    visit("comm", self.comm);
    visit("stream", self.stream);
  }
};

/// A call that makes a communicator (init.cc; level CALL, 2.13.4 and later).
struct CallInit {
  std::string_view function;
  Hex comm;  ///< The new one; in ncclCommGrow the one that grows.
  int nranks = -1;
  Hex comm_id;
  int rank = -1;
  int cuda_dev = -1;
  Hex parent;  ///< Of ncclCommSplit.
  int color = -1;
  int key = -1;

  static constexpr std::string_view kKind = "call_init";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Call;
  static constexpr Wording kWordings[] = {
      {.text = "{function:ncclCommInitRank}({comm}, {nranks}, {comm_id}, {rank}, {cuda_dev})",
       .example = "ncclCommInitRank(0x7f10a0, 16, 0x9c1b2f0a77d01e55, 3, 3)"},
      // Up to 2.15.5.
      {.text = "{function:ncclCommInitRank}({comm},{nranks},{comm_id},{rank},{cuda_dev})",
       .example = "ncclCommInitRank(0x7f10a0,16,0x9c1b2f0a77d01e55,3,3)"},
      {.text = "{function:ncclCommSplit}({parent}, {color}, {key}, {comm}, {rank}, {nranks})",
       .example = "ncclCommSplit(0x7f10a0, 1, 3, 0x7f20b0, 1, 8)"},
      {.text = "{function:ncclCommGrow}({comm}, {nranks}, {:hex})",
       .example = "ncclCommGrow(0x7f10a0, 17, 0x7f20b0)"},
      {.text = "{function:ncclGetUniqueId}({comm_id})",
       .example = "ncclGetUniqueId(0x9c1b2f0a77d01e55)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("comm", self.comm);
    visit("nranks", self.nranks);
    visit("comm_id", self.comm_id);
    visit("rank", self.rank);
    visit("cuda_dev", self.cuda_dev);
    visit("parent", self.parent);
    visit("color", self.color);
    visit("key", self.key);
  }
};

/// A call that makes or frees a reduction of the user's own (enqueue.cc; level CALL, 2.13.4 and
/// later).
struct CallRedOp {
  std::string_view function;
  int redop = -1;
  int datatype = -1;  ///< Of the scalar; -1 when it is freed.
  Hex comm;

  static constexpr std::string_view kKind = "call_redop";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Call;
  static constexpr Wording kWordings[] = {
      {.text = "{function:ncclRedOpCreatePreMulSum}({redop},{:hex},{datatype},{:int},{comm})",
       .example = "ncclRedOpCreatePreMulSum(5,0x7f21e0,7,1,0x7f10a0)"},
      {.text = "{function:ncclRedOpDestroy}({redop},{comm})",
       .example = "ncclRedOpDestroy(5,0x7f10a0)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("redop", self.redop);
    visit("datatype", self.datatype);
    visit("comm", self.comm);
  }
};

/// A group of calls begins or ends (level CALL, 2.13.4 and later).
struct GroupMark {
  std::string_view function;

  static constexpr std::string_view kKind = "group_mark";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Call;
  static constexpr Wording kWordings[] = {
      {.text = "{function:ncclGroupStart|ncclGroupEnd|ncclGroupSimulateEnd}()",
       .example = "ncclGroupStart()"},
  };
  static void each_field(auto& self, auto&& visit) { visit("function", self.function); }
};

/// Algorithm and protocol that an operation runs with (enqueue.cc, 2.20.3 and later; rank 0 of
/// the communicator only).
struct TuningChoice {
  std::string_view op;  ///< Empty in 2.20 to 2.22.
  int64_t bytes = -1;
  /// Name from 2.24.3 on, number before; for symmetric kernels the kernel.
  std::string_view algorithm;
  std::string_view protocol;  ///< Empty where there is none.
  std::string_view time;      ///< Expected microseconds; empty from 2.24.3 on.
  int threads = -1;           ///< Per block, for symmetric kernels; else -1.
  int works = -1;             ///< Operations that run together; -1 if not printed.
  std::string_view channels;  ///< "{0..15}", first and last; empty where not printed.

  static constexpr std::string_view kKind = "tuning_choice";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Wording kWordings[] = {
      {.text = "{op:word}: {bytes} Bytes -> Algo {algorithm:word} proto {protocol:word} "
               "channel{}={channels...}",
       .example = "AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}"},
      {.text = "{op:word}: {bytes} Bytes -> Algo {algorithm:word} proto {protocol:word} time "
               "{time:word}",
       .example = "AllReduce: 4194304 Bytes -> Algo 1 proto 2 time 55.099998"},
      {.text = "{bytes} Bytes -> Algo {algorithm:word} proto {protocol:word} time {time:word}",
       .example = "4194304 Bytes -> Algo 1 proto 2 time 55.099998"},
      {.text = "{op:word} [Symmetric]: {bytes} Bytes -> Kernel {algorithm:word} nchannels "
               "{channels:int} nthreads {threads}",
       .example = "AllReduce [Symmetric]: 8192 Bytes -> Kernel AllReduce_AGxLL_R nchannels 8 "
                  "nthreads 512"},
      {.text = "{op:word} [Symmetric]: {bytes} Bytes -> Kernel {algorithm:word} nchannels "
               "{channels:int} nthreads {threads} nWorks {works}",
       .example = "AllReduce [Symmetric]: 8192 Bytes -> Kernel AllReduce_AGxLL_R nchannels 8 "
                  "nthreads 512 nWorks 1"},
      {.text = "{op:word} [Copy Engine]: {bytes} Bytes -> {algorithm...}",
       .example = "AllGather [Copy Engine]: 16777216 Bytes -> cudaMemcpy"},
      {.text = "{op:word} [Hierarchical CE]: {bytes} Bytes -> {algorithm...}",
       .example = "AllGather [Hierarchical CE]: 16777216 Bytes -> RMA proxy + CE"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("bytes", self.bytes);
    visit("algorithm", self.algorithm);
    visit("protocol", self.protocol);
    visit("time", self.time);
    visit("threads", self.threads);
    visit("works", self.works);
    visit("channels", self.channels);
  }
};

/// CUDA graphs are captured although the application said they would not be (profiler.cc,
/// 2.29.2 and later).
struct GraphUsageViolated {
  static constexpr std::string_view kKind = "graph_usage_violated";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Wording kWordings[] = {
      {.text = "Comm config graphUsageMode is set to {:int} but the user is capturing graphs on "
               "the stream. {...}",
       .example = "Comm config graphUsageMode is set to 0 but the user is capturing graphs on the "
                  "stream. Violating graphUsageMode semantics can lead to hangs!"},
  };
  static void each_field(auto&, auto&&) {}
};

/// Ranks registered different windows or offsets for one operation (misc/argcheck.cc, 2.29.7
/// and later; NCCL_CHECK_MODE).
struct SymmetricCheckFailed {
  std::string_view op;
  int rank = -1;
  std::string_view text;

  static constexpr std::string_view kKind = "symmetric_check_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Ranks pass different windows or offsets to one collective over symmetric memory. Register "
      "the same buffers at the same offsets on all ranks."};
  static constexpr Wording kWordings[] = {
      {.text = "Coll {op:word} size {:int} symmetric registration check failed on rank {rank}: "
               "{text...}",
       .example = "Coll AllReduce size 8192 symmetric registration check failed on rank 3: send "
                  "buffer window (0x10) mismatch with rank 0 (0x0)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("rank", self.rank);
    visit("text", self.text);
  }
};

using CollectiveMessages = Kinds<CollectiveCall, CallTrace, CallInit, CallRedOp, GroupMark,
                                 TuningChoice, GraphUsageViolated, SymmetricCheckFailed>;

}  // namespace ncclog
