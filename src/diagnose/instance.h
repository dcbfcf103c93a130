// What a rule or a fact is asked about: the whole job, a host, a process, a rank, a communicator.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"

namespace ncclog {

enum class Scope { Job, Host, Process, Rank, Communicator };

/// As rule files spell it: "job", "host", …
std::string_view to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view name);

/// One thing of a scope, and the processes that speak for it.
struct Instance {
  Scope scope = Scope::Job;
  std::vector<int> processes;  ///< Into Job::processes, ascending.
  std::string host;            ///< Scope::Host; empty for processes whose host is unknown.
  int rank = -1;               ///< Scope::Rank; -1 for lines that name nobody.
  int communicator = -1;       ///< Scope::Communicator: into Job::communicators.
};

/// Every instance of a scope, in sorted order. Lines that name neither host nor rank form
/// instances of their own for Host, Process and Rank, so that a quoted line is judged too.
std::vector<Instance> instances_of(const Job& job, Scope scope);

/// The instance of the whole job.
Instance job_instance(const Job& job);

/// The instance of `scope` around a process; the job if the scope is Job or Communicator.
Instance instance_around(const Job& job, int process, Scope scope);

}  // namespace ncclog
