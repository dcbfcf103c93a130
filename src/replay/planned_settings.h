// Which of the job's settings does a replay take over?
//
//   NCCL_ALGO=Ring                as recorded
//   NCCL_SOCKET_IFNAME=bond0      left out: names a network interface of the recorded machine
//   CUDA_VISIBLE_DEVICES=4,5      left out: names GPUs of the recorded machine
//
// What describes the recorded machine, writes files, or brings in code from elsewhere stays out,
// and the plan says so.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "replay/plan.h"
#include "replay/plan_seats.h"

namespace ncclog {

/// Why a replay does not set that variable to that value; empty: it does.
std::string_view why_left_out(std::string_view name, std::string_view value);

/// The settings that processes of the plan's ranks report, by name, then value.
std::vector<PlannedSetting> planned_settings(const Job& job, const PlanSeats& seats);

}  // namespace ncclog
