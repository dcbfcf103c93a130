// How much did a process move with each operation of a communicator?
//
//   AllGather: … count 1048576 datatype 9 …     → (AllGather, bfloat16): 1 call, 1048576 elements
//
// Exact however many different counts there are. The operations and datatypes are few; of names
// that a broken log invents only the smallest kLimit are kept, which is associative
// (bounded_counts.h).

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "model/call_signature.h"

namespace ncclog {

struct VolumeKey {
  OpName op;
  int datatype = -1;  ///< ncclDataType_t, see log/nccl_names.h.

  auto operator<=>(const VolumeKey&) const = default;
};

/// Calls and the sum of their counts, as printed. Counts below 0 add nothing; a sum that does not
/// fit stays at the largest number.
struct CallVolume {
  uint64_t calls = 0;
  uint64_t elements = 0;

  void add(const CallVolume& more);
  bool operator==(const CallVolume&) const = default;
};

struct CallVolumes {
  std::map<VolumeKey, CallVolume> volumes;
  uint64_t other = 0;  ///< Calls under keys that are not kept.

  static constexpr size_t kLimit = 64;

  void add(const CallSignature& call, uint64_t calls = 1);
  void merge(const CallVolumes& later);
  bool operator==(const CallVolumes&) const = default;

 private:
  void add(const VolumeKey& key, const CallVolume& volume);
};

}  // namespace ncclog
