#include "replay/exec/rank_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

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

void check_rank(int rank, const ReplayPlan& plan) {
  if (rank < 0 || static_cast<size_t>(rank) >= plan.ranks.size()) {
    throw Error("the plan has no rank " + std::to_string(rank), "--rank");
  }
}

/// What a reader of the process's output should know.
void say_what_is_replaced(const ReplayPlan& plan, const RankCommand& command,
                          const NcclLibrary& nccl) {
  const auto calls = calls_in(plan.ranks[static_cast<size_t>(command.rank)], command.mode);
  const auto replaced = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
    return is_made_of_messages(nccl, call);
  });
  if (replaced == calls.end()) return;
  fmt::print(stderr,
             "ncclog-replay: NCCL {} has no {}; rank {} makes it of ncclSend and ncclRecv\n",
             nccl.version, function_name(*replaced), command.rank);
}

/// A rank that cannot begin says so and waits to be dismissed.
void refuse(const RankLink& link, const RankCommand& command, const std::string& error) {
  link.say({.kind = RankMessage::Kind::At,
            .at = ReplayPhase::Start,
            .rank = command.rank,
            .pid = getpid(),
            .gpu = command.gpu});
  link.say({.kind = RankMessage::Kind::Error, .rank = command.rank, .error = error});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    const auto order = link.hear(std::chrono::milliseconds(100));
    if (order && order->kind == RunOrder::Kind::Abort) break;
  }
  link.say({.kind = RankMessage::Kind::Aborted});
}

std::string text_of(const Error& error) {
  std::string text = error.where().empty() ? "" : error.where() + ": ";
  text += error.what();
  return error.hint().empty() ? text : text + "; " + error.hint();
}

/// nullptr: there is none that can be loaded, and the rank has said so.
std::shared_ptr<const NcclLibrary> load_nccl_for(const RankCommand& command, const RankLink& link) {
  try {
    return std::make_shared<const NcclLibrary>(load_nccl(command.nccl));
  } catch (const Error& error) {
    refuse(link, command, text_of(error));
    return nullptr;
  }
}

}  // namespace

RankExit run_rank_process(const RankCommand& command) {
  const std::string address = variable(kCoordinatorVariable);
  const std::string token = variable(kTokenVariable);
  const auto plan = std::make_shared<const ReplayPlan>(load_plan(command.plan));
  check_rank(command.rank, *plan);
  const RankLink link = connect_rank(address, token);
  std::shared_ptr<const NcclLibrary> nccl = load_nccl_for(command, link);
  if (nccl == nullptr) return RankExit::Error;
  say_what_is_replaced(*plan, command, *nccl);
  const RankTask task{.plan = plan,
                      .mode = command.mode,
                      .rank = command.rank,
                      .gpu = command.gpu,
                      .timed_runs = command.timed_runs,
                      .corrupt = command.corrupt,
                      .tell_results = {}};
  return run_rank(task, std::move(nccl), link);
}

}  // namespace ncclog
