// What runs on the GPU besides NCCL: filling what is sent, comparing what arrived.
//
// All of it is enqueued on a stream and returns at once. The error, if any, is that of the launch.
// C++17, because nvcc reads this file too.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "replay/run/pattern.h"

namespace ncclog {

/// Writes what `pattern.rank` sends, elements 0 … `elements` - 1. `buffer` is aligned to elements.
cudaError_t launch_fill(const DataPattern& pattern, void* buffer, int64_t elements,
                        cudaStream_t stream);

/// Compares what arrived. `result` lies in the GPU's memory and holds a ComparedElements as made.
cudaError_t launch_compare(const DataPattern& pattern, const void* buffer, int64_t elements,
                           ComparedElements* result, cudaStream_t stream);

/// Flips the highest bit but one of an element of `bytes` bytes: whatever its type, it then is
/// another value.
cudaError_t launch_flip(void* buffer, int64_t element, int bytes, cudaStream_t stream);

}  // namespace ncclog
