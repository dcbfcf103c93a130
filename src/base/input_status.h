// How much of an input could be read: the reader finds out, the job keeps it, the report says it.

#pragma once

#include <string_view>

namespace ncclog {

/// Ordered from best to worst: an input read in several stretches is as bad as its worst one.
enum class InputStatus {
  Whole,       ///< All of it.
  Skipped,     ///< Nothing, on purpose: it is not a text log.
  Cut,         ///< What could be had; it ends early, is damaged, or expands past the limit.
  Unreadable,  ///< Nothing: it could not be opened or decoded.
};

/// "whole", "cut": lower case, stable, for reports.
constexpr std::string_view to_string(InputStatus status) {
  switch (status) {
    case InputStatus::Whole:
      return "whole";
    case InputStatus::Skipped:
      return "skipped";
    case InputStatus::Cut:
      return "cut";
    case InputStatus::Unreadable:
      return "unreadable";
  }
  return "whole";
}

}  // namespace ncclog
