#include "support/paths.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ncclog::testing {

std::filesystem::path source_dir() { return NCCLOG_SOURCE_DIR; }
std::filesystem::path build_dir() { return NCCLOG_BUILD_DIR; }
std::filesystem::path ncclog_binary() { return build_dir() / "ncclog"; }
std::filesystem::path cmake_command() { return NCCLOG_CMAKE; }
bool is_sanitized() {
#if defined(NCCLOG_SANITIZED)
  return true;
#else
  return false;
#endif
}
uint64_t affordable(uint64_t seeds) { return is_sanitized() ? (seeds + 3) / 4 : seeds; }
std::filesystem::path sample_logs(const std::filesystem::path& name) {
  return source_dir() / "sample_logs" / name / "logs";
}
std::vector<std::string> sample_log_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "sample_logs")) {
    if (exists(entry.path() / "logs")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return std::move(text).str();
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace ncclog::testing
