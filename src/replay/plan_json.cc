#include "replay/plan_json.h"

#include "base/sha256.h"
#include "replay/plan_fields.h"

namespace ncclog {

const std::vector<std::string_view>& function_words() {
  static const std::vector<std::string_view> kWords = {
      "AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AlltoAll",  "Gather",
      "Scatter",   "Send",      "Recv",   "PutSignal", "Signal",        "WaitSignal"};
  return kWords;
}

std::string write_plan(const ReplayPlan& plan) { return write_json_document(to_json_value(plan)); }

ReplayPlan parse_plan(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayPlan>(text, source, "replay plan");
}

std::string plan_hash(std::string_view text) { return sha256_hex(text); }

}  // namespace ncclog
