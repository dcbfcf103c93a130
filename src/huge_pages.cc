// The executable's memory in pages of 2 MB, where Linux gives them to who asks ("madvise" or
// "always" in /sys/kernel/mm/transparent_hugepage/enabled).
//
// A log of 20,000 ranks fills 190 MB with small objects that are looked up in any order. In pages
// of 4 kB each page costs a fault, and most look-ups a miss of the TLB: on a virtual machine that
// is half of the time. Nor is memory given back while the program runs: it would go in pieces,
// which tear huge pages up, and is soon asked for again. What the environment says to the allocator
// (MIMALLOC_LARGE_OS_PAGES, MALLOC_CONF, …) overrules this.

#ifdef NCCLOG_STATIC

// jemalloc reads this before its first allocation: jemalloc(3), "TUNING".
extern "C" {
const char* malloc_conf =  // NOLINT(readability-identifier-naming): not our name.
    "thp:always,narenas:1,oversize_threshold:0,dirty_decay_ms:-1,muzzy_decay_ms:-1";
}

#else

#include <mimalloc.h>

#include <cstdlib>
#include <new>

#include "base/leftovers.h"

namespace {

void ask_for_huge_pages() {
  mi_option_set_enabled_default(mi_option_large_os_pages, true);
  mi_option_set_enabled_default(mi_option_allow_decommit, false);
  // Constructors of libraries need some, and cannot say that there is none.
  void* const first = std::malloc(size_t{1} << 20);
  if (first == nullptr) ncclog::end_without_memory();
  std::free(first);
}

// Before the constructors of shared libraries, because theirs are the first allocations, and the
// 32 MB that mimalloc fetches for these stay as they were fetched.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeAll)() = ask_for_huge_pages;

}  // namespace

// mimalloc is a library of C: where it has no memory, its own operator new aborts. What is thrown ends
// in a sentence (main.cc).

namespace {

void* thrown_if_null(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return thrown_if_null(std::malloc(bytes)); }
void* operator new[](size_t bytes) { return thrown_if_null(std::malloc(bytes)); }
void* operator new(size_t bytes, std::align_val_t to) {
  return thrown_if_null(mi_malloc_aligned(bytes, static_cast<size_t>(to)));
}
void* operator new[](size_t bytes, std::align_val_t to) {
  return thrown_if_null(mi_malloc_aligned(bytes, static_cast<size_t>(to)));
}

#endif
