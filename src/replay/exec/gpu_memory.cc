#include "replay/exec/gpu_memory.h"

#include <algorithm>

#include "replay/exec/check.h"

namespace ncclog {

// What is given back late, while the process ends, may fail and nobody is left to tell.

GpuMemory::GpuMemory(int64_t bytes, int rank) {
  void* address = nullptr;
  check(cudaMalloc(&address, static_cast<size_t>(std::max<int64_t>(bytes, 256))),
        {"cudaMalloc of " + std::to_string(bytes) + " bytes", rank});
  address_ = static_cast<char*>(address);
}

GpuMemory::~GpuMemory() {
  if (address_ != nullptr) (void)cudaFree(address_);
}

GpuStream::GpuStream(int rank) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
        {"cudaStreamCreateWithFlags", rank});
}

GpuStream::~GpuStream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

GpuEvent::GpuEvent(int rank, bool takes_time) : rank_(rank) {
  check(cudaEventCreateWithFlags(&event_, takes_time ? cudaEventDefault : cudaEventDisableTiming),
        {"cudaEventCreateWithFlags", rank});
}

GpuEvent::~GpuEvent() {
  if (event_ != nullptr) (void)cudaEventDestroy(event_);
}

void GpuEvent::record(cudaStream_t stream) {
  check(cudaEventRecord(event_, stream), {"cudaEventRecord", rank_});
}

bool GpuEvent::is_reached() const {
  const cudaError_t result = cudaEventQuery(event_);
  if (result == cudaErrorNotReady) {
    (void)cudaGetLastError();  // Else the next launch would be told of it.
    return false;
  }
  check(result, {"cudaEventQuery", rank_});
  return true;
}

double GpuEvent::microseconds_since(const GpuEvent& start) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.event_, event_), {"cudaEventElapsedTime", rank_});
  return milliseconds * 1e3;
}

}  // namespace ncclog
