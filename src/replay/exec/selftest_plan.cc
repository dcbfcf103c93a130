#include "replay/exec/selftest_plan.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

constexpr int kDatatypes = 12;
constexpr int kFirstFloat8 = 10;
constexpr int kReductions = 5;
constexpr int64_t kCounts[] = {1, 1031, 65539};
constexpr int kCommunicators = 2;
constexpr const char* kCollectives[] = {"AllReduce",     "Broadcast", "Reduce", "AllGather",
                                        "ReduceScatter", "AlltoAll",  "Gather", "Scatter"};

/// Adds calls to all ranks of a plan.
class Author {
 public:
  explicit Author(ReplayPlan& plan) : plan_(plan) {}

  void add_collective(PlannedCall call) {
    call.communicator = static_cast<int>(written_ % kCommunicators);
    call.index = collectives_[call.communicator]++;
    call.root = has_root(call.op) ? static_cast<int>(written_ % nranks()) : -1;
    ++written_;
    for (PlannedRank& rank : plan_.ranks) rank.calls.push_back(call);
  }

  /// Each rank sends to the next one and receives from the one before.
  void add_messages(PlannedCall call) {
    call.group = groups_++;
    call.index = messages_++;
    const int count = static_cast<int>(nranks());
    for (int rank = 0; rank < count; ++rank) {
      call.op = "Send";
      call.root = (rank + 1) % count;
      plan_.ranks[static_cast<size_t>(rank)].calls.push_back(call);
      call.op = "Recv";
      call.root = (rank + count - 1) % count;
      plan_.ranks[static_cast<size_t>(rank)].calls.push_back(call);
    }
  }

 private:
  uint64_t nranks() const { return plan_.ranks.size(); }

  ReplayPlan& plan_;
  uint64_t written_ = 0;
  uint64_t collectives_[kCommunicators] = {};
  uint64_t messages_ = 0;
  int groups_ = 0;
};

PlannedCall call_of(const char* op, int64_t count, int datatype) {
  return {.communicator = 0,
          .op = op,
          .count = count,
          .datatype = datatype,
          .send_offset = 16,
          .recv_offset = 48};
}

void add_variants(Author& author, PlannedCall call, int reductions) {
  for (int redop = 0; redop < reductions; ++redop) {
    call.redop = redop;
    call.in_place = false;
    author.add_collective(call);
    if (call.op == "AlltoAll") continue;  // NCCL does not define it in place.
    call.in_place = true;
    author.add_collective(call);
  }
}

void add_calls(Author& author, int datatype, int64_t count, bool is_reduced) {
  for (const char* op : kCollectives) {
    if (!is_reduction(op)) {
      add_variants(author, call_of(op, count, datatype), 1);
    } else if (is_reduced) {
      add_variants(author, call_of(op, count, datatype), kReductions);
    }
  }
  author.add_messages(call_of("Send", count, datatype));
}

}  // namespace

ReplayPlan selftest_plan(int nranks, bool reduces_float8) {
  ReplayPlan plan;
  plan.recorded_nranks = nranks;
  plan.recorded_nhosts = 1;
  plan.ranks.resize(static_cast<size_t>(nranks));
  std::vector<int> ranks(static_cast<size_t>(nranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  for (const int rank : ranks) plan.ranks[static_cast<size_t>(rank)].recorded_rank = rank;
  plan.communicators.push_back({.id = "all", .ranks = ranks, .recorded_nranks = nranks});
  std::reverse(ranks.begin(), ranks.end());
  plan.communicators.push_back(
      {.id = "reversed", .ranks = ranks, .recorded_nranks = nranks, .parent = 0});
  Author author(plan);
  for (int datatype = 0; datatype < kDatatypes; ++datatype) {
    for (const int64_t count : kCounts) {
      add_calls(author, datatype, count, datatype < kFirstFloat8 || reduces_float8);
    }
  }
  return plan;
}

SelftestTarget selftest_target(const ReplayPlan& plan, std::string_view op) {
  const int rank = static_cast<int>(plan.ranks.size()) - 1;
  const std::vector<PlannedCall> calls = calls_in(plan.ranks.back(), MadeIn::Clean);
  for (size_t i = calls.size(); i-- > 0;) {
    if (calls[i].op == op && calls[i].count > 1031) return {rank, i, 1031};
  }
  throw Error("the plan has no call of " + std::string(op));
}

}  // namespace ncclog
