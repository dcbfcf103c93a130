#include "support/synthetic/framework_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "support/synthetic/nccl_lines.h"

namespace ncclog::testing {
namespace {

/// "ALLREDUCE" as c10d names the work, with the elements that go in and come out.
struct Work {
  std::string_view type;
  int64_t numel_in = 0;
  int64_t numel_out = 0;
};

Work work_of(const RankEnd& end, int size) {
  const int64_t count = end.call.count;
  if (end.is_batch) return {"COALESCED", -1, -1};
  switch (end.call.op) {
    case Op::AllReduce:
      return {"ALLREDUCE", count, count};
    case Op::AllGather:
      return {"_ALLGATHER_BASE", count, count * size};
    case Op::ReduceScatter:
      return {"_REDUCE_SCATTER_BASE", count * size, count};
    case Op::Broadcast:
      return {"BROADCAST", count, count};
    case Op::Reduce:
      return {"REDUCE", count, count};
    case Op::AlltoAll:
      return {"ALLTOALL_BASE", count * size, count * size};
    case Op::Send:
      return {"SEND", count, count};
    case Op::Recv:
      return {"RECV", count, count};
  }
  return {};
}

/// Where in ProcessGroupNCCL.cpp a line comes from.
struct Places {
  int timeout, status, some, down, ended;
};

Places places_of(TorchEra era) {
  switch (era) {
    case TorchEra::V21:
      return {475, 0, 489, 495, 916};
    case TorchEra::V24:
      return {607, 1664, 621, 627, 1515};
    case TorchEra::V27:
      return {689, 2303, 750, 764, 2119};
  }
  return {};
}

class Watchdogs {
 public:
  Watchdogs(const Layout& layout, const Setting& setting, const JobRun& run, Seeded& seeded)
      : layout_(layout),
        setting_(setting),
        run_(run),
        seeded_(seeded),
        era_(setting.release->torch),
        places_(places_of(era_)) {}

  SpokenLines speak() {
    for (int rank = 0; rank < layout_.world; ++rank) {
      if (end(rank).is_in_call) timeout(rank);
    }
    if (lines_.empty()) return lines_;
    first_ = std::min_element(lines_.begin(), lines_.end(), [](const auto& a, const auto& b) {
               return a.time < b.time;
             })->time;
    if (era_ == TorchEra::V27 && setting_.has_dump_signals) {
      for (int rank = 0; rank < layout_.world; ++rank) dump_signal(rank);
    }
    for (int rank = 0; rank < layout_.world; ++rank) {
      if (end(rank).is_in_call) teardown(rank);
    }
    return std::move(lines_);
  }

 private:
  const RankEnd& end(int rank) const { return run_.ends[static_cast<size_t>(rank)]; }

  void print(int rank, double time, int place, std::string_view text) {
    std::string header = fmt::format("[E ProcessGroupNCCL.cpp:{}] ", place);
    if (era_ != TorchEra::V21) {
      header = fmt::format("[rank{}]:[E203 {}.{:09} ProcessGroupNCCL.cpp:{}] ", rank,
                           clock_time(time).second, seeded_.below(1000000000), place);
    }
    lines_.push_back({time, rank, SpokenLine::Voice::Worker, fmt::format("{}{}", header, text)});
  }

  int own_rank(int rank, int g) const {
    return layout_.groups[static_cast<size_t>(g)].rank_of(rank);
  }

  std::string group_name(int g) const {
    return g == 0 ? "default_pg"
                  : std::string(name_of(layout_.groups[static_cast<size_t>(g)].kind));
  }

  /// How many groups the process made before this one.
  int group_number(int rank, int g) const {
    return static_cast<int>(std::count_if(layout_.groups.begin(), layout_.groups.begin() + g,
                                          [&](const Group& group) { return group.has(rank); }));
  }

  /// "[PG ID 2 PG GUID 3(tp) Rank 1] "
  std::string tag(int rank, int g) const {
    const int own = own_rank(rank, g);
    if (era_ == TorchEra::V24) return fmt::format("[PG {} ({}) Rank {}] ", g, group_name(g), own);
    return fmt::format("[PG ID {} PG GUID {}({}) Rank {}] ", group_number(rank, g), g,
                       group_name(g), own);
  }

  std::string timeout_text(int rank) {
    const RankEnd& of = end(rank);
    const int size = layout_.groups[static_cast<size_t>(of.call.group)].size();
    const Work work = work_of(of, size);
    const auto printed = [](int64_t numel) { return static_cast<uint64_t>(numel); };
    return fmt::format(
        "[Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType={}, "
        "NumelIn={}, NumelOut={}, Timeout(ms)={}000) ran for {} milliseconds before timing out.",
        own_rank(rank, of.call.group), of.sequence, work.type, printed(work.numel_in),
        printed(work.numel_out), setting_.timeout, setting_.timeout * 1000 + 8 + rank % 90);
  }

  void timeout(int rank) {
    const RankEnd& of = end(rank);
    const double time = of.waits_since + setting_.timeout + 0.01 + 0.001 * (rank % 90);
    print(rank, time, places_.timeout, timeout_text(rank));
    if (era_ == TorchEra::V21) return;
    const auto& progress =
        run_.progress[static_cast<size_t>(rank)][static_cast<size_t>(of.call.group)];
    const bool is_message = is_point_to_point(of.call.op);
    const int64_t enqueued = is_message ? of.sequence : progress.enqueued;
    const int64_t completed = is_message ? of.sequence - 1 : progress.completed;
    const char* form =
        era_ == TorchEra::V24
            ? "{}Exception (either an error or timeout) detected by watchdog at work: {}, last "
              "enqueued NCCL work: {}, last completed NCCL work: {}."
            : "{} failure detected by watchdog at work sequence id: {} PG status: last enqueued "
              "work: {}, last completed work: {}";
    print(rank, time + 0.0003, places_.status,
          fmt::format(fmt::runtime(form), tag(rank, of.call.group), of.sequence, enqueued,
                      completed == 0 ? -1 : completed));
  }

  void dump_signal(int rank) {
    if (end(rank).how == RankEnd::How::Dead || end(rank).how == RankEnd::How::Finished) return;
    const Progress& progress = run_.progress[static_cast<size_t>(rank)][0];
    const double time = first_ + 4 + 0.01 * (rank % 70);
    const int teller =
        static_cast<int>(std::find_if(run_.ends.begin(), run_.ends.end(),
                                      [](const RankEnd& each) { return each.is_in_call; }) -
                         run_.ends.begin());
    const bool is_own = end(rank).is_in_call && seeded_.chance(50);
    if (!is_own) {
      print(rank, time, 1849,
            tag(rank, 0) + "Observed flight recorder dump signal from another rank via TCPStore.");
    }
    print(
        rank, time + 0.001, 1914,
        fmt::format("{}Received a dump signal due to a collective timeout from {} and we will try "
                    "our best to dump the debug info. Last enqueued NCCL work: {}, last completed "
                    "NCCL work: {}.This is most likely caused by incorrect usages of collectives, "
                    "e.g., wrong sizes used across ranks, the order of collectives is not same "
                    "for all ranks or the scheduled collective, for some reason, didn't run.",
                    tag(rank, 0), is_own ? "this local rank" : fmt::format(" rank {}", teller),
                    progress.enqueued, progress.completed));
  }

  void teardown(int rank) {
    const double time = first_ + 60 + 0.01 * (rank % 70);
    const std::string own = fmt::format("[Rank {}] ", own_rank(rank, end(rank).call.group));
    print(rank, time, places_.some,
          (era_ == TorchEra::V21 ? "" : own) +
              "Some NCCL operations have failed or timed out. Due to the asynchronous nature of "
              "CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.");
    print(rank, time + 0.0001, places_.down,
          (era_ == TorchEra::V21 ? "" : own) +
              "To avoid data inconsistency, we are taking the entire process down.");
    const std::string ended = era_ == TorchEra::V21
                                  ? own + "NCCL watchdog thread terminated with exception: "
                                  : tag(rank, end(rank).call.group) +
                                        "Process group watchdog thread terminated with exception: ";
    print(rank, time + 0.001, places_.ended, ended + timeout_text(rank));
  }

  const Layout& layout_;
  const Setting& setting_;
  const JobRun& run_;
  Seeded& seeded_;
  TorchEra era_;
  Places places_;
  double first_ = 0;
  SpokenLines lines_;
};

void launcher_says(SpokenLines& lines, double time, int rank, std::string text) {
  lines.push_back({time, rank, SpokenLine::Voice::Launcher, std::move(text)});
}

/// torchrun's report about the first worker of a host that failed; one that starts its workers
/// again keeps the table to itself.
void torchrun_failure(const Layout& layout, const Setting& setting, int rank, int signal,
                      double time, SpokenLines& lines) {
  const int pid = pid_of(layout, setting, rank);
  const auto say = [&](std::string text) { launcher_says(lines, time, rank, std::move(text)); };
  say(fmt::format(
      "E0203 {}.000000 {} torch/distributed/elastic/multiprocessing/api.py:874] failed "
      "(exitcode: -{}) local_rank: {} (pid: {}) of binary: /usr/bin/python3",
      clock_time(time).second, setting.first_pid - 50, signal, layout.local_rank(rank), pid));
  if (setting.restarts) return;
  say("============================================================");
  say("train.py FAILED");
  say("------------------------------------------------------------");
  say("Failures:");
  say("  <NO_OTHER_FAILURES>");
  say("------------------------------------------------------------");
  say("Root Cause (first observed failure):");
  say("[0]:");
  say(fmt::format("  time      : {}_{}", clock_time(time).date, clock_time(time).second));
  say(fmt::format("  host      : {}", host_name(layout, rank)));
  say(fmt::format("  rank      : {} (local_rank: {})", rank, layout.local_rank(rank)));
  say(fmt::format("  exitcode  : -{} (pid: {})", signal, pid));
  say("  error_file: <N/A>");
  say(fmt::format("  traceback : Signal {} ({}) received by PID {}", signal,
                  signal == 9 ? "SIGKILL" : "SIGABRT", pid));
  say("============================================================");
}

void killed(const Layout& layout, const Setting& setting, int rank, double time,
            SpokenLines& lines) {
  const int pid = pid_of(layout, setting, rank);
  switch (setting.prefix) {
    case LauncherPrefix::TorchrunTee:
      torchrun_failure(layout, setting, rank, 9, time, lines);
      break;
    case LauncherPrefix::Srun:
      launcher_says(lines, time, rank,
                    fmt::format("srun: error: {}: task {}: Killed", host_name(layout, rank), rank));
      break;
    case LauncherPrefix::MpirunTag:
    case LauncherPrefix::Prrte:
      launcher_says(lines, time, rank,
                    fmt::format("mpirun noticed that process rank {} with PID {} on node {} exited "
                                "on signal 9 (Killed).",
                                rank, pid, host_name(layout, rank)));
      break;
    default:
      launcher_says(lines, time, rank,
                    fmt::format("bash: line 1: {:5} Killed                  env RANK={} "
                                "LOCAL_RANK={} python3 train.py",
                                pid, rank, layout.local_rank(rank)));
  }
}

int first_waiting(const JobRun& run) {
  const auto waiting = std::find_if(run.ends.begin(), run.ends.end(),
                                    [](const RankEnd& end) { return end.is_in_call; });
  return waiting == run.ends.end() ? -1 : static_cast<int>(waiting - run.ends.begin());
}

}  // namespace

ClockTime clock_time(double seconds) {
  constexpr int64_t kStart = (4 * 60 + 5) * 60 + 6;
  const auto micros = static_cast<int64_t>(std::llround(seconds * 1e6)) + kStart * 1000000;
  const int64_t second = micros / 1000000;
  return {.date = "2026-02-03",
          .second = fmt::format("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60),
          .micros = fmt::format("{:06}", micros % 1000000)};
}

SpokenLines failure_lines(const Layout& layout, const Setting& setting, const Planted& planted,
                          const JobRun& run, Seeded& seeded) {
  SpokenLines lines;
  const double late = run.hung_at + setting.timeout + 90;
  const bool is_killed = planted.act == Fault::Killed && setting.kill_is_seen;
  if (is_killed) {
    for (const int rank : planted.guilty) killed(layout, setting, rank, run.hung_at + 1, lines);
  }
  if (setting.ending != Ending::Watchdog) return lines;
  SpokenLines watchdogs = Watchdogs(layout, setting, run, seeded).speak();
  std::move(watchdogs.begin(), watchdogs.end(), std::back_inserter(lines));
  const int waiting = first_waiting(run);
  if (waiting >= 0 && setting.prefix == LauncherPrefix::TorchrunTee && !is_killed) {
    torchrun_failure(layout, setting, waiting, 6, late, lines);
  }
  return lines;
}

}  // namespace ncclog::testing
