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
  visit("communicator", &PlannedCall::communicator, Field::Always);
  visit("index", &PlannedCall::index, Field::Always);
  visit("op", &PlannedCall::op, Field::Always, kFunctionWords);
  visit("count", &PlannedCall::count, Field::Always);
  visit("datatype", &PlannedCall::datatype, Field::Always, kDatatypeWords);
  const Field redop = is_reduction(visit.self().op) ? Field::Always : Field::IfSet;
  visit("redop", &PlannedCall::redop, redop, kReductionWords);
  visit("root", &PlannedCall::root, Field::IfSet);
  visit("in_place", &PlannedCall::in_place, Field::IfSet);
  visit("send_offset", &PlannedCall::send_offset, Field::IfSet);
  visit("recv_offset", &PlannedCall::recv_offset, Field::IfSet);
  visit("stream", &PlannedCall::stream, Field::IfSet);
  visit("group", &PlannedCall::group, Field::IfSet);
  visit("made_in", &PlannedCall::made_in, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<PlannedRank>) {
  visit("recorded_rank", &PlannedRank::recorded_rank, Field::Always);
  visit("host", &PlannedRank::host, Field::Always);
  visit("host_group", &PlannedRank::host_group, Field::Always);
  visit("stands_for", &PlannedRank::stands_for, Field::Always);
  visit("left_out", &PlannedRank::left_out, Field::Always);
  visit("calls", &PlannedRank::calls, Field::Always);
}

void each_field(auto& visit, FieldsOf<TransportShare>) {
  visit("transport", &TransportShare::transport, Field::Always);
  visit("connections", &TransportShare::connections, Field::Always);
}

void each_field(auto& visit, FieldsOf<PlannedCommunicator>) {
  visit("id", &PlannedCommunicator::id, Field::Always);
  visit("ranks", &PlannedCommunicator::ranks, Field::Always);
  visit("recorded_nranks", &PlannedCommunicator::recorded_nranks, Field::Always);
  visit("parent", &PlannedCommunicator::parent, Field::Always);
  visit("color", &PlannedCommunicator::color, Field::IfSet);
  visit("channels", &PlannedCommunicator::channels, Field::Always);
  visit("transports", &PlannedCommunicator::transports, Field::Always);
}

void each_field(auto& visit, FieldsOf<PlannedSetting>) {
  visit("name", &PlannedSetting::name, Field::Always);
  visit("value", &PlannedSetting::value, Field::Always);
  visit("ranks", &PlannedSetting::ranks, Field::IfSet);
  visit("left_out", &PlannedSetting::left_out, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<RecordedTuning>) {
  visit("op", &RecordedTuning::op, Field::Always);
  visit("algorithm", &RecordedTuning::algorithm, Field::Always);
  visit("protocol", &RecordedTuning::protocol, Field::Always);
  visit("calls", &RecordedTuning::calls, Field::Always);
}

void each_field(auto& visit, FieldsOf<FrontLine>) {
  visit("communicator", &FrontLine::communicator, Field::Always);
  visit("index", &FrontLine::index, Field::Always);
  visit("entered", &FrontLine::entered, Field::Always);
  visit("missing", &FrontLine::missing, Field::Always);
}

void each_field(auto& visit, FieldsOf<Hypothesis>) {
  visit("finding", &Hypothesis::finding, Field::Always);
  visit("title", &Hypothesis::title, Field::Always);
  visit("kind", &Hypothesis::kind, Field::Always);
  visit("departed", &Hypothesis::departed, Field::Always);
  visit("front", &Hypothesis::front, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayDeadlines>) {
  visit("start", &ReplayDeadlines::start, Field::Always);
  visit("init", &ReplayDeadlines::init, Field::Always);
  visit("enqueue", &ReplayDeadlines::enqueue, Field::Always);
  visit("completion", &ReplayDeadlines::completion, Field::Always);
  visit("teardown", &ReplayDeadlines::teardown, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayPlan>) {
  visit.schema(ReplayPlan::kSchema);
  visit("tool_version", &ReplayPlan::tool_version, Field::Always);
  visit("logs", &ReplayPlan::logs, Field::Always);
  visit("nccl_versions", &ReplayPlan::nccl_versions, Field::Always);
  visit("cuda_version", &ReplayPlan::cuda_version, Field::Always);
  visit("recorded_nranks", &ReplayPlan::recorded_nranks, Field::Always);
  visit("recorded_nhosts", &ReplayPlan::recorded_nhosts, Field::Always);
  visit("hypothesis", &ReplayPlan::hypothesis, Field::Always);
  visit("ranks", &ReplayPlan::ranks, Field::Always);
  visit("communicators", &ReplayPlan::communicators, Field::Always);
  visit("settings", &ReplayPlan::settings, Field::Always);
  visit("tuning", &ReplayPlan::tuning, Field::Always);
  visit("deadlines", &ReplayPlan::deadlines, Field::Always);
  visit("losses", &ReplayPlan::losses, Field::Always);
  visit("limits", &ReplayPlan::limits, Field::Always);
}

}  // namespace ncclog
