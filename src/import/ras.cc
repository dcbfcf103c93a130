#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "import/document.h"
#include "import/import.h"

namespace ncclog {
namespace {

using Json = nlohmann::json;

/// Ranks take much more memory here than "{}" in a file.
constexpr size_t kMaxRanks = size_t{1} << 20;

/// nccl.h: the results that are no errors.
constexpr int64_t kSuccess = 0;
constexpr int64_t kInProgress = 7;

/// ncclResult_t in the words of the text form; results that it does not know are "Unexpected
/// error".
std::string_view result_text(int64_t result) {
  constexpr std::string_view kResults[] = {"",
                                           "Unhandled CUDA error",
                                           "System error",
                                           "Internal error",
                                           "Invalid argument",
                                           "Invalid usage",
                                           "Remote process error"};
  const bool known = result > 0 && result < static_cast<int64_t>(std::size(kResults));
  return known ? kResults[result] : "Unexpected error";
}

/// A rank as the JSON has it.
struct JsonRank {
  RasMember member;
  int64_t init_state = kSuccess;
  int64_t async_error = kSuccess;
  bool is_finalizing = false;  ///< Finalize or destroy was called.
  bool is_aborted = false;
  bool is_unresponsive = false;           ///< Of missing ranks.
  bool is_dead = false;                   ///< Of missing ranks.
  std::map<std::string, int64_t> counts;  ///< By NCCL's name of the function.
};

void read_status(const Json& status, JsonRank& rank) {
  const auto is_set = [&](const char* key) { return truth(member(status, key)).value_or(false); };
  rank.init_state = whole_number(member(status, "init_state")).value_or(kSuccess);
  rank.async_error = whole_number(member(status, "async_error")).value_or(kSuccess);
  rank.is_finalizing = is_set("finalize_called") || is_set("destroy_flag");
  rank.is_aborted = is_set("abort_flag");
  rank.is_unresponsive = is_set("unresponsive");
  rank.is_dead = is_set("considered_dead");
}

std::string gpu_text(int cuda_dev, int nvml_dev) {
  if (cuda_dev < 0) return {};
  return nvml_dev < 0 || nvml_dev == cuda_dev ? fmt::format("{}", cuda_dev)
                                              : fmt::format("{} (NVML {})", cuda_dev, nvml_dev);
}

JsonRank read_rank(const Json& dict) {
  JsonRank rank;
  rank.member.rank = small_number(member(dict, "rank"));
  rank.member.node = text_of(member(dict, "host"));
  rank.member.pid = whole_number(member(dict, "pid")).value_or(-1);
  rank.member.gpu =
      gpu_text(small_number(member(dict, "cuda_dev")), small_number(member(dict, "nvml_dev")));
  read_status(member(dict, "status"), rank);
  for (const auto& [function, count] : as_dict(member(dict, "collective_counts")).items()) {
    rank.counts[function] = whole_number(count).value_or(-1);
  }
  if (rank.member.node == "unknown") rank.member.node.clear();
  return rank;
}

std::vector<JsonRank> read_ranks(const Json& list) {
  std::vector<JsonRank> ranks;
  for (const Json& item : as_list(list)) {
    if (ranks.size() < kMaxRanks) ranks.push_back(read_rank(item));
  }
  return ranks;
}

/// In the order in which the text form lets one win over the other.
std::string_view status_of(const JsonRank& rank) {
  if (rank.is_aborted) return "ABORT";
  if (rank.is_finalizing) return "FINALIZE";
  return rank.init_state == kSuccess ? "RUNNING" : "INIT";
}

using Groups = std::map<std::string, std::vector<RasMember>>;

/// Adds one statement a group, the largest group first: what most ranks say is what the others
/// differ from.
void state_groups(const std::string& hash, std::string_view problem, const std::string& what,
                  const Groups& groups, RasReport& report) {
  std::vector<RasStatement> statements;
  for (const auto& [value, members] : groups) {
    statements.push_back({.communicator = hash,
                          .problem = std::string(problem),
                          .what = what,
                          .value = value,
                          .count = static_cast<int64_t>(members.size()),
                          .members = members});
  }
  std::ranges::stable_sort(statements, std::greater(), &RasStatement::count);
  std::move(statements.begin(), statements.end(), std::back_inserter(report.statements));
}

void state_missing(const std::string& hash, const std::vector<JsonRank>& missing,
                   RasReport& report) {
  Groups dead;
  Groups silent;
  for (const JsonRank& rank : missing) {
    const bool is_silent = rank.is_unresponsive && !rank.is_dead;
    if (rank.is_dead || is_silent) (is_silent ? silent : dead)[""].push_back(rank.member);
  }
  state_groups(hash, "DEAD", "unreachable", dead, report);
  state_groups(hash, "INCOMPLETE", "communicator data", silent, report);
}

void state_errors(const std::string& hash, const std::vector<JsonRank>& ranks,
                  const std::string& what, int64_t JsonRank::*result, RasReport& report) {
  Groups groups;
  for (const JsonRank& rank : ranks) {
    const int64_t code = rank.*result;
    if (code == kSuccess || code == kInProgress) continue;
    groups[std::string(result_text(code))].push_back(rank.member);
  }
  state_groups(hash, "ERROR", what, groups, report);
}

/// Ranks whose process answered without naming the communicator have left it, or never entered.
void state_statuses(const std::string& hash, const std::vector<JsonRank>& ranks,
                    const std::vector<JsonRank>& missing, RasReport& report) {
  Groups groups;
  for (const JsonRank& rank : ranks) {
    groups[std::string(status_of(rank))].push_back(rank.member);
  }
  for (const JsonRank& rank : missing) {
    if (!rank.is_dead && !rank.is_unresponsive) groups["NOCOMM"].push_back(rank.member);
  }
  if (groups.size() > 1) state_groups(hash, "MISMATCH", "status", groups, report);
}

void state_counts(const std::string& hash, const std::vector<JsonRank>& ranks, RasReport& report) {
  std::map<std::string, Groups> by_function;
  for (const JsonRank& rank : ranks) {
    for (const auto& [function, count] : rank.counts) {
      by_function[function][std::to_string(count)].push_back(rank.member);
    }
  }
  for (const auto& [function, groups] : by_function) {
    if (groups.size() < 2) continue;
    state_groups(hash, "MISMATCH", function + " operation counts", groups, report);
  }
}

/// "INCOMPLETE,MISMATCH" from the statements about one communicator; "OK" without any.
std::string errors_text(const std::vector<RasStatement>& all, size_t first) {
  std::vector<std::string> found;
  for (const std::string_view problem : {"DEAD", "INCOMPLETE", "ERROR", "MISMATCH"}) {
    const bool any =
        std::any_of(all.begin() + static_cast<ptrdiff_t>(first), all.end(),
                    [&](const auto& statement) { return statement.problem == problem; });
    if (any) found.emplace_back(problem);
  }
  return found.empty() ? "OK" : join(found, ",");
}

void add_communicator(const Json& dict, RasReport& report) {
  const std::string_view written = text_of(member(dict, "hash"));
  const auto number = parse_hex(written);  // The text form has it in sixteen digits.
  const std::string hash = number ? fmt::format("{:016x}", *number) : std::string(written);
  const std::vector<JsonRank> ranks = read_ranks(member(dict, "ranks"));
  const std::vector<JsonRank> missing = read_ranks(member(dict, "missing_ranks"));
  const size_t first = report.statements.size();
  state_missing(hash, missing, report);
  state_errors(hash, ranks, "Initialization error", &JsonRank::init_state, report);
  state_errors(hash, ranks, "Asynchronous error", &JsonRank::async_error, report);
  state_statuses(hash, ranks, missing, report);
  state_counts(hash, ranks, report);
  RasCommunicators& comm = report.communicators.emplace_back();
  comm.hash = hash;
  comm.nranks = whole_number(member(dict, "size")).value_or(-1);
  comm.missing_ranks = static_cast<int64_t>(missing.size());
  comm.errors = errors_text(report.statements, first);
  // The text form's table shows the status that is furthest towards the end.
  for (const std::string_view status : {"INIT", "RUNNING", "FINALIZE", "ABORT"}) {
    if (std::ranges::find(ranks, status, status_of) != ranks.end()) comm.status = status;
  }
}

RasReport read_report(const Json& root) {
  RasReport report;
  report.nccl_version = text_of(member(root, "nccl_version"));
  report.cuda_runtime = small_number(member(root, "cuda_runtime_version"));
  report.cuda_driver = small_number(member(root, "cuda_driver_version"));
  report.timestamp = text_of(member(root, "timestamp"));
  report.timeouts =
      whole_number(member(member(root, "ras"), "timeouts_count")).value_or(report.timeouts);
  for (const Json& comm : as_list(member(root, "communicators"))) {
    add_communicator(comm, report);
  }
  return report;
}

}  // namespace

Imported<RasReport> import_ras_json(std::string_view bytes) {
  const ParsedDocument document = read_json(bytes);
  if (!document.problem.empty()) return {{}, document.problem};
  if (!document.value.contains("communicators")) return {{}, "it lists no communicators"};
  return {read_report(document.value), {}};
}

}  // namespace ncclog
