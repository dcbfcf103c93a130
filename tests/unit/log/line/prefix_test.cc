#include "log/line/prefix.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/line/scanner.h"

namespace ncclog {
namespace {

struct PrefixRow {
  std::string_view line;
  std::string_view rest;
  int rank = -1;
  int local_rank = -1;
  std::string_view host = {};
  int64_t pid = -1;
};

const std::vector<PrefixRow> kPrefixes = {
    // torchrun --tee, with another role, and with a rank of Python's excepthook behind it.
    {"[default3]:text", "text", -1, 3},
    {"[2026-01-05 12:00:00,123][train.loop][INFO] - text", "text"},
    {"0: [2026-01-05 12:00:00,123][train][INFO] - text", "text", 0},
    {"2026-01-05 12:00:00,123 INFO trainer[rank 3]: text", "text"},
    {"2026-01-05 12:00:00,123 INFO train.loop: text", "text"},
    {"2026-01-05 12:00:00,123 - INFO - text", "text"},
    {"2026-01-05 12:00:00,123 ERROR train.loop: text", "ERROR train.loop: text"},
    {"  | 2026-01-05T12:00:00.123Z | text", "text"},
    {" | 2026-01-05T12:00:00.123Z | [default3]:text", "text", -1, 3},
    {"| 2026 | text", "| 2026 | text"},
    {"[trainer11]:[rank27]: Traceback", "Traceback", 27, 11},
    {"[trainer0|3]:text", "text", -1, 3},
    {"trainer-b/0 [default3]:[rank7]: text", "text", 7, 3},
    {"trainer/0 [0]: text", "trainer/0 [0]: text"},
    {"[rank3]:text", "text", -1, 3},
    {"[rank3]: text", "text", 3},
    {"[rank3]:[rank11]: text", "text", 11, 3},
    {"[rank: 5] text", "text", 5},
    // Open MPI, PRRTE, Horovod, SageMaker.
    {"[1,3]<stdout>:text", "text", 3},
    {"[1,3]<stderr>: text", "text", 3},
    {"[1,3]<stddiag>:text", "text", 3},
    {"[prterun-nodea-77@1,12]<stdout>: text", "text", 12},
    {"[1,0][nodea:4242]<stderr>: text", "text", 0, -1, "nodea"},
    {"[7]<stdout>: text", "text", 7},
    {"Mon Jan  5 12:00:00 2026[3]<stderr>:text", "text", 3},
    {"Mon Jan  5 12:00:00 2026[1,2]<stderr>:text", "text", 2},
    {"[1,mpirank:3,algo-1]<stdout>:text", "text", 3},
    {"Mon Jan  5 12:00:00 2026<stdout>:text", "text"},
    {"<stderr>: text", "text"},
    // srun --label.
    {"3: text", "text", 3},
    {" 3: text", "text", 3},
    {"03: text", "text", 3},
    {"127: [rank9]: text", "text", 9},
    {"[rank9]: 3: text", "text", 9},
    // pdsh, clush.
    {"node-07: text", "text", -1, -1, "node-07"},
    {"worker3.cluster.example: text", "text", -1, -1, "worker3.cluster.example"},
    {"localhost: text", "text", -1, -1, "localhost"},
    {"GPUBOX: Traceback (most recent call last):", "Traceback (most recent call last):", -1, -1,
     "GPUBOX"},
    {"alpha: [rank3]: text", "text", 3, -1, "alpha"},
    {"[rank3]:  what():  text", "  what():  text", -1, 3},
    // A changed nccl-tests.
    {"run(), common.cu:1174, # text", "# text"},
    {"run(), common.cu:1174, text", "run(), common.cu:1174, text"},
    // Kubernetes, containerd, docker, journald, the kernel.
    {"[pod/train-worker-3/pytorch] text", "text", -1, -1, "train-worker-3"},
    {"2026-01-05T12:00:00.000000001Z stderr F text", "text"},
    {"2026-01-05T12:00:00.1+01:00 stdout P text", "text"},
    {"2026-01-05T12:00:00.000000001Z [pod/w-3/c] [default1]:text", "text", -1, 1, "w-3"},
    {"worker-1  | text", "text", -1, -1, "worker-1"},
    {"job_worker.2.k3x9@node-a    | text", "text", -1, -1, "node-a"},
    {"2026-01-05T12:00:00.000Z\ttext", "text"},
    {"1767614400000\ttext", "text"},
    {"2026-01-05T12:00:00Z {pod=\"w-3\", container=\"c\"} text", "text", -1, -1, "w-3"},
    {"2026-01-05T12:00:00+0000 node-a slurmstepd[77]: text", "text", -1, -1, "node-a"},
    {"2026-01-05T12:00:00Z node-a kernel: text", "text", -1, -1, "node-a"},
    {"2026-01-05T12:00:00Z error loading: text", "error loading: text"},
    {"<30>Jan 05 12:00:00 node-a app[77]: text", "text", -1, -1, "node-a"},
    {"<134>1 2026-01-05T12:00:00.1Z node-a app 77 ID47 - text", "text", -1, -1, "node-a"},
    {"<134>1 2026-01-05T12:00:00.1Z node-a app - - [a@1 b=\"c\"] text", "text", -1, -1, "node-a"},
    {"MESSAGE=text", "text"},
    {"Jan 05 12:00:00 node-a kernel: text", "text", -1, -1, "node-a"},
    {"Tue Jan  6 12:00:00 2026 node-a kernel: text", "text", -1, -1, "node-a"},
    {"Jan  5 12:00:00 node-a slurmstepd[77]: text", "text", -1, -1, "node-a"},
    {"[12345.678901] text", "text"},
    {"[    5.678901] text", "text"},
    {"[Mon Jan  5 12:00:00 2026] text", "text"},
    // Ray, vLLM, SGLang.
    {"(TrainWorker pid=4242, ip=10.0.0.7) text", "text", -1, -1, "", 4242},
    {"(pid=4242) text", "text", -1, -1, "", 4242},
    {"(Trainer[rank=9] pid=4242) text", "text", 9, -1, "", 4242},
    {"(VllmWorker rank=1 pid=4242) text", "text", 1, -1, "", 4242},
    {"(EngineCore_DP0 pid=77) text", "text", -1, -1, "", 77},
    {"(WorkerDict pid=88219) [rank1]: text", "text", 1, -1, "", 88219},
    {"[2026-01-05 12:00:00 DP0 TP3] text", "text"},
    // Loggers.
    {"2026-01-05 12:00:00,123 text", "text"},
    {"[2026-01-05 12:00:00,123] [INFO] [logging.py:128:log_dist] [Rank 6] step=10", "step=10", 6},
    {"2026-01-05 12:00:00 | INFO | train_inner | epoch 001", "epoch 001"},
    {"[titan] 2026-01-05 12:00:00,123 - root - INFO - step:  1", "step:  1"},
    {" [2026-01-05 12:00:00] iteration       10/     500", "iteration       10/     500"},
    {"2026-01-05 12:00:00.123 | INFO     | train:step:12 - text", "text"},
    {"2026-01-05 12:00:00,123\tINFO worker.py:1528 -- text", "text"},
    {"2026-01-05 12:00:00.000001: I external/xla/a.cc:12] text", "text"},
    {"I0000 00:00:1767614400.000001    4242 a.cc:12] text", "text"},
    {"I0105 12:00:00.000001    4242 a.cc:12] text", "text"},
    {"INFO 01-05 12:00:00 [core.py:58] text", "text"},
    {"INFO 01-05 12:00:00 llm_engine.py:98] text", "text"},
    {"INFO:train.loop:text", "text"},
    {"[INFO|trainer.py:3719] 2026-01-05 12:00:00,123 >> text", "text"},
    {"kernel: NVRM: text", "NVRM: text"},
    // What sites' own collectors make of it, in front of a record.
    {"pod/train-worker-3[pytorch]: text", "text", -1, -1, "train-worker-3"},
    {"train-worker-3 pytorch:   File \"/a.py\", line 1, in f", "  File \"/a.py\", line 1, in f", -1,
     -1, "train-worker-3"},
    {"train-worker-3/pytorch> ValueError: text", "ValueError: text", -1, -1, "train-worker-3"},
    {"[2026-01-05 12:00:00][node-7][rank5] ValueError: text", "ValueError: text", 5, -1, "node-7"},
    {"[node-7:rank5] NCCL version 2.20.5", "NCCL version 2.20.5", 5, -1, "node-7"},
    {"train-worker-3[pytorch]: ValueError: text", "ValueError: text", -1, -1, "train-worker-3"},
    {"<node-7> ValueError: text", "ValueError: text", -1, -1, "node-7"},
    // What mails, issues, diffs and terminals add.
    {"│ [rank9]: text", "text", 9},
    {"│   what():  text", "what():  text"},
    {"+   1048576  262144 text", "   1048576  262144 text"},
    {"+#  Rank  0", "#  Rank  0"},
    {"> text", "text"},
    {"> > >> text", "text"},
    {"> 3: [rank9]: text", "text", 9},
    {"    [1,3]<stdout>:text", "text", 3},
    {"    node-7: 3: text", "text", 3, -1, "node-7"},
    {" 12 | [rank9]: text", "text", 9},
    {"12:[rank9]: text", "text", 9},
    {"  12\tNCCL version 2.20.5+cuda12.4", "NCCL version 2.20.5+cuda12.4"},
    {"- Traceback (most recent call last):", "Traceback (most recent call last):"},
    {"[3] [E ProcessGroupNCCL.cpp:828] text", "[E ProcessGroupNCCL.cpp:828] text", 3},
    {"[11]: NCCL version 2.20.5+cuda12.4", "NCCL version 2.20.5+cuda12.4", 11},
    {"worker-3 pytorch NCCL version 2.20.5+cuda12.4", "NCCL version 2.20.5+cuda12.4", -1, -1,
     "worker-3"},
    // A bar without newline, twice.
    {"a:  33%|###  | 5/15 [1:02<2:06, 6.59s/it]a:  40%|###  | 6/15 [1:02<2:06, 6.59s/it]Traceback",
     "Traceback"},
};

TEST(ParsePrefix, TakesOffWhatLaunchersAndCollectorsPutInFront) {
  for (const PrefixRow& row : kPrefixes) {
    SCOPED_TRACE(row.line);
    const Prefix prefix = parse_prefix(row.line);
    EXPECT_EQ(row.line.substr(prefix.length), row.rest);
    EXPECT_EQ(prefix.rank, row.rank);
    EXPECT_EQ(prefix.local_rank, row.local_rank);
    EXPECT_EQ(prefix.host, row.host);
    EXPECT_EQ(prefix.pid, row.pid);
  }
}

TEST(ParsePrefix, LeavesOrdinaryOutputAlone) {
  const std::string_view lines[] = {
      "",
      "text",
      "RuntimeError: CUDA error",
      "ncclSystemError: System call",
      "torch.distributed.DistBackendError: NCCL error",
      "Filesystem: ext4",
      "rank 0: world 8",
      "rank0: world 8",
      "gpu3: 71 C",
      "python3.10: can't open file",
      "loss: 2.5",
      "12:00:00 text",
      "[3] is setting up NCCL communicator",
      "[node-7] text",
      "<node-7> text",
      "[ERROR] ValueError: text",
      "[trainer] ValueError: text",
      "[1024, 16]",
      "[0]:",
      "(a) text",
      "(loss=2.5) text",
      "node105: Test NCCL failure common.cu:1005 'unhandled system error'",
      "host:77:91 [3] text",
      "step | loss",
      "12 | 34",
      "  key1: value",
      "12 text",
      "- text",
      "│ text",
      "+ 12 text",
      "+ mpirun text",
      ">=2.0",
      "worker-3 is ready",
      "{\"a\"} text",
      "INFO: text",
      "<unk> text",
      "<200>Jan 05 12:00:00 node-a app[77]: text",
      "MESSAGES=1",
      "Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]",
      "[E ProcessGroupNCCL.cpp:828] text",
  };
  for (const std::string_view line : lines) EXPECT_EQ(parse_prefix(line).length, 0U) << line;
}

TEST(ParsePrefix, KeepsTheGlobalRankWhateverTheLauncherNumbers) {
  EXPECT_EQ(parse_prefix("[1,7]<stdout>:[rank3]: text").rank, 3);
  EXPECT_EQ(parse_prefix("(W rank=1 pid=5) [rank3]: text").rank, 3);
}

TEST(ParsePrefix, KeepsRaysAddressOfARemoteNode) {
  EXPECT_EQ(parse_prefix("(W pid=5, ip=10.0.0.7) text").address, "10.0.0.7");
}

TEST(ParsePrefix, TakesNoTaskForAHost) {
  const std::string uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  EXPECT_EQ(parse_prefix("[" + uuid + "] [rank3]: text").host, "");
  EXPECT_EQ(parse_prefix("[" + uuid + "] [rank3]: text").rank, 3);
  EXPECT_EQ(parse_prefix(uuid + " started now").host, "");
  EXPECT_EQ(parse_prefix("[177/train/578 (pid 28936)] [" + uuid + "] NCCL INFO x").host, "");
  EXPECT_EQ(parse_prefix("llm.node-3.nolog [stderr] text").host, "node-3");
  EXPECT_EQ(parse_prefix("my.app.log [stderr] text").host, "");
}

TEST(ParsePrefix, KeepsTimeAndStream) {
  const Prefix cri = parse_prefix("2026-01-05T12:00:00.1Z stderr F [1,3]<stdout>:text");
  EXPECT_EQ(cri.time, "2026-01-05T12:00:00.1Z");
  EXPECT_EQ(cri.stream, "stdout");
  EXPECT_EQ(parse_prefix("Jan 05 12:00:00 node-a kernel: text").time, "Jan 05 12:00:00");
  EXPECT_EQ(parse_prefix("3: text").time, "");
}

TEST(ParsePrefix, NamesTheBarThatGotNoNewline) {
  const std::string_view line = "Validation:   1%|  | 2/210 [00:01<02:58,  1.16it/s][rank0]: text";
  EXPECT_EQ(parse_prefix(line).progress_title, "Validation");
}

TEST(ParsePrefix, SurvivesEveryCut) {
  for (const PrefixRow& row : kPrefixes) {
    for (size_t size = 0; size <= row.line.size(); ++size) {
      const std::string cut(row.line.substr(0, size));  // Its own memory, for the sanitizer.
      EXPECT_LE(parse_prefix(cut).length, cut.size());
    }
  }
}

TEST(ParseProgressBar, ReadsTitleAndCounts) {
  const TqdmBar bar = parse_progress_bar("Epoch 0:  10%|#   | 100/1000 [00:10<01:30, 10.0it/s]");
  EXPECT_EQ(bar.title, "Epoch 0");
  EXPECT_EQ(bar.percent, "10");
  EXPECT_EQ(bar.done, "100");
  EXPECT_EQ(bar.total, "1000");
}

TEST(StripAnsi, RemovesColoursTitlesAndTheirRemnants) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"text", "text"},
      {"\x1b[36m(W pid=5)\x1b[0m text", "(W pid=5) text"},
      {"\x1b[1;38;5;208mtext\x1b[m", "text"},
      {"\x1b]0;title\x07text", "text"},
      {"\x1b]8;;http://a\x1b\\text", "text"},
      {"text\x1b", "text"},
      {"text\x1b[", "text"},
      {"[36m(W pid=5)[0m text", "(W pid=5) text"},
      {"step: [1;36m5[0;0m", "step: 5"},
      {"#033[36mtext#033[0m", "text"},
      {"^[[36mtext^[[0m", "text"},
      {"{\"log\":\"\\u001b[36mtext\\u001b[0m\\n\"}", "{\"log\":\"text\\n\"}"},
      {"{\\\"log\\\":\\\"\\\\u001b[36mtext\\\\u001b[0m\\\"}", "{\\\"log\\\":\\\"text\\\"}"},
      {"[3] text", "[3] text"},
      {"took [20m 3s]", "took [20m 3s]"},
      {"[256m] text", "[256m] text"},
  };
  for (const auto& [line, expected] : rows) {
    std::string buffer;
    EXPECT_EQ(strip_ansi(line, buffer), expected);
  }
}

TEST(StripAnsi, ReturnsTheLineItselfWhenThereIsNothingToRemove) {
  std::string buffer;
  const std::string line = "text";
  EXPECT_EQ(strip_ansi(line, buffer).data(), line.data());
}

}  // namespace
}  // namespace ncclog
