// Did this step ever stand where it stands now?
//
//   a b c d | a b c d | a b c a
//       → behind a b c came d, twice, and now a: another step than before, usually that of `d`

#pragma once

#include <cstddef>
#include <span>

namespace ncclog {

/// What stood behind the same steps before.
enum class Past {
  Unknown,  ///< They were not seen often enough, or different steps followed.
  Same,     ///< This step, at least once.
  Other,    ///< Another one, each time.
};

struct StepPast {
  Past past = Past::Unknown;
  size_t usual = 0;  ///< Of Other: a place where that other step stands.
};

/// How many steps have to be the same.
inline constexpr size_t kStepContext = 8;

/// How little of a past is enough.
struct PastWanted {
  size_t context = kStepContext;  ///< Steps that have to be the same.
  size_t times = 2;               ///< How often another step has to have followed.
};

/// Compares step `at` of a program, which is at least `wanted.context`, with those before `end`,
/// which is at most `at`. Equal steps have equal numbers.
StepPast past_of_step(std::span<const int> steps, size_t at, size_t end, PastWanted wanted = {});

}  // namespace ncclog
