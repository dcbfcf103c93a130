#include "report/tables.h"

#include <algorithm>
#include <iterator>

namespace ncclog {
namespace {

constexpr TableKind kTables[] = {
    {"ranks", "each rank: where it runs, its state, its calls, the last line it printed",
     ranks_table},
    {"comms", "each communicator: size, ranks seen, their states, calls", communicators_table},
    {"fronts", "each communicator: the last call all ranks entered, who is ahead, who behind",
     fronts_table},
    {"env", "each setting NCCL reports, with the ranks that report it", environment_table},
    {"net", "network, plugin and interfaces, by host", network_table},
    {"channels", "each connection: from rank, to rank, path, channels", channels_table},
    {"topology", "devices of each host, rings and trees of each communicator", topology_table},
    {"timeline", "what happened in each process, in order", timeline_table},
    {"unknown", "NCCL lines that no wording fits, by shape, to report them", unknown_table},
    {"flight-recorder", "each rank's progress by process group, from PyTorch's dumps",
     flight_recorder_table},
    {"ras", "what NCCL's RAS service said about the running job", ras_table},
    {"nccl-tests", "each size that nccl-tests measured: times, bandwidths, wrong values",
     nccl_tests_table},
};

}  // namespace

std::span<const TableKind> table_kinds() { return kTables; }

const TableKind* find_table_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTables), std::end(kTables),
                                   [name](const TableKind& kind) { return kind.name == name; });
  return found == std::end(kTables) ? nullptr : found;
}

}  // namespace ncclog
