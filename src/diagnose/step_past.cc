#include "diagnose/step_past.h"

#include <algorithm>

namespace ncclog {
namespace {

constexpr size_t kTimesSeen = 2;  ///< How often the past must have shown the same.

bool same_context(std::span<const int> steps, size_t a, size_t b) {
  const auto context = [&](size_t at) { return steps.subspan(at - kStepContext, kStepContext); };
  return std::equal(context(a).begin(), context(a).end(), context(b).begin());
}

}  // namespace

StepPast past_of_step(std::span<const int> steps, size_t at, size_t end) {
  StepPast result;
  size_t others = 0;
  for (size_t t = kStepContext; t < end; ++t) {
    if (!same_context(steps, t, at)) continue;
    if (steps[t] == steps[at]) return {Past::Same, 0};
    if (others > 0 && steps[t] != steps[result.usual]) return {};
    result.usual = t;
    ++others;
  }
  if (others >= kTimesSeen) result.past = Past::Other;
  return result;
}

}  // namespace ncclog
