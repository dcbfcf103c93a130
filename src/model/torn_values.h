// Values that only a torn log gives, and that others contradict.
//
//   rank 0, 2, 3:   NCCL_NVLS_ENABLE set by environment to 0.
//   rank 1, torn:   NCCL_NVLS_ENABLE set by environment to commId 0x7ef2974ca24400c5 - Init START
//
// A record that ends with a text takes in whatever stands behind it, so in a torn log the wording
// proves the name and not the value. What only one process says, in a log that is torn, while
// others say something else, is as likely a piece of another record as an odd setting.

#pragma once

#include <vector>

#include "model/shard.h"

namespace ncclog {

/// Where some log is torn, forgets values that only one process gives while others give another
/// one: settings and versions of torn logs, and the network of any.
void drop_contradicted_values(std::vector<SpeakerLog>& logs);

}  // namespace ncclog
