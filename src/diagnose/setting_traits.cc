// The settings of a run: what NCCL says that it has read, and who says so.
//
//   NCCL_P2P_DISABLE set by environment to 1.     on ranks 0-3 of 4    → NCCL_P2P_DISABLE: "1"
//   NCCL_ALGO set by environment to Ring          on rank 3 of 4       → "Ring on rank 3; …"
//
// Who prints a setting counts where it is read everywhere. Values that name files, hosts or
// addresses are different in every run and count only as being there.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "diagnose/conditional_settings.h"
#include "diagnose/fact_answers.h"
#include "diagnose/nccl_variables.h"
#include "diagnose/nccl_version.h"
#include "diagnose/trait_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kConfigPrefix = "Comm config ";

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What is written where, and by whom it can be reached: it changes nothing in the job.
bool is_about_logging(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"NCCL_RAS_ADDR", "NCCL_RAS_ENABLE",
                                                      "NCCL_SET_THREAD_NAME", "NCCL_CONF_FILE",
                                                      "NCCL_RAS_TIMEOUT_FACTOR"};
  return name.starts_with("NCCL_DEBUG") || name.find("DUMP") != name.npos ||
         is_one_of(name, kNames);
}

/// Has another value in every run, or on every host.
bool is_never_alike(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames = {"NCCL_COMM_ID", "NCCL_HOSTID",
                                                      "NCCL_RAS_ADDR", "NCCL_SOCKET_MAGIC"};
  return is_one_of(name, kNames) || name.ends_with("_DUMP_FILE") || name == "NCCL_DEBUG_FILE";
}

SourceRef first_complete(const Job& job, const Process& process) {
  SourceRef first;
  for (const size_t log : process.logs) {
    for (const CommSegment& segment : job.logs[log].comms.all) {
      const bool earlier = first.line == 0 || segment.completed < first;
      if (segment.completed.line != 0 && earlier) first = segment.completed;
    }
  }
  return first;
}

/// Where a setting was printed.
struct Printed {
  std::vector<Evidence> lines;
  bool is_early = false;  ///< Before the end of the process's first initialisation, somewhere.
};

/// By name. Settings of processes that start NCCL are read in the same places everywhere, so a few
/// lines of each name tell.
std::map<std::string, Printed, std::less<>> printed_settings(const Job& job) {
  std::map<std::string, Printed, std::less<>> printed;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    auto found = printed.find(said.message.name);
    if (found == printed.end())
      found = printed.emplace(std::string(said.message.name), Printed()).first;
    Printed& setting = found->second;
    if (setting.lines.empty()) setting.lines.push_back(evidence_of(said.record));
    if (setting.is_early) return;
    const SourceRef completed =
        first_complete(job, job.processes[static_cast<size_t>(said.process)]);
    setting.is_early = completed.line == 0 || said.record.where < completed;
  });
  return printed;
}

/// Processes whose settings the logs show: they print some, or come to the end of an
/// initialisation. Only those of `ranks`, unless that is empty.
std::set<int> readers_of(const Job& job, const std::set<int>& ranks) {
  std::set<int> readers;
  const auto is_wanted = [&](int process) {
    return ranks.empty() || ranks.contains(job.processes[static_cast<size_t>(process)].rank);
  };
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int process : setting.processes) {
      if (is_wanted(process)) readers.insert(process);
    }
  }
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const bool is_reader = first_complete(job, job.processes[p]).line != 0;
    if (is_reader && is_wanted(static_cast<int>(p))) readers.insert(static_cast<int>(p));
  }
  return readers;
}

/// "ranks 0-3", "2 processes".
std::string who(const Job& job, const std::set<int>& processes) {
  std::vector<int> ranks;
  for (const int p : processes) {
    const int rank = job.processes[static_cast<size_t>(p)].rank;
    if (rank < 0)
      return fmt::format("{} process{}", processes.size(), processes.size() == 1 ? "" : "es");
    ranks.push_back(rank);
  }
  return ranks_phrase(ranks);
}

using Camps = std::map<std::string, std::set<int>>;  ///< Processes by the value that they print.

/// "1"; where some have another value or print none, "1 on ranks 0-2; not printed by rank 3".
std::string camps_text(const Job& job, const Camps& camps, const std::set<int>& readers) {
  std::set<int> silent = readers;
  for (const auto& [value, processes] : camps) {
    for (const int p : processes) silent.erase(p);
  }
  if (camps.size() == 1 && silent.empty()) return camps.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [value, processes] : camps) {
    parts.push_back(fmt::format("{} on {}", value, who(job, processes)));
  }
  if (!silent.empty()) parts.push_back("not printed by " + who(job, silent));
  return join(parts, "; ");
}

std::string values_text(const Camps& camps) {
  std::vector<std::string> values;
  for (const auto& [value, processes] : camps) values.push_back(value);
  return join(values, ", ");
}

Trait setting_trait(const Job& job, const std::string& name, const Camps& camps,
                    const std::set<int>& readers) {
  Trait trait{.topic = Topic::Setting, .name = name};
  const bool everywhere = !is_read_where_used(name) && !is_about_logging(name);
  trait.value = everywhere ? camps_text(job, camps, readers) : values_text(camps);
  trait.alike = is_never_alike(name) ? "set" : without_names(job, trait.value);
  trait.is_note = is_about_logging(name);
  return trait;
}

/// What the application asked for when it made a communicator, but for its name.
void add_config_traits(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> by_name;
  for_each_said<CommConfig>(job, [&](const Said<CommConfig>& said) {
    if (said.message.name == "Comm name") return;
    by_name[std::string(said.message.name)].add(std::string(said.message.value),
                                                evidence_of(said.record));
  });
  for (const auto& [name, values] : by_name) {
    traits.push_back(trait_of(Topic::Setting, std::string(kConfigPrefix) + name, values));
  }
}

/// Whether some release of the job reads the variable.
bool is_read_by_release(const Job& job, std::string_view name) {
  const NcclVariable* variable = find_nccl_variable(name);
  if (variable == nullptr || job.nccl_versions.empty()) return true;
  return std::any_of(job.nccl_versions.begin(), job.nccl_versions.end(),
                     [&](const std::string& version) {
                       const bool is_older = compare_releases(version, variable->first) < 0;
                       const bool is_newer =
                           !variable->last.empty() && compare_releases(version, variable->last) > 0;
                       return !is_newer && (!is_older || variable->first == "2.4.2");
                     });
}

bool is_connected(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(),
                     [](const SpeakerLog& log) { return !log.connections.all.empty(); });
}

}  // namespace

std::set<int> ranks_with_settings(const Job& job) {
  std::set<int> ranks;
  for (const int p : readers_of(job, {})) ranks.insert(job.processes[static_cast<size_t>(p)].rank);
  ranks.erase(-1);
  return ranks;
}

void add_setting_traits(const Job& job, const std::set<int>& ranks, Traits& traits) {
  const std::set<int> readers = readers_of(job, ranks);
  std::map<std::string, Camps> by_name;
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int p : setting.processes) {
      if (readers.contains(p)) by_name[setting.name][setting.value].insert(p);
    }
  }
  const auto printed = printed_settings(job);
  for (const auto& [name, camps] : by_name) {
    Trait trait = setting_trait(job, name, camps, readers);
    if (const auto lines = printed.find(name); lines != printed.end()) {
      trait.evidence = lines->second.lines;
      trait.is_late = !lines->second.is_early;
    }
    traits.push_back(std::move(trait));
  }
  add_config_traits(job, traits);
}

Absence setting_absence(const Job& job, const Trait& other) {
  if (!has_spoken(job, Subsystem::Env)) {
    return not_told("its logs show no setting: none is set, or ENV is not among its subsystems");
  }
  if (is_torn(job) || job.losses.count(Loss::LineLeftOut) > 0) {
    return not_told("lines of its logs are torn or left out");
  }
  if (!has_initialised(job)) return not_told("no rank came to the end of its initialisation");
  if (is_read_where_used(other.name)) return not_told("NCCL reads it only where it is of use");
  if (!is_read_by_release(job, other.name)) return not_told("its release of NCCL does not read it");
  if (other.is_late && !is_connected(job)) return not_told("it did not come as far as to read it");
  return proven();
}

}  // namespace ncclog
