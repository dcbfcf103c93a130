#include "replay/outcome_fields.h"
#include "replay/result.h"

namespace ncclog {

template <>
struct EnumWords<ReplayVerdictKind> {
  static constexpr std::string_view kNoun = "kind of verdict";
  static constexpr int kCount = 7;
};

template <>
struct EnumWords<ReplayConfidence> {
  static constexpr std::string_view kNoun = "confidence";
  static constexpr int kCount = 3;
};

template <>
struct EnumWords<RunShows> {
  static constexpr std::string_view kNoun = "reading of a run";
  static constexpr int kCount = 5;
};

void each_field(auto& visit, FieldsOf<CallPlace>) {
  visit("communicator", &CallPlace::communicator, Written::Always);
  visit("index", &CallPlace::index, Written::Always);
}

void each_field(auto& visit, FieldsOf<RunReading>) {
  visit("shows", &RunReading::shows, Written::Always);
  visit("compared", &RunReading::compared, Written::Always);
  visit("lost_gpu", &RunReading::lost_gpu, Written::Always);
  visit("why", &RunReading::why, Written::Always);
  visit("stop", &RunReading::stop, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayDifference>) {
  visit("what", &ReplayDifference::what, Written::Always);
  visit("recorded", &ReplayDifference::recorded, Written::Always);
  visit("replayed", &ReplayDifference::replayed, Written::Always);
  visit("matters", &ReplayDifference::matters, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayPair>) {
  visit("settings", &ReplayPair::settings, Written::Always);
  visit("kind", &ReplayPair::kind, Written::Always);
  visit("defect", &ReplayPair::defect, Written::Always);
  visit("clean", &ReplayPair::clean, Written::Always);
  visit("differences", &ReplayPair::differences, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayVerdict>) {
  visit("kind", &ReplayVerdict::kind, Written::Always);
  visit("confidence", &ReplayVerdict::confidence, Written::Always);
  visit("headline", &ReplayVerdict::headline, Written::Always);
  visit("held", &ReplayVerdict::held, Written::Always);
  visit("changed", &ReplayVerdict::changed, Written::Always);
  visit("runs", &ReplayVerdict::runs, Written::Always);
  visit("limits", &ReplayVerdict::limits, Written::Always);
  visit("must_not_conclude", &ReplayVerdict::must_not_conclude, Written::Always);
  visit("next", &ReplayVerdict::next, Written::Always);
  visit("differences", &ReplayVerdict::differences, Written::Always);
  visit("pairs", &ReplayVerdict::pairs, Written::Always);
}

void each_field(auto& visit, FieldsOf<ReplayTiming>) {
  visit("settings", &ReplayTiming::settings, Written::Always);
  visit("timing", &ReplayTiming::timing, Written::Always);
  visit("link_bw", &ReplayTiming::link_bw, Written::IfSet);
  visit("link_type", &ReplayTiming::link_type, Written::IfSet);
  visit("share", &ReplayTiming::share, Written::IfSet);
}

void each_field(auto& visit, FieldsOf<ReplayResult>) {
  visit.schema(ReplayResult::kSchema);
  visit("tool_version", &ReplayResult::tool_version, Written::Always);
  visit("plan", &ReplayResult::plan, Written::Always);
  visit("logs", &ReplayResult::logs, Written::Always);
  visit("nccl_versions", &ReplayResult::nccl_versions, Written::Always);
  visit("cuda_version", &ReplayResult::cuda_version, Written::Always);
  visit("recorded_nranks", &ReplayResult::recorded_nranks, Written::Always);
  visit("recorded_nhosts", &ReplayResult::recorded_nhosts, Written::Always);
  visit("hypothesis", &ReplayResult::hypothesis, Written::Always);
  visit("communicators", &ReplayResult::communicators, Written::Always);
  visit("verdict", &ReplayResult::verdict, Written::Always);
  visit("timings", &ReplayResult::timings, Written::Always);
  visit("outcome", &ReplayResult::outcome, Written::Always);
}

std::string write_result(const ReplayResult& result) {
  return write_json_document(to_json_value(result));
}

ReplayResult parse_result(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayResult>(text, source, "replay result");
}

}  // namespace ncclog
