#include "diagnose/step_past.h"

#include <algorithm>

namespace ncclog {
namespace {

bool same_context(std::span<const int> steps, size_t a, size_t b, size_t length) {
  const auto context = [&](size_t at) { return steps.subspan(at - length, length); };
  return std::equal(context(a).begin(), context(a).end(), context(b).begin());
}

}  // namespace

StepPast past_of_step(std::span<const int> steps, size_t at, size_t end, PastWanted wanted) {
  StepPast result;
  size_t others = 0;
  for (size_t t = wanted.context; t < end; ++t) {
    if (!same_context(steps, t, at, wanted.context)) continue;
    if (steps[t] == steps[at]) return {Past::Same, 0};
    if (others > 0 && steps[t] != steps[result.usual]) return {};
    result.usual = t;
    ++others;
  }
  if (others >= wanted.times) result.past = Past::Other;
  return result;
}

}  // namespace ncclog
