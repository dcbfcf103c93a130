#include "model/process_totals.h"

#include <algorithm>
#include <iterator>

namespace ncclog {

void AllocTotals::add(const AllocTraced& traced) {
  if (traced.bytes < 0) return;
  AllocTotal& total = by_what[std::string(traced.what)];
  ++total.count;
  total.bytes += static_cast<uint64_t>(traced.bytes);
}

void AllocTotals::merge(const AllocTotals& later) {
  for (const auto& [what, total] : later.by_what) {
    AllocTotal& known = by_what[what];
    known.count += total.count;
    known.bytes += total.bytes;
  }
}

void TuningUse::merge(const TuningUse& later) {
  min_bytes = count == 0 ? later.min_bytes : std::min(min_bytes, later.min_bytes);
  max_bytes = std::max(max_bytes, later.max_bytes);
  count += later.count;
}

void TuningUses::add(const TuningKey& key, const TuningUse& use) {
  if (uses.size() == kLimit && std::prev(uses.end())->first < key) {
    other += use.count;
    return;
  }
  uses[key].merge(use);
  if (uses.size() > kLimit) {
    const auto last = std::prev(uses.end());
    other += last->second.count;
    uses.erase(last);
  }
}

void TuningUses::add(const TuningChoice& choice) {
  add({std::string(choice.op), std::string(choice.algorithm), std::string(choice.protocol)},
      {1, choice.bytes, choice.bytes});
}

void TuningUses::merge(const TuningUses& later) {
  for (const auto& [key, use] : later.uses) add(key, use);
  other += later.other;
}

}  // namespace ncclog
