#include "replay/exec/buffer_layout.h"

#include <algorithm>

#include "replay/call_shape.h"
#include "replay/exec/pattern.h"

namespace ncclog {
namespace {

constexpr int64_t kBoundary = 256;

int64_t rounded_up(int64_t bytes) { return (bytes + kBoundary - 1) / kBoundary * kBoundary; }

/// A call's buffers in bytes.
struct Extent {
  int64_t element = 0;
  int64_t sent = 0;
  int64_t received = 0;
  int64_t own_block = 0;  ///< Of AllGather and its like: where the rank's block begins.
};

Extent extent_of(const ReplayPlan& plan, int rank, const PlannedCall& call) {
  const PlannedCommunicator& communicator = plan.communicators[call.communicator];
  const int own = rank_in(communicator, rank);
  const CallShape shape = shape_of(call, own, static_cast<int>(communicator.ranks.size()));
  const int64_t element = element_bytes(call.datatype);
  return {element, shape.sent * element, shape.received * element, own * call.count * element};
}

int64_t on_element(int offset, const Extent& extent) {
  return extent.element > 0 ? offset / extent.element * extent.element : 0;
}

/// True where the larger buffer holds a block of each rank, and the smaller one is the own block.
bool has_blocks(const Extent& extent) {
  return extent.sent > 0 && extent.received > 0 && extent.sent != extent.received;
}

/// Both buffers from `start` of the receive arena on; returns where they end.
int64_t place_in_place(const PlannedCall& call, const Extent& extent, int64_t start,
                       BufferPlace& place) {
  const bool sends_more = extent.sent > extent.received;
  start += on_element(sends_more ? call.send_offset : call.recv_offset, extent);
  place = {.sends_from_receive_arena = true, .send = start, .receive = start};
  if (has_blocks(extent)) (sends_more ? place.receive : place.send) += extent.own_block;
  return start + std::max(extent.sent, extent.received);
}

/// Places one call behind what its group has taken so far.
void place_call(const PlannedCall& call, const Extent& extent, StreamArenas& taken,
                BufferPlace& place) {
  taken = {rounded_up(taken.send), rounded_up(taken.receive)};
  if (call.in_place && !is_message(call.op)) {
    taken.receive = place_in_place(call, extent, taken.receive, place);
    return;
  }
  place.send = taken.send + on_element(call.send_offset, extent);
  place.receive = taken.receive + on_element(call.recv_offset, extent);
  taken = {place.send + extent.sent, place.receive + extent.received};
}

}  // namespace

int rank_in(const PlannedCommunicator& communicator, int rank) {
  const auto found = std::find(communicator.ranks.begin(), communicator.ranks.end(), rank);
  if (found == communicator.ranks.end()) return -1;
  return static_cast<int>(found - communicator.ranks.begin());
}

size_t group_end(std::span<const PlannedCall> calls, size_t at) {
  size_t end = at + 1;
  if (calls[at].group < 0) return end;
  while (end < calls.size() && calls[end].group == calls[at].group) ++end;
  return end;
}

BufferLayout lay_out_buffers(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls) {
  BufferLayout layout;
  layout.calls.resize(calls.size());
  for (size_t at = 0; at < calls.size();) {
    std::vector<StreamArenas> taken(layout.streams.size());
    const size_t end = group_end(calls, at);
    for (; at < end; ++at) {
      const size_t stream = static_cast<size_t>(calls[at].stream);
      taken.resize(std::max(taken.size(), stream + 1));
      place_call(calls[at], extent_of(plan, rank, calls[at]), taken[stream], layout.calls[at]);
    }
    layout.streams.resize(taken.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      StreamArenas& arenas = layout.streams[i];
      arenas.send = std::max(arenas.send, taken[i].send);
      arenas.receive = std::max(arenas.receive, taken[i].receive);
    }
  }
  return layout;
}

}  // namespace ncclog
