#include "rules/finding.h"

namespace ncclog {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "info";
  }
  return "";
}

std::string_view to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::Certain:
      return "certain";
    case Confidence::Likely:
      return "likely";
    case Confidence::Possible:
      return "possible";
  }
  return "";
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::Cause:
      return "cause";
    case Role::Symptom:
      return "symptom";
    case Role::Advice:
      return "advice";
  }
  return "";
}

std::string_view to_string(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::Problem:
      return "problem";
    case VerdictStatus::Suspicious:
      return "suspicious";
    case VerdictStatus::Clean:
      return "clean";
    case VerdictStatus::NothingFound:
      return "nothing_found";
    case VerdictStatus::CannotJudge:
      return "cannot_judge";
  }
  return "";
}

}  // namespace ncclog
