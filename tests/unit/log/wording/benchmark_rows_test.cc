// Rows and headings of nccl-tests, release by release.

#include "log/wording/benchmark_rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "log/known_messages.h"
#include "support/event_text.h"

namespace ncclog {
namespace {

using testing::EventRow;
using testing::expect_events;
using testing::expect_every_cut_survives;

const std::vector<EventRow> kNcclTestsLines = {
    // 2.0 to 2.10: the columns that the test needs, the largest error.
    {"     1048576        262144   float     sum    819.0    1.28    1.92  2e-07    801.3    1.31  "
     "  "
     "1.96  2e-07",
     "nccl_tests_result size=1048576 count=262144 datatype=float redop=sum time=819.0 algbw=1.28 "
     "busbw=1.92 wrong=2e-07 time_in_place=801.3 algbw_in_place=1.31 busbw_in_place=1.96 "
     "wrong_in_place=2e-07"},
    {"     1048576        262144   float    34.27    0.00    0.00    N/A    33.57    0.00    0.00  "
     "  "
     "N/A",
     "nccl_tests_result size=1048576 count=262144 datatype=float time=34.27 algbw=0.00 busbw=0.00 "
     "wrong=N/A time_in_place=33.57 algbw_in_place=0.00 busbw_in_place=0.00 wrong_in_place=N/A"},
    {"    40046416      40046416      int8       0   1268.1   31.58   31.58  0e+00   1279.3   "
     "31.30  "
     "31.30  0e+00",
     "nccl_tests_result size=40046416 count=40046416 datatype=int8 root=0 time=1268.1 algbw=31.58 "
     "busbw=31.58 wrong=0e+00 time_in_place=1279.3 algbw_in_place=31.30 busbw_in_place=31.30 "
     "wrong_in_place=0e+00"},
    // 2.11 and later: redop and root always.
    {"    67108864       1048576     float    none      -1   5546.3   12.10   11.34      0   "
     "6484.0  "
     " 10.35    9.70      3",
     "nccl_tests_result size=67108864 count=1048576 datatype=float redop=none root=-1 time=5546.3 "
     "algbw=12.10 busbw=11.34 wrong=0 time_in_place=6484.0 algbw_in_place=10.35 "
     "busbw_in_place=9.70 wrong_in_place=3"},
    // With a time stamp.
    {"8388608 2097152 float sum -1 4915.3 1.71 3.20 0 5012.1 1.67 3.14 0  2026-01-05 12:00:00",
     "nccl_tests_result size=8388608 count=2097152 datatype=float redop=sum root=-1 time=4915.3 "
     "algbw=1.71 busbw=3.20 wrong=0 time_in_place=5012.1 algbw_in_place=1.67 busbw_in_place=3.14 "
     "wrong_in_place=0"},
    // Replayed traces are measured in place only.
    {"     8388608       2097152     float     sum      -1                                  5012.1 "
     "  "
     " 1.67    3.14    N/A",
     "nccl_tests_result size=8388608 count=2097152 datatype=float redop=sum root=-1 "
     "time_in_place=5012.1 algbw_in_place=1.67 busbw_in_place=3.14 wrong_in_place=N/A"},
    // Per-iteration times behind each four values.
    {"8388608 2097152 float sum -1 49.3 1.71 3.20 0 48.1 51.2 51.1 2.10 50.1 1.67 3.14 0 49.0 52.0 "
     "51.9 1.50",
     "nccl_tests_result size=8388608 count=2097152 datatype=float redop=sum root=-1 time=49.3 "
     "algbw=1.71 busbw=3.20 wrong=0 time_in_place=50.1 algbw_in_place=1.67 busbw_in_place=3.14 "
     "wrong_in_place=0"},
    // A plug-in's columns behind.
    {"1048576 262144 float sum -1 76.26 13.75 25.78 0 76.43 13.72 25.72 0  Direct    SIMPLE      "
     "32",
     "nccl_tests_result size=1048576 count=262144 datatype=float redop=sum root=-1 time=76.26 "
     "algbw=13.75 busbw=25.78 wrong=0 time_in_place=76.43 algbw_in_place=13.72 "
     "busbw_in_place=25.72 wrong_in_place=0"},
    {"[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw "
     "#wrong     time   algbw   busbw #wrong",
     "rank 0 nccl_tests_columns columns=size         count      type   redop    root     time   "
     "algbw   busbw #wrong     time   algbw   busbw #wrong"},
    {"#                                                              out-of-place                  "
     " "
     "    in-place          ",
     "nccl_tests_columns"},
    {"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
     "(us)",
     "nccl_tests_columns"},
    {"# nThread 1 nGpus 8 minBytes 8 maxBytes 128 step: 1048576(bytes) warmup iters: 5 iters: 20 "
     "agg "
     "iters: 1 validation: 1 ",
     "nccl_tests_config threads=1 gpus=8 min_bytes=8 max_bytes=128 step=1048576(bytes) "
     "warmup_iters=5 iters=20 agg_iters=1 validation=1"},
    {"# nThread 1 nGpus 8 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20 "
     "validation: 1 ",
     "nccl_tests_config threads=1 gpus=8 min_bytes=8 max_bytes=128 step=2(factor) warmup_iters=5 "
     "iters=20 validation=1"},
    {"# Avg bus bandwidth    : 41.6967 ", "nccl_tests_bandwidth busbw=41.6967"},
    {"# Avg bus bandwidth    : 41.6967 OK", "nccl_tests_bandwidth busbw=41.6967 verdict=OK"},
    {"node-a: Test timeout (60s) common.cu:640",
     "nccl_tests_timeout host=node-a seconds=60 file=common.cu line=640"},
    {"node-a: Test CUDA failure common.cu:892 'out of memory'",
     "nccl_tests_failure host=node-a api=CUDA file=common.cu line=892 error=out of memory"},
    // Rows that are cut inside a number, or whose numbers something is glued to, are none.
    {"8388608 2097152 float sum -1 49.3 1.71 3.20 0 50.1 1.67 3.1",
     "- 8388608 2097152 float sum -1 49.3 1.71 3.20 0 50.1 1.67 3.1"},
    {"8388608 2097152 float none 0 49.3 170.15 3.20 0 50.1 167.43 3.14",
     "- 8388608 2097152 float none 0 49.3 170.15 3.20 0 50.1 167.43 3.14"},
    {"8388608 2097152 float sum -1 49.3 170.15 3.20 0 50.1 167.43 3.14 1node-a:4",
     "- 8388608 2097152 float sum -1 49.3 170.15 3.20 0 50.1 167.43 3.14 1node-a:4"},
    {"1073741824 268435456 float sum 17146 62.62 117.42 0e+00 17158",
     "- 1073741824 268435456 float sum 17146 62.62 117.42 0e+00 17158"},
    // Numbers that are something else.
    {"1048576 262144 float", "- 1048576 262144 float"},
    {"12 7 apples 1 2 3 4", "- 12 7 apples 1 2 3 4"},
    {"1 2 3 4 5 6 7 8 9 10 11", "- 1 2 3 4 5 6 7 8 9 10 11"},
    {"01 68 c3 49 08 00 00 00 05 78 81 00", "- 01 68 c3 49 08 00 00 00 05 78 81 00"},
};

TEST(NcclTestsLines, AreTakenApartInEveryRelease) { expect_events(kNcclTestsLines); }

TEST(NcclTestsLines, SurviveEveryCut) { expect_every_cut_survives(kNcclTestsLines); }

}  // namespace
}  // namespace ncclog
