// The tables that `ncclog show` offers: ranks, communicators, settings, topology, time line, …
// Adding one is writing its function and its row in table_kinds().

#pragma once

#include <span>
#include <string_view>

#include "model/job.h"
#include "report/tables/table.h"

namespace ncclog {

/// A kind of table.
struct TableKind {
  std::string_view name;  ///< What the user types.
  std::string_view help;  ///< One line.
  Table (*build)(const Job& job);
};

/// All kinds, in the order in which the help lists them; valid for the whole program.
std::span<const TableKind> table_kinds();

/// The kind of that name; nullptr if there is none.
const TableKind* find_table_kind(std::string_view name);

Table ranks_table(const Job& job);  ///< One row per rank: where it is and what it said last.
Table communicators_table(const Job& job);
Table fronts_table(
    const Job& job);  ///< The last call that all ranks of each entered, and who went on.
Table environment_table(const Job& job);
Table network_table(const Job& job);
Table unknown_table(const Job& job);  ///< One row per shape of NCCL lines that no wording fits.

Table channels_table(const Job& job);  ///< One row per connection: from, to, path, channels.
/// One row a connection and end that announces it; not a table of `show`.
Table connections_table(const Job& job);
Table topology_table(const Job& job);  ///< Devices of each host, graphs of each communicator.
Table timeline_table(const Job& job);  ///< Milestones of each process, in order.

/// One row per Flight Recorder dump and process group.
Table flight_recorder_table(const Job& job);
Table ras_table(const Job& job);  ///< One row per communicator and statement of the RAS service.
Table nccl_tests_table(const Job& job);  ///< One row per size that nccl-tests measured.

/// The number of collectives that most ranks of a communicator made; if no number is that of most,
/// the largest. Ranks without a line are left out. Messages do not count: they differ from stage to
/// stage of a pipeline.
uint64_t usual_collectives(const Job& job, const Communicator& comm);

}  // namespace ncclog
