// From the JSON form of an ncclras answer (NCCL 2.28 and later) to the model.
//
//   {"nccl_version": "2.28.9", "communicators_count": 1, "communicators": [{"hash": "0xcf26…",
//    "size": 8, "ranks": [{"rank": 0, "status": {"init_state": 0, …}, "collective_counts":
//    {"AllReduce": 120, …}}, …], "missing_ranks": [{"rank": 3, "status": {"unresponsive": true,
//    "considered_dead": false}}]}], "ras": {"timeouts_count": 0}}
//
// From ras/client_support.cc. The JSON lists ranks and judges nothing; the statements that the text
// form makes about differing counts, states and errors are made here in the same way.

#pragma once

#include <string>
#include <string_view>

#include "model/ras.h"

namespace ncclog {

struct RasImport {
  RasReport report;
  std::string problem;  ///< Why the bytes are no answer that can be read; empty: they are.
};

/// Reads an answer. Never throws for what the bytes are; memory is proportional to their number.
RasImport import_ras_json(std::string_view bytes);

}  // namespace ncclog
