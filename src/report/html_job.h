// What was read, and what it says about the job, on a page: machine, ranks, settings, inputs.

#pragma once

#include "model/job.h"
#include "report/html_text.h"

namespace ncclog {

/// Size, versions, hosts, network; empty if the log says nothing of these.
Markup html_job_shape(const Job& job);

/// Ranks by state, those that are unlike most first where not all can be shown.
Markup html_ranks(const Job& job);

/// Where each communicator stands; empty if no calls were logged.
Markup html_fronts(const Job& job);

/// Settings that NCCL reports: those whose value differs between processes first; empty if none.
Markup html_settings(const Job& job);

/// Files, and what of them was lost or misread.
Markup html_inputs(const Job& job);

}  // namespace ncclog
