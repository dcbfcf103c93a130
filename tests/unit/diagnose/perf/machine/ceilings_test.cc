#include "diagnose/perf/machine/ceilings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ncclog {
namespace {

struct ModelCase {
  std::string_view printed;
  std::string_view words;
};

TEST(GpuModels, AreFoundByTheNameThatIsPrinted) {
  const ModelCase kCases[] = {
      {"NVIDIA H100 80GB HBM3", "h100"},
      {"NVIDIA H100 PCIe", "h100 pcie"},
      {"NVIDIA H100 NVL", "h100 nvl"},
      {"NVIDIA GH200 120GB", "gh200"},
      {"NVIDIA A100-SXM4-40GB", "a100"},
      {"A100-SXM4-40GB", "a100"},
      {"NVIDIA A100-PCIE-40GB", "a100 pcie"},
      {"NVIDIA A100 80GB PCIe", "a100 pcie"},
      {"Tesla V100-SXM2-16GB", "v100"},
      {"Tesla T4", "t4"},
      {"NVIDIA L40S", "l40s"},
      {"NVIDIA L4", "l4"},
      {"NVIDIA GB200", "gb200"},
      {"NVIDIA B200", "b200"},
      {"NVIDIA GeForce RTX 4090", "rtx 4090"},
      {"AMD Instinct MI300X", "mi300x"},
      {"AMD Instinct MI250X", "mi250x"},
  };
  for (const ModelCase& row : kCases) {
    const GpuModel* model = find_gpu_model(row.printed);
    ASSERT_NE(model, nullptr) << row.printed;
    EXPECT_EQ(model->words, row.words) << row.printed;
  }
  EXPECT_EQ(find_gpu_model("NVIDIA Graphics Device"), nullptr);
  EXPECT_EQ(find_gpu_model(""), nullptr);
}

TEST(GpuModels, AreGivenAwayByNamesOfHostsOnlyWhereHostsAreNamedAfterThem) {
  ASSERT_NE(gpu_model_in_host_name("slurm-gb200-207-171"), nullptr);
  EXPECT_EQ(gpu_model_in_host_name("slurm-gb200-207-171")->words, "gb200");
  EXPECT_EQ(gpu_model_in_host_name("mi-gfx950-worker-0")->words, "gfx950");
  EXPECT_EQ(gpu_model_in_host_name("t4"), nullptr);
  EXPECT_EQ(gpu_model_in_host_name("node-a10"), nullptr);
}

TEST(GpuModels, HaveFiguresAndSources) {
  std::set<std::string_view> words;
  for (const GpuModel& model : gpu_models()) {
    EXPECT_TRUE(words.insert(model.words).second) << model.words;
    EXPECT_GT(model.ring, 0) << model.words;
    EXPECT_GE(model.pcie, 3) << model.words;
    EXPECT_FALSE(model.source.empty()) << model.words;
    EXPECT_EQ(model.nvls > 0, model.nvls_from > 0) << model.words;
  }
}

TEST(HostTypes, AreNamedByPlatformsAndTopologyFiles) {
  const auto named = [](std::string name) {
    const HostType* type = find_host_type({.names = {std::move(name)}});
    return type == nullptr ? -1 : type->network();
  };
  EXPECT_EQ(named("p5.48xlarge"), 400);
  EXPECT_EQ(named("/opt/aws-ofi-nccl/share/xml/p5.48xl-topo.xml"), 400);
  EXPECT_EQ(named("p5en.48xlarge"), 400);
  EXPECT_EQ(named("p4d.24xlarge"), 50);
  EXPECT_EQ(named("/workspace/ndv4-topo.xml"), 200);
  EXPECT_EQ(named("BM.GPU.H100.8"), 400);
  EXPECT_EQ(named("step5.48xlarge"), -1);
  EXPECT_EQ(named("node-a"), -1);
}

TEST(HostTypes, FollowFromGpusAndFabric) {
  const auto network = [](std::string_view gpu, int gpus, bool slingshot, bool cray_x) {
    const HostType* type = find_host_type({.gpu = find_gpu_model(gpu),
                                           .gpus_per_host = gpus,
                                           .slingshot = slingshot,
                                           .cray_x = cray_x});
    return type == nullptr ? -1 : type->network();
  };
  EXPECT_EQ(network("GH200", 4, true, false), 100);
  EXPECT_EQ(network("A100", 4, true, false), 100);
  EXPECT_EQ(network("A100", 4, false, true), 50);
  EXPECT_EQ(network("A100", 8, true, false), -1);
  EXPECT_EQ(network("A100", 4, false, false), -1);
}

TEST(HostTypes, HaveFiguresAndSources) {
  for (const HostType& type : host_types()) {
    EXPECT_GT(type.network(), 0) << type.named << type.gpu;
    EXPECT_FALSE(type.source.empty()) << type.named << type.gpu;
    EXPECT_NE(find_gpu_model(type.gpu), nullptr) << type.gpu;
    EXPECT_GT(type.gpus, 0) << type.named << type.gpu;
  }
}

TEST(PathFactors, HoldWhatTheJudgeAsksFor) {
  for (const std::string_view key :
       {"normal-nvlink", "normal-nvls", "normal-nic", "normal-best", "normal-pcie", "best-pcie",
        "racks-2", "racks-20", "normal-searched", "normal-tcp", "carried", "no-gdr", "acs", "ll",
        "loopback-tcp", "efa-without-gdr", "surely-rdma"}) {
    const PathFactor* factor = find_path_factor(key);
    ASSERT_NE(factor, nullptr) << key;
    EXPECT_GT(factor->figure, 0) << key;
    EXPECT_FALSE(factor->source.empty()) << key;
  }
  EXPECT_EQ(find_path_factor("none"), nullptr);
}

struct NicCase {
  std::string_view op;
  int nranks;
  int nhosts;
  double network;
  double busbw;
};

TEST(Nics, PassBusBandwidthByOperation) {
  const NicCase kCases[] = {
      {"AllReduce", 16, 2, 400, 400},      {"AllGather", 8, 2, 100, 100},
      {"ReduceScatter", 80, 10, 400, 400}, {"AlltoAll", 16, 2, 400, 93.75},
      {"AlltoAll", 2, 2, 50, 50},          {"SendRecv", 16, 2, 400, 50},
      {"Scatter", 16, 2, 400, 93.75},      {"Broadcast", 16, 2, 400, 400},
  };
  for (const NicCase& row : kCases) {
    EXPECT_NEAR(over_nics(operation_of(row.op), row.nranks, row.nhosts, row.network), row.busbw,
                0.01)
        << row.op << " of " << row.nranks;
  }
}

TEST(Nics, PassMoreByTreesTheFewerHostsThereAre) {
  EXPECT_NEAR(by_trees_over_nics(8, 2, 100), 175, 0.01);
  EXPECT_NEAR(by_trees_over_nics(16, 2, 50), 93.75, 0.01);
  EXPECT_NEAR(by_trees_over_nics(80, 10, 400), 438.9, 0.1);
  EXPECT_NEAR(by_trees_over_nics(2, 2, 50), 50, 0.01);
}

TEST(Rings, UseTheLinksThatTheGpusHave) {
  const GpuModel& a100 = *find_gpu_model("A100");
  EXPECT_EQ(ring_in_host(a100, 8), 235);
  EXPECT_EQ(ring_by_pairs(a100, 8), 235);
  // Two of four GPUs that are joined directly have a third of the links.
  EXPECT_EQ(ring_in_host(a100, 2), 235);
  EXPECT_EQ(ring_by_pairs(a100, 2), 78);
  EXPECT_EQ(ring_in_host(*find_gpu_model("MI300X"), 2), 47);
  EXPECT_EQ(ring_in_host(*find_gpu_model("MI300X"), 8), 313);
}

TEST(Nvls, ReducesForAllReduceOfEnoughGpus) {
  const GpuModel& h100 = *find_gpu_model("H100");
  EXPECT_EQ(nvls_of(h100, Operation::AllReduce, 8), 480);
  EXPECT_EQ(nvls_of(h100, Operation::AllReduce, 4), -1);
  EXPECT_EQ(nvls_of(h100, Operation::AllGather, 8), -1);
  EXPECT_EQ(nvls_of(*find_gpu_model("A100"), Operation::AllReduce, 8), -1);
}

TEST(Slots, DoubleWithEachGeneration) {
  EXPECT_EQ(pcie_slot(3, 16), 12);
  EXPECT_EQ(pcie_slot(4, 16), 24);
  EXPECT_EQ(pcie_slot(5, 16), 48);
  EXPECT_EQ(pcie_slot(3, 8), 6);
  EXPECT_EQ(pcie_slot(9, 16), -1);
}

TEST(Devices, GiveTheirRateAwayWhereTheirNameDoes) {
  EXPECT_EQ(rate_of_device("hfi1_0"), 100);
  EXPECT_EQ(rate_of_device("mlx5_0"), -1);
}

}  // namespace
}  // namespace ncclog
