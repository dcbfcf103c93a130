// Which initialisations of communicators came to no end, and who is missing in them?
//
//   ranks 0-2 of 4   … commId 0x51 - Init START      waiting
//   rank 3           the file ends with "Bootstrap : Using eth0:10.0.0.4<0>"      missing
//
// ncclCommInitRank returns on all ranks or on none: whoever prints Init COMPLETE met everybody. So
// a rank can only be missing where nobody completes. START exists since 2.18.3; before that a
// communicator is named by COMPLETE alone, and who waits is seen by how it finds its network.
//
// A rank is missing only if the logs cover it: they hold lines of it that end earlier than those of
// the waiting ones, or lines beside theirs and none of NCCL. Files that were not collected look
// different: no line at all, a whole host's ranks, more ranks than are there. Of these the rank is
// called unseen and nothing is concluded. Cut and torn lines count as not collected.
//
// What shows that the communicator was used, shows that its COMPLETE lines are lost: calls,
// children, works that completed, training steps. A member that reports an error of its own is a
// cause that other facts name. Neither is listed.

#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// A rank of an initialisation.
struct InitRank {
  int rank = -1;     ///< In the communicator; without one in the job. -1: unknown.
  int process = -1;  ///< Into Job::processes; -1: none, or it is not known which.
};

struct UnfinishedInit {
  int communicator = -1;  ///< Into Job::communicators; -1: no line names one (before 2.18.3).
  int nranks = -1;        ///< -1: unknown.
  bool of_all = false;    ///< Its ranks are those of the job.
  std::vector<InitRank> complete;
  std::vector<InitRank> waiting;  ///< Began, and show neither end nor error. Never empty.
  std::vector<InitRank> missing;  ///< The logs cover them, and they did not begin.
  std::vector<InitRank> unseen;   ///< Neither: their files may be missing.
  /// Where exactly one rank is unseen and its host's other ranks are there: that host. Else empty.
  std::string unseen_host;
};

/// Every NCCL of the job is known and makes its connections while it initialises: before 2.22.
/// Later releases connect at the first use, so where some ranks print COMPLETE the others' line is
/// lost.
bool connects_at_init(const Job& job);

/// The initialisations that began and ended on some ranks or on none, in the order of
/// Job::communicators. Those of children are left out: a split is collective over the parent. Ranks
/// ascend in each list. Pure; meant for the job of one run.
std::vector<UnfinishedInit> unfinished_inits(const Job& job);

}  // namespace ncclog
