// What a plan lost of the job, and what no replay of it can show: in sentences.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"
#include "replay/plan.h"
#include "replay/plan_programs.h"
#include "replay/plan_seats.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// What was done to a plan on the way.
struct PlanMaking {
  bool from_dumps = false;          ///< Its calls are the Flight Recorder's, not NCCL's.
  std::vector<std::string> absent;  ///< Sentences about ranks of which there is no dump.
  bool no_hosts = false;            ///< The dumps' processes, and so their hosts, are not known.
  bool split = false;               ///< The dumps differ, and no majority says who is right.
  uint64_t not_replayable = 0;      ///< Calls that no replay can make.
  bool guessed_groups = false;      ///< As PlanPrograms says.
  bool ungrouped = false;           ///< Likewise.
  bool counts_bytes = false;        ///< Likewise.
  uint64_t unmet = 0;               ///< Calls of a healthy plan that not all made; dropped.
  int awaited = 0;     ///< Calls that late ranks make in the clean run for those who wait.
  uint64_t after = 0;  ///< Calls after the one in question, on its communicator; dropped.
  bool clean_run_ends_before = false;  ///< The clean run did not come to the call in question.
  bool buffers_sends = false;          ///< The clean run ends only while NCCL buffers messages.
};

/// "Communicator 0x9c1b… is made without rank 3: the logs do not show what it called." `absent` are
/// ranks in it, or empty where only their number, `count`, is known.
std::string absent_words(const std::string& communicator, size_t count,
                         const std::vector<int>& absent);

/// Sentences for ReplayPlan::losses.
std::vector<std::string> plan_losses(const Job& job, const PlanSeats& seats, const ReplayPlan& plan,
                                     const PlanMaking& making);

/// Sentences for ReplayPlan::limits.
std::vector<std::string> plan_limits(const Job& job, const ReplayPlan& plan);

}  // namespace ncclog
