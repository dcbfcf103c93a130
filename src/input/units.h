// Into which stretches is a run's input cut, so that they can be read in parallel?
//
//   logs/a.txt   100 MiB  -> unit 0 [0, 33554519)  unit 1 [33554519, 67109001)  unit 2 ...
//   logs/b.gz             -> unit 3, whole
//
// All boundaries are found before anything is read, so neighbours cannot disagree: a line belongs
// to the unit in which it starts, and every boundary is the start of a line.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// A whole input, or a stretch of a large plain file.
struct Unit {
  uint32_t index = 0;  ///< Its place in the run, over all inputs: SourceRef::unit.
  uint32_t input = 0;  ///< Index of its input.
  uint64_t begin = 0;  ///< First byte.
  uint64_t end = 0;    ///< One past its last byte, if not `whole`; else unused and 0.
  bool whole = true;   ///< The input is this unit; it is read to its end, wherever that is.

  bool operator==(const Unit&) const = default;
};

struct CutOptions {
  /// Files larger than this are cut, into stretches of at least this many bytes; at least 1.
  uint64_t unit_bytes = uint64_t{32} << 20;

  /// Whether a unit may start with this line, given without its line end. Empty: any line will do.
  std::function<bool(std::string_view line)> may_start_unit = {};
};

/// The units of `inputs` (paths as find_inputs returns them), in input order, indexed from 0.
///
/// Only plain regular text files are cut; the last stretch of one ends where the file ended now.
/// Where no line may start a unit within 1 MiB, the stretch is made longer instead.
std::vector<Unit> cut_units(std::span<const std::string> inputs, const CutOptions& options);

}  // namespace ncclog
