#include "diagnose/cuda_graphs.h"

#include <gtest/gtest.h>

#include <string>

#include "model/build/build_job.h"

namespace ncclog {
namespace {

/// The line that speaks of graphs; "none".
std::string evidence_in(const std::string& text) {
  const auto evidence = cuda_graph_evidence(job_from_text(text));
  return evidence ? evidence->text : "none";
}

constexpr const char* kSetting =
    "n0:50:50 [0] NCCL INFO NCCL_GRAPH_REGISTER set by environment to 1.";

TEST(CudaGraphEvidence, IsTheLineThatSpeaksOfThem) {
  const std::string lines[] = {
      "n0:50:50 [0] NCCL INFO stream is being captured by a new graph, id 7",
      "n0:50:50 [0] NCCL INFO CUDA Graph helper thread created for device 0",
      "n0:50:50 [0] NCCL INFO Comm config graphUsageMode is set to 0 but the user is capturing "
      "graphs on the stream. Violating graphUsageMode semantics can lead to hangs!",
      "INFO 12-19 22:58:41 model_runner.py:1535] Graph capturing finished in 14 secs, took 0.21 "
      "GiB",
      "(VllmWorkerProcess pid=21013) INFO 04-24 08:27:56 [model_runner.py:1456] Capturing "
      "cudagraphs for decoding. This may lead to unexpected consequences if the model is not "
      "static.",
      "[2025-04-26 20:55:30 TP0] Capture cuda graph begin. This can take up to several minutes. "
      "avail mem=8.93 GB",
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 agg "
      "iters: 1 validation: 1 graph: 10",
      kSetting};
  for (const std::string& line : lines) EXPECT_EQ(evidence_in(line + "\n"), line);
}

TEST(CudaGraphEvidence, IsNoOtherLine) {
  EXPECT_EQ(evidence_in(""), "none");
  EXPECT_EQ(
      evidence_in("# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 "
                  "iters: 20 agg iters: 1 validation: 1 graph: 0\n"),
      "none");
  EXPECT_EQ(evidence_in("n0:50:50 [0] NCCL INFO NCCL_GRAPH_FILE set by environment to g.xml\n"
                        "step 3: the graph is captured later\n"),
            "none");
}

TEST(CudaGraphEvidence, PrefersCapturedCallsToSettings) {
  const std::string captured = "Graph capturing finished in 14 secs, took 0.21 GiB";
  EXPECT_EQ(evidence_in(std::string(kSetting) + "\n" + captured + "\n" + captured + " more\n"),
            captured);
}

}  // namespace
}  // namespace ncclog
