// How the job ended, as the user saw it: `--outcome hung`.
//
// A log that just ends does not say whether the job stood still, was killed at work, or was copied
// while it ran. Who was there knows.

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ncclog {

enum class StatedOutcome {
  Hung,      ///< It stood still: the end of the logs is the moment of the hang.
  Crashed,   ///< It ended by an error.
  Slow,      ///< It went on, too slowly.
  Finished,  ///< It came to its end.
};

/// As users and reports spell them, in the enum's order.
inline constexpr std::array<std::string_view, 4> kStatedOutcomeNames = {"hung", "crashed", "slow",
                                                                        "finished"};

inline constexpr std::string_view to_string(StatedOutcome outcome) {
  return kStatedOutcomeNames[static_cast<size_t>(outcome)];
}

}  // namespace ncclog
