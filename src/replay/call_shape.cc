#include "replay/call_shape.h"

#include <algorithm>
#include <iterator>

#include "log/nccl_names.h"

namespace ncclog {
namespace {

/// How much of a buffer a function uses on a rank.
enum class Extent { None, Count, CountTimesRanks };

/// How busbw follows from algbw.
enum class BusRule { Same, AllButOne, TwiceAllButOne };

struct Function {
  std::string_view op;
  Extent sent;      ///< On the root, where there is one and `only_root_sends`.
  Extent received;  ///< Likewise with `only_root_receives`.
  bool only_root_sends;
  bool only_root_receives;
  bool reduces;
  bool rooted;
  Extent size;  ///< Of the operation, as nccl-tests counts.
  BusRule bus;
};

constexpr Function kFunctions[] = {
    {"AllReduce", Extent::Count, Extent::Count, false, false, true, false, Extent::Count,
     BusRule::TwiceAllButOne},
    {"Broadcast", Extent::Count, Extent::Count, true, false, false, true, Extent::Count,
     BusRule::Same},
    {"Reduce", Extent::Count, Extent::Count, false, true, true, true, Extent::Count, BusRule::Same},
    {"AllGather", Extent::Count, Extent::CountTimesRanks, false, false, false, false,
     Extent::CountTimesRanks, BusRule::AllButOne},
    {"ReduceScatter", Extent::CountTimesRanks, Extent::Count, false, false, true, false,
     Extent::CountTimesRanks, BusRule::AllButOne},
    {"AlltoAll", Extent::CountTimesRanks, Extent::CountTimesRanks, false, false, false, false,
     Extent::CountTimesRanks, BusRule::AllButOne},
    {"Gather", Extent::Count, Extent::CountTimesRanks, false, true, false, true,
     Extent::CountTimesRanks, BusRule::AllButOne},
    {"Scatter", Extent::CountTimesRanks, Extent::Count, true, false, false, true,
     Extent::CountTimesRanks, BusRule::AllButOne},
    {"Send", Extent::Count, Extent::None, false, false, false, false, Extent::Count, BusRule::Same},
    {"Recv", Extent::None, Extent::Count, false, false, false, false, Extent::Count, BusRule::Same},
};

const Function* find_function(std::string_view op) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [op](const Function& row) { return row.op == op; });
  return found == std::end(kFunctions) ? nullptr : found;
}

int64_t elements(Extent extent, int64_t count, int nranks) {
  if (extent == Extent::None) return 0;
  return extent == Extent::Count ? count : count * nranks;
}

}  // namespace

bool is_replayable(std::string_view op) { return find_function(op) != nullptr; }

bool is_message(std::string_view op) { return op == "Send" || op == "Recv"; }

bool is_reduction(std::string_view op) {
  const Function* function = find_function(op);
  return function != nullptr && function->reduces;
}

bool has_root(std::string_view op) {
  const Function* function = find_function(op);
  return function != nullptr && function->rooted;
}

CallShape shape_of(const PlannedCall& call, int rank, int nranks) {
  const Function* function = find_function(call.op);
  if (function == nullptr) return {};
  const bool sends = !function->only_root_sends || rank == call.root;
  const bool receives = !function->only_root_receives || rank == call.root;
  return {sends ? elements(function->sent, call.count, nranks) : 0,
          receives ? elements(function->received, call.count, nranks) : 0};
}

int64_t operation_bytes(const PlannedCall& call, int nranks) {
  const Function* function = find_function(call.op);
  if (function == nullptr) return 0;
  return elements(function->size, call.count, nranks) * datatype_bytes(call.datatype).value_or(0);
}

double bus_factor(std::string_view op, int nranks) {
  const Function* function = find_function(op);
  if (function == nullptr || nranks < 1) return 1;
  const double all_but_one = static_cast<double>(nranks - 1) / nranks;
  switch (function->bus) {
    case BusRule::AllButOne:
      return all_but_one;
    case BusRule::TwiceAllButOne:
      return 2 * all_but_one;
    case BusRule::Same:
      break;
  }
  return 1;
}

}  // namespace ncclog
