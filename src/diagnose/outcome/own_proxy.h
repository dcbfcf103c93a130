// Did a peer go away, or did a process only lose its own proxy?
//
//   n1:41:99 [3] … NCCL WARN [Proxy Service 3] Failed to execute operation Connect from rank 3, retcode 2
//   n1:41:52 [3] … NCCL WARN socketProgress: Connection closed by remote peer n1.mgmt<57521>
//       → its own proxy: the thread that could not connect closes the rank's socket
//
// A rank and its proxy thread talk over a socket. Where the proxy gives a request up it closes that
// socket, and the rank reports what it would report of a peer that ended.

#pragma once

#include "model/job.h"

namespace ncclog {

/// The line of that process (into Job::processes) tells of a connection whose other end is its own
/// proxy, which had given a request up before: no peer of it went away. False for lines of other sorts.
bool is_of_own_proxy(const Job& job, int process, const Record& record);

}  // namespace ncclog
