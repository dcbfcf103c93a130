#include "support/synthetic/program.h"

#include <algorithm>
#include <array>
#include <set>

namespace ncclog::testing {
namespace {

constexpr int kInt64 = 4;
constexpr int kFloat = 7;
constexpr int kBfloat16 = 9;
constexpr int64_t kActivation = 524288;

/// Writes one rank's program.
class Writer {
 public:
  Writer(const Layout& layout, const LoopShape& shape, int rank)
      : layout_(layout), shape_(shape), rank_(rank) {}

  Program write() {
    if (!shape_.is_lazy) {
      for (size_t g = 0; g < layout_.groups.size(); ++g) init(static_cast<int>(g));
    }
    prologue();
    for (iteration_ = 0; iteration_ < shape_.iterations; ++iteration_) iteration();
    iteration_ = -1;
    sync();
    call(GroupKind::World, {.op = Op::AllReduce});
    sync();
    if (shape_.destroys) destroy_all();
    return std::move(steps_);
  }

 private:
  int group(GroupKind kind) const { return layout_.group_of(kind, rank_); }

  Step& add(Step::Kind kind) {
    Step& step = steps_.emplace_back();
    step.kind = kind;
    step.iteration = iteration_;
    return step;
  }

  void sync() { add(Step::Kind::Sync); }

  /// All of a split's parent take part in it, so it cannot be put off to a first use.
  void init(int g) {
    const Group& group = layout_.groups[static_cast<size_t>(g)];
    if (!group.has(rank_) || !made_.insert(g).second) return;
    add(Step::Kind::Init).group = g;
  }

  void init_splits() {
    for (size_t g = 0; g < layout_.groups.size(); ++g) {
      if (layout_.groups[g].is_split) init(static_cast<int>(g));
    }
  }

  void destroy_all() {
    for (size_t g = layout_.groups.size(); g-- > 0;) {
      if (layout_.groups[g].has(rank_)) add(Step::Kind::Destroy).group = static_cast<int>(g);
    }
  }

  /// Enqueues `calls` as one group call. The groups are made first if they are not yet.
  void enqueue(std::vector<Call> calls, bool may_replay) {
    if (calls.empty()) return;
    for (const Call& call : calls) init(call.group);
    Step& step = add(Step::Kind::Calls);
    step.calls = std::move(calls);
    step.is_replayed = may_replay && shape_.is_graph && iteration_ >= 2;
  }

  void call(GroupKind kind, Call call, bool may_replay = false) {
    call.group = group(kind);
    if (call.group >= 0) enqueue({call}, may_replay);
  }

  /// The group over which gradients are reduced: all ranks where nothing else divides them.
  GroupKind data_kind() const {
    return layout_.tensor * layout_.pipeline > 1 ? GroupKind::Data : GroupKind::World;
  }

  void prologue() {
    call(GroupKind::World, {.op = Op::AllReduce});
    init_splits();
    call(data_kind(), {.op = Op::Broadcast, .count = 4 * shape_.buckets[0], .datatype = kBfloat16});
    sync();
  }

  /// Sends and receives of one exchange with the stages before and after.
  struct Exchange {
    bool from_before = false, to_before = false, from_after = false, to_after = false;
  };

  void add_peer(std::vector<Call>& calls, Op op, int direction) const {
    const int stage = layout_.stage_of(rank_);
    const int neighbour = stage + direction;
    if (neighbour < 0 || neighbour >= layout_.pipeline) return;
    Call call{.op = op, .count = kActivation, .datatype = kBfloat16};
    if (!layout_.has_pairs) {
      call.group = group(GroupKind::Pipeline);
      call.root = neighbour;
    } else {
      const int width = layout_.tensor * layout_.data;
      call.group = layout_.group_of(GroupKind::Pair, direction > 0 ? rank_ : rank_ - width);
      call.root = direction > 0 ? 1 : 0;
    }
    calls.push_back(call);
  }

  void exchange(Exchange with) {
    std::vector<Call> calls;
    if (with.from_before) add_peer(calls, Op::Recv, -1);
    if (with.to_before) add_peer(calls, Op::Send, -1);
    if (with.from_after) add_peer(calls, Op::Recv, 1);
    if (with.to_after) add_peer(calls, Op::Send, 1);
    enqueue(std::move(calls), false);
  }

  void tensor_layer() {
    if (shape_.sequence_parallel) {
      const int64_t part = kActivation / layout_.tensor;
      call(GroupKind::Tensor, {.op = Op::AllGather, .count = part, .datatype = kBfloat16}, true);
      call(GroupKind::Tensor, {.op = Op::ReduceScatter, .count = part, .datatype = kBfloat16},
           true);
    } else {
      const Call reduce{.op = Op::AllReduce, .count = kActivation, .datatype = kBfloat16};
      call(GroupKind::Tensor, reduce, true);
      call(GroupKind::Tensor, reduce, true);
    }
  }

  /// Tokens go to their experts; how many differs by pair and iteration, and both ends know it.
  void expert_exchange() {
    const int g = group(GroupKind::Expert);
    if (g < 0) return;
    if (shape_.has_alltoall) {
      call(GroupKind::Expert, {.op = Op::AlltoAll, .count = 4096, .datatype = kBfloat16}, true);
      return;
    }
    const Group& experts = layout_.groups[static_cast<size_t>(g)];
    const int own = experts.rank_of(rank_);
    const auto tokens = [&](int from, int to) {
      return int64_t{1024} * (1 + (from * 7 + to * 3 + iteration_) % 5);
    };
    std::vector<Call> calls;
    for (int peer = 0; peer < experts.size(); ++peer) {
      calls.push_back({g, Op::Send, tokens(own, peer), kBfloat16, 0, peer});
      calls.push_back({g, Op::Recv, tokens(peer, own), kBfloat16, 0, peer});
    }
    enqueue(std::move(calls), true);
  }

  void compute() {
    for (int layer = 0; layer < shape_.layers; ++layer) {
      tensor_layer();
      expert_exchange();
    }
  }

  /// All forward passes, then all backward passes.
  void passes_in_turn() {
    for (int m = 0; m < shape_.microbatches; ++m) {
      exchange({.from_before = true});
      compute();
      exchange({.to_after = true});
    }
    for (int m = 0; m < shape_.microbatches; ++m) {
      exchange({.from_after = true});
      compute();
      exchange({.to_before = true});
    }
  }

  /// One forward, one backward: the schedule of Megatron-LM, whose exchanges are group calls.
  void passes_interleaved() {
    const int stage = layout_.stage_of(rank_);
    const int ahead = std::min(shape_.microbatches, layout_.pipeline - stage - 1);
    const int steady = shape_.microbatches - ahead;
    for (int m = 0; m < ahead; ++m) {
      exchange({.from_before = true});
      compute();
      exchange({.to_after = true});
    }
    if (steady > 0) exchange({.from_before = true});
    for (int m = 0; m < steady; ++m) {
      compute();
      exchange({.from_after = true, .to_after = true});
      compute();
      exchange({.from_before = m + 1 < steady, .to_before = true});
    }
    for (int m = 0; m < ahead; ++m) {
      exchange({.from_after = true});
      compute();
      exchange({.to_before = true});
    }
  }

  void reduce_gradients() {
    const int n = layout_.groups[static_cast<size_t>(std::max(0, group(data_kind())))].size();
    for (const int64_t bucket : shape_.buckets) {
      Call reduce{.op = Op::AllReduce, .count = bucket, .datatype = kFloat};
      reduce.is_user_redop = shape_.has_user_redop;
      if (shape_.zero) {
        reduce.op = Op::ReduceScatter;
        reduce.count = std::max<int64_t>(1, bucket / n);
      }
      call(data_kind(), reduce);
    }
    if (!shape_.zero) return;
    for (const int64_t bucket : shape_.buckets) {
      call(data_kind(),
           {.op = Op::AllGather, .count = std::max<int64_t>(1, bucket / n), .datatype = kBfloat16});
    }
  }

  void checkpoint() {
    sync();
    call(GroupKind::World, {.op = Op::AllReduce});
    call(data_kind(), {.op = Op::AllGather, .count = 64, .datatype = kInt64});
    call(GroupKind::World, {.op = Op::AllReduce});
    sync();
  }

  void evaluate() {
    compute();
    call(GroupKind::World, {.op = Op::Reduce, .count = 2, .datatype = kFloat});
    call(GroupKind::World, {.op = Op::Broadcast, .count = 1, .datatype = kInt64});
  }

  /// The allocator gives the new communicator the old one's address.
  void remake() {
    const int g = group(GroupKind::Tensor) >= 0 ? group(GroupKind::Tensor) : group(GroupKind::Data);
    if (g < 0 || layout_.groups[static_cast<size_t>(g)].is_split || !made_.contains(g)) return;
    sync();
    add(Step::Kind::Destroy).group = g;
    add(Step::Kind::Init).group = g;
  }

  bool is_due(int every) const { return every > 0 && (iteration_ + 1) % every == 0; }

  void iteration() {
    call(GroupKind::Tensor, {.op = Op::Broadcast, .count = 8193, .datatype = kInt64});
    if (layout_.has_pairs) {
      passes_in_turn();
    } else {
      passes_interleaved();
    }
    reduce_gradients();
    call(GroupKind::World, {.op = Op::AllReduce, .count = 1, .datatype = kFloat});
    call(GroupKind::World, {.op = Op::AllReduce, .count = 1, .datatype = kFloat, .redop = 2});
    if (shape_.syncs) sync();
    add(Step::Kind::Marker);
    if (is_due(shape_.evaluate_every)) evaluate();
    if (is_due(shape_.checkpoint_every)) checkpoint();
    if (shape_.remakes_group && iteration_ == shape_.iterations / 2) remake();
  }

  const Layout& layout_;
  const LoopShape& shape_;
  int rank_;
  int iteration_ = -1;
  std::set<int> made_;  ///< Groups whose communicator this rank has made.
  Program steps_;
};

}  // namespace

std::string_view name_of(Op op) {
  constexpr std::string_view kNames[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast",
                                         "Reduce",    "AlltoAll",  "Send",          "Recv"};
  return kNames[static_cast<size_t>(op)];
}

LoopShape make_loop_shape(const Layout& layout, Seeded& seeded) {
  const bool is_large = layout.world > 64;
  LoopShape shape;
  shape.iterations = is_large ? 3 : layout.world > 16 ? seeded.between(3, 5) : seeded.between(5, 8);
  shape.layers = is_large ? 1 : seeded.between(1, 3);
  shape.microbatches = is_large ? 1 : seeded.between(1, 3);
  shape.is_lazy = seeded.chance(40);
  shape.syncs = seeded.chance(70);
  shape.zero = seeded.chance(60);
  shape.sequence_parallel = seeded.chance(30);
  shape.has_user_redop = seeded.chance(25);
  shape.is_graph = seeded.chance(6);
  shape.has_alltoall = seeded.chance(50);
  shape.checkpoint_every = seeded.chance(40) ? seeded.between(1, 3) : 0;
  shape.evaluate_every = seeded.chance(40) ? seeded.between(1, 3) : 0;
  shape.remakes_group = seeded.chance(25);
  shape.destroys = seeded.chance(60);
  shape.buckets.clear();
  for (int b = is_large ? 1 : seeded.between(1, 3); b > 0; --b) {
    shape.buckets.push_back(int64_t{65536} * seeded.between(1, 64));
  }
  return shape;
}

std::vector<Program> make_programs(const Layout& layout, const LoopShape& shape) {
  std::vector<Program> programs;
  programs.reserve(static_cast<size_t>(layout.world));
  for (int rank = 0; rank < layout.world; ++rank) {
    programs.push_back(Writer(layout, shape, rank).write());
  }
  return programs;
}

}  // namespace ncclog::testing
