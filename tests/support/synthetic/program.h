// What the program on each rank does, call by call, as long as nothing is wrong.
//
//   init world, init tp, … | barrier | per iteration: broadcast of the batch in tp, per layer two
//   AllReduce in tp, Send and Recv between stages, ReduceScatter and AllGather in dp, AllReduce of
//   the gradient's norm in the world | now and then a checkpoint or an evaluation | destroy
//
// Invariant: with the queue of each rank in order, these programs end; every member of a group
// makes the same collectives on it in the same order.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/synthetic/layout.h"

namespace ncclog::testing {

enum class Op { AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, AlltoAll, Send, Recv };

/// As NCCL prints it: "AllReduce".
std::string_view name_of(Op op);

constexpr bool is_point_to_point(Op op) { return op == Op::Send || op == Op::Recv; }
constexpr bool is_rooted(Op op) { return op == Op::Broadcast || op == Op::Reduce; }

/// One call of one rank.
struct Call {
  int group = 0;  ///< Into Layout::groups.
  Op op = Op::AllReduce;
  int64_t count = 1;  ///< Elements, as the caller gives them.
  int datatype = 7;   ///< ncclDataType_t: 7 is float32, 9 bfloat16, 4 int64.
  int redop = 0;      ///< ncclRedOp_t up to 4.
  int root = 0;       ///< Rank in the group; the peer for Send and Recv.
  bool is_user_redop =
      false;  ///< Made by ncclRedOpCreatePreMulSum: each rank prints its own number.

  bool operator==(const Call&) const = default;
};

/// One thing that a rank's host thread does.
struct Step {
  enum class Kind {
    Init,     ///< Makes the communicator of `group`, and waits for its members.
    Calls,    ///< Enqueues `calls`; several are one group call.
    Sync,     ///< Waits until everything enqueued is done.
    Marker,   ///< Prints `iteration`, if the rank is the one that prints.
    Destroy,  ///< Frees the communicator of `group`.
    Sleep,    ///< Busy elsewhere until after the others' timeout.
    Stop,     ///< Busy elsewhere for good.
    Die,      ///< Killed, once what it enqueued is done.
  };
  Kind kind = Kind::Calls;
  int group = -1;
  int iteration = -1;  ///< -1: before or after the loop.
  std::vector<Call> calls;
  bool is_replayed = false;  ///< Part of a CUDA graph that was captured before: nothing is logged.
};

using Program = std::vector<Step>;

/// How the training loop looks; the same for all ranks.
struct LoopShape {
  int iterations = 3;
  int layers = 2;
  int microbatches = 1;
  bool is_lazy = false;            ///< Communicators are made at their first use, not at the start.
  bool syncs = true;               ///< The host waits at the end of each iteration.
  bool zero = true;                ///< ReduceScatter and AllGather in dp, else AllReduce.
  bool sequence_parallel = false;  ///< AllGather and ReduceScatter in tp, else AllReduce.
  bool has_user_redop = false;
  bool is_graph = false;      ///< Layers of iterations from 2 on are replayed.
  bool has_alltoall = false;  ///< The experts' exchange is one AlltoAll, else Sends and Recvs.
  int checkpoint_every = 0;   ///< Iterations; 0: never. Likewise evaluation.
  int evaluate_every = 0;
  bool remakes_group = false;  ///< Frees one kind's communicators halfway and makes them again.
  bool destroys = true;        ///< Frees all communicators at the end.
  std::vector<int64_t> buckets = {1048576};  ///< Elements of the gradient's parts.
};

LoopShape make_loop_shape(const Layout& layout, Seeded& seeded);

/// One program a rank.
std::vector<Program> make_programs(const Layout& layout, const LoopShape& shape);

}  // namespace ncclog::testing
