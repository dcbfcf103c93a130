// The steps of build_job, in the order in which they run. Each fills its part of the job and relies
// on the parts before it.

#pragma once

#include <cstdint>
#include <map>

#include "model/job.h"

namespace ncclog {

/// Finds out who wrote each input and whose the lines without a name are. Needs Job::logs.
/// `writers` is whom each unit's lines name.
void build_writers(Job& job, const std::map<uint64_t, StretchWriter>& writers);

/// Joins the speakers into processes and gives them their global ranks. Needs Job::logs.
void build_processes(Job& job);

/// Finds the communicators and the state of each of their ranks. Needs the processes.
void build_communicators(Job& job);

/// Keeps runs apart. Needs the communicators.
void build_runs(Job& job);

/// Network, plugin and interfaces. Needs the processes.
void build_network(Job& job);

/// The sections in which ranks were initialised, and each communicator's graphs. Needs the
/// communicators.
void build_graphs(Job& job);

/// The hosts' devices: those in the logs are added to those of files, which get their hosts. Needs
/// the communicators with their sections, and the network.
void build_topologies(Job& job);
/// What kernels report, tied to hosts and ranks. Needs the processes and communicators.
void build_kernel_events(Job& job);

/// The runs of nccl-tests and what they measured. Needs the processes.
void build_nccl_tests(Job& job);

/// Settings, versions, hosts, the size of the job, and who printed what. Needs the processes and
/// communicators.
void build_summary(Job& job);

/// Sorts the dumps and ties them to processes where that is certain. Needs the processes and
/// communicators.
void build_flight_recorders(Job& job);

/// All of these from build_processes on. Needs Job::logs and what was read beside them.
void build_parts(Job& job);

}  // namespace ncclog
