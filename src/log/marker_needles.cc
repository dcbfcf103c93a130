#include "log/marker_needles.h"

#include <algorithm>

namespace ncclog {

std::vector<std::string> marker_needles(const MarkerFinder& finder) {
  if (finder.wants_all_lines()) return {""};
  std::vector<std::string> needles;
  for (const IterationWording& wording : iteration_wordings()) {
    Marker found;
    if (!wording.by_name_only) needles.emplace_back(wording.needle);
    // Only a finder that was made for it finds its example.
    if (wording.by_name_only && finder.find(wording.example, found)) return {""};
  }
  std::sort(needles.begin(), needles.end());
  needles.erase(std::unique(needles.begin(), needles.end()), needles.end());
  return needles;
}

}  // namespace ncclog
