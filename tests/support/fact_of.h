// Asks a fact about a log held in memory.

#pragma once

#include <string_view>

#include "diagnose/facts/fact.h"
#include "model/derive/build_job.h"

namespace ncclog::testing {

/// The answer of the job's fact of that name to a log.
inline FactValue fact_of(std::string_view name, std::string_view log) {
  const Job job = job_from_text(log);
  return find_fact(name)->ask(job, job_instance(job));
}

/// "yes", "no", "unknown", or the value.
inline std::string answer_of(std::string_view name, std::string_view log) {
  return fact_text(fact_of(name, log));
}

}  // namespace ncclog::testing
