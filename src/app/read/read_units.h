// The units of inputs, read in parallel and handed on in order: what reading a job and scanning a
// part of it share.
//
//   units:    a.log  b.log.gz  c.log           workers 1 and 2
//   worker 1  a.log            c.log  b's stretches 5, 7, …
//   worker 2         b.log.gz: stretches 0, 1, 2, 3, 4, 6, …
//   → the shards of a.log, b.log.gz, c.log, one after the other

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/shard/read_log.h"
#include "model/shard/shard.h"

namespace ncclog {

class ReadingProgress;

struct ReadSettings {
  int threads = 0;                                ///< Workers; 0: one per processor.
  uint64_t unit_bytes = CutOptions{}.unit_bytes;  ///< Larger plain files are cut; at least 1.
  LineMatcher matcher;                  ///< Called from several threads at once; may be empty.
  MarkerFinder finder;                  ///< What lines announce steps.
  ReadingProgress* progress = nullptr;  ///< Told how far the reading is; nullptr: nobody.
  // Set by who reads, nothing to be set by who asks for it:
  const SharedFilter* filter = nullptr;  ///< Made of matcher and finder.
  /// Takes an input that is a part of a scan, from several threads at once.
  std::function<Shard(UnitReader& input)> read_part;
};

/// A unit, numbered as its lines shall be, and the path of its input.
struct UnitToRead {
  Unit unit;
  std::string path;
};

/// Takes what the unit of that place in the row says, and what was met in it.
using TakeUnit =
    std::function<void(uint32_t place, Shard&& shard, std::vector<WalkedInput>&& walked)>;

/// Reads every unit; `take` is called in their order, by one thread at a time. `inputs` are their
/// paths, for the progress. Rethrows what a worker threw. Memory is bounded by what the units'
/// processes and communicators need, and by what `take` keeps.
void read_units(std::span<const UnitToRead> units, std::span<const std::string> inputs,
                const ReadSettings& settings, const TakeUnit& take);

}  // namespace ncclog
