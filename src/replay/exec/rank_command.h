// How is a process of a run started?
//
//   ncclog-replay rank --plan plan.json --mode defect --rank 0 --device 0
//   ncclog-replay rank --plan plan.json --mode clean --rank 1 --device 1 --time 20
//
// The run starts its processes by this command line, and by the two variables of
// worker_protocol.h, which say where it listens.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// A bit that is flipped in what a call received, before it is compared: shows that the comparison
/// sees and locates it.
struct PlantedCorruption {
  int rank = -1;      ///< Of the plan.
  uint64_t call = 0;  ///< Into calls_in() of the rank.
  int64_t element = 0;

  bool operator==(const PlantedCorruption&) const = default;
};

/// "1:28:4096"; nullopt: not three numbers.
std::optional<PlantedCorruption> parse_corruption(std::string_view text);
std::string to_string(const PlantedCorruption& corruption);

/// What the process of a rank is told on its command line.
struct RankCommand {
  std::string plan;                          ///< Path of its file.
  MadeIn mode = MadeIn::Clean;               ///< Clean or Defect.
  int rank = -1;                             ///< Of the plan.
  int gpu = -1;                              ///< CUDA's index.
  std::string nccl;                          ///< Library to load; empty: as load_nccl() searches.
  int timed_runs = 0;                        ///< 0: nothing is timed.
  std::optional<PlantedCorruption> corrupt;  ///< Ignored by the other ranks.

  bool operator==(const RankCommand&) const = default;
};

/// What stands behind the program's name.
std::vector<std::string> arguments_of(const RankCommand& command);

/// "clean" or "defect", of Clean and Defect.
std::string_view mode_word(MadeIn mode);
std::optional<MadeIn> parse_mode(std::string_view word);

}  // namespace ncclog
