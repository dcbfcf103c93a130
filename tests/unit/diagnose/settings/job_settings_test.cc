#include <gtest/gtest.h>

#include "diagnose/facts/fact.h"
#include "diagnose/settings/lint.h"
#include "diagnose/settings/nccl_variables.h"
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
    const FactValue value = find_fact(kDiffers)->derive(Job(job), {});  // It will change.
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

using testing::fact_of;

struct NamesCase {
  std::string_view log;
  std::string_view unknown;  ///< "" if every name is known.
  std::string_view misspelt;
};

const NamesCase kNames[] = {
    {"$ NCCL_TIMEOUT=3600 torchrun train.py\n", "NCCL_TIMEOUT", ""},
    {"$ mpirun -x NCCL_SHM_DIR=/scratch -x NCCL_DEBUG ./t\n", "NCCL_SHM_DIR", ""},
    {"$ docker run -e NCCL_DEBUG_LEVEL=3 image\n", "NCCL_DEBUG_LEVEL", ""},
    {"$ export NCCL_IB_DISBALE=1\n", "NCCL_IB_DISBALE",
     "NCCL_IB_DISBALE (meant: NCCL_IB_DISABLE?)"},
    {"$ NCCL_IB_HCAS=mlx5_0 ./t\n", "NCCL_IB_HCAS", "NCCL_IB_HCAS (meant: NCCL_IB_HCA?)"},
    {"$ NCCL_SOCKET_IFNAME=eth0 NCCL_OFI_PROTOCOL=RDMA NCCL_BLOCKING_WAIT=1 NCCL_ROOT=/opt ./t\n",
     "", ""},
    {"$ TORCH_NCCL_TIMEOUT=1 ./t\n", "TORCH_NCCL_TIMEOUT", ""},
    {"$ echo $NCCL_TIMEOUT\n", "", ""},
    {"$ RCCL_MSCCL_ENABLE=0 HSA_NO_SCRATCH_RECLAIM=1 NCCL_RUN_RAS_DIAGNOSTICS=1 ./t\n", "", ""},
    {"$ RCCL_MSCCL_ENABEL=0 ./t\n", "RCCL_MSCCL_ENABEL",
     "RCCL_MSCCL_ENABEL (meant: RCCL_MSCCL_ENABLE?)"},
    {"bash: line 1:  5511 Killed                  env NCCL_TIMEOUT=9 RANK=2 python3 t.py\n",
     "NCCL_TIMEOUT", ""},
};

TEST(SettingFacts, FindNamesThatNobodyReads) {
  for (const NamesCase& row : kNames) {
    EXPECT_EQ(fact_of("job.unknown_variables", row.log).what, row.unknown) << row.log;
    EXPECT_EQ(fact_of("job.misspelt_variables", row.log).what, row.misspelt) << row.log;
  }
}

TEST(SettingFacts, KnowVariablesOfEveryRelease) {
  EXPECT_NE(find_nccl_variable("NCCL_DEBUG"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_WORK_FIFO_DEPTH"), nullptr);
  EXPECT_EQ(find_nccl_variable("NCCL_TIMEOUT"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_RUN_DIAGNOSTICS"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_PROGRESS_COUNTERS"), nullptr);
  EXPECT_TRUE(is_rccl_variable("RCCL_MSCCL_ENABLE"));
  EXPECT_TRUE(is_rccl_variable("NCCL_RINGS_REMAP"));
  EXPECT_FALSE(is_rccl_variable("NCCL_DEBUG"));
}

struct SentenceCase {
  std::string_view fact;
  std::string_view log;
  std::string_view what;  ///< "" if the fact does not say yes.
};

const SentenceCase kSentences[] = {
    {"job.contradictory_settings",
     "n1:7:7 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n"
     "n1:7:7 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0\n",
     "NCCL_IB_HCA=mlx5_0 has no effect: NCCL_IB_DISABLE=1 switches NCCL's own InfiniBand network "
     "off"},
    {"job.contradictory_settings",
     "n1:7:7 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n"
     "n1:8:8 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0\n",
     ""},
    {"job.contradictory_settings", "$ export NCCL_IB_DISABLE=1\n$ NCCL_IB_TC=106 ./t\n",
     "NCCL_IB_TC=106 has no effect: NCCL_IB_DISABLE=1 switches NCCL's own InfiniBand network off"},
    {"job.removed_variables", "$ NCCL_WORK_FIFO_DEPTH=1024 ./t\nNCCL version 2.27.3+cuda12.9\n",
     "NCCL_WORK_FIFO_DEPTH=1024 is read up to NCCL 2.21.5 only, and this is 2.27.3"},
    {"job.removed_variables",
     "n1:7:7 [0] NCCL INFO NCCL_WORK_FIFO_DEPTH set by environment to 1024.\n", ""},
    {"job.too_new_variables", "$ NCCL_RAS_ENABLE=0 ./t\nNCCL version 2.18.3+cuda12.1\n",
     "NCCL_RAS_ENABLE=0 is read by NCCL 2.24.3 and later, and this is 2.18.3"},
    {"job.invalid_settings", "$ NCCL_IB_DISABLE=true ./t\n",
     "NCCL_IB_DISABLE=true is not a number, so NCCL reads it as 0"},
    {"job.invalid_settings", "n1:7:7 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 3600.\n",
     "NCCL_IB_TIMEOUT=3600 is outside of what it may be, 0 to 31"},
    {"job.invalid_settings",
     "n1:7:7 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 18446744073709551615.\n", ""},
    {"job.costly_logging", "$ NCCL_DEBUG=TRACE ./t\n",
     "NCCL_DEBUG=TRACE logs every call, which makes very long logs"},
    {"job.settings_from_elsewhere",
     "$ mpirun -x NCCL_ALGO=Ring ./t\n"
     "n1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n"
     "n1:7:7 [0] NCCL INFO NCCL_IB_TC set by environment to 106.\n",
     "NCCL_IB_TC=106"},
    {"job.ifname_matches_nothing",
     "n1:7:7 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to =ens\n"
     "n1:7:7 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n"
     "n2:8:8 [0] NCCL INFO Bootstrap : Using ens5:10.4.4.2<0>\n",
     "NCCL_SOCKET_IFNAME==ens admits no interface that n1 has (did you mean ens, without '='?)"},
    {"job.ifname_matches_nothing",
     "n1:7:7 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ens\n"
     "n2:8:8 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n",
     ""},
    {"job.ifname_matches_more",
     "n1:7:7 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth1\n"
     "n1:7:7 [0] NCCL INFO NET/Socket : Using [0]eth1:10.4.4.1<0> [1]eth10:10.4.5.1<0>\n",
     "NCCL_SOCKET_IFNAME=eth1 admits eth10 on n1 as well: names are beginnings of names (write "
     "=eth1 if whole names are meant)"},
    {"job.ifname_matches_more",
     "n1:7:7 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ^docker0\n"
     "n1:7:7 [0] NCCL INFO NET/Socket : Using [0]eth1:10.4.4.1<0> [1]eth10:10.4.5.1<0>\n",
     ""},
    {"job.hca_matches_nothing",
     "n1:7:7 [0] NCCL INFO NCCL_IB_HCA set to mlx4_0\n"
     "n1:7:7 [0] NCCL INFO NET/IB : No device found.\n"
     "n2:8:8 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB ens5:10.4.4.2<0>\n",
     "NCCL_IB_HCA=mlx4_0 admits no RDMA device that n1 has, if it has any (did you mean mlx5_0?)"},
    {"job.settings_from_elsewhere",
     "$ ./t\nn1:7:7 [0] NCCL INFO NCCL_IB_TC set by environment to 106.\n", ""},
    {"job.settings_from_elsewhere",
     "$ mpirun -x NCCL_ALGO=Ring ./t\nn1:7:7 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n",
     ""},
};

TEST(SettingFacts, SayWhatIsWrongWithASetting) {
  for (const SentenceCase& row : kSentences) {
    EXPECT_EQ(fact_of(row.fact, row.log).what, row.what) << row.fact << "\n" << row.log;
  }
}

}  // namespace

}  // namespace ncclog
