// The loop that takes every line of every log, whoever cuts them.

#pragma once

#include "app/read_job.h"
#include "input/input_walk.h"
#include "model/read_log.h"

namespace ncclog {

/// What `lines`, a UnitReader or a Stretch of the input `name`, say.
Shard read_lines(auto& lines, const WalkedInput& name, const ReadSettings& settings) {
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder);
  for (Line line; lines.next(line);) reader.add(line);
  return reader.finish();
}

}  // namespace ncclog
