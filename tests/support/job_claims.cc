#include "support/job_claims.h"

#include <fmt/format.h>

namespace ncclog {
namespace {

using Claims = std::set<std::string>;

std::string name_of(const Job& job, int process) {
  if (process < 0) return "nobody";
  const Process& named = job.processes[static_cast<size_t>(process)];
  return fmt::format("{}:{}", named.host, named.pid);
}

void add_processes(const Job& job, Claims& claims) {
  for (const std::string& host : job.hosts) claims.insert("host " + host);
  for (const Process& process : job.processes) {
    if (process.rank >= 0) claims.insert(fmt::format("somebody is rank {}", process.rank));
    if (process.host.empty()) continue;
    claims.insert(fmt::format("process {}:{}", process.host, process.pid));
    if (process.rank < 0) continue;
    claims.insert(fmt::format("process {}:{} is rank {}", process.host, process.pid, process.rank));
  }
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      claims.insert(fmt::format("connection {}:{} {} -> {} via {}", log.speaker.host,
                                log.speaker.pid, key.src_rank, key.dst_rank, key.path));
    }
  }
}

void add_communicators(const Job& job, Claims& claims) {
  for (const Communicator& comm : job.communicators) {
    const std::string id = comm.inferred ? "inferred" : comm.id;
    claims.insert(fmt::format("communicator {} of {}", id, comm.nranks));
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      claims.insert(fmt::format("{} rank {} is {}", id, rank.rank, name_of(job, rank.process)));
      if (rank.cuda_dev >= 0)
        claims.insert(fmt::format("{} rank {} on device {}", id, rank.rank, rank.cuda_dev));
      if (!rank.bus_id.empty())
        claims.insert(fmt::format("{} rank {} on bus {}", id, rank.rank, rank.bus_id));
    }
  }
}

void add_settings(const Job& job, Claims& claims) {
  for (const EnvironmentSetting& setting : job.environment) {
    for (const int process : setting.processes) {
      claims.insert(
          fmt::format("setting {}={} of {}", setting.name, setting.value, name_of(job, process)));
    }
  }
  for (const Interface& i : job.network.interfaces) {
    claims.insert(
        fmt::format("interface {} {} {} {} {}", i.host, i.name, i.address, i.port, i.link));
  }
  if (!job.network.name.empty()) claims.insert("network " + job.network.name);
  if (!job.network.plugin.empty()) claims.insert("plugin " + job.network.plugin);
  for (const std::string& version : job.nccl_versions) claims.insert("NCCL " + version);
  for (const std::string& version : job.cuda_versions) claims.insert("CUDA " + version);
}

void add_findings(const Diagnosis& diagnosis, Claims& claims) {
  for (const Finding& finding : diagnosis.findings) {
    claims.insert("finding " + finding.id);
    for (const std::string& host : finding.hosts) {
      claims.insert(fmt::format("finding {} on {}", finding.id, host));
    }
    for (const int rank : finding.ranks) {
      claims.insert(fmt::format("finding {} of rank {}", finding.id, rank));
    }
  }
}

}  // namespace

std::set<std::string> claims_of(const Job& job, const Diagnosis& diagnosis) {
  Claims claims;
  add_processes(job, claims);
  add_communicators(job, claims);
  add_settings(job, claims);
  add_findings(diagnosis, claims);
  return claims;
}

}  // namespace ncclog
