// The families of facts. A new family adds its table here; a new fact adds a row to its family.

#pragma once

#include <span>
#include <vector>

#include "diagnose/fact.h"

namespace ncclog {

std::span<const Fact> job_facts();       ///< diagnose/job_facts.cc: size, versions, coverage.
std::span<const Fact> network_facts();   ///< diagnose/network_facts.cc: networks and paths.
std::span<const Fact> hca_facts();       ///< diagnose/hca_facts.cc: RDMA devices.
std::span<const Fact> address_facts();   ///< diagnose/address_facts.cc: reachable addresses.
std::span<const Fact> gid_facts();       ///< diagnose/gid_facts.cc: RoCE's GID tables.
std::span<const Fact> host_facts();      ///< diagnose/host_facts.cc: containers, /dev/shm.
std::span<const Fact> watchdog_facts();  ///< diagnose/watchdog_facts.cc: who waits for whom.
std::span<const Fact> ras_facts();       ///< diagnose/ras_facts.cc: answers of RAS.
/// diagnose/watchdog_call_facts.cc: watchdogs and lines of calls.
std::span<const Fact> watchdog_call_facts();
std::span<const Fact> hang_facts();         ///< diagnose/hang_facts.cc: who holds the job up.
std::span<const Fact> mismatch_facts();     ///< diagnose/mismatch_facts.cc: calls that differ.
std::span<const Fact> recorder_facts();     ///< diagnose/recorder_facts.cc: Flight Recorder.
std::span<const Fact> environment_facts();  ///< diagnose/environment_facts.cc: settings.
std::span<const Fact> setting_facts();      ///< diagnose/setting_facts.cc: what the lint finds.
std::span<const Fact> rank_facts();         ///< diagnose/rank_facts.cc: who is which rank.
std::span<const Fact> kernel_facts();       ///< diagnose/kernel_facts.cc: what kernels report.
std::span<const Fact> run_facts();          ///< diagnose/run_facts.cc: one run or several.
std::span<const Fact> graph_facts();        ///< diagnose/graph_facts.cc: rings and trees.
std::span<const Fact> ib_peer_facts();     ///< diagnose/ib_peer_facts.cc: who was at the other end.
std::span<const Fact> nccl_tests_facts();  ///< diagnose/nccl_tests_facts.cc: what it measured.
std::span<const Fact> failure_facts();     ///< diagnose/failure_facts.cc: deaths, exceptions.
std::span<const Fact> unexplained_facts();  ///< diagnose/unexplained_facts.cc: errors as such.
std::span<const Fact> device_facts();       ///< diagnose/device_facts.cc: who changed its GPU.
std::span<const Fact> init_facts();         ///< diagnose/init_facts.cc: who is missing at init.
std::span<const Fact> instance_facts();     ///< diagnose/instance_facts.cc: pairs, GPUs, NICs.
std::span<const Fact> stop_facts();         ///< diagnose/stop_evidence.cc: whether the job stopped.
std::span<const Fact> message_facts();      ///< diagnose/message_facts.cc: Send without Recv.
std::span<const Fact> deadlock_facts();     ///< diagnose/deadlock_facts.cc: all ranks wait.
/// diagnose/odd_path_facts.cc, odd_host_facts.cc, odd_topology_facts.cc: few unlike their peers.
std::span<const Fact> odd_path_facts();
std::span<const Fact> odd_host_facts();
std::span<const Fact> odd_topology_facts();
std::span<const Fact> outcome_facts();  ///< diagnose/outcome/outcome_facts.cc: how the job ended.
/// diagnose/path_facts.cc: data that take a slower way than they could.
std::span<const Fact> path_facts();

/// diagnose/outcome/stall_facts.cc: a hang that no watchdog ended.
std::span<const Fact> stall_facts();
/// diagnose/outcome/early_end_facts.cc: who left before the others.
std::span<const Fact> early_end_facts();

inline std::vector<std::span<const Fact>> fact_tables() {
  return {job_facts(),           network_facts(),  hca_facts(),      address_facts(),
          gid_facts(),           host_facts(),     watchdog_facts(), environment_facts(),
          run_facts(),           graph_facts(),    failure_facts(),  nccl_tests_facts(),
          ib_peer_facts(),       kernel_facts(),   rank_facts(),     hang_facts(),
          mismatch_facts(),      init_facts(),     device_facts(),   recorder_facts(),
          watchdog_call_facts(), ras_facts(),      deadlock_facts(), setting_facts(),
          instance_facts(),      odd_path_facts(), odd_host_facts(), odd_topology_facts(),
          path_facts(),          message_facts(),  outcome_facts(),  unexplained_facts(),
          stall_facts(),         early_end_facts()};
}

}  // namespace ncclog
