// A job as text, so that a test compares two jobs with one line diff.

#pragma once

#include <string>

#include "model/job.h"

namespace ncclog {

enum class Places { Shown, Hidden };

/// Everything the job says, in its own order. With Places::Hidden, without file positions: what
/// must stay equal when the processes' lines are interleaved in another way.
std::string describe_job(const Job& job, Places places = Places::Shown);

}  // namespace ncclog
