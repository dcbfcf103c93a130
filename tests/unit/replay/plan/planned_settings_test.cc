#include <gtest/gtest.h>

#include "replay/plan/plan_frame.h"

namespace ncclog {
namespace {

TEST(WhyLeftOut, KeepsWhatDecidesHowNcclWorks) {
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",
                           "NCCL_MIN_NCHANNELS", "NCCL_BUFFSIZE", "NCCL_CUMEM_ENABLE"}) {
    EXPECT_EQ(why_left_out(name, "1"), "") << name;
  }
}

TEST(WhyLeftOut, KeepsMulticastOff) {
  EXPECT_EQ(why_left_out("NCCL_NVLS_ENABLE", "0"), "");
  EXPECT_NE(why_left_out("NCCL_NVLS_ENABLE", "2"), "");
}

TEST(WhyLeftOut, NamesWhyTheRecordedMachineStaysOut) {
  struct Row {
    const char* name;
    std::string_view reason;
  };
  const Row rows[] = {
      {"NCCL_DEBUG", "the replay writes logs of its own"},
      {"NCCL_DEBUG_FILE", "the replay writes logs of its own"},
      {"NCCL_SOCKET_IFNAME", "names a network interface of the recorded machine"},
      {"NCCL_OOB_NET_IFNAME", "names a network interface of the recorded machine"},
      {"NCCL_IB_HCA", "names or tunes network adapters of the recorded machine"},
      {"NCCL_IB_GID_INDEX", "names or tunes network adapters of the recorded machine"},
      {"NCCL_HOSTID", "the replay has hosts of its own"},
      {"NCCL_TOPO_FILE", "names a file of the recorded machine"},
      {"NCCL_TOPO_DUMP_FILE", "names a file of the recorded machine"},
      {"NCCL_CONF_FILE", "names a file of the recorded machine"},
      {"NCCL_NET", "the recorded network and its plugins may not be here"},
      {"NCCL_TUNER_PLUGIN", "loads code that is not a part of the plan"},
      {"NCCL_NVLS_ENABLE", "NVLink multicast stays off unless it is asked for"},
      {"NCCL_COMM_ID", "the replay finds its ranks by itself"},
      {"NCCL_LAUNCH_ORDER_IMPLICIT", "the replay launches in the order of the plan"},
      {"CUDA_VISIBLE_DEVICES", "names GPUs of the recorded machine"},
      {"LD_PRELOAD", "no setting of NCCL itself"},
  };
  for (const Row& row : rows) EXPECT_EQ(why_left_out(row.name, "1"), row.reason) << row.name;
}

}  // namespace
}  // namespace ncclog
