#include "diagnose/job_settings.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagnose/fact_answers.h"
#include "diagnose/filter_use.h"
#include "diagnose/hca_lists.h"
#include "diagnose/host_addresses.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// "2.27.3" if all processes use one release; else empty.
std::string only_release(const Job& job) {
  return job.nccl_versions.size() == 1 ? job.nccl_versions.front() : std::string();
}

void add_name(std::vector<std::string>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

/// Commands of a process as one script: what a shell exported lasts.
struct Script {
  std::string text;
  std::vector<Evidence> lines;
};

std::map<int, Script> scripts_of(const Job& job) {
  std::map<int, Script> scripts;
  const auto add = [&](int process, std::string_view command, const Record& record) {
    // An open quote would swallow the commands below it; a line of a log is one command.
    if (std::count(command.begin(), command.end(), '"') % 2 != 0) return;
    if (std::count(command.begin(), command.end(), '\'') % 2 != 0) return;
    Script& script = scripts[process];
    script.text.append(command.substr(0, command.find_last_not_of('\\') + 1)).append("\n");
    script.lines.push_back(evidence_of(record));
  };
  for_each_said<ShellCommand>(
      job, [&](const auto& said) { add(said.process, said.message.command, said.record); });
  for_each_said<ProcessEnded>(
      job, [&](const auto& said) { add(said.process, said.message.command, said.record); });
  return scripts;
}

using NameAndValue = std::pair<std::string, std::string>;

std::map<NameAndValue, Evidence> first_lines(const Job& job) {
  std::map<NameAndValue, Evidence> lines;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    lines.try_emplace({std::string(said.message.name), std::string(said.message.value)},
                      evidence_of(said.record));
  });
  return lines;
}

/// False where only one process prints a value and lines are torn: what another one wrote may stand
/// in it.
bool is_certain(const Job& job, const EnvironmentSetting& setting) {
  return setting.processes.size() > 1 || !is_torn(job);
}

/// The different sets of settings that processes read, each as indices into Job::environment.
std::set<std::vector<size_t>> distinct_sets(const Job& job) {
  std::map<int, std::vector<size_t>> of_process;
  for (size_t i = 0; i < job.environment.size(); ++i) {
    if (!is_certain(job, job.environment[i])) continue;
    for (const int process : job.environment[i].processes) of_process[process].push_back(i);
  }
  std::set<std::vector<size_t>> sets;
  for (auto& [process, set] : of_process) sets.insert(std::move(set));
  return sets;
}

/// What is no news of a setting that NCCL has read.
bool is_disproved(RemarkKind kind) {
  return kind == RemarkKind::Unknown || kind == RemarkKind::Misspelt ||
         kind == RemarkKind::Removed || kind == RemarkKind::TooNew;
}

/// Each remark once.
class Remarks {
 public:
  void add(Remark remark, Evidence line) {
    const std::string key = remark.variable + '\n' + remark.value + '\n' + remark.message;
    if (seen_.insert(key).second) all_.push_back({std::move(remark), std::move(line)});
  }
  std::vector<JobRemark> take() { return std::move(all_); }

 private:
  std::set<std::string> seen_;
  std::vector<JobRemark> all_;
};

void lint_commands(const Job& job, const LintContext& context, Remarks& remarks) {
  for (const CommandSettings& command : command_settings(job)) {
    for (Remark& remark : lint(command.found.settings, context)) {
      const uint64_t line = command.found.settings[remark.setting].line;
      remarks.add(std::move(remark), command.lines[line - 1]);
    }
  }
}

void lint_read(const Job& job, const LintContext& context, Remarks& remarks) {
  const auto lines = first_lines(job);
  for (const std::vector<size_t>& set : distinct_sets(job)) {
    std::vector<Setting> settings;
    for (const size_t i : set) {
      Setting setting;
      setting.name = job.environment[i].name;
      setting.value = job.environment[i].value;
      settings.push_back(std::move(setting));
    }
    for (Remark& remark : lint(settings, context)) {
      if (is_disproved(remark.kind)) continue;
      const auto line = lines.find({remark.variable, remark.value});
      remarks.add(std::move(remark), line == lines.end() ? Evidence{} : line->second);
    }
  }
}

std::vector<CommandSettings> read_command_settings(const Job& job) {
  std::vector<CommandSettings> commands;
  for (auto& [process, script] : scripts_of(job)) {
    CommandSettings command{read_shell_settings(script.text), std::move(script.lines)};
    // What is handed on without a value is set somewhere else.
    for (const HandedOn& handed : command.found.handed_on) {
      Setting setting;
      setting.name = handed.name;
      setting.line = handed.line;
      setting.literal = false;
      command.found.settings.push_back(std::move(setting));
    }
    if (!command.found.settings.empty()) commands.push_back(std::move(command));
  }
  return commands;
}

std::vector<HostDevices> list_devices(const Job& job) {
  std::map<std::string, HostDevices> hosts;
  for (const HostAddress& address : all_addresses(job)) {
    if (!address.host.empty()) add_name(hosts[address.host].interfaces, address.name);
  }
  for (const HcaList& list : hca_lists(job)) {
    for (const Hca& hca : list.hcas) {
      if (!list.host.empty()) add_name(hosts[list.host].hcas, hca.name);
    }
  }
  std::vector<HostDevices> result;
  for (auto& [host, devices] : hosts) {
    devices.host = host;
    result.push_back(std::move(devices));
  }
  return result;
}

std::vector<JobRemark> lint_alone(const Job& job) { return lint_job(job, {}); }

}  // namespace

const std::vector<CommandSettings>& command_settings(const Job& job) {
  return job.answers.of<&read_command_settings>(job);
}

const std::vector<HostDevices>& known_devices(const Job& job) {
  return job.answers.of<&list_devices>(job);
}

const std::vector<JobRemark>& job_remarks(const Job& job) {
  return job.answers.of<&lint_alone>(job);
}

std::optional<Library> library_of(const Job& job) {
  bool is_nccl = false;
  bool is_rccl = false;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    (said.message.cuda.empty() ? is_rccl : is_nccl) = true;
  });
  if (is_nccl == is_rccl) return std::nullopt;
  return is_rccl ? Library::Rccl : Library::Nccl;
}

std::vector<JobRemark> lint_job(const Job& job, LintContext context) {
  if (context.nccl_version.empty()) context.nccl_version = only_release(job);
  if (!context.library) context.library = library_of(job);
  Remarks remarks;
  lint_commands(job, context, remarks);
  lint_read(job, context, remarks);
  for (JobRemark& each : judge_filters_in_use(job)) {
    remarks.add(std::move(each.remark), std::move(each.line));
  }
  return remarks.take();
}

}  // namespace ncclog
