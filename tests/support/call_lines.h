// Logs of calls, written short.
//
//   call_lines("41:BGR 42:BG #iteration: 1 | x# 42:R")
//     → COLL lines of two processes, and a line of the program between them

#pragma once

#include <string>
#include <string_view>

namespace ncclog::testing {

/// Words are "PID:CALLS", one letter a call: R AllReduce, G AllGather, S ReduceScatter, B Broadcast
/// (each 1024 float32), r AllReduce of one element, > Send and < Recv, whose sizes change from call
/// to call. What stands between two '#' is a line as it is. All on one host, in one communicator of
/// 8 ranks.
std::string call_lines(std::string_view words);

}  // namespace ncclog::testing
