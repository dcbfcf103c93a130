// A row of a table in JSON: {"rank": 0, "host": "gpu-node-01", "pid": null}.

#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "report/table.h"

namespace ncclog {

/// The row as an object with the columns as keys. Needs a cell for each column; text that is no
/// UTF-8 is made valid.
nlohmann::ordered_json json_row(std::span<const std::string> columns, std::span<const Cell> cells);

}  // namespace ncclog
