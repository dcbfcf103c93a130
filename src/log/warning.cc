#include "log/warning.h"

namespace ncclog {

std::string_view to_string(WarnSeverity severity) {
  switch (severity) {
    case WarnSeverity::None:
      return "";
    case WarnSeverity::Info:
      return "info";
    case WarnSeverity::Degraded:
      return "degraded";
    case WarnSeverity::Fatal:
      return "fatal";
  }
  return "";
}

std::string_view to_string(WarnOrigin origin) {
  switch (origin) {
    case WarnOrigin::System:
      return "system";
    case WarnOrigin::User:
      return "user";
    case WarnOrigin::Internal:
      return "internal";
    case WarnOrigin::Symptom:
      return "symptom";
  }
  return "";
}

}  // namespace ncclog
