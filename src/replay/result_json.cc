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
  visit("communicator", &CallPlace::communicator, Field::Always);
  visit("index", &CallPlace::index, Field::Always);
}

void each_field(auto& visit, FieldsOf<RunReading>) {
  visit("shows", &RunReading::shows, Field::Always);
  visit("compared", &RunReading::compared, Field::Always);
  visit("lost_gpu", &RunReading::lost_gpu, Field::Always);
  visit("why", &RunReading::why, Field::Always);
  visit("stop", &RunReading::stop, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayDifference>) {
  visit("what", &ReplayDifference::what, Field::Always);
  visit("recorded", &ReplayDifference::recorded, Field::Always);
  visit("replayed", &ReplayDifference::replayed, Field::Always);
  visit("matters", &ReplayDifference::matters, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayPair>) {
  visit("settings", &ReplayPair::settings, Field::Always);
  visit("kind", &ReplayPair::kind, Field::Always);
  visit("defect", &ReplayPair::defect, Field::Always);
  visit("clean", &ReplayPair::clean, Field::Always);
  visit("differences", &ReplayPair::differences, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayVerdict>) {
  visit("kind", &ReplayVerdict::kind, Field::Always);
  visit("confidence", &ReplayVerdict::confidence, Field::Always);
  visit("headline", &ReplayVerdict::headline, Field::Always);
  visit("held", &ReplayVerdict::held, Field::Always);
  visit("changed", &ReplayVerdict::changed, Field::Always);
  visit("runs", &ReplayVerdict::runs, Field::Always);
  visit("limits", &ReplayVerdict::limits, Field::Always);
  visit("must_not_conclude", &ReplayVerdict::must_not_conclude, Field::Always);
  visit("next", &ReplayVerdict::next, Field::Always);
  visit("differences", &ReplayVerdict::differences, Field::Always);
  visit("pairs", &ReplayVerdict::pairs, Field::Always);
}

void each_field(auto& visit, FieldsOf<ReplayTiming>) {
  visit("settings", &ReplayTiming::settings, Field::Always);
  visit("timing", &ReplayTiming::timing, Field::Always);
  visit("link_bw", &ReplayTiming::link_bw, Field::IfSet);
  visit("link_type", &ReplayTiming::link_type, Field::IfSet);
  visit("share", &ReplayTiming::share, Field::IfSet);
}

void each_field(auto& visit, FieldsOf<ReplayResult>) {
  visit.schema(ReplayResult::kSchema);
  visit("tool_version", &ReplayResult::tool_version, Field::Always);
  visit("plan", &ReplayResult::plan, Field::Always);
  visit("logs", &ReplayResult::logs, Field::Always);
  visit("nccl_versions", &ReplayResult::nccl_versions, Field::Always);
  visit("cuda_version", &ReplayResult::cuda_version, Field::Always);
  visit("recorded_nranks", &ReplayResult::recorded_nranks, Field::Always);
  visit("recorded_nhosts", &ReplayResult::recorded_nhosts, Field::Always);
  visit("hypothesis", &ReplayResult::hypothesis, Field::Always);
  visit("communicators", &ReplayResult::communicators, Field::Always);
  visit("verdict", &ReplayResult::verdict, Field::Always);
  visit("timings", &ReplayResult::timings, Field::Always);
  visit("outcome", &ReplayResult::outcome, Field::Always);
}

std::string write_result(const ReplayResult& result) {
  return write_json_document(to_json_value(result));
}

ReplayResult parse_result(std::string_view text, const std::string& source) {
  const ReadJson document = parse_json_document(text, source);
  const JsonPlace place{document, source};
  check_schema(place, ReplayResult::kSchema, "replay result");
  ReplayResult result;
  read_json_value(place, result);
  return result;
}

}  // namespace ncclog
