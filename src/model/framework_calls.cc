#include "model/framework_calls.h"

#include <algorithm>
#include <array>

namespace ncclog {
namespace {

struct WorkRow {
  std::string_view op;
  std::string_view call;
  bool by_output;
};

constexpr std::array kRows = {
    WorkRow{"ALLREDUCE", "AllReduce", false},
    WorkRow{"BROADCAST", "Broadcast", false},
    WorkRow{"REDUCE", "Reduce", false},
    WorkRow{"_ALLGATHER_BASE", "AllGather", false},
    WorkRow{"_REDUCE_SCATTER_BASE", "ReduceScatter", true},
};

const WorkRow* row_of(std::string_view op) {
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [op](const WorkRow& r) { return r.op == op; });
  return row == kRows.end() ? nullptr : row;
}

/// Complex numbers count twice; what NCCL up to 2.21 prints in bytes, as often as they have bytes.
bool count_fits(const CallSignature& call, int64_t elements) {
  constexpr std::array<int64_t, 5> kFactors = {1, 2, 4, 8, 16};
  const bool may_be_bytes = call.op == "AllGather" || call.op == "Broadcast";
  const size_t factors = may_be_bytes ? kFactors.size() : 2;
  return std::any_of(kFactors.begin(), kFactors.begin() + factors, [&](int64_t factor) {
    return call.count % factor == 0 && call.count / factor == elements;
  });
}

}  // namespace

int64_t element_count(const TensorSizes& sizes) {
  if (sizes.empty()) return -1;
  constexpr int64_t kMost = int64_t{1} << 60;
  int64_t all = 0;
  for (const std::vector<int64_t>& tensor : sizes) {
    int64_t elements = 1;
    for (const int64_t dimension : tensor) {
      if (dimension < 0) return -1;
      if (dimension > 0 && elements > kMost / dimension) return -1;
      elements *= dimension;
    }
    if (all > kMost - elements) return -1;
    all += elements;
  }
  return all;
}

bool is_one_call(std::string_view op) { return row_of(op) != nullptr; }

bool is_call_of_work(const CallSignature& call, std::string_view op, int64_t numel_in,
                     int64_t numel_out) {
  const WorkRow* row = row_of(op);
  if (row == nullptr || call.op.view() != row->call) return false;
  const int64_t elements = row->by_output ? numel_out : numel_in;
  return elements >= 0 && count_fits(call, elements);
}

bool is_call_of_entry(const CallSignature& call, const FlightRecorderEntry& entry) {
  if (call.op.view() != nccl_function(entry.profiling_name)) return false;
  const bool by_output = call.op == "ReduceScatter";
  const int64_t elements = element_count(by_output ? entry.output_sizes : entry.input_sizes);
  return elements < 0 || count_fits(call, elements);
}

}  // namespace ncclog
