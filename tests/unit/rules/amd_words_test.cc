// Law: what is said of a log of RCCL is said in AMD's words.

#include <gtest/gtest.h>

#include "model/derive/build_job.h"
#include "model/job.h"
#include "rules/judge.h"

namespace ncclog {
namespace {

TEST(AmdWords, NameAmdsToolsInAdvice) {
  std::vector<std::string> texts = {
      "nvidia-smi topo -m    # which NIC is near which GPU",
      "nvidia-smi topo -p2p r, then nvidia-smi",
      "Run all_reduce_perf of nccl-tests with CUDA_VISIBLE_DEVICES=0,1.",
      "dmesg | grep -i iommu",
  };
  use_amd_words(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "rocm-smi --showtopo    # which NIC is near which GPU",
                       "rocm-smi --showtopoaccess, then rocm-smi",
                       "Run all_reduce_perf of rccl-tests with HIP_VISIBLE_DEVICES=0,1.",
                       "dmesg | grep -i iommu",
                   }));
}

TEST(LibraryName, IsRcclWhereALineOnlyRcclPrints) {
  EXPECT_EQ(library_name(job_from_text("")), "NCCL");
  EXPECT_EQ(library_name(job_from_text("n:1:2 [0] NCCL INFO NCCL version 2.20.5+cuda12.4\n")),
            "NCCL");
  EXPECT_EQ(library_name(job_from_text("RCCL version : 2.21.5-HEAD:9a0e6a1\n")), "RCCL");
  EXPECT_EQ(
      library_name(job_from_text(
          "n:1:2 [0] /src/rccl/init.cc:138 NCCL WARN NUMA auto balancing enabled which can lead "
          "to variability in the RCCL performance! Disable by \"sudo sysctl "
          "kernel.numa_balancing=0\"\n")),
      "RCCL");
}

TEST(PrinterOf, NamesThePluginOfALineThatNothingFits) {
  EXPECT_EQ(printer_of("n:1:2 [0] int x():7 NCCL WARN NET/OFI Frobnicated"), "aws-ofi-nccl");
  EXPECT_EQ(printer_of("n:1:2 [0] ucx_plugin.c:7 NCCL WARN Frobnicated"),
            "nccl-rdma-sharp-plugins");
  EXPECT_EQ(printer_of("n:1:2 [0] /b/hipify/src/init.cc:7 NCCL WARN Frobnicated"), "RCCL");
  EXPECT_EQ(printer_of("n:1:2 [0] NCCL INFO Frobnicated"), "");
}

}  // namespace
}  // namespace ncclog
