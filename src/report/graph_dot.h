// Graphs for Graphviz: `dot -Tpdf`.
//
//   digraph "Rings and trees" {
//     subgraph "cluster_0" { label="Communicator 0x7743…: ring of channels 0-23"; …

#pragma once

#include <string>

#include "report/graph.h"

namespace ncclog {

/// A file in the DOT language with all graphs, each a cluster, hosts as clusters inside. Any bytes
/// of names stay inside quotes.
std::string write_dot(const Drawing& drawing);

}  // namespace ncclog
