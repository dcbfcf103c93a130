// What becomes of logs on their way to who reads them: lines are lost, doubled, cut, wrapped, packed
// by collectors, and stand among those of another job.
//
//   files of a case, "a line is lost", seed 7   → the same files without one line, and that line
//
// Every damage is a function of the seed. It says which whole lines it took away, cut or printed
// twice, so that a report on what is left can be held against the report on the whole.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/renamed_run.h"
#include "support/synthetic/seeded.h"

namespace ncclog::testing {

struct DamagedRun {
  RunFiles files;
  /// Lines of the whole run that are lost, cut, moved or came twice. `all_touched`: all lines may
  /// have changed what they say.
  std::vector<std::string> touched;
  bool all_touched = false;
  /// Hosts that only the damage names.
  std::vector<std::string> added_hosts;
};

struct Damage {
  std::string_view name;
  void (*apply)(DamagedRun& run, Seeded& seeded);
};

/// 25 of them.
std::span<const Damage> all_damages();

/// The run after damage `seed` % 25. `other` stands for another job of the same cluster.
DamagedRun damaged(const RunFiles& files, const RunFiles& other, uint64_t seed);

/// UTF-16 with a byte order mark, or without. Bytes that are not UTF-8 become U+FFFD.
std::string utf16_of(std::string_view text, bool is_big_endian, bool has_mark = true);

}  // namespace ncclog::testing
