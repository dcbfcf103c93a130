// The keys of a plan in JSON, in the order in which they are written.

#pragma once

#include <string_view>
#include <vector>

#include "log/nccl_names.h"
#include "replay/call_shape.h"
#include "replay/json_fields.h"
#include "replay/plan.h"

namespace ncclog {

template <>
struct EnumWords<MadeIn> {
  static constexpr std::string_view kNoun = "kind of run";
  static constexpr int kCount = 3;
};

template <>
struct EnumWords<DefectKind> {
  static constexpr std::string_view kNoun = "kind of defect";
  static constexpr int kCount = 6;
};

inline constexpr NumberWords kDatatypeWords{"datatype", datatype_name, 12};
/// The job's own reductions are all called "user" and read as the first of them.
inline constexpr NumberWords kReductionWords{"reduction", reduction_name, 6};

/// Functions that a log can name, replayable or not.
const std::vector<std::string_view>& function_words();
inline constexpr TextWords kFunctionWords{"function", function_words};

void each_field(auto& visit, FieldsOf<PlannedCall>) {
  visit("communicator", &PlannedCall::communicator, Written::Always);
  visit("index", &PlannedCall::index, Written::Always);
  visit("op", &PlannedCall::op, Written::Always, kFunctionWords);
  visit("count", &PlannedCall::count, Written::Always);
  visit("datatype", &PlannedCall::datatype, Written::Always, kDatatypeWords);
  const Written redop = is_reduction(visit.self().op) ? Written::Always : Written::IfSet;
  visit("redop", &PlannedCall::redop, redop, kReductionWords);
  visit("root", &PlannedCall::root, Written::IfSet);
  visit("in_place", &PlannedCall::in_place, Written::IfSet);
  visit("send_offset", &PlannedCall::send_offset, Written::IfSet);
  visit("recv_offset", &PlannedCall::recv_offset, Written::IfSet);
  visit("stream", &PlannedCall::stream, Written::IfSet);
  visit("group", &PlannedCall::group, Written::IfSet);
  visit("made_in", &PlannedCall::made_in, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<PlannedRank>) {
  visit("recorded_rank", &PlannedRank::recorded_rank, Written::Always);
  visit("host", &PlannedRank::host, Written::Always);
  visit("host_group", &PlannedRank::host_group, Written::Always);
  visit("stands_for", &PlannedRank::stands_for, Written::Always);
  visit("left_out", &PlannedRank::left_out, Written::Always);
  visit("calls", &PlannedRank::calls, Written::Always);
}

void each_field(auto& visit, FieldsOf<TransportShare>) {
  visit("transport", &TransportShare::transport, Written::Always);
  visit("connections", &TransportShare::connections, Written::Always);
}

void each_field(auto& visit, FieldsOf<PlannedCommunicator>) {
  visit("id", &PlannedCommunicator::id, Written::Always);
  visit("ranks", &PlannedCommunicator::ranks, Written::Always);
  visit("recorded_nranks", &PlannedCommunicator::recorded_nranks, Written::Always);
  visit("parent", &PlannedCommunicator::parent, Written::Always);
  visit("color", &PlannedCommunicator::color, Written::IfSet);
  visit("channels", &PlannedCommunicator::channels, Written::Always);
  visit("transports", &PlannedCommunicator::transports, Written::Always);
}

void each_field(auto& visit, FieldsOf<PlannedSetting>) {
  visit("name", &PlannedSetting::name, Written::Always);
  visit("value", &PlannedSetting::value, Written::Always);
  visit("ranks", &PlannedSetting::ranks, Written::IfSet);
  visit("left_out", &PlannedSetting::left_out, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<RecordedTuning>) {
  visit("op", &RecordedTuning::op, Written::Always);
  visit("algorithm", &RecordedTuning::algorithm, Written::Always);
  visit("protocol", &RecordedTuning::protocol, Written::Always);
  visit("calls", &RecordedTuning::calls, Written::Always);
}

void each_field(auto& visit, FieldsOf<FrontLine>) {
  visit("communicator", &FrontLine::communicator, Written::Always);
  visit("index", &FrontLine::index, Written::Always);
  visit("entered", &FrontLine::entered, Written::Always);
  visit("missing", &FrontLine::missing, Written::Always);
}

void each_field(auto& visit, FieldsOf<Hypothesis>) {
  visit("finding", &Hypothesis::finding, Written::Always);
  visit("title", &Hypothesis::title, Written::Always);
  visit("kind", &Hypothesis::kind, Written::Always);
  visit("departed", &Hypothesis::departed, Written::Always);
  visit("front", &Hypothesis::front, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayDeadlines>) {
  visit("start", &ReplayDeadlines::start, Written::Always);
  visit("init", &ReplayDeadlines::init, Written::Always);
  visit("enqueue", &ReplayDeadlines::enqueue, Written::Always);
  visit("completion", &ReplayDeadlines::completion, Written::Always);
  visit("teardown", &ReplayDeadlines::teardown, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayPlan>) {
  visit.schema(ReplayPlan::kSchema);
  visit("tool_version", &ReplayPlan::tool_version, Written::Always);
  visit("logs", &ReplayPlan::logs, Written::Always);
  visit("nccl_versions", &ReplayPlan::nccl_versions, Written::Always);
  visit("cuda_version", &ReplayPlan::cuda_version, Written::Always);
  visit("recorded_nranks", &ReplayPlan::recorded_nranks, Written::Always);
  visit("recorded_nhosts", &ReplayPlan::recorded_nhosts, Written::Always);
  visit("hypothesis", &ReplayPlan::hypothesis, Written::Always);
  visit("ranks", &ReplayPlan::ranks, Written::Always);
  visit("communicators", &ReplayPlan::communicators, Written::Always);
  visit("settings", &ReplayPlan::settings, Written::Always);
  visit("tuning", &ReplayPlan::tuning, Written::Always);
  visit("deadlines", &ReplayPlan::deadlines, Written::Always);
  visit("losses", &ReplayPlan::losses, Written::Always);
  visit("limits", &ReplayPlan::limits, Written::Always);
}

}  // namespace ncclog
