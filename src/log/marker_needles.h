// What must stand in a line before a finder of markers (log/iteration_marker.h) may find one?
//
//   MarkerFinder()           "iteration ", ", skipped=", "%|", …
//   MarkerFinder("step")     nothing is certain

#pragma once

#include <string>
#include <vector>

#include "log/iteration_marker.h"

namespace ncclog {

/// Texts one of which stands in every line in which `finder` may find a marker, and perhaps others;
/// an empty one says that any line may hold a marker.
std::vector<std::string> marker_needles(const MarkerFinder& finder);

}  // namespace ncclog
