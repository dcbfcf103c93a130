// Settings that NCCL gets on this host, and the libraries that it would load.
//
//   NCCL_NET_PLUGIN=aws-ofi      → libnccl-net-aws-ofi.so, in LD_LIBRARY_PATH or a folder of ld.so
//   libnccl-net-aws-ofi.so needs libfabric.so.1, which is in none of them   → missing
//
// Nothing is loaded: a library's constructors would run. What it needs stands in its file.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "host/read_host.h"
#include "log/settings.h"

namespace ncclog {
namespace {

/// The environment, then NCCL's configuration files in the order in which it reads them
/// (misc/param.cc). What is set first stays.
void read_settings(HostTree& tree, HostReport& report) {
  const auto is_new = [&](std::string_view name) {
    return std::ranges::find(report.settings, name, &HostSetting::name) == report.settings.end();
  };
  std::string named;
  for (const std::string_view line : lines_of(tree.ask("environment"))) {
    const size_t equals = std::min(line.find('='), line.size() - 1);
    const std::string name(line.substr(0, equals));
    const std::string value(line.substr(equals + 1));
    if (name == "NCCL_CONF_FILE") named = value;
    if (is_new(name)) report.settings.push_back({name, value, {}});
  }
  const std::string own = named.empty() ? "~/.nccl.conf" : named;
  for (const std::string& file : {own, std::string("/etc/nccl.conf")}) {
    for (const Setting& setting : read_conf_settings(tree.ask("file", file).text)) {
      if (is_new(setting.name)) report.settings.push_back({setting.name, setting.value, file});
    }
  }
}

std::string value_of(const HostReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.settings, name, &HostSetting::name);
  return found == report.settings.end() ? std::string() : found->value;
}

// Where does the loader look?

void add_folders(std::string_view list, std::vector<std::string>& folders) {
  for (const std::string_view folder : split(list, ':')) {
    const bool is_new = std::ranges::find(folders, folder) == folders.end();
    if (folder.starts_with('/') && is_new) folders.emplace_back(folder);
  }
}

/// Folders of ld.so.conf and of the files that it includes.
void read_loader_file(HostTree& tree, const std::string& path, int depth,
                      std::vector<std::string>& folders) {
  constexpr int kMostIncludes = 3;
  for (std::string_view line : lines_of(tree.ask("file", path))) {
    line = trim(line.substr(0, line.find('#')));
    if (!line.starts_with("include ")) {
      add_folders(line, folders);
      continue;
    }
    // "include /etc/ld.so.conf.d/*.conf"
    std::string pattern(trim(line.substr(8)));
    if (!pattern.starts_with('/')) pattern = "/etc/" + pattern;
    const std::string folder = pattern.substr(0, pattern.rfind('/'));
    if (depth == kMostIncludes || !pattern.ends_with("*.conf")) continue;
    for (const std::string_view name : lines_of(tree.ask("list", folder))) {
      if (!name.ends_with(".conf")) continue;
      read_loader_file(tree, fmt::format("{}/{}", folder, name), depth + 1, folders);
    }
  }
}

std::vector<std::string> loader_folders(HostTree& tree, const HostReport& report) {
  std::vector<std::string> folders;
  add_folders(value_of(report, "LD_LIBRARY_PATH"), folders);
  read_loader_file(tree, "/etc/ld.so.conf", 0, folders);
  add_folders(
      "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
      "/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib",
      folders);
  return folders;
}

// Is a library there, and all that it needs?

/// The C library and the loader: a program that asks has them.
bool comes_with_system(std::string_view name) {
  constexpr std::string_view kStarts[] = {"libc.so.",  "libm.so.",      "libpthread.so.",
                                          "libdl.so.", "librt.so.",     "ld-linux",
                                          "libgcc_s.", "libstdc++.so.", "linux-vdso"};
  return starts_with_one_of(name, kStarts);
}

struct FoundFile {
  std::string path;  ///< Empty: nowhere.
  const HostAnswer* answer = nullptr;
  bool is_unread = false;  ///< Some place could not be read.
};

FoundFile find_file(HostTree& tree, const std::string& name,
                    const std::vector<std::string>& folders) {
  FoundFile found;
  const auto is_at = [&](const std::string& path) {
    const HostAnswer& answer = tree.ask("elf", path);
    found.is_unread |= answer.state == HostAnswer::State::Refused;
    if (answer.is_here()) found = {path, &answer};
    return answer.is_here();
  };
  if (name.starts_with('/')) {
    is_at(name);
    return found;
  }
  for (const std::string& folder : folders) {
    if (is_at(folder + "/" + name)) break;
  }
  return found;
}

/// Adds to `missing` what the file needs and nobody has, directly or not.
void follow_needs(HostTree& tree, const FoundFile& file, const std::vector<std::string>& folders,
                  std::set<std::string>& seen, std::vector<std::string>& missing) {
  constexpr size_t kMostLibraries = 200;
  std::vector<std::string> own;
  const std::string origin = file.path.substr(0, file.path.rfind('/'));
  for (const std::string_view line : lines_of(*file.answer)) {
    if (!line.starts_with("runpath ")) continue;
    for (const std::string_view part : split(line.substr(8), ':')) {
      std::string folder(part);
      for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
        const size_t at = folder.find(word);
        if (at != folder.npos) folder.replace(at, word.size(), origin);
      }
      add_folders(folder, own);
    }
  }
  own.insert(own.end(), folders.begin(), folders.end());
  for (const std::string_view line : lines_of(*file.answer)) {
    if (!line.starts_with("needed ")) continue;
    const std::string name(line.substr(7));
    if (comes_with_system(name) || seen.size() > kMostLibraries || !seen.insert(name).second) {
      continue;
    }
    const FoundFile needed = find_file(tree, name, own);
    if (!needed.path.empty()) {
      follow_needs(tree, needed, folders, seen, missing);
    } else if (!needed.is_unread) {
      missing.push_back(name);
    }
  }
}

/// Adds the first of several names that is found, else the first name, not found; nothing where it
/// may stand in a folder that could not be read.
void add_library(HostTree& tree, const std::vector<std::string>& names,
                 const std::vector<std::string>& folders, HostReport& report) {
  bool is_unread = false;
  HostLibrary library{.name = names.front()};
  for (const std::string& name : names) {
    const FoundFile file = find_file(tree, name, folders);
    is_unread |= file.is_unread;
    if (file.path.empty()) continue;
    library = {.name = name, .path = file.path};
    std::set<std::string> seen;
    follow_needs(tree, file, folders, seen, library.missing);
    break;
  }
  if (!library.path.empty() || !is_unread) report.libraries.push_back(std::move(library));
}

/// The files that NCCL tries for a setting such as NCCL_NET_PLUGIN (plugin/plugin_open.cc).
std::vector<std::string> plugin_names(const std::string& kind, const std::string& asked) {
  if (asked.empty()) return {fmt::format("libnccl-{}.so", kind)};
  if (asked.find('/') != asked.npos) return {asked};
  return {fmt::format("libnccl-{}-{}.so", kind, asked), asked};
}

void read_plugins(HostTree& tree, const std::vector<std::string>& folders, HostReport& report) {
  constexpr std::pair<const char*, const char*> kPlugins[] = {{"net", "NCCL_NET_PLUGIN"},
                                                              {"tuner", "NCCL_TUNER_PLUGIN"}};
  for (const auto& [kind, variable] : kPlugins) {
    const std::string asked = value_of(report, variable);
    if (asked == "none") continue;
    // From 2.27 on a list; the first that can be used is taken.
    for (const std::string_view one : split(asked, ',')) {
      add_library(tree, plugin_names(kind, std::string(trim(one))), folders, report);
    }
  }
  add_library(tree, {"libibverbs.so.1"}, folders, report);
}

// Which copies of NCCL are there?

void add_nccl(HostTree& tree, const std::string& path, std::string version, HostReport& report) {
  const bool is_known =
      std::ranges::find(report.nccls, path, &HostLibrary::path) != report.nccls.end();
  if (is_known || !tree.ask("elf", path).is_here()) return;
  // "libnccl.so.2" points to "libnccl.so.2.27.3".
  const std::string target = tree.ask("link", path).text;
  const size_t at = target.rfind("libnccl.so.");
  if (version.empty() && at != target.npos) version = target.substr(at + 11);
  report.nccls.push_back(
      {.name = "libnccl.so.2", .path = path, .version = version == "2" ? "" : version});
}

/// Python's packages of NVIDIA lie beside each other: nvidia/nccl/lib/libnccl.so.2 and
/// nvidia_nccl_cu12-2.27.3.dist-info.
void add_python_nccl(HostTree& tree, const std::string& packages, HostReport& report) {
  std::string version;
  for (const std::string_view name : lines_of(tree.ask("list", packages + "/nvidia_nccl_*"))) {
    const size_t dash = name.find('-');
    const size_t end = name.rfind(".dist-info");
    if (dash != name.npos && end != name.npos && dash < end) {
      version = name.substr(dash + 1, end - dash - 1);
    }
  }
  add_nccl(tree, packages + "/nvidia/nccl/lib/libnccl.so.2", version, report);
}

void read_nccls(HostTree& tree, const std::vector<std::string>& folders, HostReport& report) {
  const std::string preloaded = value_of(report, "LD_PRELOAD");
  for (const std::string_view path : split(preloaded, ':')) {
    if (path.find("libnccl.so") != path.npos) add_nccl(tree, std::string(path), {}, report);
  }
  for (const std::string& folder : folders) {
    // /lib is a link to /usr/lib on most systems: the same file is no second copy.
    const bool is_same = (folder.starts_with("/lib/") || folder == "/lib64" || folder == "/lib") &&
                         tree.ask("link", folder.substr(0, folder.find('/', 1))).is_here();
    if (!is_same) add_nccl(tree, folder + "/libnccl.so.2", {}, report);
  }
  std::vector<std::string> roots = {"/usr/local/lib", "/usr/lib", "~/.local/lib"};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string value = value_of(report, name);
    if (value.starts_with('/')) roots.insert(roots.begin(), value + "/lib");
  }
  for (const std::string& root : roots) {
    for (const std::string_view python : lines_of(tree.ask("list", root + "/python3*"))) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        add_python_nccl(tree, fmt::format("{}/{}/{}", root, python, packages), report);
      }
    }
  }
}

}  // namespace

void read_libraries(HostTree& tree, HostReport& report) {
  read_settings(tree, report);
  const std::vector<std::string> folders = loader_folders(tree, report);
  read_plugins(tree, folders, report);
  read_nccls(tree, folders, report);
  // Of the rest of the environment only what concerns NCCL is a setting.
  std::erase_if(report.settings,
                [](const HostSetting& setting) { return !concerns_nccl(setting.name); });
}

}  // namespace ncclog
