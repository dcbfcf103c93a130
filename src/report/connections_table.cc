// Each connection as the process at one of its ends announces it.
//
//   host   rank  direction  src_rank  dst_rank  peer_host  reach       transport  network  path
//   gpu-a     7  send              7         8  gpu-b      other_host  NET        IB       NET/IB/3
//
// Where `show channels` joins what both ends say, this keeps who said it, and in columns what the
// path says.

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "diagnose/edges.h"
#include "report/sql_rows.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

std::string_view reach_word(EdgeReach reach) {
  switch (reach) {
    case EdgeReach::Unknown:
      return "";
    case EdgeReach::SameHost:
      return "same_host";
    case EdgeReach::OtherHost:
      return "other_host";
  }
  return "";
}

/// Host, pid and global rank of a process; -1: unknown.
void add_process(const Job& job, int index, std::vector<Cell>& row) {
  static const Process kUnknown;
  const Process& process = index < 0 ? kUnknown : job.processes[static_cast<size_t>(index)];
  row.insert(row.end(),
             {text_cell(process.host), number_cell(process.pid), number_cell(process.rank)});
}

std::vector<Cell> edge_row(const Job& job, const Edge& edge) {
  const PathParts& path = edge.path;
  const FileLine at = file_line(job, edge.where);
  std::vector<Cell> row;
  add_process(job, edge.process, row);
  row.insert(row.end(), {text_cell(edge.sends ? "send" : "receive"), number_cell(edge.src_rank),
                         number_cell(edge.dst_rank)});
  add_process(job, edge.peer, row);
  row.insert(row.end(),
             {text_cell(reach_word(edge.reach)), text_cell(to_string(path.transport)),
              text_cell(path.network), number_cell(path.device), number_cell(path.proxy_rank),
              number_cell(path.gpudirect ? 1 : 0), text_cell(edge.path_text),
              number_cell(std::popcount(edge.channels)), text_cell(channels_text(edge.channels)),
              text_cell(fmt::format("{}:{}", at.path, at.line))});
  return row;
}

}  // namespace

Table connections_table(const Job& job) {
  Table table{.name = "connections",
              .columns = {"host", "pid", "rank", "direction", "src_rank", "dst_rank", "peer_host",
                          "peer_pid", "peer_rank", "reach", "transport", "network", "device",
                          "proxy_rank", "gpudirect", "path", "channels", "which", "at"}};
  for (const Edge& edge : edges_of(job)) table.rows.push_back(edge_row(job, edge));
  return table;
}

}  // namespace ncclog
