#include "log/record_starts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "log/event_reader.h"

namespace ncclog {
namespace {

// A bar stands where the next record begins.
TEST(RecordStarts, AreFoundWhereverTheyStand) {
  constexpr std::string_view kRows[] = {
      "n1:7:7 [0] NCCL INFO NVLS multicast supp|[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] text",
      "n1:7:7 [0] NCCL INFO |[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] text",
      "n1:7:7 [0] NCCL INFO Using network IB|[E ProcessGroupNCCL.cpp:563] [Rank 2] text",
      "[rank1]:[E ProcessGroupNCCL.cpp:523] one.|[rank2]:[E ProcessGroupNCCL.cpp:523] two",
      "[rank1]:[E ProcessGroupNCCL.cpp:523] one.|[E1120 21:25:35.500000001 "
      "ProcessGroupNCCL.cpp:607] x",
      "loading shard 3|E1128 10:22:33.123456  1234 file.cc:12] text",
      "saved|Traceback (most recent call last):",
      "[1,3]<stdout>:saved|Traceback (most recent call last):",
      "[rank0]: Traceback (most recent call last):|[rank0]:   File \"train.py\", line 30, in step",
      "[rank0]:      ^^^^^|[rank0]: ValueError: x",
      "'shape'|(Worker_TP0 pid=4814) ValueError: x",
      "    self.run()|(EngineCore_0 pid=7)",
      "step 3|(RayWorkerWrapper pid=9, ip=10.0.0.7) text",
      "31it [00:34,  7.0s/it]|slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 "
      "***",
      "  8388608  2097152  float  sum  -1|n1: Test CUDA failure common.cu:303 'text'",
      "  8388608  2097152  float  sum  -1  49.3  1.71  3.20  0|n1:7:7 [0] NCCL INFO Using network "
      "IB",
      "  8388608  2097152  float  sum  -1  49.3  1.71  3.20  0|10.0.0.7:7:7 [0] NCCL INFO text of "
      "it",
      "  8388608  2097152  float  sum  -1  49.3  1.71  3.20  N/A  49.3  1.71  3.20  0|# Out of "
      "bounds values : 0 OK",
  };
  for (const std::string_view row : kRows) {
    const size_t bar = row.find('|');
    const std::string line = std::string(row.substr(0, bar)).append(row.substr(bar + 1));
    EXPECT_EQ(next_record_start(line), bar) << row;
  }
}

TEST(RecordStarts, ALineOfOneRecordHasNone) {
  constexpr std::string_view kLines[] = {
      "",
      "[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] text",
      "[default3]:[rank3]:[E1120 21:25:35.500000001 ProcessGroupNCCL.cpp:607] [Rank 3] text",
      "(Worker_TP0 pid=4814) (Worker_TP1 pid=4815) Traceback (most recent call last):",
      "some-launcher> [E ProcessGroupNCCL.cpp:563] [Rank 2] text",
      "n1:7:7 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1",
      "traceback : Traceback (most recent call last):",
      "[rank1]: Original Traceback (most recent call last):",
      "error: \"Traceback (most recent call last):\\n  File\"",
      "A worker died: (Worker pid=33) left",
      "E1128 10:22:33.123456  1234 file.cc:12] text",
      "  8388608  2097152  float  sum  -1  49.3  1.71  3.20  0  50.1  1.67  3.14  0",
      "[1,0]<stdout>:  8388608  2097152  float  sum  -1[1,0]<stdout>:  49.3  1.71  3.20  "
      "0[1,0]<stdout>:  50.1",
      "  8388608  2097152  float  sum  -1  49.3us  1.71GB/s",
      "  8388608  2097152  float  sum  -1  49.3  1.71  3.20  0  2026-01-05 12:00:00",
  };
  for (const std::string_view line : kLines) EXPECT_EQ(next_record_start(line), line.npos) << line;
}

TEST(RecordStarts, ALaunchersLabelIsTrueOfTheWholeLine) {
  std::vector<std::string> records;
  EventReader reader([&](const Line& record, const Event&, int lines) {
    records.push_back(std::string(record.text) + " " + std::to_string(lines) +
                      (is_followed(record, lines) ? " followed" : ""));
  });
  reader.add({.text = "[1,3]<stdout>:saved.Traceback (most recent call last):", .number = 1});
  reader.finish();
  EXPECT_EQ(records,
            (std::vector<std::string>{"[1,3]<stdout>:saved. 0 followed",
                                      "[1,3]<stdout>:Traceback (most recent call last): 1"}));
}

}  // namespace
}  // namespace ncclog
