#include "replay/outcome_json.h"

#include "base/error.h"
#include "replay/outcome_fields.h"

namespace ncclog {

std::string write_outcome(const ReplayOutcome& outcome) {
  return write_json_document(to_json_value(outcome));
}

ReplayOutcome parse_outcome(std::string_view text, const std::string& source) {
  const ReadJson document = parse_json_document(text, source);
  const JsonPlace place{document, source};
  check_schema(place, ReplayOutcome::kSchema, "replay outcome");
  ReplayOutcome outcome;
  read_json_value(place, outcome);
  return outcome;
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
