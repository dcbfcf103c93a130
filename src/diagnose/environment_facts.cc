// Are the settings the same everywhere?
//
//   rank 3: NCCL_P2P_DISABLE set by environment to 1, ranks 0-2: nothing
//
// NCCL prints a variable when it first uses it, so a missing line proves nothing by itself. It is
// proof where the process has printed something that NCCL prints later.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/conditional_settings.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/minority.h"
#include "diagnose/setting_values.h"
#include "diagnose/within_runs.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// Differ on purpose, or are read by one rank only.
bool may_differ(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "NCCL_HOSTID",          "NCCL_COMM_ID",        "NCCL_TOPO_DUMP_FILE",
      "NCCL_GRAPH_DUMP_FILE", "NCCL_RAS_ADDR",       "NCCL_IGNORE_CPU_AFFINITY",
      "NCCL_CONF_FILE",       "NCCL_PROXY_CPUSET",   "NCCL_TOPO_DUMP_FILE_RANK",
      "NCCL_RAS_ENABLE",      "NCCL_LAUNCH_MODE",    "NCCL_GRAPH_DUMP_FILE_RANK",
      "NCCL_SET_THREAD_NAME", "NCCL_SET_STACK_SIZE", "NCCL_SOCKET_MAGIC"};
  return name.starts_with("NCCL_DEBUG") || name.find("DUMP") != name.npos ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Name what one machine has, so they may differ between machines.
bool may_differ_between_hosts(std::string_view name) {
  constexpr std::string_view kNames[] = {"NCCL_SOCKET_IFNAME",  "NCCL_IB_HCA",
                                         "NCCL_OOB_NET_IFNAME", "NCCL_IB_GID_INDEX",
                                         "NCCL_TOPO_FILE",      "NCCL_GRAPH_FILE"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Where a setting was printed first.
struct Printed {
  std::string value;
  SourceRef where;
  Evidence line;
};
using Settings = std::map<std::string, Printed>;  ///< Of one process, by name.

struct Reader {
  int process = -1;
  Settings settings;
  SourceRef completed;   ///< Its first Init COMPLETE; line 0: none.
  bool damaged = false;  ///< Lines may be torn, unknown or left out: maybe the missing one.
};

/// Of a torn line nobody may be able to tell whose it was.
bool is_damaged(const Job& job, const Process& process) {
  if (job.losses.count(Loss::LineLeftOut) > 0 || is_torn(job)) return true;
  return std::any_of(process.logs.begin(), process.logs.end(),
                     [&](size_t log) { return job.logs[log].unrecognised.total > 0; });
}

SourceRef first_complete(const Job& job, const Process& process) {
  SourceRef first;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) {
      if (segment.completed.line == 0) continue;
      if (first.line == 0 || segment.completed < first) first = segment.completed;
    }
  }
  return first;
}

/// The processes that print settings or finish an initialisation.
std::vector<Reader> read_settings(const Job& job) {
  std::vector<Reader> readers;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    Reader reader{static_cast<int>(p),
                  {},
                  first_complete(job, job.processes[p]),
                  is_damaged(job, job.processes[p])};
    for_each_record(job, job.processes[p], kKindIndex<EnvSet>, [&](const Record& record) {
      const Event event = parse_record(record);
      const auto set = read_message<EnvSet>(event.message);
      reader.settings.try_emplace(
          std::string(set.name),
          Printed{std::string(set.value), record.where, evidence_of(record)});
    });
    if (job.processes[p].pid < 0) continue;
    if (!reader.settings.empty() || reader.completed.line != 0)
      readers.push_back(std::move(reader));
  }
  return readers;
}

/// Proof that `reader` does not have the setting that `owner` printed: it went past the place where
/// NCCL reads it, because it printed what `owner` printed afterwards.
bool lacks(const Reader& reader, const Reader& owner, const std::string& name) {
  if (reader.damaged || reader.settings.contains(name)) return false;
  const SourceRef where = owner.settings.at(name).where;
  if (reader.completed.line != 0 && where < owner.completed) return true;
  return std::any_of(owner.settings.begin(), owner.settings.end(), [&](const auto& other) {
    const auto& [later, printed] = other;
    return where < printed.where && reader.settings.contains(later);
  });
}

/// Who has which value of one variable; "" stands for "proven not set".
std::map<std::string, std::vector<int>> camps(const std::vector<Reader>& readers,
                                              const std::string& name) {
  std::map<std::string, std::vector<int>> result;
  const Reader* owner = nullptr;
  for (const Reader& reader : readers) {
    const auto setting = reader.settings.find(name);
    // A value that is empty, or was cut off, is none to compare, and not "not set" either.
    if (setting == reader.settings.end() || setting->second.value.empty()) continue;
    result[setting->second.value].push_back(reader.process);
    if (owner == nullptr) owner = &reader;
  }
  if (owner == nullptr || is_read_where_used(name)) return result;
  std::vector<int> without;
  for (const Reader& reader : readers) {
    if (lacks(reader, *owner, name)) without.push_back(reader.process);
  }
  // One line may be lost, as collectors lose them; where most have the setting that is likelier.
  const size_t owners =
      static_cast<size_t>(std::count_if(readers.begin(), readers.end(), [&](const Reader& reader) {
        return reader.settings.contains(name);
      }));
  if (!without.empty() && (without.size() > 1 || owners < 3)) result[""] = std::move(without);
  return result;
}

/// True if some have the variable and as many provably have not, while nobody knows of the others:
/// then who is the odd one would be a guess.
bool is_undecided(const std::vector<Reader>& readers,
                  const std::map<std::string, std::vector<int>>& by_value) {
  return by_value.contains("") && minority(by_value).empty() &&
         std::any_of(readers.begin(), readers.end(),
                     [](const Reader& reader) { return reader.damaged; });
}

/// Drops what may differ: all of it, or the difference between hosts.
bool is_difference(const Job& job, const std::string& name,
                   const std::map<std::string, std::vector<int>>& by_value) {
  if (by_value.size() < 2 || may_differ(name)) return false;
  if (!may_differ_between_hosts(name)) return true;
  std::map<std::string, std::set<std::string>> values_on_host;
  for (const auto& [value, processes] : by_value) {
    for (const int p : processes) {
      values_on_host[job.processes[static_cast<size_t>(p)].host].insert(value);
    }
  }
  return std::any_of(values_on_host.begin(), values_on_host.end(),
                     [](const auto& entry) { return entry.second.size() > 1; });
}

std::vector<int> ranks_of(const Job& job, const std::vector<int>& processes) {
  std::vector<int> ranks;
  for (const int p : processes) {
    const int rank = job.processes[static_cast<size_t>(p)].rank;
    if (rank >= 0) ranks.push_back(rank);
  }
  return ranks;
}

/// "NCCL_P2P_DISABLE is 1 on rank 3 and not set on ranks 0-2".
std::string difference_phrase(const Job& job, const std::string& name,
                              const std::map<std::string, std::vector<int>>& by_value) {
  std::vector<std::string> parts;
  for (const auto& [value, processes] : by_value) {
    const std::string ranks = ranks_phrase(ranks_of(job, processes));
    const std::string who = ranks.empty() ? fmt::format("{} processes", processes.size()) : ranks;
    const std::string set = value.empty() ? "not set" : value;
    parts.insert(value.empty() ? parts.end() : parts.begin(), fmt::format("{} on {}", set, who));
  }
  return name + " is " + join(parts, " and ");
}

std::vector<Evidence> evidence_for(const std::vector<Reader>& readers, const std::string& name) {
  std::vector<Evidence> lines;
  std::set<std::string> shown;
  for (const Reader& reader : readers) {
    const auto setting = reader.settings.find(name);
    if (setting == reader.settings.end()) continue;
    if (shown.insert(setting->second.value).second) lines.push_back(setting->second.line);
  }
  return lines;
}

FactValue env_differs(const Job& job, const Instance&) {
  const std::vector<Reader> readers = read_settings(job);
  if (readers.size() < 2) return unknown();
  std::set<std::string> names;
  for (const Reader& reader : readers) {
    for (const auto& [name, printed] : reader.settings) names.insert(name);
  }
  std::vector<std::string> phrases;
  std::vector<Evidence> evidence;
  std::set<int> odd;
  for (const std::string& name : names) {
    const auto by_value = camps(readers, name);
    if (!is_difference(job, name, by_value) || is_undecided(readers, by_value)) continue;
    phrases.push_back(difference_phrase(job, name, by_value));
    for (Evidence& line : evidence_for(readers, name)) evidence.push_back(std::move(line));
    for (const int process : minority(by_value)) odd.insert(process);
  }
  if (phrases.empty()) return no();
  return yes(join(phrases, "; "), std::move(evidence), {odd.begin(), odd.end()});
}

/// A setting that all processes of one host have, and those of every other host provably not.
struct OneHostSetting {
  std::string host;
  std::vector<int> without;  ///< Into Job::processes: those of the other hosts.
};

/// nullopt: it is not spread like that.
std::optional<OneHostSetting> one_host_setting(
    const Job& job, const std::vector<Reader>& readers,
    const std::map<std::string, std::vector<int>>& by_value) {
  const auto unset = by_value.find("");
  if (by_value.size() != 2 || unset == by_value.end()) return std::nullopt;
  const auto host_of = [&](int process) -> const std::string& {
    return job.processes[static_cast<size_t>(process)].host;
  };
  const std::vector<int>& owners = std::next(unset)->second;
  const std::string& host = host_of(owners.front());
  const bool is_one_host = std::all_of(owners.begin(), owners.end(),
                                       [&](int process) { return host_of(process) == host; });
  const bool elsewhere = std::none_of(unset->second.begin(), unset->second.end(),
                                      [&](int process) { return host_of(process) == host; });
  const bool is_everybody = owners.size() + unset->second.size() == readers.size();
  if (!is_one_host || !elsewhere || !is_everybody) return std::nullopt;
  return OneHostSetting{host, unset->second};
}

FactValue env_not_forwarded(const Job& job, const Instance&) {
  const std::vector<Reader> readers = read_settings(job);
  std::set<std::string> names;
  for (const Reader& reader : readers) {
    for (const auto& [name, printed] : reader.settings) names.insert(name);
  }
  std::vector<std::string> phrases;
  std::vector<Evidence> evidence;
  std::set<int> without;
  for (const std::string& name : names) {
    const auto by_value = camps(readers, name);
    if (!is_difference(job, name, by_value) || is_undecided(readers, by_value)) continue;
    const auto setting = one_host_setting(job, readers, by_value);
    if (!setting) continue;
    phrases.push_back(fmt::format("{} on {} only", name, printable(to_valid_utf8(setting->host))));
    for (Evidence& line : evidence_for(readers, name)) evidence.push_back(std::move(line));
    without.insert(setting->without.begin(), setting->without.end());
  }
  if (phrases.empty()) return unknown();
  return yes(join(phrases, ", "), std::move(evidence), {without.begin(), without.end()});
}

constexpr std::array kFacts = {
    Fact{"job.env_differs", Scope::Job, FactType::Bool,
         "Some ranks have a setting or a value that others provably have not.",
         within_runs<env_differs>},
    Fact{
        "job.env_not_forwarded", Scope::Job, FactType::Bool,
        "All processes of one host have a setting that those of all other hosts provably have not.",
        within_runs<env_not_forwarded>},
};

}  // namespace

std::span<const Fact> environment_facts() { return kFacts; }

SettingValues setting_values(const Job& job, const std::string& name) {
  return camps(read_settings(job), name);
}

}  // namespace ncclog
