// Rule files on disk and in the executable.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "rules/load_rules.h"

namespace ncclog {
namespace {

bool is_rule_file(const std::filesystem::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

}  // namespace

std::vector<std::string> find_rule_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  if (!fs::is_directory(path, error)) throw Error("no such file or folder of rules", path);
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file() && is_rule_file(entry.path())) files.push_back(entry.path());
  }
  if (files.empty()) throw Error("no rule file (*.yaml) in this folder", path);
  std::sort(files.begin(), files.end());
  return files;
}

RuleFile read_rule_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error("cannot be read", path);
  const std::string yaml{std::istreambuf_iterator<char>(stream), {}};
  return {path, read_yaml(yaml, path), false};
}

}  // namespace ncclog
