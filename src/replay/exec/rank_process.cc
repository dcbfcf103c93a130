#include "replay/exec/rank_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "base/error.h"
#include "replay/exec/issue_call.h"
#include "replay/exec/nccl_library.h"
#include "replay/exec/run_rank.h"
#include "replay/exec/whole_file.h"
#include "replay/plan_json.h"

namespace ncclog {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    throw Error(std::string(name) + " is not set; ranks are started by ncclog-replay run");
  }
  return value;
}

ReplayPlan load_plan(const std::string& path) {
  const std::optional<std::string> text = read_whole_file(path);
  if (!text) throw Error("cannot be read", path);
  return parse_plan(*text, path);
}

void check_ranks(const RankCommand& command, const ReplayPlan& plan) {
  if (command.ranks.empty() || command.ranks.size() != command.gpus.size()) {
    throw Error("every rank needs a device of its own", "--devices");
  }
  for (const int rank : command.ranks) {
    if (rank < 0 || static_cast<size_t>(rank) >= plan.ranks.size()) {
      throw Error("the plan has no rank " + std::to_string(rank), "--ranks");
    }
  }
}

/// What a reader of the process's output should know.
void say_what_is_replaced(const ReplayPlan& plan, const RankCommand& command,
                          const NcclLibrary& nccl) {
  for (const int rank : command.ranks) {
    const auto calls = calls_in(plan.ranks[static_cast<size_t>(rank)], command.mode);
    const auto replaced = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
      return is_made_of_messages(nccl, call);
    });
    if (replaced == calls.end()) continue;
    fmt::print(stderr,
               "ncclog-replay: NCCL {} has no {}; rank {} makes it of ncclSend and ncclRecv\n",
               nccl.version, function_name(*replaced), rank);
  }
}

/// A rank that cannot begin says so and waits to be dismissed.
void refuse(const RankLink& link, int rank, int gpu, const std::string& error) {
  link.say({.kind = RankMessage::Kind::At,
            .at = ReplayPhase::Start,
            .rank = rank,
            .pid = getpid(),
            .gpu = gpu});
  link.say({.kind = RankMessage::Kind::Error, .rank = rank, .error = error});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    const auto order = link.hear(std::chrono::milliseconds(100));
    if (order && order->kind == RunOrder::Kind::Abort) break;
  }
  link.say({.kind = RankMessage::Kind::Aborted});
}

/// The one of the ranks' ends that tells most.
RankExit joined(RankExit a, RankExit b) {
  if (a == RankExit::Error || b == RankExit::Error) return RankExit::Error;
  return a == RankExit::Done ? b : a;
}

std::string text_of(const Error& error) {
  std::string text = error.where().empty() ? "" : error.where() + ": ";
  text += error.what();
  return error.hint().empty() ? text : text + "; " + error.hint();
}

/// nullptr: there is none that can be loaded, and the ranks have said so.
std::shared_ptr<const NcclLibrary> load_nccl_for(const RankCommand& command,
                                                 const std::vector<RankLink>& links) {
  try {
    return std::make_shared<const NcclLibrary>(load_nccl(command.nccl));
  } catch (const Error& error) {
    for (size_t i = 0; i < links.size(); ++i) {
      refuse(links[i], command.ranks[i], command.gpus[i], text_of(error));
    }
    return nullptr;
  }
}

/// A thread for each rank.
RankExit run_each(const RankCommand& command, const std::shared_ptr<const ReplayPlan>& plan,
                  const std::shared_ptr<const NcclLibrary>& nccl,
                  const std::vector<RankLink>& links) {
  std::vector<RankExit> ends(command.ranks.size(), RankExit::Error);
  std::vector<std::thread> ranks;
  for (size_t i = 0; i < command.ranks.size(); ++i) {
    ranks.emplace_back([&, i] {
      const RankTask task{.plan = plan,
                          .mode = command.mode,
                          .rank = command.ranks[i],
                          .gpu = command.gpus[i],
                          .timed_runs = command.timed_runs,
                          .corrupt = command.corrupt,
                          .tell_results = {}};
      ends[i] = run_rank(task, nccl, links[i]);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return std::accumulate(ends.begin(), ends.end(), RankExit::Done, joined);
}

}  // namespace

RankExit run_ranks(const RankCommand& command) {
  const std::string address = variable(kCoordinatorVariable);
  const std::string token = variable(kTokenVariable);
  const auto plan = std::make_shared<const ReplayPlan>(load_plan(command.plan));
  check_ranks(command, *plan);
  std::vector<RankLink> links;
  for (size_t i = 0; i < command.ranks.size(); ++i) links.push_back(connect_rank(address, token));
  const std::shared_ptr<const NcclLibrary> nccl = load_nccl_for(command, links);
  if (nccl == nullptr) return RankExit::Error;
  say_what_is_replaced(*plan, command, *nccl);
  return run_each(command, plan, nccl, links);
}

}  // namespace ncclog
