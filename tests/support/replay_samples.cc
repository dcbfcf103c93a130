#include "support/replay_samples.h"

#include <utility>

namespace ncclog::testing {
namespace {

PlannedCall call(uint64_t index, const char* op, MadeIn made_in) {
  constexpr int kFloat32 = 7;
  return {.communicator = 0,
          .index = index,
          .op = op,
          .count = 1024,
          .datatype = kFloat32,
          .made_in = made_in};
}

RankOutcome healthy_rank(int rank) {
  return {.rank = rank,
          .gpu = rank,
          .pid = 4700 + rank,
          .reached = ReplayPhase::Done,
          .entered = 2,
          .completed = 2,
          .verified = {.calls = 2, .elements = 3072},
          .exit_code = 0};
}

}  // namespace

ReplayPlan healthy_plan() {
  ReplayPlan plan;
  plan.tool_version = "1.0.0";
  plan.logs = {"logs/"};
  plan.nccl_versions = {"2.28.9+cuda13.0"};
  plan.cuda_version = "13.0";
  plan.recorded_nranks = 2;
  plan.recorded_nhosts = 1;
  for (const int rank : {0, 5}) {
    plan.ranks.push_back(
        {.recorded_rank = rank,
         .host = "heron",
         .calls = {call(7, "AllReduce", MadeIn::Both), call(8, "AllGather", MadeIn::Both)}});
  }
  plan.communicators = {{.id = "0x5ca1e",
                         .ranks = {0, 1},
                         .recorded_nranks = 2,
                         .channels = 8,
                         .transports = {{"P2P", 2}}}};
  plan.tuning = {{"AllReduce", "RING", "LL", 9}};
  return plan;
}

ReplayPlan skipping_plan() {
  ReplayPlan plan = healthy_plan();
  plan.ranks[1].calls = {call(7, "AllReduce", MadeIn::Clean), call(7, "AllGather", MadeIn::Defect),
                         call(8, "AllGather", MadeIn::Clean)};
  plan.hypothesis = {.finding = "mismatched-collectives",
                     .title = "Ranks disagree about a collective",
                     .kind = DefectKind::MissingCall,
                     .diverged = {1},
                     .front = FrontLine{.communicator = 0, .index = 7, .entered = {0, 1}}};
  return plan;
}

RunOutcome completed_run(MadeIn mode) {
  RunOutcome run{.mode = mode, .end = RunEnd::Completed, .phase = ReplayPhase::Done, .seconds = 4};
  run.ranks = {healthy_rank(0), healthy_rank(1)};
  run.gpus = {{.gpu = 0, .answers = true}, {.gpu = 1, .answers = true}};
  return run;
}

RunOutcome hung_run(MadeIn mode, const FrontLine& front) {
  RunOutcome run = completed_run(mode);
  run.end = RunEnd::Hung;
  run.phase = ReplayPhase::Completion;
  run.front = front;
  run.reason = "completion took longer than 30 s";
  for (RankOutcome& rank : run.ranks) {
    rank.reached = ReplayPhase::Completion;
    rank.completed = 0;
    rank.open = {0};
    rank.verified = {};
    rank.end = ProcessEnd::OnAbort;
    rank.exit_code = 3;
  }
  return run;
}

ReplayOutcome outcome_of(std::vector<RunOutcome> runs) {
  ReplayOutcome outcome;
  outcome.tool_version = "1.0.0";
  outcome.plan = std::string(64, 'a');
  outcome.nccl_version = "2.28.9";
  outcome.nccl_library = "/opt/nccl/libnccl.so.2";
  outcome.cuda_version = "13.0";
  outcome.driver = "13.0";
  outcome.gpus = {{0, "NVIDIA H200", "0000:0a:00.0", int64_t{139} << 30},
                  {1, "NVIDIA H200", "0000:0b:00.0", int64_t{139} << 30}};
  outcome.runs = std::move(runs);
  return outcome;
}

ReadBack like_the_record() {
  ReadBack seen;
  seen.readable = true;
  seen.nccl_versions = {"2.28.9+cuda13.0"};
  seen.cuda_versions = {"13.0"};
  seen.communicators = {{.recorded_nranks = 2, .channels = 8, .transports = {{"P2P", 2}}}};
  seen.tuning = {{"AllReduce", "RING", "LL", 2}};
  seen.path = {.bw = 370.8, .type = "NVL"};
  return seen;
}

}  // namespace ncclog::testing
