#include "replay/exec/verification.h"

#include "replay/call_shape.h"
#include "replay/exec/buffer_layout.h"
#include "replay/exec/call_pattern.h"

namespace ncclog {

Verification verification_of(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls,
                             std::span<const ComparedElements> results,
                             const std::vector<bool>& is_completed) {
  Verification verified;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!is_completed[i]) continue;
    const PlannedCommunicator& communicator =
        plan.communicators[static_cast<size_t>(calls[i].communicator)];
    const int own = rank_in(communicator, rank);
    const int nranks = static_cast<int>(communicator.ranks.size());
    const int64_t received = shape_of(calls[i], own, nranks).received;
    if (received == 0) continue;
    if (!is_compared(calls[i])) {
      ++verified.shape_only;
      continue;
    }
    ++verified.calls;
    verified.elements += static_cast<uint64_t>(received);
    verified.wrong += results[i].wrong;
    if (results[i].wrong == 0 || verified.first) continue;
    const DataPattern pattern = pattern_of(calls[i], own, nranks);
    verified.first = WrongElement{.call = i,
                                  .element = static_cast<int64_t>(results[i].first),
                                  .expected = element_text(pattern, results[i].expected),
                                  .found = element_text(pattern, results[i].found)};
  }
  return verified;
}

}  // namespace ncclog
