#include "support/describe_ras.h"

#include <fmt/format.h>

namespace ncclog::testing {

std::string describe_ras(const RasReport& report) {
  std::string text =
      fmt::format("version={} cuda={}/{} time={} timeouts={}\n", report.nccl_version,
                  report.cuda_runtime, report.cuda_driver, report.timestamp, report.timeouts);
  for (const RasCommunicators& group : report.communicators) {
    text += fmt::format("communicators {} x{} nodes={} per_node={} nranks={} missing={} {} {}{}\n",
                        group.hash, group.count, group.nodes, group.ranks_per_node, group.nranks,
                        group.missing_ranks, group.status, group.errors,
                        group.operations < 0 ? "" : fmt::format(" launched={}", group.operations));
  }
  if (report.nranks >= 0) {
    text += fmt::format("world of {} ranks on {} nodes:", report.nranks, report.nodes);
    for (const RasMember& member : report.world) text += fmt::format(" {}", member.rank);
    text += '\n';
  }
  for (const RasStatement& statement : report.statements) {
    text += fmt::format("{} {} {}: '{}' x{}\n", statement.communicator, statement.problem,
                        statement.what, statement.value, statement.count);
    for (const RasMember& member : statement.members) {
      text += fmt::format("  rank {} pid {} on {} gpu {}\n", member.rank, member.pid, member.node,
                          member.gpu);
    }
  }
  return text;
}

}  // namespace ncclog::testing
