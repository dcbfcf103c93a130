// Where do a rank's calls find their buffers?
//
//   stream 0   AllReduce of 4 MiB, then a group of Send and Recv of 1 KiB each
//              → 4 MiB to send from and 4 MiB to receive into; Send at 0, Recv at 0
//
// Each stream has two arenas. Its calls follow each other, so all begin at the start; those of one
// group run at once and lie side by side. Buffers lie as they were recorded: their distance from a
// boundary of 256 bytes, and in place where they were in place.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// Bytes from the start of the stream's arenas. In place, both buffers lie in the receive arena.
struct BufferPlace {
  bool sends_from_receive_arena = false;
  int64_t send = 0;
  int64_t receive = 0;

  bool operator==(const BufferPlace&) const = default;
};

/// Memory that the calls of one stream share.
struct StreamArenas {
  int64_t send = 0;  ///< Bytes.
  int64_t receive = 0;

  bool operator==(const StreamArenas&) const = default;
};

/// Where every call of a rank has its buffers.
struct BufferLayout {
  std::vector<BufferPlace> calls;     ///< One for each call.
  std::vector<StreamArenas> streams;  ///< By stream, up to the last one that is used.
};

/// Of calls as calls_in() gives them for rank `rank` of the plan. Offsets that are no multiple of
/// the element are rounded down. Precondition: a plan that check_plan() accepts.
BufferLayout lay_out_buffers(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls);

/// The end of the group that the call at `at` opens: calls [at, end) are issued together.
size_t group_end(std::span<const PlannedCall> calls, size_t at);

/// Place of the plan's rank in the communicator; -1: it is no member.
int rank_in(const PlannedCommunicator& communicator, int rank);

}  // namespace ncclog
