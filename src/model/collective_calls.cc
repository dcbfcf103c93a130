#include "model/collective_calls.h"

namespace ncclog {

void CollectiveCalls::add(SourceRef where, std::string_view stamp, const CallSignature& call) {
  stamp = stamp.substr(0, kMaxStampBytes);
  if (total++ == 0) {
    first = where;
    first_stamp = stamp;
  }
  last = where;
  last_stamp.assign(stamp);
  last_call = call;
  by_signature.add(call);
}

void CollectiveCalls::merge(const CollectiveCalls& later) {
  if (later.total == 0) return;
  if (total == 0) {
    first = later.first;
    first_stamp = later.first_stamp;
  }
  total += later.total;
  last = later.last;
  last_stamp = later.last_stamp;
  last_call = later.last_call;
  by_signature.merge(later.by_signature);
}

}  // namespace ncclog
