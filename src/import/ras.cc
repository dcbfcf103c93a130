#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
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
                          .nranks = report.communicators.back().nranks,
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
  for (const JsonRank& rank : ranks) groups[std::string(status_of(rank))].push_back(rank.member);
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

/// Operations of all functions that these ranks have launched together; counts that are not known or
/// too large to be any are left out.
int64_t launched_by(const std::vector<JsonRank>& ranks) {
  constexpr int64_t kMost = int64_t{1}
                            << 40;  // Of a million ranks and some functions it still fits.
  int64_t sum = 0;
  for (const JsonRank& rank : ranks) {
    for (const auto& [function, count] : rank.counts) sum += count > 0 && count < kMost ? count : 0;
  }
  return sum;
}

/// A process's GPU, by which its ranks in different communicators are one.
auto place_of(const RasMember& member) { return std::tie(member.pid, member.node, member.gpu); }

/// Where the largest communicator holds all that any other one has, its ranks are the job's.
void find_world(std::vector<std::vector<RasMember>> by_communicator, RasReport& report) {
  for (auto& members : by_communicator) std::ranges::stable_sort(members, {}, place_of);
  const auto world = std::ranges::max_element(by_communicator, {}, &std::vector<RasMember>::size);
  const bool is_whole = std::ranges::all_of(by_communicator, [&](const auto& members) {
    return std::ranges::includes(*world, members, {}, place_of, place_of);
  });
  if (world == by_communicator.end() || !is_whole || world->empty()) return;
  std::set<std::string> nodes;
  for (const RasMember& member : *world) nodes.insert(member.node);
  report.nranks = static_cast<int64_t>(world->size());
  report.nodes = nodes.contains("") ? -1 : static_cast<int64_t>(nodes.size());
  report.world = std::move(*world);
}

std::vector<RasMember> add_communicator(const Json& dict, RasReport& report) {
  const std::string_view written = text_of(member(dict, "hash"));
  const auto number = parse_hex(written);  // The text form has it in sixteen digits.
  const std::string hash = number ? fmt::format("{:016x}", *number) : std::string(written);
  const std::vector<JsonRank> ranks = read_ranks(member(dict, "ranks"));
  const std::vector<JsonRank> missing = read_ranks(member(dict, "missing_ranks"));
  const size_t first = report.statements.size();
  RasCommunicators& comm = report.communicators.emplace_back();
  comm.hash = hash;
  comm.nranks = whole_number(member(dict, "size")).value_or(-1);
  comm.missing_ranks = static_cast<int64_t>(missing.size());
  comm.operations = launched_by(ranks);
  state_missing(hash, missing, report);
  state_errors(hash, ranks, "Initialization error", &JsonRank::init_state, report);
  state_errors(hash, ranks, "Asynchronous error", &JsonRank::async_error, report);
  state_statuses(hash, ranks, missing, report);
  state_counts(hash, ranks, report);
  comm.errors = errors_text(report.statements, first);
  // The text form's table shows the status that is furthest towards the end.
  for (const std::string_view status : {"INIT", "RUNNING", "FINALIZE", "ABORT"}) {
    if (std::ranges::find(ranks, status, status_of) != ranks.end()) comm.status = status;
  }
  std::vector<RasMember> members;
  for (const auto* list : {&ranks, &missing}) {
    for (const JsonRank& rank : *list) members.push_back(rank.member);
  }
  return members;
}

RasReport read_report(const Json& root) {
  RasReport report;
  report.nccl_version = text_of(member(root, "nccl_version"));
  report.cuda_runtime = small_number(member(root, "cuda_runtime_version"));
  report.cuda_driver = small_number(member(root, "cuda_driver_version"));
  report.timestamp = text_of(member(root, "timestamp"));
  report.timeouts =
      whole_number(member(member(root, "ras"), "timeouts_count")).value_or(report.timeouts);
  std::vector<std::vector<RasMember>> members;
  for (const Json& comm : as_list(member(root, "communicators"))) {
    members.push_back(add_communicator(comm, report));
  }
  find_world(std::move(members), report);
  return report;
}

/// Adds what a monitor reports to the answer that is made of its events. Only a death is news of the
/// job; the others are the service's own.
void add_event(const Json& event, RasReport& report) {
  if (text_of(member(event, "event")) != "PEER_DEAD") return;
  if (report.statements.size() == kMaxRasStatements) return;
  const Json& peer = member(event, "peer");
  report.timestamp = text_of(member(event, "timestamp"));
  report.statements.push_back({.problem = "DEAD", .what = "unreachable", .count = 1});
  RasMember& dead = report.statements.back().members.emplace_back();
  dead.pid = whole_number(member(peer, "pid")).value_or(-1);
  dead.node = text_of(member(peer, "host"));
}

// Where does one object end, and where does the next begin?
//
//   SERVER PROTOCOL 2 \n OK \n {"nccl_version": …, "ranks": [ \n {"nccl_version": … } \n {"timestamp": …
//                               cut                              whole                   whole
//
// In JSON an object stands behind a bracket, a colon, a comma or nothing at all, a line ends no
// text, and no number stands before a text. So what was cut is told from what follows it, and a
// comma that lacks is put in.

/// The objects of a file, each with commas where they lack; what is cut is left out.
std::vector<std::string> objects_in(std::string_view bytes) {
  std::vector<std::string> objects;
  std::string open;  ///< The object so far; empty outside of one.
  size_t depth = 0;
  bool in_text = false;
  char last = '\0';  ///< Before this one and its blanks, outside of texts.
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\n') in_text = false;
    if (in_text) {
      open += c;
      if (c == '\\' && i + 1 < bytes.size() && bytes[i + 1] != '\n') open += bytes[++i];
      if (c == '"') in_text = false;
      if (c == '"') last = c;
      continue;
    }
    const bool begins = c == '{' && last != '[' && last != ',' && last != ':';
    if (begins) {
      open.clear();
      depth = 0;
    } else if (depth == 0) {
      continue;
    }
    if (c == '"' && last >= '0' && last <= '9') open += ',';
    open += c;
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c > ' ') last = c;  // No blank and no end of a line.
    if ((c == '}' || c == ']') && --depth == 0) {
      objects.push_back(std::exchange(open, {}));
      last = '\0';
    }
  }
  if (!open.empty()) objects.push_back(std::move(open));
  return objects;
}

}  // namespace

Imported<std::vector<RasReport>> import_ras_json(std::string_view bytes) {
  Imported<std::vector<RasReport>> import;
  bool is_monitor = false;  // The last answer is made of events.
  std::string problem = "it lists no communicators";
  for (const std::string& object : objects_in(bytes)) {
    const ParsedDocument document = read_json(object);
    const bool is_event = document.value.is_object() && document.value.contains("event");
    const bool is_answer = document.value.is_object() && document.value.contains("communicators");
    if (!document.problem.empty()) {
      problem = document.problem;
    } else if (is_event && is_monitor) {
      add_event(document.value, import.value.back());
    } else if (is_event || is_answer) {
      if (import.value.size() == kMaxRasReports) import.value.erase(import.value.begin());
      import.value.push_back(is_answer ? read_report(document.value) : RasReport());
      if (is_event) add_event(document.value, import.value.back());
      is_monitor = is_event;
    }
  }
  if (import.value.empty()) import.problem = problem;
  return import;
}

}  // namespace ncclog
