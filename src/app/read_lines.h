// The loop that takes every line of every log, whoever cuts them.

#pragma once

#include "app/read_job.h"
#include "input/input_walk.h"
#include "model/read_log.h"

namespace ncclog {

/// What `lines`, a UnitReader or a Stretch of the input `name`, say.
Shard read_lines(auto& lines, const WalkedInput& name, const ReadSettings& settings) {
  LogReader reader(name.number, name.input_number, settings.matcher, settings.finder,
                   settings.filter);
  for (Line line;;) {
    const TakenLines taken = reader.take_known(lines.ahead(), lines.next_number());
    if (taken.lines > 0) lines.skip(taken.bytes, taken.lines, taken.is_ascii);
    // What was taken is where it lay; the next line may lie in its place.
    if (lines.will_refill()) reader.settle();
    if (!lines.next(line)) return reader.finish();
    reader.add(line);
  }
}

}  // namespace ncclog
