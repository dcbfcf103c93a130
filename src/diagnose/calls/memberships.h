// Of which communicators is a process a member, and which member has a rank?

#pragma once

#include <utility>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// The communicators of a process, into Job::communicators, with the ranks that it is there, in their
/// order. Owned by the job.
const std::vector<std::pair<int, const CommRank*>>& memberships_of(const Job& job, int process);

/// The member of that rank, into Communicator::ranks; -1: there is none.
int member_of(const Communicator& comm, int rank);

}  // namespace ncclog
