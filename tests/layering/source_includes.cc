#include "layering/source_includes.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "support/paths.h"

namespace ncclog::testing {
namespace {

using Names = std::vector<std::string_view>;

struct Layer {
  std::string_view name;
  Names layers;     ///< Layers besides itself that it may include; "log/*": log and all its rooms.
  Names libraries;  ///< Outside libraries that it may include, by the start of the include.
};

const std::vector<Layer>& layer_table() {
  static const std::vector<Layer> kTable = {
      {"base", {}, {"fmt/", "utf8proc"}},
      {"input", {"base"}, {"fmt/", "boost/", "isa-l", "zstd", "archive"}},
      {"log/line", {"base"}, {}},
      {"log/wording", {"log/line", "base"}, {"re2/"}},
      {"log", {"log/*", "base"}, {"fmt/", "re2/", "hs.h"}},
      // Who reads a job never sees a shard.
      {"model", {"log/*", "base"}, {"fmt/", "boost/"}},
      {"model/ledger", {"model", "log/*", "base"}, {"fmt/"}},
      {"model/shard", {"model", "log/*", "base"}, {"fmt/"}},
      {"model/derive",
       {"model/ledger", "model/shard", "model", "log/*", "base"},
       {"fmt/", "boost/"}},
      {"part", {"model/shard", "model", "log/*", "input", "base"}, {"fmt/", "nlohmann/", "boost/"}},
      {"host", {"model", "log/*", "base"}, {"fmt/"}},
      {"import", {"model", "log/*", "base"}, {"fmt/", "nlohmann/", "expat", "yaml-cpp/"}},
      {"diagnose/facts", {"model/derive", "model/ledger", "model", "log/*", "base"}, {"fmt/"}},
      {"diagnose/outcome",
       {"diagnose/facts", "model/derive", "model/ledger", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/network",
       {"diagnose/outcome", "diagnose/facts", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/settings",
       {"diagnose/network", "diagnose/facts", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/hardware",
       {"diagnose/network", "diagnose/outcome", "diagnose/facts", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/hosts",
       {"diagnose/settings", "diagnose/network", "diagnose/outcome", "diagnose/facts", "model",
        "log/*", "base"},
       {"fmt/"}},
      {"diagnose/calls",
       {"diagnose/network", "diagnose/outcome", "diagnose/facts", "model/ledger", "model", "log/*",
        "base"},
       {"fmt/", "boost/"}},
      {"diagnose/perf/measured", {"diagnose/facts", "model", "log/*", "base"}, {"fmt/"}},
      {"diagnose/perf/machine",
       {"diagnose/perf/measured", "diagnose/hardware", "diagnose/settings", "diagnose/network",
        "diagnose/facts", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/perf/verdict",
       {"diagnose/perf/machine", "diagnose/perf/measured", "diagnose/settings", "diagnose/facts",
        "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/perf/late",
       {"diagnose/facts", "model/ledger", "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/perf/node_sets",
       {"diagnose/perf/verdict", "diagnose/perf/measured", "diagnose/settings", "diagnose/facts",
        "model", "log/*", "base"},
       {"fmt/"}},
      {"diagnose/iterations", {"diagnose/facts", "model", "log/*", "base"}, {"fmt/"}},
      {"diagnose/compare",
       {"diagnose/perf/*", "diagnose/iterations", "diagnose/hosts", "diagnose/settings",
        "diagnose/network", "diagnose/outcome", "diagnose/facts", "model", "log/*", "base"},
       {"fmt/", "boost/"}},
      {"rules",
       {"diagnose/*", "model/derive", "model", "log/*", "base"},
       {"fmt/", "yaml-cpp/", "re2/"}},
      {"report",
       {"rules", "diagnose/*", "model", "base"},
       {"fmt/", "nlohmann/", "sqlite3", "archive", "re2/", "utf8proc"}},
      {"replay/plan",
       {"diagnose/*", "model/ledger", "model", "log/*", "base"},
       {"fmt/", "nlohmann/"}},
      {"replay/judge",
       {"replay/plan", "diagnose/*", "model", "log/*", "base"},
       {"fmt/", "nlohmann/"}},
      {"replay/run",
       {"replay/plan", "replay/judge", "log/*", "base"},
       {"fmt/", "nlohmann/", "CLI/", "cuda", "nccl"}},
      {"app",
       {"replay/plan", "replay/judge", "report", "rules", "diagnose/*", "import", "host", "part",
        "model/derive", "model/ledger", "model/shard", "model", "log/*", "input", "base"},
       {"fmt/", "CLI/", "nlohmann/", "toml++/"}},
  };
  return kTable;
}

/// Outside libraries that are known to the table; anything else in <> is the standard library's or
/// the operating system's.
constexpr std::string_view kLibraries[] = {
    "fmt/",    "boost/",    "isa-l",  "zstd",       "archive",   "re2/",
    "hs.h",    "nlohmann/", "expat",  "CLI/",       "yaml-cpp/", "sqlite3",
    "toml++/", "utf8proc",  "gtest/", "benchmark/", "cuda",      "nccl"};

const Layer* find_layer(std::string_view name) {
  const auto& table = layer_table();
  auto found = std::find_if(table.begin(), table.end(),
                            [&](const Layer& layer) { return layer.name == name; });
  return found == table.end() ? nullptr : &*found;
}

/// The innermost room that the table has of a path ("diagnose/perf/late", "model/shard"), else its
/// first folder ("model"); empty: in no folder.
std::string_view layer_name(std::string_view path) {
  if (path == "main.cc" || path == "huge_pages.cc") return "app";  // The executable.
  for (size_t end = path.rfind('/'); end != path.npos && end > 0; end = path.rfind('/', end - 1)) {
    if (find_layer(path.substr(0, end)) != nullptr) return path.substr(0, end);
  }
  return path.substr(0, path.find('/') == path.npos ? 0 : path.find('/'));
}

/// The file in `#include "x"` or `#include <x>`, quotes included; nullopt for other lines.
std::optional<std::string_view> included_file(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trim(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = trim(line.substr(7));
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
  return line.substr(0, end);
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_allowed(const Layer& layer, std::string_view include) {
  std::string_view file = include.substr(1);
  if (starts_with_any(file, kLibraries)) return starts_with_any(file, layer.libraries);
  if (include[0] == '<') return true;
  const std::string_view other = layer_name(file);
  if (other == layer.name || contains(layer.layers, other)) return true;
  for (size_t end = other.find('/');; end = other.find('/', end + 1)) {
    if (contains(layer.layers, std::string(other.substr(0, end)) + "/*")) return true;
    if (end == other.npos) return false;
  }
}

using Path = std::filesystem::path;

/// Sorted, so that complaints come in the same order on every file system.
std::vector<Path> files_under(const Path& root, std::span<const std::string_view> extensions) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (contains(Names(extensions.begin(), extensions.end()), entry.path().extension().native())) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Path nearest_build_list(Path folder) {
  while (!exists(folder / "CMakeLists.txt") && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder / "CMakeLists.txt";
}

/// Whether `list` has `name` as a word: "event.cc" is not named by "log/event.cc".
bool names_source(const std::string& list, const std::string& name) {
  constexpr std::string_view kBefore = " \n(";
  constexpr std::string_view kAfter = " \n)";
  for (size_t at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
    size_t end = at + name.size();
    bool starts = at == 0 || kBefore.find(list[at - 1]) != kBefore.npos;
    if (starts && (end == list.size() || kAfter.find(list[end]) != kAfter.npos)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> forbidden_includes_of(std::string_view path, std::string_view text) {
  const Layer* layer = find_layer(layer_name(path));
  if (layer == nullptr) return {std::string(path) + ":1: no layer of this name"};
  std::vector<std::string> found;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    auto include = included_file(line);
    if (!include || is_allowed(*layer, *include)) continue;
    found.push_back(std::string(path) + ":" + std::to_string(number) + ": " +
                    std::string(layer->name) + " may not include " +
                    std::string(include->substr(1)));
  }
  return found;
}

std::vector<std::string> forbidden_includes(const std::filesystem::path& source_root) {
  std::vector<std::string> found;
  constexpr std::string_view kExtensions[] = {".h", ".cc", ".cu"};
  for (const auto& file : files_under(source_root, kExtensions)) {
    std::string path = file.lexically_relative(source_root).generic_string();
    for (std::string& row : forbidden_includes_of(path, read_file(file))) {
      found.push_back(std::move(row));
    }
  }
  return found;
}

std::vector<std::string> unlisted_sources(const std::filesystem::path& root) {
  std::vector<std::string> found;
  constexpr std::string_view kExtensions[] = {".cc", ".cu"};
  for (const Path& file : files_under(root, kExtensions)) {
    Path list = nearest_build_list(file.parent_path());
    std::string name = file.lexically_relative(list.parent_path()).generic_string();
    if (!names_source(read_file(list), name)) {
      found.push_back(file.lexically_relative(root).generic_string());
    }
  }
  return found;
}

std::vector<std::string> unmirrored_tests(const std::filesystem::path& root) {
  std::vector<std::string> found;
  constexpr std::string_view kExtensions[] = {".cc"};
  constexpr std::string_view kEnding = "_test.cc";
  const Path unit = root / "tests/unit";
  for (const Path& file : files_under(unit, kExtensions)) {
    const std::string test = file.lexically_relative(unit).generic_string();
    if (!test.ends_with(kEnding)) continue;
    const std::string name = test.substr(0, test.size() - kEnding.size());
    const bool has_source = exists(root / "src" / (name + ".h")) ||
                            exists(root / "src" / (name + ".cc")) ||
                            exists(root / "tests" / (name + ".h"));
    if (!has_source && !read_file(file).starts_with("// Law: ")) found.push_back(test);
  }
  return found;
}

}  // namespace ncclog::testing
