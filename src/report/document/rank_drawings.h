// What is drawn of each rank: how it stands, and what happened to it when.
//
//   node-a   [0 W] [1 W] [2 A] [3 W]      a cell for each rank, its reason with it
//   rank 2   ──▭▬▬▬▬▬▬────────●           a lane: initialisation, calls, a failure

#pragma once

#include <string>
#include <vector>

#include "model/timeline.h"
#include "report/document/document.h"
#include "rules/finding.h"

namespace ncclog {

/// Ranks by host, of all rows of ranks_table(). `main`: the verdict's finding; may be nullptr.
/// Nobody waits or is attributed without one.
RankGrid rank_grid(const Job& job, const Table& ranks, const Finding* main);

/// The milestones that carry times of the clock of most, in their order. Those without a year are of
/// the year that others print.
std::vector<Milestone> dated_milestones(const Job& job);

/// "2026-11-20 20:54:52 to 2026-11-20 21:03:11 (8 minutes)"; empty for none.
std::string time_words(const std::vector<Milestone>& dated);

/// A lane for each process from its first milestone to its last, or for each host where those are
/// many; and all milestones as a table. Without blocks if there are none.
Section time_section(const Job& job, const std::vector<Milestone>& dated, const Finding* main);

}  // namespace ncclog
