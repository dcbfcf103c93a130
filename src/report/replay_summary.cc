#include "report/replay_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

/// "a; b (and 3 more)".
std::string first_of(const std::vector<std::string>& items, size_t most) {
  const size_t shown = std::min(items.size(), most);
  std::string out = join(std::span(items).first(shown), "; ");
  if (shown < items.size()) out += fmt::format(" (and {} more)", items.size() - shown);
  return out;
}

std::string outcome_of(const ReplaySummary& replay) {
  const std::string sure =
      replay.confidence.empty() ? std::string() : fmt::format(" ({})", replay.confidence);
  return fmt::format("{}{}: {}", replay.kind, sure, replay.headline);
}

}  // namespace

std::vector<std::string> replay_paragraphs(const ReplaySummary& replay) {
  constexpr size_t kMostChanges = 1;
  if (!replay.unfit.empty()) {
    return {
        fmt::format("{} is not of these logs and is not counted: {}.", replay.file, replay.unfit)};
  }
  std::vector<std::string> out = {outcome_of(replay)};
  std::string where =
      replay.machine.empty() ? replay.file : fmt::format("{}: {}", replay.file, replay.machine);
  if (!replay.changed.empty()) {
    where += "; not as recorded: " + first_of(replay.changed, kMostChanges);
  }
  out.push_back(where + (where.ends_with('.') ? "" : "."));
  if (!replay.must_not_conclude.empty()) {
    out.push_back("Do not conclude: " + replay.must_not_conclude.front());
  }
  return out;
}

}  // namespace ncclog
