#include "diagnose/recorder_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/flight_recorder.h"

namespace ncclog {
namespace {

std::string function_of(const FlightRecorderEntry& entry) {
  const std::string_view name = nccl_function(entry.profiling_name);
  return name.empty() ? to_valid_utf8(entry.profiling_name) : std::string(name);
}

std::string dtype_of(const FlightRecorderEntry& entry) {
  for (const auto* list : {&entry.input_dtypes, &entry.output_dtypes}) {
    if (!list->empty()) return list->front();
  }
  return {};
}

/// What all ranks have to agree on. -1: they need not, or the dump does not say.
struct AgreedCall {
  std::string function;
  int64_t in = -1;
  int64_t out = -1;
  std::string dtype;

  auto operator<=>(const AgreedCall&) const = default;
};

bool may_differ(std::string_view torch_name) {
  return torch_name.find("all_to_all") != torch_name.npos ||
         torch_name.find("_oop") != torch_name.npos || torch_name.find("sparse") != torch_name.npos;
}

/// Lists of tensors may be uneven on one side (ProcessGroupNCCL.cpp: allgather, reduce_scatter),
/// and only the root has both sides of a gather or scatter.
AgreedCall agreed_call(const FlightRecorderEntry& entry) {
  AgreedCall call{function_of(entry), -1, -1, dtype_of(entry)};
  const std::string_view name = entry.profiling_name;
  if (may_differ(name)) return call;
  const bool only_out = name == "nccl:all_gather" || name == "nccl:scatter";
  const bool only_in = name == "nccl:reduce_scatter" || name == "nccl:gather";
  if (!only_out) call.in = element_count(entry.input_sizes);
  if (!only_in) call.out = element_count(entry.output_sizes);
  return call;
}

/// A rank that is known, with its call of one number.
struct Caller {
  int rank = -1;
  const FlightRecorderEntry* call = nullptr;
};

/// What a dump does not say of one rank is compared on none.
void drop_unsaid(std::vector<AgreedCall>& calls) {
  const auto unsaid = [&](auto member, const auto& nothing) {
    return std::any_of(calls.begin(), calls.end(),
                       [&](const AgreedCall& call) { return call.*member == nothing; });
  };
  const bool no_in = unsaid(&AgreedCall::in, -1);
  const bool no_out = unsaid(&AgreedCall::out, -1);
  const bool no_dtype = unsaid(&AgreedCall::dtype, std::string());
  for (AgreedCall& call : calls) {
    if (no_in) call.in = -1;
    if (no_out) call.out = -1;
    if (no_dtype) call.dtype.clear();
  }
}

std::vector<AgreedCall> agreed_calls(const std::vector<Caller>& callers) {
  std::vector<AgreedCall> calls;
  for (const Caller& caller : callers) calls.push_back(agreed_call(*caller.call));
  drop_unsaid(calls);
  return calls;
}

bool recorded_alike(const FlightRecorderEntry& a, const FlightRecorderEntry& b) {
  return a.profiling_name == b.profiling_name && a.input_sizes == b.input_sizes &&
         a.output_sizes == b.output_sizes && a.input_dtypes == b.input_dtypes &&
         a.output_dtypes == b.output_dtypes;
}

/// All made the same call.
bool made_the_same(const std::vector<Caller>& callers) {
  const FlightRecorderEntry& first = *callers.front().call;
  if (std::all_of(callers.begin(), callers.end(),
                  [&](const Caller& caller) { return recorded_alike(*caller.call, first); })) {
    return true;
  }
  const std::vector<AgreedCall> calls = agreed_calls(callers);
  return std::all_of(calls.begin(), calls.end(),
                     [&](const AgreedCall& call) { return call == calls.front(); });
}

/// The same call, after as many operations.
bool are_alike(const std::vector<Caller>& callers) {
  const int64_t op_id = callers.front().call->op_id;
  return made_the_same(callers) &&
         std::all_of(callers.begin(), callers.end(),
                     [&](const Caller& caller) { return caller.call->op_id == op_id; });
}

/// The ranks that made call `number`. Empty, if one of `ranks` must have and its dump lacks it.
std::vector<Caller> callers_of(const RecordedGroup& group, int64_t number) {
  std::vector<Caller> callers;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr || rank.enqueued < number) continue;
    const FlightRecorderEntry* call = rank.call(number);
    if (call == nullptr) return {};
    callers.push_back({rank.rank, call});
  }
  return callers;
}

/// The numbers mean the same calls on all ranks there: it is the beginning, or the call before is
/// the same on all.
bool is_anchored(const RecordedGroup& group, int64_t number) {
  if (number == 1) return true;
  const std::vector<Caller> before = callers_of(group, number - 1);
  return !before.empty() && are_alike(before);
}

/// Calls of those who are behind, at the front, are completed on their own word.
bool finished(const RecordedRank& rank) { return rank.completed >= rank.enqueued; }

std::vector<RecordedCamp> camps_of(const std::vector<Caller>& callers,
                                   const std::vector<AgreedCall>& calls) {
  std::map<AgreedCall, RecordedCamp> by_call;
  for (size_t i = 0; i < callers.size(); ++i) {
    RecordedCamp& camp = by_call[calls[i]];
    if (camp.call == nullptr) camp.call = callers[i].call;
    camp.ranks.push_back(callers[i].rank);
  }
  std::vector<RecordedCamp> camps;
  for (auto& [call, camp] : by_call) camps.push_back(std::move(camp));
  std::stable_sort(camps.begin(), camps.end(), [](const RecordedCamp& a, const RecordedCamp& b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() > b.ranks.size();
    return a.ranks < b.ranks;
  });
  return camps;
}

std::string fields_of(const AgreedCall& a, const AgreedCall& b) {
  std::vector<std::string> fields;
  if (a.function != b.function) fields.emplace_back("function");
  if (a.in != b.in || a.out != b.out) fields.emplace_back("size");
  if (a.dtype != b.dtype) fields.emplace_back("dtype");
  return join(fields, ", ");
}

RecordedDifference make_difference(int64_t number, const std::vector<Caller>& callers) {
  RecordedDifference difference{number, camps_of(callers, agreed_calls(callers)), {}};
  std::vector<AgreedCall> first_two = {agreed_call(*difference.camps[0].call),
                                       agreed_call(*difference.camps[1].call)};
  drop_unsaid(first_two);
  difference.fields = fields_of(first_two[0], first_two[1]);
  return difference;
}

bool all_completed(const std::vector<Caller>& callers) {
  return std::all_of(callers.begin(), callers.end(), [](const Caller& caller) {
    return caller.call->state == RecordedState::Completed;
  });
}

/// The numbers that two ranks or more hold: from, to.
std::pair<int64_t, int64_t> compared_numbers(const RecordedGroup& group) {
  int64_t from = 1;
  std::vector<int64_t> ends;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr || rank.calls.empty()) continue;
    from = std::max(from, rank.calls.front()->collective_seq_id);
    ends.push_back(rank.enqueued);
  }
  std::sort(ends.rbegin(), ends.rend());
  return {from, ends.size() < 2 ? 0 : std::min(ends[1], from + (int64_t{1} << 20))};
}

}  // namespace

std::optional<RecordedFront> recorded_front(const RecordedGroup& group) {
  if (!group.is_numbered_alike) return std::nullopt;
  int64_t least = INT64_MAX;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump != nullptr) least = std::min(least, rank.enqueued);
  }
  if (least == INT64_MAX) return std::nullopt;
  RecordedFront front{.number = least + 1};
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr) {
      front.unknown.push_back(rank.rank);
    } else if (rank.enqueued > least) {
      const FlightRecorderEntry* call = rank.call(front.number);
      if (call == nullptr || !is_open(*call)) return std::nullopt;
      if (front.call == nullptr) front.call = call;
      front.ahead.push_back(rank.rank);
    } else {
      if (!finished(rank)) return std::nullopt;
      front.behind.push_back(rank.rank);
      if (rank.is_idle) front.idle.push_back(rank.rank);
    }
  }
  if (front.ahead.empty() || !is_anchored(group, front.number)) return std::nullopt;
  return front;
}

std::optional<RecordedDifference> recorded_difference(const RecordedGroup& group) {
  if (!group.is_numbered_alike) return std::nullopt;
  const auto [from, to] = compared_numbers(group);
  for (int64_t number = from; number <= to; ++number) {
    const std::vector<Caller> callers = callers_of(group, number);
    if (callers.empty()) return std::nullopt;
    if (made_the_same(callers)) continue;
    if (all_completed(callers) || !is_anchored(group, number)) return std::nullopt;
    return make_difference(number, callers);
  }
  return std::nullopt;
}

int64_t recorded_by_all(const RecordedGroup& group) {
  if (!group.is_numbered_alike || group.ranks.empty()) return 0;
  for (const RecordedRank& rank : group.ranks) {
    if (rank.dump == nullptr || rank.enqueued != group.ranks.front().enqueued) return 0;
  }
  return group.ranks.front().enqueued;
}

std::string recorded_words(const FlightRecorderEntry& call) {
  int64_t elements = element_count(call.input_sizes);
  if (elements < 0) elements = element_count(call.output_sizes);
  std::string words = function_of(call);
  if (elements >= 0) words += fmt::format(" of {} {}", elements, to_valid_utf8(dtype_of(call)));
  return words;
}

std::string group_words(const RecordedGroup& group) {
  const std::string& name = group.description.empty() ? group.name : group.description;
  return fmt::format("process group {} ({} ranks)", to_valid_utf8(name), group.ranks.size());
}

}  // namespace ncclog
