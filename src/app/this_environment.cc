#include "app/this_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "log/conf_settings.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// What of the two sources counts, and where it stands.
struct Effective {
  std::vector<Setting> settings;
  std::vector<std::string> places;
  std::set<std::string, std::less<>> names;
};

void add_variables(const std::vector<std::string>& variables, Effective& effective) {
  std::vector<std::string> sorted(variables);
  std::sort(sorted.begin(), sorted.end());
  for (const std::string& variable : sorted) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    Setting setting;
    setting.name = variable.substr(0, equals);
    setting.value = variable.substr(equals + 1);
    effective.names.insert(setting.name);
    effective.settings.push_back(std::move(setting));
    effective.places.emplace_back();
  }
}

PlacedRemark conf_remark(const Setting& setting, const std::string& place, bool counts) {
  Remark remark;
  remark.kind = RemarkKind::ConfigFile;
  remark.level = RemarkLevel::Note;
  remark.variable = setting.name;
  remark.value = setting.value;
  remark.message = counts ? "is set by this file, not by the environment"
                          : "is not used: it is set before this file is read";
  return {std::move(remark), place};
}

void add_file(const ConfFile& file, Effective& effective, std::vector<PlacedRemark>& remarks) {
  for (Setting& setting : read_conf_settings(file.text)) {
    const std::string place = fmt::format("{}:{}", file.path, setting.line);
    const bool counts = effective.names.insert(setting.name).second;
    if (concerns_nccl(setting.name)) remarks.push_back(conf_remark(setting, place, counts));
    if (!counts) continue;
    effective.settings.push_back(std::move(setting));
    effective.places.push_back(place);
  }
}

std::string text_of(const fs::path& path) {
  constexpr std::streamsize kMost = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), kMost);
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

void add_conf(const fs::path& path, std::vector<ConfFile>& files) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) files.push_back({path.string(), text_of(path)});
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

CheckedSource check_environment(const std::vector<std::string>& variables,
                                const std::vector<ConfFile>& files, LintContext context) {
  CheckedSource source;
  source.path = "this shell";
  source.format = "environment";
  Effective effective;
  add_variables(variables, effective);
  for (const ConfFile& file : files) add_file(file, effective, source.remarks);
  context.complete = true;
  for (Remark& remark : lint(effective.settings, context)) {
    const std::string& place = effective.places[remark.setting];
    source.remarks.push_back({std::move(remark), place});
  }
  std::copy_if(effective.settings.begin(), effective.settings.end(),
               std::back_inserter(source.settings),
               [](const Setting& setting) { return concerns_nccl(setting.name); });
  return source;
}

std::vector<std::string> own_variables() {
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    variables.emplace_back(*each);
  }
  return variables;
}

std::vector<ConfFile> own_conf_files() {
  std::vector<ConfFile> files;
  const char* named = std::getenv("NCCL_CONF_FILE");
  const char* home = std::getenv("HOME");
  if (named != nullptr && *named != '\0') {
    add_conf(named, files);
  } else if (home != nullptr && *home != '\0') {
    add_conf(fs::path(home) / ".nccl.conf", files);
  }
  add_conf("/etc/nccl.conf", files);
  return files;
}

HostDevices devices_of_this_machine() {
  HostDevices devices;
  devices.host = "this machine";
  devices.interfaces = names_in("/sys/class/net");
  devices.hcas = names_in("/sys/class/infiniband");
  return devices;
}

}  // namespace ncclog
