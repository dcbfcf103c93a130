// What a job is like, in a few rows: how large, on which hosts, with which versions, over what.
//
//   ranks        8 on 2 hosts
//   NCCL         2.28.9
//   connections  P2P/CUMEM 24, NET/IB/GDRDMA 8

#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// One row: what, and what the log says of it. May hold any bytes of the log.
struct ShapeRow {
  std::string name;
  std::string value;

  bool operator==(const ShapeRow&) const = default;
};

/// All rows that the log has something to say about, in the order in which people ask.
std::vector<ShapeRow> job_shape(const Job& job);

}  // namespace ncclog
