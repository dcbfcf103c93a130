#include "app/commands/env.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/output.h"
#include "app/read/read_document.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "import/import.h"
#include "log/settings.h"
#include "model/derive/build_job.h"
#include "model/derive/split_runs.h"
#include "report/document/document.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Larger files are logs.
constexpr size_t kMaxScriptBytes = size_t{4} << 20;

PlacedRemark conf_remark(const Setting& setting, const std::string& place, bool counts) {
  return {{.kind = RemarkKind::ConfigFile,
           .level = RemarkLevel::Note,
           .variable = setting.name,
           .value = setting.value,
           .message = counts ? "is set by this file, not by the environment"
                             : "is not used: it is set before this file is read"},
          place};
}

/// The files that NCCL would read for this process, as far as they exist: the one that
/// NCCL_CONF_FILE names or ~/.nccl.conf, then /etc/nccl.conf (misc/param.cc).
std::vector<ConfFile> own_conf_files() {
  std::vector<fs::path> paths;
  const std::string named = environment_variable("NCCL_CONF_FILE");
  const std::string home = environment_variable("HOME");
  if (!named.empty()) {
    paths.emplace_back(named);
  } else if (!home.empty()) {
    paths.push_back(fs::path(home) / ".nccl.conf");
  }
  paths.emplace_back("/etc/nccl.conf");
  std::vector<ConfFile> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    files.push_back({path.string(), read_file_up_to(path.string(), kMaxScriptBytes)});
  }
  return files;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Interfaces and RDMA devices of this machine, from /sys; none where it cannot be listed.
HostDevices devices_of_this_machine() {
  HostDevices devices;
  devices.host = "this machine";
  devices.interfaces = names_in("/sys/class/net");
  devices.hcas = names_in("/sys/class/infiniband");
  return devices;
}

/// Keeps of `settings`, each of which stands at its place, what concerns NCCL or is remarked on, and
/// the remarks.
void add_checked(std::vector<Setting> settings, const std::vector<std::string>& places,
                 const LintContext& context, CheckedSource& source) {
  for (Remark& remark : lint(settings, context)) {
    const std::string& place = places[remark.setting];
    source.remarks.push_back({std::move(remark), place});
  }
  std::erase_if(settings, [&](const Setting& setting) {
    return !concerns_nccl(setting.name) &&
           std::ranges::none_of(source.remarks, [&](const PlacedRemark& each) {
             return each.remark.variable == setting.name;
           });
  });
  source.settings = std::move(settings);
}

}  // namespace

CheckedSource check_environment(const std::vector<std::string>& variables,
                                const std::vector<ConfFile>& files, LintContext context) {
  CheckedSource source;
  source.path = "this shell";
  source.format = "environment";
  std::vector<Setting> settings;
  std::vector<std::string> places;  // Of the settings.
  std::set<std::string, std::less<>> names;
  std::vector<std::string> sorted(variables);
  std::ranges::sort(sorted);
  for (const std::string& variable : sorted) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    settings.push_back({.name = variable.substr(0, equals), .value = variable.substr(equals + 1)});
    names.insert(settings.back().name);
    places.emplace_back();
  }
  for (const ConfFile& file : files) {
    for (Setting& setting : read_conf_settings(file.text)) {
      const std::string place = fmt::format("{}:{}", file.path, setting.line);
      const bool counts = names.insert(setting.name).second;
      if (concerns_nccl(setting.name)) {
        source.remarks.push_back(conf_remark(setting, place, counts));
      }
      if (!counts) continue;
      settings.push_back(std::move(setting));
      places.push_back(place);
    }
  }
  context.complete = true;
  add_checked(std::move(settings), places, context, source);
  return source;
}

namespace {

// What a path sets for NCCL, whatever sort of file it is: told by name and, where names say
// nothing, by content.
//
//   train.sh, job.sbatch    scripts        .env, .deepspeed_env   NAME=value lines
//   pod.yaml                YAML           /etc/nccl.conf         NCCL's own form
//   logs/, nccl.0.log.gz    logs: what NCCL read and what the commands in them set

/// So much of a log is read from standard input.
constexpr size_t kMaxStdinBytes = size_t{256} << 20;

/// Logs last.
enum class Form { Script, EnvFile, Conf, Yaml, Log };

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

std::optional<Form> form_by_name(std::string_view name) {
  if (ends_with_any(name, {"nccl.conf"})) return Form::Conf;
  if (ends_with_any(name, {".yaml", ".yml"})) return Form::Yaml;
  if (ends_with_any(name, {".env", "_env"})) return Form::EnvFile;
  if (ends_with_any(name, {".sh", ".bash", ".zsh", ".csh", ".ksh", ".sbatch", ".slurm", ".pbs",
                           ".lsf", ".job"})) {
    return Form::Script;
  }
  if (ends_with_any(name, {".log", ".out", ".err", ".gz", ".zst", ".xz", ".bz2", ".zip"})) {
    return Form::Log;
  }
  return std::nullopt;
}

/// "key: value" and "- item" make YAML out of what is no script.
bool looks_like_yaml(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 4096), '\n')) {
    const std::string_view words = trim(line);
    if (words.empty() || words.starts_with('#')) continue;
    const size_t colon = words.find(':');
    const bool key = colon != words.npos && is_variable_name(words.substr(0, colon)) &&
                     (colon + 1 == words.size() || words[colon + 1] == ' ');
    return key || words == "---" || words.starts_with("- ");
  }
  return false;
}

bool is_only_assignments(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::ranges::all_of(lines, [](std::string_view line) {
    line = trim(line);
    return line.empty() || line.starts_with('#') ||
           is_variable_name(line.substr(0, std::min(line.find('='), line.size())));
  });
}

Form form_by_content(std::string_view text) {
  constexpr std::string_view kMarks[] = {" NCCL INFO ", " NCCL WARN ", "NCCL version "};
  if (text.starts_with("#!")) return Form::Script;  // Even if it quotes NCCL's lines.
  for (const std::string_view mark : kMarks) {
    if (text.find(mark) != text.npos) return Form::Log;
  }
  if (text.find('\0') != text.npos) return Form::Log;
  if (looks_like_yaml(text)) return Form::Yaml;
  return is_only_assignments(text) ? Form::EnvFile : Form::Script;
}

/// Lints what a file of that form, which is no log, sets.
CheckedSource check_file(const std::string& path, std::string_view text, Form form,
                         LintContext context) {
  constexpr std::string_view kFormats[] = {"script", "env_file", "nccl_conf", "yaml"};
  CheckedSource source;
  source.path = path;
  source.format = kFormats[static_cast<size_t>(form)];
  std::vector<Setting> settings;
  if (form == Form::Conf) {
    settings = read_conf_settings(text);
  } else if (form == Form::Yaml) {
    auto found = read_yaml_settings(text);
    settings = std::move(found.value);
    if (!found.problem.empty()) {
      source.note = fmt::format("Not YAML, so the rest was not read: {}.", found.problem);
    }
  } else {
    settings = read_shell_settings(text).settings;
    context.needs_export = text.starts_with("#!");
    for (Setting& setting : settings) setting.exported |= form == Form::EnvFile;
  }
  std::vector<std::string> places;
  for (const Setting& setting : settings) places.push_back(place_name(path, setting.line));
  add_checked(std::move(settings), places, context, source);
  return source;
}

/// Settings that differ between ranks of one run; of several runs, those of the first where some
/// differ.
void add_differences(const Job& job, CheckedSource& source) {
  const Fact* fact = find_fact("job.env_differs");
  const SplitRuns split = split_runs(job);
  FactValue value = fact->ask(job, job_instance(job));
  for (const Job& run : split.runs) {
    if (value.what.empty()) value = fact->ask(run, job_instance(run));
  }
  if (value.what.empty()) return;
  source.remarks.push_back(
      {{.kind = RemarkKind::Differs,
        .message = fmt::format("Settings differ between ranks: {}.", value.what),
        .hint = "set the same on all ranks (mpirun -x NAME, docker -e, the same nccl.conf)"},
       {}});
}

/// The settings that the job shows, each name and value once.
std::vector<Setting> settings_of(const Job& job) {
  std::vector<Setting> settings;
  for (const EnvironmentSetting& each : job.environment) {
    settings.push_back({.name = each.name, .value = each.value});
  }
  for (const CommandSettings& command : command_settings(job)) {
    for (Setting setting : command.found.settings) {
      const bool known = std::ranges::any_of(settings, [&](const Setting& other) {
        return other.name == setting.name && other.value == setting.value;
      });
      setting.line = 0;
      if (!known && concerns_nccl(setting.name)) settings.push_back(std::move(setting));
    }
  }
  return settings;
}

CheckedSource check_job(const std::string& path, const Job& job, const LintContext& context) {
  CheckedSource source;
  source.path = path;
  source.format = "log";
  source.is_partial = exit_status(job) == ExitStatus::Partial;
  source.settings = settings_of(job);
  for (const Remark& remark : lint_job(job, context)) {
    source.remarks.push_back({remark, place_name(job, remark.line.where)});
  }
  add_differences(job, source);
  return source;
}

CheckedSource check_log(const std::string& path, const LintContext& context,
                        ReadingProgress* progress) {
  return check_job(path, load_job({.paths = {path}}, progress), context);
}

/// Reads and lints what `path` names; "-" is standard input. Filters of a file are held against
/// `here`, the machine of the check, if `context` names no hosts; those of a log are not. Throws
/// Error if the path cannot be read.
CheckedSource check_path(const std::string& path, const LintContext& context, HostDevices here,
                         ReadingProgress* progress) {
  const auto named = form_by_name(path);
  std::error_code error;
  const bool is_text = path == "-" || (fs::is_regular_file(path, error) &&
                                       fs::file_size(path, error) <= kMaxScriptBytes);
  if (!is_text || (path != "-" && named == Form::Log)) return check_log(path, context, progress);
  const std::string text = read_file_up_to(path, path == "-" ? kMaxStdinBytes : kMaxScriptBytes);
  const Form form = named.value_or(form_by_content(text));
  if (form == Form::Log && path != "-") return check_log(path, context, progress);
  if (form == Form::Log) return check_job(path, job_from_text(text, {}), context);
  LintContext with_hosts = context;
  here.certain = false;
  if (with_hosts.hosts.empty()) with_hosts.hosts.push_back(std::move(here));
  return check_file(path, text, form, with_hosts);
}

// ncclog env check [PATH…]

struct EnvOptions {
  std::vector<std::string> paths;  ///< Scripts, YAML, logs, "-"; empty: this process's environment.
  std::string nccl;                ///< A release, "2.27.3"; empty: any.
  std::string interfaces;          ///< "eth0,ib0": of the job's hosts; empty: unknown.
  std::string hcas;                ///< "mlx5_0,mlx5_1", the same.
  std::string log;                 ///< A log that shows the job's hosts; empty: none.
  FailOn fail_on = FailOn::Error;  ///< An info is a note.
  bool is_json = false;            ///< The answer; else text.
  ColorChoice color = ColorChoice::Auto;
};

std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split(list, ',')) {
    if (!trim(name).empty()) names.emplace_back(trim(name));
  }
  return names;
}

/// Takes hosts, release and library from a log of the job.
void look_into_log(const std::string& path, LintContext& context, ReadingProgress* progress) {
  const Job job = load_job({.paths = {path}}, progress);
  // The job's own filter may hide devices from the log.
  const bool is_filtered = std::ranges::any_of(job.environment, [](const auto& setting) {
    return setting.name == "NCCL_SOCKET_IFNAME" || setting.name == "NCCL_IB_HCA";
  });
  for (HostDevices host : known_devices(job)) {
    host.certain = !is_filtered;
    context.hosts.push_back(std::move(host));
  }
  if (context.nccl_version.empty() && job.nccl_versions.size() == 1) {
    context.nccl_version = job.nccl_versions.front();
  }
  context.library = library_of(job);
}

LintContext context_of(const EnvOptions& options, ReadingProgress* progress) {
  LintContext context;
  if (!options.nccl.empty() && !is_release(options.nccl)) {
    throw Error(fmt::format("not a release of NCCL: '{}'", printable(options.nccl)), "--nccl",
                "write it like 2.27.3");
  }
  context.nccl_version = options.nccl;
  HostDevices given{"the given list", names_of_list(options.interfaces),
                    names_of_list(options.hcas), true};
  if (!given.interfaces.empty() || !given.hcas.empty()) context.hosts.push_back(std::move(given));
  if (!options.log.empty()) look_into_log(options.log, context, progress);
  return context;
}

ExitStatus status_of(const EnvironmentCheck& check, const EnvOptions& options) {
  for (const RemarkLevel level : {RemarkLevel::Error, RemarkLevel::Warning, RemarkLevel::Note}) {
    const bool fails = options.fail_on != FailOn::Never &&
                       static_cast<int>(level) <= static_cast<int>(options.fail_on);
    if (fails && count_remarks(check, level) > 0) return ExitStatus::Findings;
  }
  const bool is_partial = std::ranges::any_of(check.sources, &CheckedSource::is_partial);
  return is_partial ? ExitStatus::Partial : ExitStatus::Fine;
}

ExitStatus check(const EnvOptions& options, Console& console) {
  const LintContext context = context_of(options, console.progress);
  EnvironmentCheck result;
  result.nccl_version = context.nccl_version;
  for (const std::string& path : options.paths) {
    result.sources.push_back(
        check_path(path, context, devices_of_this_machine(), console.progress));
  }
  if (options.paths.empty()) {
    LintContext here = context;
    if (here.hosts.empty()) here.hosts.push_back(devices_of_this_machine());
    result.sources.push_back(check_environment(environment_variables(), own_conf_files(), here));
  }
  if (options.is_json) {
    console.out += write_check_json(result);
  } else if (console.quiet) {
    console.out += fmt::format("{}: {}, {}, {}\n", plural(std::ssize(result.sources), "source"),
                               plural(count_remarks(result, RemarkLevel::Error), "error"),
                               plural(count_remarks(result, RemarkLevel::Warning), "warning"),
                               plural(count_remarks(result, RemarkLevel::Note), "note"));
  } else {
    console.out += render_text(environment_document(result), console.style(options.color));
  }
  return status_of(result, options);
}

}  // namespace

void declare_env(CommandRow& command) {
  CommandRow& check_row =
      add_command(command, "check", "say which settings do not do what they say");
  EnvOptions& options = options_of(check_row, check);
  add_argument(check_row, "PATH", options.paths,
               "scripts, .env, YAML or nccl.conf files, logs, '-' for stdin; without: the "
               "environment of this shell and NCCL's configuration files");
  add_flag(check_row, kInputFlags, "--nccl 2.27.3", options.nccl,
           "the release of NCCL that the job uses");
  add_flag(check_row, kInputFlags, "--interfaces LIST", options.interfaces,
           "interfaces of the job's hosts, against which filters are held (default for a "
           "script: those of this machine)");
  add_flag(check_row, kInputFlags, "--hcas LIST", options.hcas, "RDMA devices of the job's hosts");
  add_flag(check_row, kInputFlags, "--log PATH", options.log,
           "a log of the job: its hosts, and its release of NCCL");
  add_choice(check_row, kJudgingFlags, "--fail-on", options.fail_on,
             in_order<FailOn>({"error", "warning", "note", "never"}),
             "exit with 1 if a setting is remarked on at this level or a worse one");
  const auto strict = [&options](const std::string& value) {
    if (value == "true") options.fail_on = FailOn::Warning;
  };
  add_flag_by(check_row, kJudgingFlags, "--strict", strict, "as --fail-on warning").is_hidden =
      true;
  add_text_or_json_flag(check_row, options.is_json);
  add_color_flag(check_row, options.color);
}

}  // namespace ncclog
