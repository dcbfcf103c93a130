#include "model/collective_calls.h"

namespace ncclog {

void CollectiveCalls::add(SourceRef where, const CallSignature& call) {
  if (total++ == 0) first = where;
  last = where;
  last_call = call;
  by_signature.add(call);
}

void CollectiveCalls::merge(const CollectiveCalls& later) {
  if (later.total == 0) return;
  if (total == 0) first = later.first;
  total += later.total;
  last = later.last;
  last_call = later.last_call;
  by_signature.merge(later.by_signature);
}

}  // namespace ncclog
