#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "replay/plan/plan.h"
#include "support/sample_plan.h"

namespace ncclog {
namespace {

using testing::sample_plan;

/// "refused ranks: why (hint)" on each line.
std::string complaints_about(const ReplayPlan& plan) {
  std::string text;
  for (const PlanComplaint& complaint : check_plan(plan)) {
    text += fmt::format("{} {}: {}{}\n", complaint.is_refusal ? "refused" : "remark",
                        complaint.where, complaint.what,
                        complaint.hint.empty() ? "" : fmt::format(" ({})", complaint.hint));
  }
  return text;
}

/// The sample, spoilt.
struct SpoiltPlan {
  std::function<void(ReplayPlan& plan)> spoil;
  std::string complaints;
};

void expect_complaints(const std::vector<SpoiltPlan>& rows) {
  for (const SpoiltPlan& row : rows) {
    ReplayPlan plan = sample_plan();
    row.spoil(plan);
    EXPECT_EQ(complaints_about(plan), row.complaints);
  }
}

PlannedCall& call(ReplayPlan& plan, size_t rank, size_t at) { return plan.ranks[rank].calls[at]; }

TEST(CheckPlan, TakesWhatFits) {
  EXPECT_EQ(complaints_about(sample_plan()), "");
  EXPECT_FALSE(is_refused(check_plan(sample_plan())));
}

TEST(CheckPlan, RefusesAnEmptyPlan) {
  EXPECT_EQ(complaints_about(ReplayPlan()),
            "refused ranks: there is no rank, so nothing to replay\n"
            "refused communicators: there is none, so no rank can make a call\n");
  EXPECT_TRUE(is_refused(check_plan(ReplayPlan())));
}

TEST(CheckPlan, RefusesRanksThatCannotBe) {
  expect_complaints({
      {[](auto& plan) { plan.ranks.emplace_back(); },
       "remark ranks[2].calls: the rank makes no call, but takes a GPU\n"},
      {[](auto& plan) {
         for (auto& rank : plan.ranks) rank.calls.clear();
         plan.hypothesis = {};
       },
       "remark ranks[0].calls: the rank makes no call, but takes a GPU\n"
       "remark ranks[1].calls: the rank makes no call, but takes a GPU\n"
       "refused ranks: no rank makes a call, so nothing is replayed\n"},
  });
}

TEST(CheckPlan, RefusesCommunicatorsThatCannotBe) {
  expect_complaints({
      {[](auto& plan) {
         plan.communicators[1].ranks = {1, 1};
       },
       "refused communicators[1].ranks: ranks[1] is in it twice (two ranks of one communicator "
       "never share a GPU)\n"
       "refused ranks[0].calls[3].communicator: ranks[0] is not in communicators[1]\n"
       "refused ranks[0].calls[5].communicator: ranks[0] is not in communicators[1]\n"},
      {[](auto& plan) { plan.communicators.push_back({.id = "x", .ranks = {1}}); },
       "refused communicators[2].ranks: a communicator of one rank cannot hang or go wrong (leave "
       "it out, and its calls with it)\n"},
      {[](auto& plan) { plan.communicators.push_back({.id = "x", .ranks = {}}); },
       "refused communicators[2].ranks: a communicator of no rank cannot hang or go wrong (leave "
       "it out, and its calls with it)\n"},
      {[](auto& plan) {
         plan.communicators.push_back({.id = "x", .ranks = {0, 7, -1}});
       },
       "refused communicators[2].ranks: there is no ranks[7]\n"
       "refused communicators[2].ranks: there is no ranks[-1]\n"},
      {[](auto& plan) { plan.communicators[1].parent = 4; },
       "refused communicators[1].parent: there is no communicators[4]\n"},
      {[](auto& plan) { plan.communicators[1].parent = 1; },
       "refused communicators[1].parent: communicators[1] does not come before it\n"},
      {[](auto& plan) {
         plan.ranks.push_back(plan.ranks[1]);
         plan.ranks[2].calls.clear();
         plan.ranks[2].recorded_rank = -1;
         plan.communicators.push_back({.id = "x", .ranks = {0, 2}, .parent = 0});
       },
       "remark ranks[2].calls: the rank makes no call, but takes a GPU\n"
       "refused communicators[2].parent: ranks[2] is not in communicators[0], so it cannot be "
       "split off\n"},
      {[](auto& plan) { plan.communicators[1].color = -1; },
       "refused communicators[1].color: -1 is NCCL_SPLIT_NOCOLOR, with which no communicator comes "
       "up\n"},
  });
}

TEST(CheckPlan, RefusesCallsThatCannotBeMade) {
  expect_complaints({
      {[](auto& plan) { call(plan, 0, 2).communicator = 9; },
       "refused ranks[0].calls[2].communicator: there is no communicators[9]\n"},
      {[](auto& plan) { call(plan, 0, 2).op = "PutSignal"; },
       "refused ranks[0].calls[2].op: PutSignal cannot be replayed (plan with --only failing, or "
       "take the call out on all ranks)\n"},
      {[](auto& plan) { call(plan, 0, 2).datatype = 77; },
       "refused ranks[0].calls[2].datatype: 77 is the number of no datatype\n"},
      {[](auto& plan) { call(plan, 0, 2).redop = -1; },
       "refused ranks[0].calls[2].redop: -1 is the number of no reduction\n"},
      {[](auto& plan) { call(plan, 0, 2).count = -5; },
       "refused ranks[0].calls[2].count: -5 is below 0\n"},
      {[](auto& plan) { call(plan, 0, 2).count = int64_t{1} << 62; },
       "refused ranks[0].calls[2].count: 4611686018427387904 elements on 2 ranks are more than 64 "
       "TiB\n"},
      {[](auto& plan) { call(plan, 0, 0).root = 2; },
       "refused ranks[0].calls[0].root: peer 2 is not among the 2 ranks of the communicator\n"},
      {[](auto& plan) { call(plan, 0, 2).op = "Broadcast"; },
       "refused ranks[0].calls[2].root: root -1 is not among the 2 ranks of the communicator\n"},
      {[](auto& plan) { call(plan, 0, 2).recv_offset = 256; },
       "refused ranks[0].calls[2].recv_offset: 256 is not between 0 and 255\n"},
      {[](auto& plan) { call(plan, 0, 2).stream = -1; },
       "refused ranks[0].calls[2].stream: -1 is not between 0 and 1023\n"},
      {[](auto& plan) { call(plan, 0, 2).group = -3; },
       "refused ranks[0].calls[2].group: -3 is no number of a group\n"},
      {[](auto& plan) { std::swap(call(plan, 0, 1), call(plan, 0, 2)); },
       "refused ranks[0].calls[2].group: group 0 was left before, in the clean run (calls of one "
       "group stand one behind the other)\n"
       "refused ranks[0].calls[2].group: group 0 was left before, in the defect run (calls of one "
       "group stand one behind the other)\n"},
  });
}

TEST(CheckPlan, RefusesDeadlinesOutOfRange) {
  expect_complaints({
      {[](auto& plan) { plan.deadlines.init = 0; },
       "refused deadlines.init: 0 s is not between 1 and 3600\n"},
      {[](auto& plan) { plan.deadlines.completion = 3601; },
       "refused deadlines.completion: 3601 s is not between 1 and 3600\n"},
  });
}

/// The refusal of a call that the clean run does not come to the end of.
std::string stuck(const char* place, const char* call) {
  return fmt::format(
      "refused {}: {} does not come to its end in the clean run: other ranks do not make it, make "
      "it otherwise, or wait for this one meanwhile (calls that were not made by all belong to "
      "\"made_in\": \"defect\")\n",
      place, call);
}

TEST(CheckPlan, RefusesACleanRunThatDoesNotFit) {
  const char* kAllReduce = "AllReduce of 1048576 float32 (avg)";
  expect_complaints({
      {[](auto& plan) { call(plan, 1, 2).count = 7; },
       stuck("ranks[0].calls[2]", kAllReduce) +
           stuck("ranks[1].calls[2]", "AllReduce of 7 float32 (avg)")},
      {[](auto& plan) { call(plan, 1, 2).redop = 0; },
       stuck("ranks[0].calls[2]", kAllReduce) +
           stuck("ranks[1].calls[2]", "AllReduce of 1048576 float32 (sum)")},
      {[](auto& plan) { call(plan, 1, 4).made_in = MadeIn::Defect; },
       stuck("ranks[0].calls[4]", kAllReduce)},
      {[](auto& plan) { call(plan, 1, 1).count = 99; },
       stuck("ranks[0].calls[0]", "Send of 100 uint8 to rank 1") +
           stuck("ranks[1].calls[0]", "Send of 100 uint8 to rank 0")},
      {[](auto& plan) { call(plan, 1, 1).made_in = MadeIn::Defect; },
       stuck("ranks[0].calls[0]", "Send of 100 uint8 to rank 1")},
      {[](auto& plan) { std::swap(call(plan, 1, 3), call(plan, 1, 4)); }, ""},
      {[](auto& plan) {
         for (auto& rank : plan.ranks) {
           for (auto& one : rank.calls) one.stream = 0;
         }
         std::swap(call(plan, 1, 3), call(plan, 1, 4));
       },
       stuck("ranks[0].calls[3]", "AllGather of 4096 float16") +
           stuck("ranks[1].calls[3]", kAllReduce)},
      {[](auto& plan) {
         for (auto& rank : plan.ranks) rank.calls[0].group = rank.calls[1].group = -1;
       },
       "remark ranks: the clean run ends only while NCCL buffers messages\n"},
  });
}

TEST(CheckPlan, ReductionsOfTheJobFitEachOther) {
  ReplayPlan plan = sample_plan();
  call(plan, 0, 2).redop = 5;
  call(plan, 1, 2).redop = 17;
  EXPECT_EQ(complaints_about(plan), "");
}

TEST(CheckPlan, RefusesAHypothesisAboutSomethingElse) {
  expect_complaints({
      {[](auto& plan) { plan.hypothesis.diverged = {5}; },
       "refused hypothesis.departed: there is no ranks[5]\n"},
      {[](auto& plan) { plan.hypothesis.front->communicator = 3; },
       "refused hypothesis.front.communicator: there is no communicators[3]\n"},
      {[](auto& plan) { plan.hypothesis.front->missing = {2}; },
       "refused hypothesis.front.missing: ranks[2] is not in communicators[0]\n"},
      {[](auto& plan) { call(plan, 1, 4).made_in = MadeIn::Both; },
       "refused hypothesis.kind: 'missing-call' is to be tested, but both runs make the same calls "
       "(mark calls with \"made_in\": \"clean\" or \"defect\")\n"},
  });
}

TEST(CheckPlan, RefusesSettingsThatAReplayMustNotTake) {
  const auto set = [](std::string name, std::string value, std::vector<int> ranks = {}) {
    return [=](ReplayPlan& plan) { plan.settings = {{name, value, ranks, ""}}; };
  };
  const auto refusal = [](const char* name, const char* reason) {
    return fmt::format(
        "refused settings[0].name: a replay does not set {}: {} (take it out, or say in "
        "\"left_out\" why it is not set)\n",
        name, reason);
  };
  expect_complaints({
      {set("LD_PRELOAD", "/tmp/x.so"), refusal("LD_PRELOAD", "no setting of NCCL itself")},
      {set("LD_LIBRARY_PATH", "/tmp"), refusal("LD_LIBRARY_PATH", "no setting of NCCL itself")},
      {set("CUDA_VISIBLE_DEVICES", "4,5"),
       refusal("CUDA_VISIBLE_DEVICES", "names GPUs of the recorded machine")},
      {set("NCCL_NVLS_ENABLE", "1"),
       refusal("NCCL_NVLS_ENABLE", "NVLink multicast stays off unless it is asked for")},
      {set("NCCL_TOPO_DUMP_FILE", "/etc/passwd"),
       refusal("NCCL_TOPO_DUMP_FILE", "names a file of the recorded machine")},
      {set("NCCL_NET_PLUGIN", "/tmp/x.so"),
       refusal("NCCL_NET_PLUGIN", "the recorded network and its plugins may not be here")},
      {set("NCCL_TUNER_PLUGIN", "/tmp/x.so"),
       refusal("NCCL_TUNER_PLUGIN", "loads code that is not a part of the plan")},
      {set("nccl algo", "Ring"),
       "refused settings[0].name: 'nccl algo' is no name of a variable\n"},
      {set("NCCL_ALGO", "Ring\nNCCL_X=1"),
       "refused settings[0].value: it holds a line end or another control character\n"},
      {set("NCCL_ALGO", std::string(5000, 'x')),
       "refused settings[0].value: it is longer than 4096 characters\n"},
      {set("NCCL_ALGO", "Ring", {2}), "refused settings[0].ranks: there is no ranks[2]\n"},
      {[](auto& plan) {
         plan.settings.push_back({"LD_PRELOAD", "x.so", {}, "not NCCL's"});
       },
       ""},
  });
}

TEST(CheckPlan, RemarksOnWhatFewMachinesHave) {
  ReplayPlan plan = sample_plan();
  for (PlannedRank& rank : plan.ranks) {
    for (PlannedCall& one : rank.calls) {
      if (one.op == "AllReduce") one.count = int64_t{30} << 30;
    }
  }
  EXPECT_EQ(complaints_about(plan),
            "remark ranks: a rank needs about 120.9 GiB of its GPU's memory, 120.0 GiB of that for "
            "the calls' buffers\n");
  plan = sample_plan();
  for (int i = 0; i < 15; ++i) plan.ranks.push_back(plan.ranks[0]);
  for (size_t r = 2; r < plan.ranks.size(); ++r) {
    plan.ranks[r].recorded_rank = -1;
    plan.ranks[r].calls.clear();
  }
  EXPECT_EQ(complaints_about(plan).find("remark ranks: 17 ranks need as many GPUs, and hardly a "
                                        "machine has more than 16 (plan with --gpus N for a "
                                        "machine with N)\n"),
            0U);
}

TEST(CheckPlan, StopsComplainingInTheEnd) {
  ReplayPlan plan = sample_plan();
  plan.ranks[0].calls.assign(10000, PlannedCall());
  EXPECT_EQ(check_plan(plan).size(), 100U);
}

}  // namespace
}  // namespace ncclog
