// How much has this process read so far? For those who show progress.
//
// Bytes as they lie on the disk or come through a pipe: packed ones count packed. What is read
// twice counts twice.

#pragma once

#include <atomic>
#include <cstdint>

namespace ncclog {

/// Of all threads; it only grows. Added to once a block, so it costs nothing that can be measured.
inline std::atomic<uint64_t>& bytes_read() {
  static constinit std::atomic<uint64_t> bytes = 0;
  return bytes;
}

}  // namespace ncclog
