#include "log/named_failure.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/text.h"

namespace ncclog {
namespace {

struct NamedCase {
  std::string_view line;
  std::string_view words;  ///< Empty: the line reports no failure by name.
};

TEST(NamedFailures, AreFoundInTheWordsOfTheirLibraries) {
  constexpr NamedCase kCases[] = {
      {"node0: Test CUDA failure common.cu:893 'no CUDA-capable device is detected'",
       "no CUDA-capable device is detected"},
      {"No CUDA-capable device is detected", "no CUDA-capable device is detected"},
      {"ours.cu:7: got cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {"CUDA error: out of memory", "out of memory"},
      {"the error log is out of memory pages", ""},  // Nothing there is of a GPU.
      {"open(/x) failed: Read-only file system", "Read-only file system"},
      {"open(/x) failed: read-only file system (30)", "Read-only file system"},
      {"UCX  ERROR failed to insert region: Invalid parameter", "Invalid parameter"},
      {"Invalid parameter", ""},
      {"node0: Test CUDA failure common.cu:893 'invalid argument'", "invalid argument"},
      {"RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error.",
       "is killed by signal: Bus error"},
      {"DataLoader worker (pid 77) is killed by signal: Killed.", ""},
      {"ours.cu:7: got mycudaErrorNoDevice2", ""},  // Part of a longer name.
      {"CUDA error: invalid resource handle: 0x7f10", "invalid resource handle"},
      {"CUDA error: no CUDA-capable device is detected, see the warning above",
       "no CUDA-capable device is detected"},
      {"RDMA: transport retry counter exceeded on mlx5_0", "transport retry counter exceeded"},
  };
  for (const NamedCase& row : kCases) {
    const NamedFailure* failure = named_failure_in(row.line);
    EXPECT_EQ(failure == nullptr ? "" : words_of(*failure), row.words) << row.line;
  }
}

TEST(NamedFailures, WhoCarriesTheWordsSaysOfWhichLibraryTheyAre) {
  constexpr NamedCase kCases[] = {
      {"node0: Test CUDA failure common.cu:893 'invalid argument'", "cuda"},
      {"node0: Test NCCL failure common.cu:212 'invalid argument'", "nccl"},
      {"Test NCCL failure common.cu:212 'invalid argument (run with NCCL_DEBUG=WARN for details) / "
       "'",
       "nccl"},
      {"RuntimeError: NCCL error in: ../c10d/NCCLUtils.hpp:7, invalid argument, NCCL version "
       "2.14.3",
       "nccl"},
      {"n0: Test NCCL failure common.cu:9 'unhandled cuda error / Cuda failure 1 'invalid "
       "argument''",
       "cuda"},
      // The C library begins with a capital.
      {"WARN: NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument", "errno"},
  };
  for (const NamedCase& row : kCases) {
    const NamedFailure* failure = named_failure_in(row.line);
    EXPECT_EQ(failure == nullptr ? "" : failure->list, row.words) << row.line;
  }
}

TEST(NamedFailures, AreNoneWhereTheLineGoesOnOrOnlyTellsOfThem) {
  for (const std::string_view line : {
           "connect failed: Network is unreachable, retrying (3/34)",
           "INFO: the last run ended with cudaErrorIllegalAddress",
           "2026-01-05 12:00:00 WARNING could not bind: Address already in use",
           "    raise RuntimeError('no CUDA-capable device is detected')",
           "  File \"/w/train.py\", line 3, in check_cudaErrorNoDevice",
           "8 GPUs checked, CUDA says: no error",
           "container state: OOMKilled: false",
           "pod restarts 0, OOMKilled=false",
           "GPU 3: 0 uncorrectable ECC error encountered",
           "Health: CUDA_ERROR_ECC_UNCORRECTABLE count 0",
           "Batch size 64 failed: CUDA out of memory; batch size 32 succeeded",
           "Trying batch size 64 on GPU... CUDA out of memory. Trying batch size 32",
           "caught CUDA out of memory 0 times",
           "catching cudaErrorMemoryAllocation: enabled",
           "Search for `cudaErrorNoDevice' in https://docs.example/group__TYPES.html",
           "retriable_errors: [ncclInvalidUsage]",
           "bind failed: Address already in use, using port 8001 instead",
           "operation not permitted when stream is capturing; running eagerly",
           "could not load profile: bad response error",  // Nothing there is of RDMA.
           "cannot open shared object file: No such file or directory",
       }) {
    EXPECT_EQ(named_failure_in(line), nullptr) << line;
  }
}

TEST(NamedFailures, ACauseIsToldBeforeAConsequenceAndTheLongerBeforeTheShorter) {
  std::string_view words;
  const NamedFailure* failure = named_failure_in(
      "NCCL error: unhandled cuda error; CUDA error: unspecified launch failure in prior launch",
      &words);
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(words, "unspecified launch failure in prior launch");
  EXPECT_EQ(words_of(*failure), "unspecified launch failure in prior launch");
}

TEST(NamedFailures, OfEqualsTheFirstCountsHoweverTheyAreLookedFor) {
  // From some size on, all texts are looked for at once, and found in another order.
  const std::string line =
      "UCX error: No such device; ERROR: cudaErrorNoDevice and no CUDA-capable device is detected; "
      "no CUDA-capable device is detected, retrying";
  const NamedFailure* first = named_failure_in(line);
  const NamedFailure* twice = named_failure_in("error: No such device, UCX says");
  for (int i = 0; i < 1000; ++i) named_failure_in(line);
  EXPECT_EQ(named_failure_in(line), first);
  EXPECT_EQ(named_failure_in("error: No such device, UCX says"), twice);
}

TEST(NamedFailures, EachRowHasWordsAndNoneStandsTwice) {
  std::set<std::string> seen;
  for (const NamedFailure& failure : named_failures()) {
    EXPECT_FALSE(words_of(failure).empty());
    EXPECT_TRUE(seen.insert(std::string(failure.names) + "\t" + std::string(failure.text)).second)
        << failure.names << failure.text;
    EXPECT_FALSE(failure.meaning.ends_with('.')) << failure.meaning;
  }
  EXPECT_GT(seen.size(), 300u);
}

}  // namespace
}  // namespace ncclog
