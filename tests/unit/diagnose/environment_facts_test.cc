#include <gtest/gtest.h>

#include "diagnose/fact.h"
#include "model/build/build_job.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

std::string env(std::string_view host, int rank, std::string_view name, std::string_view value) {
  const std::string pid = std::to_string(100 + rank);
  return std::string(host) + ":" + pid + ":" + pid + " [0] NCCL INFO " + std::string(name) +
         " set by environment to " + std::string(value) + "\n";
}

std::string init(std::string_view host, int rank, std::string_view phase) {
  const std::string pid = std::to_string(100 + rank);
  return std::string(host) + ":" + pid + ":" + pid +
         " [0] NCCL INFO ncclCommInitRank comm 0x5a rank " + std::to_string(rank) +
         " nranks 3 cudaDev 0 nvmlDev 0 busId 3d000 commId 0x77 - Init " + std::string(phase) +
         "\n";
}

std::string both(std::string_view host, int rank) {
  return init(host, rank, "START") + init(host, rank, "COMPLETE");
}

constexpr std::string_view kDiffers = "job.env_differs";

const GuiltyCase kDifferences[] = {
    {"another value", kDiffers,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + env("a", 1, "NCCL_ALGO", "Ring") +
         both("a", 1) + env("a", 2, "NCCL_ALGO", "Tree") + both("a", 2),
     "yes 2"},
    {"set on one only, the others finished init", kDiffers,
     both("a", 0) + both("a", 1) + init("a", 2, "START") + env("a", 2, "NCCL_P2P_DISABLE", "1.") +
         init("a", 2, "COMPLETE"),
     "yes 2"},
    {"set on one only, the others printed what comes later", kDiffers,
     init("a", 0, "START") + env("a", 0, "NCCL_NVLS_ENABLE", "0.") + init("a", 1, "START") +
         env("a", 1, "NCCL_NVLS_ENABLE", "0.") + init("a", 2, "START") +
         env("a", 2, "NCCL_P2P_DISABLE", "1.") + env("a", 2, "NCCL_NVLS_ENABLE", "0."),
     "yes 2"},
    {"the others had not come that far", kDiffers,
     init("a", 0, "START") + env("a", 0, "NCCL_NVLS_ENABLE", "0.") + init("a", 2, "START") +
         env("a", 2, "NCCL_NVLS_ENABLE", "0.") + env("a", 2, "NCCL_BUFFSIZE", "1048576."),
     "no"},
    {"one against one", kDiffers,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + env("a", 1, "NCCL_ALGO", "Tree") +
         both("a", 1),
     "yes"},
    {"different on purpose", kDiffers,
     env("a", 0, "NCCL_HOSTID", "x") + both("a", 0) + env("a", 1, "NCCL_HOSTID", "y") +
         both("a", 1),
     "no"},
    {"interfaces of two hosts", kDiffers,
     env("a", 0, "NCCL_SOCKET_IFNAME", "eth0") + both("a", 0) +
         env("b", 1, "NCCL_SOCKET_IFNAME", "eno1") + both("b", 1),
     "no"},
    {"interfaces of one host", kDiffers,
     env("a", 0, "NCCL_SOCKET_IFNAME", "eth0") + both("a", 0) +
         env("a", 1, "NCCL_SOCKET_IFNAME", "eno1") + both("a", 1),
     "yes"},
    {"read only where there is InfiniBand", kDiffers,
     both("a", 0) + both("a", 1) + env("b", 2, "NCCL_IB_TIMEOUT", "22.") + both("b", 2), "no"},
    {"one process", kDiffers, env("a", 0, "NCCL_ALGO", "Ring"), "unknown"},
};

TEST(EnvironmentFacts, CallSettingsDifferentOnlyWithProof) {
  for (const GuiltyCase& row : kDifferences) {
    EXPECT_EQ(guilty_answer(row.fact, row.log), row.answer) << row.what;
  }
}

TEST(EnvironmentFacts, TakeASettingForMissingOnlyWhereNoLineIsTorn) {
  Job job = job_from_text(both("a", 0) + both("a", 1) + init("a", 2, "START") +
                          env("a", 2, "NCCL_P2P_DISABLE", "1.") + init("a", 2, "COMPLETE"));
  const auto differs = [&] {
    const FactValue value = find_fact(kDiffers)->derive(job, {});
    const bool* yes = std::get_if<bool>(&value.value);
    return yes != nullptr && *yes;
  };
  EXPECT_TRUE(differs());
  job.logs[2].torn = true;
  EXPECT_FALSE(differs());
}

TEST(EnvironmentFacts, SayWhoHasWhat) {
  EXPECT_EQ(fact_of(kDiffers, kDifferences[1].log).what,
            "NCCL_P2P_DISABLE is 1 on rank 2 and not set on ranks 0,1");
}

constexpr std::string_view kNotForwarded = "job.env_not_forwarded";

const GuiltyCase kForwarding[] = {
    {"one host has it, the others finished init", kNotForwarded,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + both("b", 1) + both("c", 2), "yes 1,2"},
    {"every process of that host has it", kNotForwarded,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + env("a", 1, "NCCL_ALGO", "Ring") +
         both("a", 1) + both("b", 2) + both("b", 3),
     "yes 2,3"},
    {"one process of that host has not", kNotForwarded,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + both("a", 1) + both("b", 2), "unknown"},
    {"another host has another value", kNotForwarded,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + env("b", 1, "NCCL_ALGO", "Tree") +
         both("b", 1) + both("c", 2),
     "unknown"},
    {"the other host had not come that far", kNotForwarded,
     env("a", 0, "NCCL_ALGO", "Ring") + both("a", 0) + both("b", 1) + init("c", 2, "START") +
         env("c", 2, "NCCL_P2P_LEVEL", "NVL"),
     "unknown"},
    {"a name that hosts choose for themselves", kNotForwarded,
     env("a", 0, "NCCL_SOCKET_IFNAME", "eth0") + both("a", 0) + both("b", 1) + both("c", 2),
     "unknown"},
};

TEST(EnvironmentFacts, NameHostsThatTheLaunchersSettingsDidNotReach) {
  for (const GuiltyCase& c : kForwarding) {
    EXPECT_EQ(guilty_answer(c.fact, c.log), c.answer) << c.what;
  }
}

}  // namespace
}  // namespace ncclog
