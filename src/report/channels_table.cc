// Over which paths do the ranks reach each other?
//
//   src_rank  dst_rank  transport  path           channels  which
//          0         1  P2P        P2P/CUMEM            24  0-23
//
// Both ends of a network path announce it, and every process numbers ranks within its own
// communicators: the same (from, to, path) said by several processes is one row.

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "report/tables.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

/// A connection as all processes together announce it.
struct Announced {
  ConnectionUse use;
  std::set<std::string> hosts;
};

std::map<ConnectionKey, Announced> announced_connections(const Job& job) {
  std::map<ConnectionKey, Announced> connections;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      Announced& announced = connections[key];
      announced.use.channels |= use.channels;
      if (!log.speaker.host.empty()) announced.hosts.insert(log.speaker.host);
    }
  }
  return connections;
}

std::vector<Cell> connection_row(const ConnectionKey& key, const Announced& announced) {
  const std::vector<std::string> hosts(announced.hosts.begin(), announced.hosts.end());
  return {number_cell(key.src_rank),
          number_cell(key.dst_rank),
          text_cell(to_string(transport_of(key.path))),
          text_cell(key.path),
          number_cell(channel_count(announced.use)),
          text_cell(channels_text(announced.use.channels)),
          text_cell(join(hosts, " "))};
}

/// "P2P: 16 connections." for each transport in use.
void add_totals(const std::map<ConnectionKey, Announced>& connections, Table& table) {
  std::map<Transport, int> totals;
  for (const auto& [key, announced] : connections) ++totals[transport_of(key.path)];
  for (const auto& [transport, n] : totals) {
    table.notes.push_back(
        fmt::format("{}: {} connection{}.", to_string(transport), n, n == 1 ? "" : "s"));
  }
}

void add_gaps(const Job& job, Table& table) {
  uint64_t dropped = 0;
  for (const SpeakerLog& log : job.logs) dropped += log.connections.dropped;
  if (dropped > 0) {
    table.notes.push_back(fmt::format("{} more lines about connections were not kept.", dropped));
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No line announces a connection. Set NCCL_DEBUG=INFO with INIT among NCCL_DEBUG_SUBSYS.");
  }
}

}  // namespace

Table channels_table(const Job& job) {
  Table table{
      .name = "channels",
      .columns = {"src_rank", "dst_rank", "transport", "path", "channels", "which", "hosts"}};
  const std::map<ConnectionKey, Announced> connections = announced_connections(job);
  for (const auto& [key, announced] : connections) {
    table.rows.push_back(connection_row(key, announced));
  }
  add_totals(connections, table);
  add_gaps(job, table);
  return table;
}

}  // namespace ncclog
