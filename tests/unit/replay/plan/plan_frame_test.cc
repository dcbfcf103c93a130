#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "model/derive/build_job.h"
#include "replay/plan/build_plan.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

std::string shares_text(const std::vector<TransportShare>& shares) {
  std::string out;
  for (const TransportShare& share : shares) {
    out += share.transport + ":" + std::to_string(share.connections) + " ";
  }
  return out;
}

std::string text_of(const Job& job, size_t comm) {
  return shares_text(seen_transports(job.communicators.at(comm), edges_of(job)));
}

constexpr const char* kTwoHosts =
    "ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xa1 rank 0 nranks 3 cudaDev 0 nvmlDev 0 "
    "busId 1000 commId 0x77 - Init START\n"
    "ant-1:12:12 [1] NCCL INFO ncclCommInitRank comm 0xa2 rank 1 nranks 3 cudaDev 1 nvmlDev 1 "
    "busId 2000 commId 0x77 - Init START\n"
    "ant-2:13:13 [0] NCCL INFO ncclCommInitRank comm 0xa3 rank 2 nranks 3 cudaDev 0 nvmlDev 0 "
    "busId 1000 commId 0x77 - Init START\n"
    "ant-1:11:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "ant-1:11:11 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    "ant-1:12:12 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/Socket/0\n"
    "ant-2:13:13 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [receive] via NET/Socket/0\n"
    "ant-2:13:13 [0] NCCL INFO Channel 00/0 : 2[0] -> 0[0] [send] via NET/AWS Libfabric/0\n";

TEST(SeenTransports, CountsPairsOnceWhoeverAnnouncesThemAndOnHoweverManyChannels) {
  EXPECT_EQ(text_of(job_from_text(kTwoHosts), 0), "NET/AWS Libfabric:1 NET/Socket:1 P2P:1 ");
}

TEST(SeenTransports, LeavesOutNumbersThatACommunicatorDoesNotHave) {
  const Job job = job_from_text(
      std::string(kTwoHosts) +
      "ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xb1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1000 commId 0x88 - Init START\n"
      "ant-2:13:13 [0] NCCL INFO ncclCommInitRank comm 0xb3 rank 1 nranks 2 cudaDev 0 nvmlDev 0 "
      "busId 1000 commId 0x88 - Init START\n"
      "ant-1:11:11 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n");
  ASSERT_EQ(job.communicators.size(), 2u);
  // Rank 0 has P2P to a rank 1 of the large one; of the small one that is another process.
  EXPECT_EQ(text_of(job, 1), "NET/IB:1 P2P:1 ");
}

TEST(SeenTransports, IsEmptyWhereNoConnectionIsPrinted) {
  EXPECT_EQ(text_of(job_from_text("ant-1:11:11 [0] NCCL INFO ncclCommInitRank comm 0xa1 rank 0 "
                                  "nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init "
                                  "START\n"),
                    0),
            "");
}

TEST(TransportClassName, NamesNetworksAsNcclDoes) {
  EXPECT_EQ(transport_class_name(parse_path("NET/IB/3(5)/GDRDMA")), "NET/IB");
  EXPECT_EQ(transport_class_name(parse_path("SHM/direct/direct")), "SHM");
  EXPECT_EQ(transport_class_name(parse_path("CollNet/SHARP/0")), "other");
}

PlannedCall collective(int communicator, uint64_t index, int stream = 0) {
  return {.communicator = communicator,
          .index = index,
          .op = "AllReduce",
          .count = 8,
          .datatype = 7,
          .stream = stream};
}

PlannedCall message(const char* op, int peer, uint64_t index = 0, int group = -1) {
  return {.communicator = 0,
          .index = index,
          .op = op,
          .count = 8,
          .datatype = 7,
          .root = peer,
          .group = group};
}

/// Two ranks, both in two communicators.
ReplayPlan plan_of_calls(std::vector<PlannedCall> first, std::vector<PlannedCall> second) {
  ReplayPlan plan;
  plan.ranks = {{.calls = std::move(first)}, {.calls = std::move(second)}};
  plan.communicators = {{.id = "0xa", .ranks = {0, 1}}, {.id = "0xb", .ranks = {0, 1}}};
  return plan;
}

std::string settled(ReplayPlan plan, bool buffers_sends = false) {
  settle_clean_run(plan, buffers_sends);
  return testing::plan_words(plan);
}

TEST(CleanRun, KeepsWhatAllRanksCameTo) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(0, 1)},
                                  {collective(0, 0), collective(0, 1)})),
            "0: AllReduce#0 AllReduce#1\n1: AllReduce#0 AllReduce#1\n");
}

TEST(CleanRun, LeavesToTheDefectRunWhatARankDidNotComeTo) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(0, 1)}, {collective(0, 0)})),
            "0: AllReduce#0 -AllReduce#1\n1: AllReduce#0\n");
}

TEST(CleanRun, CallsWithOtherArgumentsDoNotMeet) {
  PlannedCall other = collective(0, 0);
  other.count = 4;
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0)}, {other})),
            "0: -AllReduce#0\n1: -AllReduce#0\n");
}

TEST(CleanRun, OppositeOrdersBlockEachOtherOnOneStreamOnly) {
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0), collective(1, 0)},
                                  {collective(1, 0), collective(0, 0)})),
            "0: -AllReduce#0 -AllReduce@1#0\n1: -AllReduce@1#0 -AllReduce#0\n");
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0, 0), collective(1, 0, 1)},
                                  {collective(1, 0, 1), collective(0, 0, 0)})),
            "0: AllReduce#0 AllReduce@1#0\n1: AllReduce@1#0 AllReduce#0\n");
}

TEST(CleanRun, CrossedMessagesEndInAGroupOnly) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), message("Recv", 1)},
                                  {message("Send", 0), message("Recv", 0)})),
            "0: -Send(1)#0 -Recv(1)#0\n1: -Send(0)#0 -Recv(0)#0\n");
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1, 0, 4), message("Recv", 1, 0, 4)},
                                  {message("Send", 0, 0, 9), message("Recv", 0, 0, 9)})),
            "0: {Send(1)#0 Recv(1)#0}\n1: {Send(0)#0 Recv(0)#0}\n");
}

TEST(CleanRun, CrossedMessagesEndWhereNcclBuffersThem) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), message("Recv", 1)},
                                  {message("Send", 0), message("Recv", 0)}),
                    /*buffers_sends=*/true),
            "0: Send(1)#0 Recv(1)#0\n1: Send(0)#0 Recv(0)#0\n");
}

TEST(CleanRun, AGroupWithABufferedSendStillWaitsForItsOtherCalls) {
  EXPECT_EQ(
      settled(plan_of_calls({message("Send", 1, 0, 0), message("Recv", 1, 0, 0), collective(0, 0)},
                            {message("Recv", 0), collective(0, 0)}),
              /*buffers_sends=*/true),
      "0: {-Send(1)#0 -Recv(1)#0} -AllReduce#0\n1: -Recv(0)#0 -AllReduce#0\n");
}

TEST(CleanRun, ABufferedSendWithoutItsRecvIsNoPartOfIt) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), collective(0, 0)}, {collective(0, 0)}),
                    /*buffers_sends=*/true),
            "0: -Send(1)#0 AllReduce#0\n1: AllReduce#0\n");
}

TEST(CleanRun, NoBufferHoldsWhatARankSendsItself) {
  EXPECT_EQ(
      settled(plan_of_calls({message("Send", 0), message("Recv", 0)}, {}), /*buffers_sends=*/true),
      "0: -Send(0)#0 -Recv(0)#0\n1: \n");
}

TEST(CleanRun, AMessageWithoutItsOtherEndHoldsUpWhatIsBehindIt) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1), collective(0, 0)}, {collective(0, 0)})),
            "0: -Send(1)#0 -AllReduce#0\n1: -AllReduce#0\n");
}

TEST(CleanRun, AGroupOfWhichAPartIsMissingGoesAsAWhole) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 1, 0, 0), message("Recv", 1, 0, 0)},
                                  {message("Recv", 0)})),
            "0: {-Send(1)#0 -Recv(1)#0}\n1: -Recv(0)#0\n");
}

TEST(CleanRun, AnAddedCallThatDoesNotEndIsRemoved) {
  PlannedCall added = collective(0, 1);
  added.made_in = MadeIn::Clean;
  EXPECT_EQ(settled(plan_of_calls({collective(0, 0)}, {collective(0, 0), added})),
            "0: AllReduce#0\n1: AllReduce#0\n");
}

TEST(CleanRun, ARankMayMeetItselfInAGroup) {
  EXPECT_EQ(settled(plan_of_calls({message("Send", 0, 0, 0), message("Recv", 0, 0, 0)}, {})),
            "0: {Send(0)#0 Recv(0)#0}\n1: \n");
}

/// Three ranks, in communicator 0 all of them, in 1 the first two, in 2 the last two. Each word of
/// `programs` is a call: communicator, then 'c' or 's' or 'r' with a peer, then '.' and a stream,
/// '/' and a group.
ReplayPlan plan_of_programs(const std::vector<const char*>& programs) {
  ReplayPlan plan;
  plan.communicators = {{.ranks = {0, 1, 2}}, {.ranks = {0, 1}}, {.ranks = {1, 2}}};
  for (const char* program : programs) {
    PlannedRank& rank = plan.ranks.emplace_back();
    std::istringstream words(program);
    for (std::string word; words >> word;) {
      PlannedCall& call = rank.calls.emplace_back();
      call.communicator = word[0] - '0';
      call.op = word[1] == 'c' ? "AllReduce" : word[1] == 's' ? "Send" : "Recv";
      if (word[1] != 'c') call.root = word[2] - '0';
      if (const auto at = word.find('.'); at != word.npos) call.stream = word[at + 1] - '0';
      if (const auto at = word.find('/'); at != word.npos) call.group = word[at + 1] - '0';
    }
  }
  return plan;
}

/// "0:0 1:2": calls of the clean run that do not end, by rank.
std::string stuck_in(const ReplayPlan& plan, bool buffers_sends) {
  const ReplayPlan counted = numbered_by_order(plan);
  const auto completed = completed_calls(counted, buffers_sends);
  std::string text;
  for (size_t r = 0; r < completed.size(); ++r) {
    for (size_t c = 0; c < completed[r].size(); ++c) {
      const bool is_clean = plan.ranks[r].calls[c].made_in != MadeIn::Defect;
      if (is_clean && !completed[r][c]) text += fmt::format("{}:{} ", r, c);
    }
  }
  EXPECT_EQ(text.empty(), clean_run_ends(counted, buffers_sends));
  return text;
}

struct DeadlockRow {
  const char* what;
  std::vector<const char*> programs;
  const char* stuck;           ///< Each Send ends with its Recv.
  const char* buffered_stuck;  ///< Sends are buffered.
};

TEST(FindDeadlock, FindsCirclesAndNothingElse) {
  const DeadlockRow kRows[] = {
      {"nothing is called", {"", "", ""}, "", ""},
      {"one order", {"0c 1c", "0c 1c 2c", "0c 2c"}, "", ""},
      {"orders of communicators that differ",
       {"1c 0c", "0c 1c", "0c"},
       "0:0 0:1 1:0 1:1 2:0 ",
       "0:0 0:1 1:0 1:1 2:0 "},
      {"the same on two streams", {"1c.1 0c.0", "0c.0 1c.1", "0c"}, "", ""},
      {"the same in a group", {"1c/0 0c/0", "0c 1c", "0c"}, "", ""},
      {"a circle through three ranks",
       {"1c 0s2", "2c 1c", "0r0 2c"},
       "0:0 0:1 1:0 1:1 2:0 2:1 ",
       "0:0 0:1 1:0 1:1 2:0 2:1 "},
      {"both send first", {"1s1 1r1", "1s0 1r0", ""}, "0:0 0:1 1:0 1:1 ", ""},
      {"both receive first", {"1r1 1s1", "1r0 1s0", ""}, "0:0 0:1 1:0 1:1 ", "0:0 0:1 1:0 1:1 "},
      {"one of them sends first", {"1s1 1r1", "1r0 1s0", ""}, "", ""},
      {"an exchange in a group", {"1s1/0 1r1/0", "1r0/3 1s0/3", ""}, "", ""},
      {"a message to itself", {"0s0 0r0", "", ""}, "0:0 0:1 ", "0:0 0:1 "},
      {"a message to itself in a group", {"0s0/1 0r0/1", "", ""}, "", ""},
      {"what leads into a circle waits too",
       {"1r1 1s1", "1r0 1s0 2s1", "2r0"},
       "0:0 0:1 1:0 1:1 1:2 2:0 ",
       "0:0 0:1 1:0 1:1 1:2 2:0 "},
  };
  for (const DeadlockRow& row : kRows) {
    const ReplayPlan plan = plan_of_programs(row.programs);
    EXPECT_EQ(stuck_in(plan, /*buffers_sends=*/false), row.stuck) << row.what;
    EXPECT_EQ(stuck_in(plan, /*buffers_sends=*/true), row.buffered_stuck) << row.what;
  }
}

TEST(FindDeadlock, LooksAtTheCleanRunOnly) {
  ReplayPlan plan = plan_of_programs({"1c 0c", "0c 1c 0c", "0c"});
  plan.ranks[1].calls[0].made_in = MadeIn::Defect;
  EXPECT_EQ(stuck_in(plan, /*buffers_sends=*/false), "");
}

TEST(FindDeadlock, TakesManyCalls) {
  ReplayPlan plan = plan_of_programs({"", "", ""});
  for (PlannedRank& rank : plan.ranks) {
    PlannedCall call;
    call.communicator = 0;
    call.op = "AllReduce";
    rank.calls.assign(20000, call);
  }
  EXPECT_EQ(stuck_in(plan, /*buffers_sends=*/false), "");
}

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
