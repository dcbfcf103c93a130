// What does a WARN mean for the job that prints it?
//
//   Error: failed to extend /dev/shm/nccl-x to 9637892 bytes
//   → fatal, of the system: "/dev/shm has no room for the segment, …"
//
// It stands in the message files (log/messages/), before the wordings that mean it. Severities
// follow from what NCCL's source does next. Some WARNs became INFO in later releases and some the
// other way; a wording fits at both levels.

#pragma once

#include <string_view>

namespace ncclog {

/// What becomes of the call or the communicator.
enum class WarnSeverity {
  None,      ///< NCCL never warns with it.
  Info,      ///< No effect by itself.
  Degraded,  ///< NCCL goes on without a feature or with another value.
  Fatal,     ///< The call or the communicator fails.
};

/// Whose fault it is, as far as the text alone tells.
enum class WarnOrigin {
  System,    ///< The host, the network, a driver, or what another rank did.
  User,      ///< The caller's arguments or settings.
  Internal,  ///< A check that users cannot fail by configuration: an earlier error or an NCCL bug.
  Symptom,   ///< Follows from an error that was printed before, here or by another process.
};

/// Everything the text of a WARN means to its reader.
struct Warning {
  WarnSeverity severity = WarnSeverity::None;
  WarnOrigin origin = WarnOrigin::System;
  /// One or two sentences: what it means for the job and where to look. At most 240 characters.
  std::string_view meaning;
};

/// "fatal", "degraded", "info"; "" for None.
std::string_view to_string(WarnSeverity severity);

/// "system", "user", "internal", "symptom".
std::string_view to_string(WarnOrigin origin);

}  // namespace ncclog
