// Does the name of the rendezvous resolve?
//
//   [W1122 08:25:41.18 socket.cpp:764] [c10d] The IPv6 network addresses of (node-a, 37395) cannot
//   be retrieved (gai error: -3 - Temporary failure in name resolution).
//       twelve times until 08:27:05, and no line of NCCL or of the training after them
//       → job.store_name_unresolvable = yes, "node-a, asked for 12 times in 84 s"
//
// Once or twice before the job goes on it is noise: a name without an IPv6 address.

#pragma once

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

/// job.store_name_unresolvable.
FactValue store_name_unresolvable(const Job& job, const Instance&);

}  // namespace ncclog
