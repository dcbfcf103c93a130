// Damaged copies of the logs that we have, judged: is what the report says still true?
//
//   5000 damaged copies of 165 logs
//   an error that the whole log does not have      0
//   another rank or host is accused                0
//   a problem becomes clean                        0
//
// What is held against a report on a damaged copy is the report on the whole log. Where the damage
// touched a line that this one quotes, or the same ranks are named, an error may be called by another
// name; but there may be none where the whole log has none, and nobody may be accused whom the whole
// report does not name.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/damage.h"

namespace ncclog::testing {

/// A log that is damaged.
struct DamageCase {
  std::string name;
  RunFiles files;
};

/// Those of sample_logs/, and of cases/, real/ and runs/ in ../shared, where that is there. Files of
/// more than a few megabytes are left out.
std::vector<DamageCase> damage_cases();

/// Kinds of wrong reports.
inline constexpr std::string_view kNewError = "an error that the whole log does not have";
inline constexpr std::string_view kOthersNamed = "another rank or host is accused";
inline constexpr std::string_view kBecomesClean = "a problem becomes clean";

/// What came of some seeds.
struct DamageTally {
  uint64_t copies = 0;
  uint64_t logs = 0;
  /// By kind, id and damage: the seeds, each with its case.
  std::map<std::string, std::vector<std::string>> wrong;

  /// Seeds about which something of that kind is wrong, for the damages whose name begins so.
  uint64_t count(std::string_view kind) const;
};

/// Judges the seeds from `first` on; `damage` >= 0: only those of that place in all_damages().
DamageTally judge_damaged(uint64_t first, uint64_t count, int threads, int damage = -1);

/// The files of one seed.
DamagedRun damaged_copy(const std::vector<DamageCase>& cases, uint64_t seed);

std::string summary(const DamageTally& tally);

}  // namespace ncclog::testing
