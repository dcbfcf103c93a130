// Who was at the other end of an RDMA transfer that failed?
//
//   Bootstrap : Using eno1:10.1.2.3<0>                          on host elm1
//   NET/IB: Got completion from peer 10.1.2.3<41822> … (12)     on host elm1
//       → job.ib_timeout_within_host = yes, "elm1, NICs mlx5_0"
//
// The peer is named by the address over which its rank was found, so it can be looked up among the
// addresses that hosts say are theirs. Up to NCCL 2.9 no peer is named.

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/host_addresses.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr int kRetryExceeded = 12;

/// "10.1.2.3" for "10.1.2.3<41822>".
std::string_view without_port(std::string_view address) {
  return address.substr(0, address.find('<'));
}

/// Hosts by address; an address that two hosts claim, as container bridges are, is nobody's.
std::map<std::string, std::string, std::less<>> hosts_by_address(const Job& job) {
  std::map<std::string, std::string, std::less<>> hosts;
  for (const HostAddress& address : all_addresses(job)) {
    if (address.host.empty() || address.ip.empty()) continue;
    const auto [known, is_new] = hosts.try_emplace(address.ip, address.host);
    if (!is_new && known->second != address.host) known->second.clear();
  }
  return hosts;
}

FactValue ib_timeout_within_host(const Job& job, const Instance&) {
  const auto hosts = hosts_by_address(job);
  FactValue value = yes({});
  std::set<std::string> places;
  bool between_hosts = false;
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    if (said.message.status != kRetryExceeded || said.message.peer.empty()) return;
    const std::string& own = job.processes[static_cast<size_t>(said.process)].host;
    const auto peer = hosts.find(without_port(said.message.peer));
    if (own.empty() || peer == hosts.end() || peer->second != own) {
      between_hosts = true;
      return;
    }
    const std::string nic(said.message.hca);
    places.insert(printable(to_valid_utf8(nic.empty() ? own : fmt::format("{} ({})", own, nic))));
    value.evidence.push_back(evidence_of(said.record));
    value.processes.push_back(said.process);
  });
  if (places.empty()) return between_hosts ? no() : unknown();
  // Where other hosts cannot be reached either, the wiring inside one is not what is special.
  if (between_hosts) return no();
  value.what = fmt::format("{}", fmt::join(places, ", "));
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.ib_timeout_within_host", Scope::Job, FactType::Bool,
         "RDMA transfers between NICs of one host got no answer, and no others failed.",
         ib_timeout_within_host},
};

}  // namespace

std::span<const Fact> ib_peer_facts() { return kFacts; }

}  // namespace ncclog
