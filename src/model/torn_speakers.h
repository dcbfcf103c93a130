// Hosts that only a torn line names.
//
//   gpu-node-01:4121:4188 [3] NCCL INFO …     3812 lines
//   u-node-01:4121:4188 [3] NCCL INFO …       1 line: the beginning was lost to another writer
//
// The same pid under the end of a known host's name is that process, not another one.
//
//   a:4120:4120 [0] NCCL INFO Using network Sockgpu-node-01:4121:4188 [3] NCCL INFO …
//
// Where a record was cut off, its rest may stand before the host of the next: "Sockgpu-node-01".

#pragma once

#include <vector>

#include "model/shard.h"

namespace ncclog {

/// Joins each log whose host is a proper end of another log's host with the same pid to that log;
/// also each log with torn lines whose host ends with such a host. A host named by at least as many
/// lines as the other one stays: then both are real.
///
/// Forgets names that one or two lines give and that nothing else supports: of a torn log, a second
/// host of a pid that says much more elsewhere; a task or host that says nothing recognised.
void join_torn_speakers(std::vector<SpeakerLog>& logs);

/// Sets aside what torn logs say about communicators whose id or beginning is lost: whose they are
/// cannot be told, and a guess would make new ones.
void drop_unplaced_segments(std::vector<SpeakerLog>& logs);

}  // namespace ncclog
