// In which order does a rank make its communicators?
//
//   communicator 0 of ranks 0-3; 1 {0,1} and 2 {2,3} split off it by color; 3 {0,2} by itself
//   → initialise 0; split 0 into 1 and 2; initialise 3
//
// All ranks go through the same steps in the same order, so none waits for another in a circle.
// Neighbours in the plan with one parent, other colors and no common rank came of one split.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// One initialisation, or one split.
struct CommStep {
  int parent = -1;        ///< -1: initialisation; else all its ranks take part in the split.
  std::vector<int> made;  ///< Communicators of the plan; one if it is an initialisation.

  bool operator==(const CommStep&) const = default;
};

/// All steps, in the one order in which every rank takes part in those that it is a member of;
/// parents before what is split off them.
std::vector<CommStep> comm_steps(const ReplayPlan& plan);

/// Communicators whose ncclUniqueId the rank makes: it leads them and they are not split off.
std::vector<int> communicators_led_by(const ReplayPlan& plan, int rank);

/// "6e63…" of a ncclUniqueId's bytes, and back; nullopt: not the text of exactly `bytes` bytes.
std::string hex_text(std::string_view bytes);
std::optional<std::string> bytes_of_hex(std::string_view text, size_t bytes);

}  // namespace ncclog
