// Settings that NCCL gets on this host, and the libraries that it would load.
//
//   NCCL_NET_PLUGIN=aws-ofi      → libnccl-net-aws-ofi.so, in LD_LIBRARY_PATH or a folder of ld.so
//   libnccl-net-aws-ofi.so needs libfabric.so.1, which is in none of them   → missing
//
// Nothing is loaded: a library's constructors would run. What it needs stands in its file.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

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

/// What stands behind `key` at the front of a line; empty: there is no such line.
std::string_view value_in(const HostAnswer& answer, std::string_view key) {
  for (const std::string_view line : lines_of(answer)) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

/// Folders that a library names itself; `word` is "rpath" or "runpath".
std::vector<std::string> own_folders(const HostAnswer& library, const std::string& origin,
                                     std::string_view word) {
  std::vector<std::string> folders;
  for (const std::string_view line : lines_of(library)) {
    if (!line.starts_with(word)) continue;
    for (const std::string_view part : split(line.substr(word.size()), ':')) {
      std::string folder(part);
      for (const std::string_view start : {"${ORIGIN}", "$ORIGIN"}) {
        const size_t at = folder.find(start);
        if (at != folder.npos) folder.replace(at, start.size(), origin);
      }
      add_folders(folder, folders);
    }
  }
  return folders;
}

/// Adds to `missing` what the file needs and nobody has, directly or not.
void follow_needs(HostTree& tree, const FoundFile& file, const std::vector<std::string>& folders,
                  std::set<std::string>& seen, std::vector<std::string>& missing) {
  constexpr size_t kMostLibraries = 200;
  std::vector<std::string> own;
  const std::string origin = file.path.substr(0, file.path.rfind('/'));
  for (const std::string_view word : {"rpath ", "runpath "}) {
    for (std::string& folder : own_folders(*file.answer, origin, word)) {
      own.push_back(std::move(folder));
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

// Which copies of NCCL are there, and which of them does a process get?
//
//   /usr/lib/x86_64-linux-gnu/libnccl.so.2                      2.28.9+cuda13.0, build-id 8f3c…
//   …/site-packages/nvidia/nccl/lib/libnccl.so.2                2.27.3+cuda12.9, build-id 01ab…
//   …/site-packages/torch/lib/libtorch_cuda.so, rpath $ORIGIN/../../nvidia/nccl/lib → the second one

constexpr const char* kNccl = "libnccl.so.2";

/// What a package's list says of the size of its libnccl.so.2; empty: nothing.
///
///   nvidia/nccl/lib/libnccl.so.2,sha256=…,217995896
std::string_view size_in_record(const HostAnswer& record) {
  for (const std::string_view line : lines_of(record)) {
    if (line.find("/libnccl.so.2,") != line.npos) return trim(line.substr(line.rfind(',') + 1));
  }
  return {};
}

/// Packages of pip that claim the file, with which of them it is: "of nvidia_nccl_cu13-2.28.9".
std::string owners_of(HostTree& tree, const std::string& packages, std::string_view bytes) {
  constexpr std::string_view kEnding = ".dist-info";
  std::vector<std::string> owners;
  std::vector<std::string> others;
  const HostAnswer names = tree.ask("list", packages + "/nvidia_nccl_*");
  for (const std::string_view name : lines_of(names)) {
    if (!name.ends_with(kEnding)) continue;
    const HostAnswer& record = tree.ask("file", fmt::format("{}/{}/RECORD", packages, name));
    const std::string_view size = size_in_record(record);
    const bool is_other = !size.empty() && size != bytes;
    (is_other ? others : owners).emplace_back(name.substr(0, name.size() - kEnding.size()));
  }
  std::string text = owners.empty() ? "" : "of " + join(owners, " or ");
  if (others.empty()) return text;
  return text + (text.empty() ? "of none of the packages that claim it: " : ", written over ") +
         join(others, ", ");
}

void add_nccl(HostTree& tree, const std::string& path, const std::string& packages,
              HostReport& report) {
  const bool is_known =
      std::ranges::find(report.nccls, path, &HostLibrary::path) != report.nccls.end();
  const HostAnswer& own = tree.ask("nccl", path);
  // Older records hold what it needs only.
  if (is_known || (!own.is_here() && !tree.ask("elf", path).is_here())) return;
  std::vector<std::string> words;
  std::string version(value_in(own, "version "));
  // "libnccl.so.2" points to "libnccl.so.2.27.3".
  const std::string target = tree.ask("link", path).text;
  const size_t at = target.rfind("libnccl.so.");
  if (version.empty() && at != target.npos) version = target.substr(at + 11);
  words.push_back(version.empty() || version == "2" ? "version unknown" : version);
  const std::string_view id = value_in(own, "build-id ");
  words.push_back(id.empty() ? "no build-id" : "build-id " + std::string(id));
  const std::string owners =
      packages.empty() ? "" : owners_of(tree, packages, value_in(own, "bytes "));
  if (!owners.empty()) words.push_back(owners);
  report.nccls.push_back({.name = kNccl, .path = path, .version = join(words, ", ")});
}

/// The first copy in these folders; empty: none.
std::string first_nccl(HostTree& tree, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + kNccl;
    if (tree.ask("nccl", path).is_here()) return path;
  }
  return {};
}

void mark(const std::string& path, const std::string& who, HostReport& report) {
  // PyTorch looks into "site-packages/torch/lib/../../nvidia/nccl/lib".
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  for (HostLibrary& copy : report.nccls) {
    if (copy.path == path || copy.path == plain) copy.version += ", " + who;
  }
}

/// Python's packages of NVIDIA lie beside each other, and PyTorch beside them: nvidia/nccl/lib and
/// nvidia_nccl_cu12-2.27.3.dist-info. `before` is what goes before all others, `folders` where the
/// loader looks, with LD_LIBRARY_PATH as the first `of_variable`.
void add_python_nccl(HostTree& tree, const std::string& packages, const std::string& before,
                     const std::vector<std::string>& folders, size_t of_variable,
                     HostReport& report) {
  add_nccl(tree, packages + "/nvidia/nccl/lib/" + kNccl, packages, report);
  const std::string torch = packages + "/torch/lib";
  add_nccl(tree, torch + "/" + kNccl, {}, report);
  const HostAnswer library = tree.ask("elf", torch + "/libtorch_cuda.so");
  const std::vector<std::string_view> needs = lines_of(library);
  if (std::ranges::find(needs, "needed libnccl.so.2") == needs.end()) return;
  const std::vector<std::string> runpath = own_folders(library, torch, "runpath ");
  // The older of the two goes before LD_LIBRARY_PATH, and counts only without the newer.
  const std::vector<std::string> rpath =
      runpath.empty() ? own_folders(library, torch, "rpath ") : std::vector<std::string>();
  const auto variable = std::span(folders).first(of_variable);
  std::vector<std::string> order = rpath;
  order.insert(order.end(), variable.begin(), variable.end());
  order.insert(order.end(), runpath.begin(), runpath.end());
  order.insert(order.end(), folders.begin() + static_cast<std::ptrdiff_t>(of_variable),
               folders.end());
  const std::string taken = before.empty() ? first_nccl(tree, order) : before;
  mark(taken, "which PyTorch in " + packages + " loads", report);
}

void read_nccls(HostTree& tree, const std::vector<std::string>& folders, HostReport& report) {
  const std::string preloaded = value_of(report, "LD_PRELOAD");
  std::string before;
  for (const std::string_view path : split(preloaded, ':')) {
    if (path.find("libnccl.so") == path.npos) continue;
    add_nccl(tree, std::string(path), {}, report);
    if (before.empty() && tree.ask("nccl", std::string(path)).is_here()) before = path;
  }
  for (const std::string& folder : folders) {
    // /lib is a link to /usr/lib on most systems: the same file is no second copy.
    const bool is_same = (folder.starts_with("/lib/") || folder == "/lib64" || folder == "/lib") &&
                         tree.ask("link", folder.substr(0, folder.find('/', 1))).is_here();
    if (!is_same) add_nccl(tree, folder + "/" + kNccl, {}, report);
  }
  mark(before.empty() ? first_nccl(tree, folders) : before,
       "which a program gets that asks for it by name", report);
  std::vector<std::string> roots = {"/usr/local/lib", "/usr/lib", "~/.local/lib", "/opt/conda/lib"};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string value = value_of(report, name);
    if (value.starts_with('/')) roots.insert(roots.begin(), value + "/lib");
  }
  std::vector<std::string> variable;
  add_folders(value_of(report, "LD_LIBRARY_PATH"), variable);
  for (const std::string& root : roots) {
    add_nccl(tree, root + "/" + kNccl, {}, report);
    const HostAnswer pythons = tree.ask("list", root + "/python3*");
    for (const std::string_view python : lines_of(pythons)) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        add_python_nccl(tree, fmt::format("{}/{}/{}", root, python, packages), before, folders,
                        variable.size(), report);
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
