// Which day is it? The only clock of the program; overlays end by it.

#pragma once

#include "rules/overlay.h"

namespace ncclog {

/// Today, UTC. SOURCE_DATE_EPOCH, where it is a number of seconds after 1970, goes before the
/// system's clock, so that a run can be repeated to the byte.
Date today();

}  // namespace ncclog
