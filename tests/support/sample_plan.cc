#include "support/sample_plan.h"

namespace ncclog::testing {
namespace {

constexpr int kFloat32 = 7;
constexpr int kFloat16 = 6;

PlannedCall all_reduce(uint64_t index, MadeIn made_in) {
  PlannedCall call;
  call.communicator = 0;
  call.index = index;
  call.op = "AllReduce";
  call.count = 1048576;
  call.datatype = kFloat32;
  call.redop = 4;
  call.in_place = true;
  call.made_in = made_in;
  return call;
}

PlannedCall all_gather(uint64_t index, MadeIn made_in) {
  PlannedCall call;
  call.communicator = 1;
  call.index = index;
  call.op = "AllGather";
  call.count = 4096;
  call.datatype = kFloat16;
  call.send_offset = 16;
  call.recv_offset = 32;
  call.stream = 1;
  call.made_in = made_in;
  return call;
}

PlannedCall message(const char* op, int peer) {
  PlannedCall call;
  call.communicator = 0;
  call.op = op;
  call.count = 100;
  call.datatype = 1;
  call.root = peer;
  call.group = 0;
  return call;
}

std::vector<PlannedCall> calls_of(int rank) {
  const MadeIn skipped = rank == 0 ? MadeIn::Both : MadeIn::Clean;
  return {message("Send", 1 - rank),   message("Recv", 1 - rank), all_reduce(0, MadeIn::Both),
          all_gather(0, MadeIn::Both), all_reduce(1, skipped),    all_gather(1, MadeIn::Both)};
}

PlannedRank rank_of(int rank) {
  PlannedRank planned;
  planned.recorded_rank = 4 * rank;
  planned.host = rank == 0 ? "oak" : "elm";
  planned.host_group = rank;
  planned.stands_for = {4 * rank + 1, 4 * rank + 2, 4 * rank + 3};
  planned.left_out = 12;
  planned.calls = calls_of(rank);
  return planned;
}

RankOutcome stuck(int rank) {
  RankOutcome outcome;
  outcome.rank = rank;
  outcome.gpu = rank;
  outcome.pid = 4711 + rank;
  outcome.reached = ReplayPhase::Completion;
  outcome.entered = rank == 0 ? 6 : 5;
  outcome.completed = 4;
  outcome.open = {4, 5};
  outcome.end = ProcessEnd::Killed;
  outcome.signal = 9;
  outcome.error = "ncclAllReduce on \"0x5ca1ab1e\": unhandled system error";
  outcome.init_seconds = 1.75;
  return outcome;
}

RankOutcome done(int rank) {
  RankOutcome outcome;
  outcome.rank = rank;
  outcome.gpu = rank;
  outcome.pid = 4720 + rank;
  outcome.reached = ReplayPhase::Done;
  outcome.entered = 6;
  outcome.completed = 6;
  outcome.verified = {5, 3145828, 1, 1, WrongElement{2, 77, "3", "4"}};
  outcome.exit_code = 0;
  outcome.init_seconds = 0.1;
  return outcome;
}

constexpr int64_t kGiB = int64_t{1} << 30;

RunOutcome defect_run() {
  RunOutcome run;
  run.mode = MadeIn::Defect;
  run.settings = {{"NCCL_ALGO", "Ring"}};
  run.end = RunEnd::Hung;
  run.phase = ReplayPhase::Completion;
  run.front = FrontLine{0, 1, {0}, {1}};
  run.reason = "Completion took longer than 30 s.";
  run.seconds = 33.5;
  run.ranks = {stuck(0), stuck(1)};
  run.gpus = {{0, true, 139 * kGiB, 139 * kGiB, ""}, {1, false, 139 * kGiB, -1, "no answer"}};
  run.leftovers = {"/dev/shm/nccl-f00ba1"};
  run.logs = "run-1-defect";
  return run;
}

RunOutcome clean_run() {
  RunOutcome run;
  run.mode = MadeIn::Clean;
  run.end = RunEnd::Wrong;
  run.phase = ReplayPhase::Done;
  run.seconds = 4.25;
  run.ranks = {done(0), done(1)};
  run.timings = {{2, "AllReduce", 4194304, 20, 812.5, 40.25, 39.5, 44, 104.2, 104.2, 38.5, 108.9}};
  return run;
}

}  // namespace

ReplayPlan sample_plan() {
  ReplayPlan plan;
  plan.tool_version = "1.2.3";
  plan.logs = {"logs/oak.log", "logs/elm.log"};
  plan.nccl_versions = {"2.28.9"};
  plan.cuda_version = "13.0";
  plan.recorded_nranks = 8;
  plan.recorded_nhosts = 2;
  plan.hypothesis = {"rank-skips-collective",
                     "Rank 4 skipped a collective",
                     DefectKind::MissingCall,
                     {1},
                     FrontLine{0, 1, {0}, {1}}};
  plan.ranks = {rank_of(0), rank_of(1)};
  plan.communicators = {
      {"0x5ca1ab1e", {0, 1}, 8, -1, 0, 16, {{"NET/IB", 32}, {"P2P", 224}}},
      {"0xdecade", {1, 0}, 4, 0, 3, 2, {}},
  };
  plan.settings = {{"NCCL_ALGO", "Ring", {}, ""},
                   {"NCCL_IB_HCA", "mlx5_0", {0}, "it names devices of the recorded machine"}};
  plan.tuning = {{"AllReduce", "RING", "SIMPLE", 12}};
  plan.deadlines = {10, 20, 30, 40, 50};
  plan.losses = {"Ranks 1-3 and 5-7 are left out: they made the same calls."};
  plan.limits = {"What the buffers held is in no log."};
  return plan;
}

ReplayOutcome sample_outcome() {
  ReplayOutcome outcome;
  outcome.tool_version = "1.2.3";
  outcome.plan = std::string(64, 'a');
  outcome.refused = "GPU 1 is busy.";
  outcome.hint = "Wait, or give --share.";
  outcome.nccl_version = "2.28.9";
  outcome.nccl_library = "/opt/nccl/lib/libnccl.so.2";
  outcome.cuda_version = "13.0";
  outcome.driver = "13.1";
  outcome.pseudo_hosts = 2;
  outcome.gpus = {{0, "NVIDIA H200", "0000:0a:00.0", 143 * kGiB}};
  outcome.settings = {{"NCCL_NVLS_ENABLE", "0"}};
  outcome.runs = {defect_run(), clean_run()};
  return outcome;
}

}  // namespace ncclog::testing
