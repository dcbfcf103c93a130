#include "diagnose/roce_subnets.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/interface_classes.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// The address of one RDMA device.
struct PortAddress {
  std::string device;
  std::string ip;
  Evidence line;
};

/// By host.
using PortAddresses = std::multimap<std::string, PortAddress>;

/// "10.21.0.1" for "::ffff:10.21.0.1" too.
std::string_view plain_ipv4(std::string_view gid) {
  gid = trim(gid);
  constexpr std::string_view kMapped = "::ffff:";
  return gid.starts_with(kMapped) ? gid.substr(kMapped.size()) : gid;
}

PortAddresses port_addresses(const Job& job) {
  PortAddresses found;
  const auto add = [&](const auto& said, std::string_view device, std::string_view ip) {
    if (device.empty() || subnet_of(ip).empty()) return;
    found.emplace(job.processes[static_cast<size_t>(said.process)].host,
                  PortAddress{std::string(device), std::string(ip), evidence_of(said.record)});
  };
  for_each_said<GidRow>(
      job, [&](const auto& said) { add(said, said.message.device, said.message.address); });
  for_each_said<IbModifyQpFailed>(job, [&](const auto& said) {
    add(said, said.message.device, plain_ipv4(said.message.local_gid));
  });
  for_each_said<IbCompletion>(job, [&](const auto& said) {
    add(said, said.message.hca, plain_ipv4(said.message.local_gid));
  });
  return found;
}

}  // namespace

FactValue roce_nics_share_subnet(const Job& job, const Instance&) {
  const PortAddresses addresses = port_addresses(job);
  if (addresses.empty()) return unknown();
  std::map<std::pair<std::string, std::string>, PortAddress> first;
  for (const auto& [host, address] : addresses) {
    const std::string subnet(subnet_of(address.ip));
    const auto [there, added] = first.try_emplace({host, subnet}, address);
    const PortAddress& other = there->second;
    if (added || other.device == address.device) continue;
    return yes(fmt::format("{} with {} and {} with {}{}", other.device, other.ip, address.device,
                           address.ip, host.empty() ? "" : " on " + host),
               {other.line, address.line});
  }
  return no();
}

}  // namespace ncclog
