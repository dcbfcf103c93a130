// Which rules does the executable bring along? Those under rules/ in the source tree.
//
// The definition is generated at build time, so a new rule file is in the next build.

#pragma once

#include <span>

#include "base/embedded_file.h"

namespace ncclog {

/// The rule files as they stood at build time, sorted by path: "shm/shm-no-space.yaml", …
std::span<const EmbeddedFile> embedded_rules();

}  // namespace ncclog
