// ncclog env check [PATH…]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/env_sources.h"
#include "app/options.h"
#include "app/this_environment.h"
#include "app/write_help.h"
#include "base/error.h"
#include "base/text.h"
#include "diagnose/job_settings.h"
#include "diagnose/nccl_version.h"

namespace ncclog {
namespace {

std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split(list, ',')) {
    if (!trim(name).empty()) names.emplace_back(trim(name));
  }
  return names;
}

void check_release(const std::string& release) {
  if (release.empty() || is_release(release)) return;
  throw Error(fmt::format("not a release of NCCL: '{}'", printable(release)), "--nccl",
              "write it like 2.27.3");
}

/// Whether the job's own filter may hide devices from the log.
bool is_filtered(const Job& job) {
  return std::any_of(job.environment.begin(), job.environment.end(), [](const auto& setting) {
    return setting.name == "NCCL_SOCKET_IFNAME" || setting.name == "NCCL_IB_HCA";
  });
}

/// Takes hosts, release and library from a log of the job.
void look_into_log(const std::string& path, LintContext& context) {
  const Job job = load_job({.paths = {path}});
  for (HostDevices host : known_devices(job)) {
    host.certain = !is_filtered(job);
    context.hosts.push_back(std::move(host));
  }
  if (context.nccl_version.empty() && job.nccl_versions.size() == 1) {
    context.nccl_version = job.nccl_versions.front();
  }
  context.library = library_of(job);
}

LintContext context_of(const EnvOptions& options) {
  LintContext context;
  check_release(options.nccl);
  context.nccl_version = options.nccl;
  HostDevices given{"the given list", names_of_list(options.interfaces),
                    names_of_list(options.hcas), true};
  if (!given.interfaces.empty() || !given.hcas.empty()) context.hosts.push_back(std::move(given));
  if (!options.log.empty()) look_into_log(options.log, context);
  return context;
}

ExitStatus status_of(const EnvironmentCheck& check, const EnvOptions& options, bool partial) {
  const bool fails = count_remarks(check, RemarkLevel::Error) > 0 ||
                     (options.strict && count_remarks(check, RemarkLevel::Warning) > 0);
  if (fails) return ExitStatus::Findings;
  return partial ? ExitStatus::Partial : ExitStatus::Fine;
}

ExitStatus check(const EnvOptions& options, Console& console) {
  const LintContext context = context_of(options);
  EnvironmentCheck result;
  result.nccl_version = context.nccl_version;
  bool partial = false;
  for (const std::string& path : options.paths) {
    EnvSource source = check_path(path, context, devices_of_this_machine());
    partial = partial || source.partial;
    result.sources.push_back(std::move(source.checked));
  }
  if (options.paths.empty()) {
    LintContext here = context;
    if (here.hosts.empty()) here.hosts.push_back(devices_of_this_machine());
    result.sources.push_back(check_environment(own_variables(), own_conf_files(), here));
  }
  if (options.format == ReportFormat::Json) {
    console.out += write_check_json(result);
  } else if (!console.quiet) {
    console.out += write_check_text(result, console.style(options.color));
  }
  return status_of(result, options, partial);
}

}  // namespace

RunCommand declare_env(CLI::App& app) {
  const auto options = std::make_shared<EnvOptions>();
  app.require_subcommand(0, 1);
  CLI::App* sub = app.add_subcommand("check", "say which settings do not do what they say");
  sub->allow_extras();
  sub->footer("");
  add_env_check_flags(*sub, *options);
  return [options, &app](Console& console) {
    if (app.got_subcommand("check")) return check(*options, console);
    console.out += help_text(app, console);
    return ExitStatus::Fine;
  };
}

}  // namespace ncclog
