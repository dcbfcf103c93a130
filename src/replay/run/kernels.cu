#include "replay/run/kernels.h"

#include <algorithm>

namespace ncclog {
namespace {

constexpr int kThreads = 256;
constexpr int kMostBlocks = 4096;

__device__ uint64_t load_bits(const void* buffer, int64_t element, int bytes) {
  switch (bytes) {
    case 1:
      return static_cast<const uint8_t*>(buffer)[element];
    case 2:
      return static_cast<const uint16_t*>(buffer)[element];
    case 4:
      return static_cast<const uint32_t*>(buffer)[element];
    default:
      return static_cast<const uint64_t*>(buffer)[element];
  }
}

__device__ void store_bits(void* buffer, int64_t element, int bytes, uint64_t bits) {
  switch (bytes) {
    case 1:
      static_cast<uint8_t*>(buffer)[element] = static_cast<uint8_t>(bits);
      break;
    case 2:
      static_cast<uint16_t*>(buffer)[element] = static_cast<uint16_t>(bits);
      break;
    case 4:
      static_cast<uint32_t*>(buffer)[element] = static_cast<uint32_t>(bits);
      break;
    default:
      static_cast<uint64_t*>(buffer)[element] = bits;
  }
}

__device__ int64_t first_element() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ int64_t stride() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

__global__ void fill(DataPattern pattern, void* buffer, int64_t elements) {
  const int bytes = element_bytes(pattern.datatype);
  for (int64_t i = first_element(); i < elements; i += stride()) {
    store_bits(buffer, i, bytes, sent_bits(pattern, pattern.rank, i));
  }
}

__global__ void compare(DataPattern pattern, const void* buffer, int64_t elements,
                        ComparedElements* result) {
  const int bytes = element_bytes(pattern.datatype);
  unsigned long long wrong = 0;
  unsigned long long first = ComparedElements::kNone;
  for (int64_t i = first_element(); i < elements; i += stride()) {
    if (is_right(pattern, i, load_bits(buffer, i, bytes))) continue;
    if (wrong == 0) first = static_cast<unsigned long long>(i);
    ++wrong;
  }
  if (wrong == 0) return;
  atomicAdd(&result->wrong, wrong);
  atomicMin(&result->first, first);
}

/// Follows `compare` on its stream: only then is the lowest place known.
__global__ void describe_first(DataPattern pattern, const void* buffer, ComparedElements* result) {
  if (result->wrong == 0) return;
  const int64_t element = static_cast<int64_t>(result->first);
  result->expected = expected_bits(pattern, element);
  result->found = load_bits(buffer, element, element_bytes(pattern.datatype));
}

__global__ void flip(void* buffer, int64_t element, int bytes) {
  store_bits(buffer, element, bytes, load_bits(buffer, element, bytes) ^ (1ULL << (8 * bytes - 2)));
}

/// At least one block, so that a launch without elements loads the kernel all the same.
int blocks_for(int64_t elements) {
  return static_cast<int>(
      std::clamp<int64_t>((elements + kThreads - 1) / kThreads, 1, kMostBlocks));
}

}  // namespace

cudaError_t launch_fill(const DataPattern& pattern, void* buffer, int64_t elements,
                        cudaStream_t stream) {
  fill<<<blocks_for(elements), kThreads, 0, stream>>>(pattern, buffer, elements);
  return cudaGetLastError();
}

cudaError_t launch_compare(const DataPattern& pattern, const void* buffer, int64_t elements,
                           ComparedElements* result, cudaStream_t stream) {
  compare<<<blocks_for(elements), kThreads, 0, stream>>>(pattern, buffer, elements, result);
  describe_first<<<1, 1, 0, stream>>>(pattern, buffer, result);
  return cudaGetLastError();
}

cudaError_t launch_flip(void* buffer, int64_t element, int bytes, cudaStream_t stream) {
  flip<<<1, 1, 0, stream>>>(buffer, element, bytes);
  return cudaGetLastError();
}

}  // namespace ncclog
