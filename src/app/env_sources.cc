#include "app/env_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/analyze.h"
#include "app/exit_status.h"
#include "base/error.h"
#include "base/text.h"
#include "diagnose/instance.h"
#include "diagnose/job_settings.h"
#include "import/yaml_settings.h"
#include "input/raw_file.h"
#include "log/conf_settings.h"
#include "log/shell_settings.h"
#include "model/job_from_text.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Larger files are logs.
constexpr size_t kMaxScriptBytes = size_t{4} << 20;
/// So much of a log is read from standard input.
constexpr size_t kMaxStdinBytes = size_t{256} << 20;

enum class Form { Script, EnvFile, Conf, Yaml, Log };

std::string_view to_string(Form form) {
  switch (form) {
    case Form::Script:
      return "script";
    case Form::EnvFile:
      return "env_file";
    case Form::Conf:
      return "nccl_conf";
    case Form::Yaml:
      return "yaml";
    case Form::Log:
      return "log";
  }
  return "script";
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
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
  return std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    line = trim(line);
    return line.empty() || line.starts_with('#') ||
           is_variable_name(line.substr(0, std::min(line.find('='), line.size())));
  });
}

Form form_by_content(std::string_view text) {
  constexpr std::string_view kMarks[] = {" NCCL INFO ", " NCCL WARN ", "NCCL version "};
  if (text.starts_with("#!")) return Form::Script;
  for (const std::string_view mark : kMarks) {
    if (text.find(mark) != text.npos) return Form::Log;
  }
  if (text.find('\0') != text.npos) return Form::Log;
  if (looks_like_yaml(text)) return Form::Yaml;
  return is_only_assignments(text) ? Form::EnvFile : Form::Script;
}

std::string read_up_to(const std::string& path, size_t most) {
  RawFile file(path);
  std::string text;
  constexpr size_t kBlock = size_t{1} << 16;
  while (text.size() < most) {
    const size_t before = text.size();
    text.resize(before + kBlock);
    text.resize(before + file.read(text.data() + before, kBlock));
    if (text.size() == before) break;
  }
  if (!file.error().empty()) throw Error(file.error(), path, "check the path and who may read it");
  return text;
}

std::string place_of(const std::string& path, uint64_t line) {
  return line == 0 ? path : fmt::format("{}:{}", path, line);
}

/// Lints what a file sets.
CheckedSource checked_file(const std::string& path, std::string_view format,
                           std::vector<Setting> settings, const LintContext& context) {
  CheckedSource source;
  source.path = path;
  source.format = format;
  for (Remark& remark : lint(settings, context)) {
    const uint64_t line = settings[remark.setting].line;
    source.remarks.push_back({std::move(remark), place_of(path, line)});
  }
  const auto is_said = [&](const Setting& setting) {
    return concerns_nccl(setting.name) ||
           std::any_of(source.remarks.begin(), source.remarks.end(),
                       [&](const auto& each) { return each.remark.variable == setting.name; });
  };
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(source.settings), is_said);
  return source;
}

CheckedSource check_script(const std::string& path, std::string_view text, bool is_env_file,
                           LintContext context) {
  std::vector<Setting> settings = read_shell_settings(text).settings;
  if (is_env_file) {
    for (Setting& setting : settings) setting.exported = true;
  }
  context.needs_export = text.starts_with("#!");
  return checked_file(path, is_env_file ? "env_file" : "script", std::move(settings), context);
}

CheckedSource check_yaml(const std::string& path, std::string_view text,
                         const LintContext& context) {
  YamlSettings found = read_yaml_settings(text);
  CheckedSource source = checked_file(path, "yaml", std::move(found.settings), context);
  if (!found.problem.empty()) {
    source.note = fmt::format("Not YAML, so the rest was not read: {}.", found.problem);
  }
  return source;
}

/// Ranks of a job that have different settings are a fact of the whole job.
void add_differences(const Job& job, CheckedSource& source) {
  const Fact* fact = find_fact("job.env_differs");
  const FactValue value = fact->derive(job, job_instance(job));
  if (value.what.empty()) return;
  Remark remark;
  remark.kind = RemarkKind::Differs;
  remark.message = fmt::format("Settings differ between ranks: {}.", value.what);
  remark.hint = "set the same on all ranks (mpirun -x NAME, docker -e, the same nccl.conf)";
  source.remarks.push_back({std::move(remark), {}});
}

/// The settings that the job shows, each name and value once.
std::vector<Setting> settings_of(const Job& job) {
  std::vector<Setting> settings;
  for (const EnvironmentSetting& each : job.environment) {
    Setting setting;
    setting.name = each.name;
    setting.value = each.value;
    settings.push_back(std::move(setting));
  }
  for (const CommandSettings& command : command_settings(job)) {
    for (Setting setting : command.found.settings) {
      const bool known = std::any_of(settings.begin(), settings.end(), [&](const Setting& other) {
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
  source.settings = settings_of(job);
  for (JobRemark& each : lint_job(job, context)) {
    const FileLine line = file_line(job, each.line.where);
    source.remarks.push_back({std::move(each.remark), place_of(line.path, line.line)});
  }
  add_differences(job, source);
  return source;
}

EnvSource check_log(const std::string& path, const LintContext& context) {
  const Job job = load_job({.paths = {path}});
  return {check_job(path, job, context), exit_status(job) == ExitStatus::Partial};
}

bool is_file_of_text(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) <= kMaxScriptBytes;
}

}  // namespace

EnvSource check_text(const std::string& path, std::string_view text, const LintContext& context) {
  const Form form = form_by_name(path).value_or(form_by_content(text));
  switch (form) {
    case Form::Script:
    case Form::EnvFile:
      return {check_script(path, text, form == Form::EnvFile, context), false};
    case Form::Conf:
      return {checked_file(path, to_string(form), read_conf_settings(text), context), false};
    case Form::Yaml:
      return {check_yaml(path, text, context), false};
    case Form::Log:
      break;
  }
  return {check_job(path, job_from_text(text, {}), context), false};
}

EnvSource check_path(const std::string& path, const LintContext& context, HostDevices here) {
  const auto named = form_by_name(path);
  if (path != "-" && (!is_file_of_text(path) || named == Form::Log)) {
    return check_log(path, context);
  }
  const std::string text = read_up_to(path, path == "-" ? kMaxStdinBytes : kMaxScriptBytes);
  if (named.value_or(form_by_content(text)) == Form::Log) {
    return path == "-" ? check_text(path, text, context) : check_log(path, context);
  }
  LintContext with_hosts = context;
  here.certain = false;
  if (with_hosts.hosts.empty()) with_hosts.hosts.push_back(std::move(here));
  return check_text(path, text, with_hosts);
}

}  // namespace ncclog
