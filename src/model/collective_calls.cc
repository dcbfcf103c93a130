#include "model/collective_calls.h"

#include <iterator>
#include <limits>

#include "log/nccl_names.h"

namespace ncclog {
namespace {

constexpr int kInt8 = 0;

/// What Send and Recv of one message share. NCCL turns both into bytes (taskAppend in
/// enqueue.cc), so that 8 float32 meet 16 bfloat16.
CallSignature size_of_message(int64_t elements, int datatype) {
  const int64_t bytes = datatype_bytes(datatype).value_or(0);
  const bool is_known =
      bytes > 0 && elements >= 0 && elements <= std::numeric_limits<int64_t>::max() / bytes;
  if (!is_known) return {.count = elements, .datatype = datatype};
  return {.count = elements * bytes, .datatype = kInt8};
}

}  // namespace

void PeerMessages::add(int64_t elements, int datatype) {
  hash = extended_hash(hash, size_of_message(elements, datatype));
  ++count;
}

void PeerMessages::merge(const PeerMessages& later) {
  hash = joined_hash(hash, later.hash, later.count);
  count += later.count;
}

void CollectiveCalls::add_message(const CallSignature& call) {
  if (call.op != "Send" && call.op != "Recv") return;
  PeerTotals& peer = peers[call.root];
  (call.op == "Send" ? peer.sent : peer.received).add(call.count, call.datatype);
  limit_peers();
}

void CollectiveCalls::limit_peers() {
  while (peers.size() > kMaxPeers) {
    const auto highest = std::prev(peers.end());
    other_peers += highest->second.sent.count + highest->second.received.count;
    peers.erase(highest);
  }
}

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
  volumes.add(call);
  if (is_point_to_point(call.op)) {
    add_message(call);
  } else {
    collectives.add(where, call);
  }
}

void CollectiveCalls::add_uncounted(uint64_t count, SourceRef where, std::string_view stamp,
                                    const CallSignature& call) {
  total += count;
  by_signature.add(call, count);
  volumes.add(call, count);
  if (where < last) return;
  last = where;
  last_stamp.assign(stamp.substr(0, kMaxStampBytes));
  last_call = call;
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
  volumes.merge(later.volumes);
  collectives.merge(later.collectives);
  for (const auto& [rank, peer] : later.peers) {
    peers[rank].sent.merge(peer.sent);
    peers[rank].received.merge(peer.received);
  }
  other_peers += later.other_peers;
  limit_peers();
}

}  // namespace ncclog
