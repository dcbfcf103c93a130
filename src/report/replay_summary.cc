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

/// "reproduced-fault (likely)".
std::string kind_of(const ReplaySummary& replay) {
  return replay.confidence.empty() ? replay.kind
                                   : fmt::format("{} ({})", replay.kind, replay.confidence);
}

std::string unfit_sentence(const ReplaySummary& replay) {
  return fmt::format("{} is not of these logs and is not counted: {}.", replay.file, replay.unfit);
}

}  // namespace

std::string replay_sentence(const ReplaySummary& replay) {
  if (!replay.unfit.empty()) return unfit_sentence(replay);
  return fmt::format("A replay{} came out as {}.",
                     replay.machine.empty() ? "" : " on " + replay.machine, kind_of(replay));
}

std::vector<std::string> replay_paragraphs(const ReplaySummary& replay) {
  constexpr size_t kMostChanges = 1;
  if (!replay.unfit.empty()) return {unfit_sentence(replay)};
  std::vector<std::string> out = {fmt::format("{}: {}", kind_of(replay), replay.headline)};
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
