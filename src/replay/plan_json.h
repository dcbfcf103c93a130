// A plan as a file.
//
//   {
//     "schema": "ncclog.replay/1",
//     …
//     "ranks": [
//       {
//         "recorded_rank": 0, …
//         "calls": [
//           {"communicator": 0, "index": 27, "op": "AllReduce", "count": 1024, "datatype":
//            "float32", "redop": "sum"},                                        (all on one line)
//
// src/replay/plan.schema.json describes it; keys are the members of replay/plan.h. Datatypes and
// reductions stand by name, those that have none as numbers.

#pragma once

#include <string>
#include <string_view>

#include "replay/plan.h"

namespace ncclog {

/// Equal plans give equal bytes. Texts that are not UTF-8 are repaired; a reduction of the job's
/// own is "user", whatever its number.
std::string write_plan(const ReplayPlan& plan);

/// The plan in `text`; `source` is its name for people. Throws Error with the place, what is wrong
/// there and the nearest name if it is not one. Whether the plan makes sense is another question:
/// replay/check_plan.h.
ReplayPlan parse_plan(std::string_view text, const std::string& source);

/// By which an outcome names the plan that it is of: the SHA-256 of the plan's text in hexadecimal.
std::string plan_hash(std::string_view text);

}  // namespace ncclog
