#include "replay/outcome_json.h"

#include "base/error.h"
#include "replay/outcome_fields.h"

namespace ncclog {

std::string write_outcome(const ReplayOutcome& outcome) {
  return write_json_document(to_json_value(outcome));
}

ReplayOutcome parse_outcome(std::string_view text, const std::string& source) {
  return parse_json_as<ReplayOutcome>(text, source, "replay outcome");
}

bool is_of_a_refusal(const std::string& text) {
  try {
    const ReplayOutcome outcome = parse_outcome(text, "outcome.json");
    return !outcome.refused.empty() && outcome.runs.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace ncclog
