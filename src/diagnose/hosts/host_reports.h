// What do reports of hosts show of what the rules name? Facts of hosts, asked like facts of jobs.
//
//   /dev/shm: 64 MiB in a container          host.shm_small = yes, "/dev/shm has 64 MiB"
//   Max locked memory unlimited              host.memlock_small = no, "… may lock any memory"
//   no report of that host, or not in it     unknown
//
// A rule names such a fact in its clause `host` (rules/rule.h): "yes" supports what the rule found
// in logs, "no" speaks against it, and a report alone can show what no log says yet. So "no" has
// words, too. What a limit or an interface is now says little of what it was when the job ran, and
// ranks may have been started elsewhere: words say what was seen, and rules how far that goes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/facts/same_host.h"
#include "model/companions/host_report.h"

namespace ncclog {

/// The report of that host; nullptr: there is none.
const HostReport* find_host_report(const Job& job, std::string_view host);

/// The reports of hosts of the job; all of them where the logs name no host.
std::vector<const HostReport*> reports_of_job(const Job& job);

/// The answer of `judge` to the report of the instance's host; unknown where there is none.
template <FactValue (*judge)(const HostReport& report)>
FactValue of_host(const Job& job, const Instance& instance) {
  const HostReport* report = find_host_report(job, instance.host);
  return report != nullptr ? judge(*report) : unknown();
}

/// A row of a fact that reports of hosts answer.
template <FactValue (*judge)(const HostReport& report)>
constexpr Fact host_fact(std::string_view name) {
  return {name, Scope::Host, FactType::Bool, {}, of_host<judge>};
}

/// "no", with what was seen instead.
inline FactValue no_because(std::string what) { return {false, std::move(what), {}, {}, {}}; }

/// The answer with what was seen, which speaks for either.
inline FactValue yes_or_no(bool answer, std::string what) {
  return {answer, std::move(what), {}, {}, {}};
}

/// "64 MiB", "1.5 GiB", "unlimited".
std::string host_bytes_text(int64_t bytes);

/// Segments of NCCL that no process holds: "nccl-q3Xz9b (9.2 MiB, last written 3 hours before)".
std::vector<std::string> stale_segments(const HostReport& report);

/// The value of a setting in force; empty: it is not set.
std::string_view setting_of(const HostReport& report, std::string_view name);

/// The interfaces that NCCL would take, each with the one address by which it would ("10.1.2.3",
/// without its mask), in its order: those that NCCL_SOCKET_IFNAME admits, else
/// those of InfiniBand, else any but docker, lo and virbr, else docker's, else lo, else virbr's
/// (misc/socket.cc). The first is the bootstrap's.
std::vector<HostInterface> taken_interfaces(const HostReport& report);

/// The ports that NCCL would use: active, and admitted by NCCL_IB_HCA.
std::vector<const RdmaPort*> taken_ports(const HostReport& report);

}  // namespace ncclog
