#include "model/flight_recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/job.h"

namespace ncclog {

std::string sizes_text(const TensorSizes& sizes, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(most, sizes.size()); ++i) {
    text += fmt::format("{}[{}]", i == 0 ? "" : " ", fmt::join(sizes[i], ", "));
  }
  if (sizes.size() > most) text += fmt::format(" and {} more", sizes.size() - most);
  return text;
}

namespace {

/// Complex numbers count twice; what NCCL up to 2.21 prints in bytes, as often as they have bytes.
bool count_fits(const CallSignature& call, int64_t elements) {
  constexpr std::array<int64_t, 5> kFactors = {1, 2, 4, 8, 16};
  const bool may_be_bytes = traits_of(call.op.operation()).may_count_bytes();
  const size_t factors = may_be_bytes ? kFactors.size() : 2;
  return std::any_of(kFactors.begin(), kFactors.begin() + factors, [&](int64_t factor) {
    return call.count % factor == 0 && call.count / factor == elements;
  });
}

}  // namespace

const OperationAlias* find_recorded_alias(std::string_view profiling_name) {
  constexpr std::string_view kBackend = "nccl:";
  if (!profiling_name.starts_with(kBackend)) return nullptr;
  profiling_name.remove_prefix(kBackend.size());
  return find_operation_alias(profiling_name.substr(0, profiling_name.find(' ')),
                              AliasSource::Recorder);
}

Operation recorded_operation(std::string_view profiling_name) {
  const OperationAlias* found = find_recorded_alias(profiling_name);
  return found == nullptr ? Operation::Unknown : found->operation;
}

std::string_view function_of(const FlightRecorderEntry& entry) {
  const std::string_view name = name_of(recorded_operation(entry.profiling_name));
  return name.empty() ? entry.profiling_name : name;
}

std::string_view dtype_of(const FlightRecorderEntry& entry) {
  for (const auto* list : {&entry.input_dtypes, &entry.output_dtypes}) {
    if (!list->empty()) return list->front();
  }
  return {};
}

AgreedSizes agreed_sizes(const OperationAlias* name) {
  if (name == nullptr || !name->is_uneven) return {true, true};
  const OperationTraits& traits = traits_of(name->operation);
  if (traits.has_root()) return {!traits.only_root_sends(), !traits.only_root_receives()};
  return {traits.sends_blocks() && !traits.receives_blocks(),
          traits.receives_blocks() && !traits.sends_blocks()};
}

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

bool is_one_call(std::string_view op) {
  const OperationAlias* name = find_operation_alias(op, AliasSource::Watchdog);
  return name != nullptr && !name->is_uneven && traits_of(name->operation).is_collective();
}

bool is_call_of_work(const CallSignature& call, std::string_view op, int64_t numel_in,
                     int64_t numel_out) {
  const Operation operation = operation_of(op, AliasSource::Watchdog);
  if (!is_one_call(op) || call.op.operation() != operation) return false;
  const int64_t elements = traits_of(operation).counts_received() ? numel_out : numel_in;
  return elements >= 0 && count_fits(call, elements);
}

bool is_call_of_entry(const CallSignature& call, const FlightRecorderEntry& entry) {
  const Operation operation = recorded_operation(entry.profiling_name);
  if (call.op.view() != name_of(operation)) return false;
  const bool by_output = traits_of(operation).counts_received();
  const int64_t elements = element_count(by_output ? entry.output_sizes : entry.input_sizes);
  return elements < 0 || count_fits(call, elements);
}

bool is_open(const FlightRecorderEntry& entry) {
  return entry.state == RecordedState::Scheduled || entry.state == RecordedState::Started;
}

}  // namespace ncclog
