// What a rank holds of its GPU: memory, streams, events. Each gives its own back.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

namespace ncclog {

/// Memory of the current GPU. Invariant: it frees what it allocated.
class GpuMemory {
 public:
  GpuMemory() = default;

  /// Allocates at least `bytes`, so that there is an address even for none. Throws Error.
  GpuMemory(int64_t bytes, int rank);
  GpuMemory(GpuMemory&& other) noexcept : address_(std::exchange(other.address_, nullptr)) {}
  GpuMemory& operator=(GpuMemory&& other) noexcept {
    std::swap(address_, other.address_);
    return *this;
  }
  ~GpuMemory();

  char* at(int64_t byte) const { return address_ + byte; }

 private:
  char* address_ = nullptr;
};

/// A stream that does not wait for the default one. Invariant: it destroys its own.
class GpuStream {
 public:
  explicit GpuStream(int rank);
  GpuStream(GpuStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  GpuStream& operator=(GpuStream&&) = delete;
  ~GpuStream();

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A place in a stream. Invariant: it destroys its own.
class GpuEvent {
 public:
  /// `takes_time`: of two recorded ones the time between them can be asked for.
  explicit GpuEvent(int rank, bool takes_time = false);
  GpuEvent(GpuEvent&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)), rank_(other.rank_) {}
  GpuEvent& operator=(GpuEvent&&) = delete;
  ~GpuEvent();

  void record(cudaStream_t stream);

  /// Whether the stream has come there. Throws Error if the GPU failed.
  bool is_reached() const;

  /// Microseconds from `start` to here; both are reached.
  double microseconds_since(const GpuEvent& start) const;

 private:
  cudaEvent_t event_ = nullptr;
  int rank_ = -1;
};

}  // namespace ncclog
