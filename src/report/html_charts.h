// What does a process call in each iteration, as bars on a page?

#pragma once

#include "model/job.h"
#include "report/html_text.h"

namespace ncclog {

/// Bars of calls by iteration and operation, with the same as sentences and as a table; empty where
/// nothing that was called can be told apart into iterations.
Markup html_iterations(const Job& job);

}  // namespace ncclog
