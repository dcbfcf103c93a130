// Parts of scans merged into what one reading of all their inputs gives.
//
//   n1.part   a.log c.log
//   n2.part   b.log c.log     c.log lies on a file system that both hosts see
//   → a.log, b.log, c.log, once each, by name; their shards merged in this order

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/input_walk.h"
#include "input/line_reader.h"
#include "model/shard/shard.h"
#include "part/part.h"

namespace ncclog {

/// An input of a part, as the merge names it.
struct MergedInput {
  std::string path;  ///< Where it was scanned.
  std::string host;  ///< There; empty: here.
  FileStamp stamp;
  uint64_t first_unit = 0;  ///< Into MergedParts::units.
};

struct MergedParts {
  Shard shard;
  std::vector<MergedInput> inputs;               ///< By path, then host.
  std::vector<Unit> units;                       ///< Indexed over all of them.
  std::vector<std::vector<WalkedInput>> walked;  ///< By unit.
  Replies answers;                               ///< Of all parts.
};

/// Merges parts, which are spent. The order in which they come, and how the inputs were grouped,
/// change nothing. An input that two parts hold is taken once; two files of one name on different
/// hosts are both taken, and named "host:path". An input whose shards are damaged counts as
/// unreadable.
MergedParts merge_parts(std::vector<LoadedPart>&& parts);

}  // namespace ncclog
