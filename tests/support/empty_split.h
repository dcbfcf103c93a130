// A job of experts in which two ranks exchange nothing for once, as PyTorch does for empty splits,
// and another rank then holds the job up.

#pragma once

#include "support/call_log.h"

namespace ncclog::testing {

/// Six ranks. 0, 1, 2 and 3, 4, 5 exchange tokens on 0x1 and 0x2; before that ranks r and r + 3
/// compute together on 0x10 + r. In the last iteration rank 0 has nothing for rank 2 in the second
/// exchange, and before the third one rank 5 does not come to the call of its pair.
inline CallLog empty_split() {
  constexpr int kExperts = 3;
  CallLog log;
  for (int rank = 0; rank < 2 * kExperts; ++rank) {
    const int expert = rank % kExperts;
    log.init(rank, 2 * kExperts, 3).init(rank, kExperts, rank < kExperts ? 1 : 2, expert);
    log.init(rank, 2, 0x10u + static_cast<unsigned>(expert), rank / kExperts);
  }
  const auto compute = [&](int rank) { log.call(rank, 0x10u + static_cast<unsigned>(rank % 3)); };
  const auto exchange = [&](int rank, bool is_empty) {
    const int expert = rank % kExperts;
    for (int peer = 0; peer < kExperts; ++peer) {
      if (peer == expert) continue;
      const uint64_t comm = rank < kExperts ? 1 : 2;
      if (!is_empty || rank != 0 || peer != 2) log.call(rank, comm, "Send", 8, peer);
      if (!is_empty || rank != 2 || peer != 0) log.call(rank, comm, "Recv", 8, peer);
    }
  };
  for (int i = 0; i < 4; ++i) {
    for (int rank = 0; rank < 6; ++rank) log.call(rank, 3);
    for (int one = 0; one < (i < 3 ? 4 : 2); ++one) {
      for (int rank = 0; rank < 6; ++rank) compute(rank);
      for (int rank = 0; rank < 6; ++rank) exchange(rank, i == 3 && one == 1);
    }
  }
  for (int rank = 0; rank < 5; ++rank) compute(rank);
  for (const int rank : {0, 1, 3, 4}) exchange(rank, false);
  for (int rank = 0; rank < 5; ++rank) log.timeout(rank, 20);
  return log;
}

}  // namespace ncclog::testing
