#include <gtest/gtest.h>

#include "diagnose/job_settings.h"
#include "diagnose/nccl_variables.h"
#include "diagnose/other_variables.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

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
  EXPECT_TRUE(is_nccl_variable("NCCL_DEBUG"));
  EXPECT_TRUE(is_nccl_variable("NCCL_WORK_FIFO_DEPTH"));
  EXPECT_FALSE(is_nccl_variable("NCCL_TIMEOUT"));
  EXPECT_FALSE(is_others_variable("NCCL_TIMEOUT"));
  EXPECT_TRUE(is_others_variable("NCCL_GPUDIRECTTCPX_CTRL_DEV"));
  EXPECT_TRUE(is_nccl_variable("NCCL_RUN_DIAGNOSTICS"));
  EXPECT_TRUE(is_nccl_variable("NCCL_PROGRESS_COUNTERS"));
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
