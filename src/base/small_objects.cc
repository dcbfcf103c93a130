// How the executable gives out memory for small objects.
//
// The log of 20,000 ranks becomes millions of strings and records, and each fact about it makes and
// drops as many more. malloc joins what is freed with its neighbours and splits it again, which was
// half of the time of such a run, and keeps 8 bytes beside each object. Here blocks of one size lie
// side by side, so an address tells the size, and what is freed waits in a list for the next
// object of the size.
//
//   span 0: |16|16|16|…      span 1: |48|48|…      span 2: |16|16|…      64 KiB each
//
// A thread takes from lists of its own, and puts there what it frees, whoever made it. Lists that
// grow too long, or whose thread ends, go to all threads. Memory is never given back: the program
// ends soon. Objects of more than kLargest bytes are malloc's.

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

namespace {

constexpr size_t kStep = 16;  ///< Sizes of blocks are multiples of it.
constexpr size_t kLargest = 512;
constexpr size_t kSpanBytes = 64 * 1024;
constexpr size_t kGrowBytes = 2 * 1024 * 1024;   ///< One huge page instead of 512 page faults.
constexpr size_t kMostBytes = size_t{16} << 30;  ///< Of addresses that are set aside.

/// A block that nobody uses.
struct Block {
  Block* next = nullptr;       ///< In its list.
  Block* next_list = nullptr;  ///< Of the first block of a list: the next list.
};

/// The blocks of one size that a thread may use.
struct Blocks {
  Block* free = nullptr;
  Block* spare = nullptr;  ///< A full list, so that the border of `free` is not crossed each time.
  size_t freed = 0;        ///< At least as many as are in `free`.
  char* rest = nullptr;    ///< Of the span that is cut up.
  char* end = nullptr;
};

using Sizes = std::array<Blocks, kLargest / kStep + 1>;  ///< By size in steps.

/// What threads share.
struct Shared {
  std::mutex mutex;
  std::array<Block*, std::tuple_size_v<Sizes>> lists{};
  char* rest = nullptr;    ///< Behind the last span.
  char* end = nullptr;     ///< Of the memory that may be used.
  bool is_denied = false;  ///< No addresses could be set aside.
};

constinit Shared shared;
constinit std::atomic<char*> spans = nullptr;  ///< The first one.
constinit std::array<uint8_t, kMostBytes / kSpanBytes> steps_of_span{};
constinit thread_local Sizes own{};

/// From how many blocks on a list is full.
constexpr size_t most_freed(size_t steps) { return kSpanBytes / (steps * kStep); }

void share(size_t steps, Block* list) {
  if (list == nullptr) return;
  const std::lock_guard lock(shared.mutex);
  list->next_list = std::exchange(shared.lists[steps], list);
}

/// Leaves a thread's lists to the others.
struct Heir {
  ~Heir() {
    for (size_t steps = 0; steps < own.size(); ++steps) {
      share(steps, std::exchange(own[steps].free, nullptr));
      share(steps, std::exchange(own[steps].spare, nullptr));
    }
  }
};
thread_local Heir heir;

/// Sets addresses aside where spans will stand; false if that is denied, as by `ulimit -v`.
bool reserve() {
  if (shared.is_denied) return false;
  void* const all = mmap(nullptr, kMostBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  shared.is_denied = all == MAP_FAILED;
  if (shared.is_denied) return false;
  const size_t before = reinterpret_cast<uintptr_t>(all) % kGrowBytes;
  shared.rest = static_cast<char*>(all) + (before == 0 ? 0 : kGrowBytes - before);
  shared.end = shared.rest;
  spans.store(shared.rest, std::memory_order_relaxed);
  return true;
}

/// A span for blocks of that size; nullptr: there is no memory.
char* new_span(size_t steps) {
  if (shared.end == nullptr && !reserve()) return nullptr;
  char* const first = spans.load(std::memory_order_relaxed);
  if (shared.rest == shared.end) {
    const bool is_room = shared.end + 2 * kGrowBytes <= first + kMostBytes;
    if (!is_room || mprotect(shared.end, kGrowBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    madvise(shared.end, kGrowBytes, MADV_HUGEPAGE);
    shared.end += kGrowBytes;
  }
  char* const span = std::exchange(shared.rest, shared.rest + kSpanBytes);
  steps_of_span[static_cast<size_t>(span - first) / kSpanBytes] = static_cast<uint8_t>(steps);
  return span;
}

/// A block where the thread has none; nullptr: there is no memory.
[[gnu::noinline]] void* take_slowly(size_t steps) {
  [[maybe_unused]] const Heir* const registered = &heir;
  Blocks& blocks = own[steps];
  const std::lock_guard lock(shared.mutex);
  if (Block* const list = shared.lists[steps]) {
    shared.lists[steps] = list->next_list;
    blocks.free = list->next;
    blocks.freed = most_freed(steps);
    return list;
  }
  char* const span = new_span(steps);
  if (span == nullptr) return nullptr;
  const size_t size = steps * kStep;
  blocks.rest = span + size;
  blocks.end = span + most_freed(steps) * size;
  return span;
}

void* take(size_t size) noexcept {
  if (size > kLargest) return std::malloc(size);
  const size_t steps = size == 0 ? 1 : (size + kStep - 1) / kStep;
  Blocks& blocks = own[steps];
  if (blocks.free == nullptr) {
    blocks.free = std::exchange(blocks.spare, nullptr);
    blocks.freed = blocks.free != nullptr ? most_freed(steps) : 0;
  }
  if (blocks.free != nullptr) {
    --blocks.freed;
    return std::exchange(blocks.free, blocks.free->next);
  }
  if (blocks.rest != blocks.end) return std::exchange(blocks.rest, blocks.rest + steps * kStep);
  void* const block = take_slowly(steps);
  return block != nullptr ? block : std::malloc(size);
}

void give_back(void* memory) noexcept {
  const auto place = reinterpret_cast<uintptr_t>(memory) -
                     reinterpret_cast<uintptr_t>(spans.load(std::memory_order_relaxed));
  // Before the first span, memory is far from 0, where `spans` points then.
  const size_t steps = place < kMostBytes ? steps_of_span[place / kSpanBytes] : 0;
  if (steps == 0) return std::free(memory);
  Blocks& blocks = own[steps];
  auto* const block = static_cast<Block*>(memory);
  block->next = std::exchange(blocks.free, block);
  if (++blocks.freed < most_freed(steps)) return;
  share(steps, std::exchange(blocks.spare, std::exchange(blocks.free, nullptr)));
  blocks.freed = 0;
}

}  // namespace

void* operator new(size_t size) {
  for (;;) {
    if (void* const memory = take(size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }
