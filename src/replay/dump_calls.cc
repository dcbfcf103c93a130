#include "replay/dump_calls.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/framework_calls.h"
#include "replay/call_shape.h"
#include "replay/call_windows.h"

namespace ncclog {
namespace {

struct TypeRow {
  std::string_view torch;
  int datatype;  ///< ncclDataType_t.
};

// c10d/ProcessGroupNCCL.cpp, ncclDataType.
constexpr TypeRow kTypes[] = {
    {"Char", 0},     {"Byte", 1},           {"Bool", 1},         {"Int", 2},
    {"Long", 4},     {"Half", 6},           {"Float", 7},        {"Double", 8},
    {"BFloat16", 9}, {"Float8_e4m3fn", 10}, {"Float8_e5m2", 11},
};

/// -1: NCCL has none for it, or it is not told.
int datatype_of(const FlightRecorderEntry& entry) {
  const auto& types = entry.input_dtypes.empty() ? entry.output_dtypes : entry.input_dtypes;
  if (types.empty()) return -1;
  const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const TypeRow& one) { return one.torch == types.front(); });
  return row == std::end(kTypes) ? -1 : row->datatype;
}

/// As NCCL counts: what one rank gives or, of ReduceScatter and Scatter, gets. -1: unknown.
int64_t count_of(const FlightRecorderEntry& entry, std::string_view op, size_t nranks) {
  const bool by_output = op == "ReduceScatter" || op == "Scatter";
  const int64_t count = element_count(by_output ? entry.output_sizes : entry.input_sizes);
  if (op != "AlltoAll") return count;
  const auto parts = static_cast<int64_t>(nranks);
  const bool is_even =
      count >= 0 && count % parts == 0 && count == element_count(entry.output_sizes);
  return is_even ? count / parts : -1;
}

bool can_be_made(const RecordedRank& rank, int64_t number, size_t nranks) {
  const FlightRecorderEntry* entry = rank.call(number);
  return entry == nullptr || call_of_entry(*entry, nranks).has_value();
}

}  // namespace

std::optional<PlannedCall> call_of_entry(const FlightRecorderEntry& entry, size_t nranks) {
  const std::string_view op = nccl_function(entry.profiling_name);
  if (!is_replayable(op) || is_message(op) || entry.collective_seq_id < 1) return std::nullopt;
  PlannedCall call;
  call.index = static_cast<uint64_t>(entry.collective_seq_id) - 1;
  call.op = op;
  call.count = count_of(entry, op, nranks);
  call.datatype = datatype_of(entry);
  call.root = has_root(op) ? 0 : -1;
  call.in_place = op == "AllReduce" || op == "Broadcast" || op == "Reduce";
  if (call.count < 0 || call.datatype < 0) return std::nullopt;
  return call;
}

bool DumpWindow::holds(int64_t number) const {
  return from <= number && number <= to &&
         !std::binary_search(left_out.begin(), left_out.end(), number);
}

std::vector<const RecordedRank*> known_ranks(const RecordedGroup& group) {
  std::vector<const RecordedRank*> known;
  if (!group.is_numbered_alike) return known;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump != nullptr && !rank.calls.empty()) known.push_back(&rank);
  }
  return known.size() < 2 ? std::vector<const RecordedRank*>{} : known;
}

DumpWindow dump_window(const RecordedGroup& group, int64_t common, uint64_t last) {
  DumpWindow window;
  window.from = std::max<int64_t>(1, common - static_cast<int64_t>(last) + 1);
  int64_t end = 0;
  for (const RecordedRank* rank : known_ranks(group)) {
    window.from = std::max(window.from, rank->calls.front()->collective_seq_id);
    end = std::max(end, rank->calls.back()->collective_seq_id);
  }
  window.to = std::min(end, common + static_cast<int64_t>(kBeyond));
  for (int64_t number = window.from; number <= window.to; ++number) {
    const bool can = std::all_of(group.ranks.begin(), group.ranks.end(), [&](const auto& rank) {
      return rank.dump == nullptr || can_be_made(rank, number, group.ranks.size());
    });
    if (!can) window.left_out.push_back(number);
  }
  return window;
}

}  // namespace ncclog
