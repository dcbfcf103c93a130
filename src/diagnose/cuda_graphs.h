// Does the log speak of CUDA graphs, in which calls of NCCL may be captured?
//
//   NCCL INFO stream is being captured by a new graph, id 7            (2.9.6 to 2.12, COLL)
//   NCCL WARN … graphUsageMode is set to 0 but the user is capturing graphs …       (2.29.2)
//   INFO … model_runner.py:1535] Graph capturing finished in 14 secs, took 0.21 GiB  (vLLM)
//   # nThread 1 … validation: 1 graph: 10                              (nccl-tests -G 10)
//   NCCL INFO NCCL_GRAPH_REGISTER set by environment to 1.             only graphs are concerned
//
// A captured call is logged when it is captured, once, and runs as often as the graph does. Most
// programs that capture calls print nothing about it, so silence proves nothing.

#pragma once

#include <optional>

#include "diagnose/fact.h"

namespace ncclog {

/// The first line of the input that speaks of captured calls or models, else the first that names
/// a setting which only captured calls heed; nullopt: there is no such line. Pure.
std::optional<Evidence> cuda_graph_evidence(const Job& job);

}  // namespace ncclog
