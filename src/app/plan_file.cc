#include "app/plan_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "input/raw_file.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : printable(path);
}

}  // namespace

std::string read_replay_file(const std::string& path) {
  constexpr size_t kStep = 65536;
  if (std::filesystem::is_directory(path)) throw Error("a folder, not a file", name_of(path));
  RawFile file(path);
  std::string text;
  while (text.size() <= kMaxReplayText) {
    const size_t had = text.size();
    text.resize(had + kStep);
    text.resize(had + file.read(text.data() + had, kStep));
    if (text.size() == had) break;
  }
  if (!file.error().empty()) throw Error(file.error(), name_of(path));
  return text;
}

PlanFile load_plan(const std::string& path) {
  const std::string text = read_replay_file(path);
  return {path, plan_hash(text), parse_plan(text, name_of(path))};
}

}  // namespace ncclog
