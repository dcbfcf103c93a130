// Loops over bytes for whatever vectors the processor has.
//
//   NCCLOG_WIDE_VECTORS OddBytes look_at(…)     two versions; the program chooses when it starts
//
// Elsewhere than on x86 the compiler's one version is as good. With vectors of 32 bytes such loops
// take a quarter of the time.

#pragma once

// Sanitizers cannot look on while the choice is made.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
/// Stands before the definition of a function of which the loops are worth it.
#define NCCLOG_WIDE_VECTORS [[gnu::target_clones("avx2", "default")]]
#else
#define NCCLOG_WIDE_VECTORS
#endif
