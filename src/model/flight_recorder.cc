#include "model/flight_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace ncclog {

std::string_view to_string(RecordedState state) {
  switch (state) {
    case RecordedState::Unknown:
      return "";
    case RecordedState::Scheduled:
      return "scheduled";
    case RecordedState::Started:
      return "started";
    case RecordedState::Completed:
      return "completed";
  }
  return "";
}

std::string sizes_text(const TensorSizes& sizes, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, sizes.size()); ++i) {
    text += fmt::format("{}[{}]", i == 0 ? "" : " ", fmt::join(sizes[i], ", "));
  }
  if (sizes.size() > most) text += fmt::format(" and {} more", sizes.size() - most);
  return text;
}

std::string_view nccl_function(std::string_view profiling_name) {
  struct Row {
    std::string_view torch;
    std::string_view nccl;
  };
  // c10d/ProcessGroupNCCL.cpp: the names that its collectives give to the profiler.
  static constexpr Row kRows[] = {
      {"all_reduce", "AllReduce"},
      {"all_reduce_barrier", "AllReduce"},
      {"allreduce_coalesced", "AllReduce"},
      {"all_reduce_sparse", "AllReduce"},
      {"broadcast", "Broadcast"},
      {"_broadcast_oop", "Broadcast"},
      {"reduce", "Reduce"},
      {"_reduce_oop", "Reduce"},
      {"all_gather", "AllGather"},
      {"_all_gather_base", "AllGather"},
      {"all_gather_into_tensor_coalesced", "AllGather"},
      {"reduce_scatter", "ReduceScatter"},
      {"_reduce_scatter_base", "ReduceScatter"},
      {"reduce_scatter_tensor_coalesced", "ReduceScatter"},
      {"all_to_all", "AlltoAll"},
      {"gather", "Gather"},
      {"scatter", "Scatter"},
      {"send", "Send"},
      {"recv", "Recv"},
  };
  constexpr std::string_view kBackend = "nccl:";
  if (!profiling_name.starts_with(kBackend)) return {};
  profiling_name.remove_prefix(kBackend.size());
  const std::string_view name = profiling_name.substr(0, profiling_name.find(' '));
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows),
                                   [name](const Row& row) { return row.torch == name; });
  return found == std::end(kRows) ? std::string_view() : found->nccl;
}

}  // namespace ncclog
