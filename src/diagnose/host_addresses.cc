#include "diagnose/host_addresses.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "log/address.h"
#include "log/device_list.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMaxNamed = 4;

/// True if a list has its first device at its beginning, behind "[0]" at most: another process's
/// words may stand in a torn one.
bool begins_with_device(std::string_view devices, const NetDevice& first) {
  const auto before = static_cast<size_t>(first.name.data() - devices.data());
  const std::string_view index = trim(devices.substr(0, before));
  return index.empty() ||
         (index.front() == '[' && index.find(']') == index.size() - 1 && index.size() > 2 &&
          index.find_first_not_of("0123456789", 1) == index.size() - 1);
}

void add_addresses(const Job& job, int process, const Record& record, std::string_view devices,
                   bool bootstrap, std::vector<HostAddress>& addresses) {
  const std::vector<NetDevice> list = parse_device_list(devices);
  if (list.empty() || !begins_with_device(devices, list.front())) return;
  for (const NetDevice& device : list) {
    const std::string_view ip = parse_address(device.address).ip;
    if (ip.empty()) continue;
    const std::string& host = job.processes[static_cast<size_t>(process)].host;
    addresses.push_back(
        {process, host, std::string(device.name), std::string(ip), bootstrap, evidence_of(record)});
    // The bootstrap takes the first of the candidates that releases up to 2.7 list.
    if (bootstrap) return;
  }
}

/// The first address of each host.
std::vector<HostAddress> one_per_host(const std::vector<HostAddress>& addresses) {
  std::vector<HostAddress> result;
  std::set<std::string> hosts;
  for (const HostAddress& address : addresses) {
    if (hosts.insert(address.host).second) result.push_back(address);
  }
  return result;
}

std::vector<HostAddress> read_bootstrap_addresses(const Job& job) {
  std::vector<HostAddress> addresses;
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add_addresses(job, said.process, said.record, said.message.devices, true, addresses);
  });
  return addresses;
}

std::vector<HostAddress> read_socket_addresses(const Job& job) {
  std::vector<HostAddress> addresses;
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    if (said.message.network == "IB") return;
    add_addresses(job, said.process, said.record, said.message.devices, false, addresses);
  });
  return addresses;
}

std::vector<HostAddress> join_addresses(const Job& job) {
  std::vector<HostAddress> addresses = bootstrap_addresses(job);
  const std::vector<HostAddress>& others = socket_addresses(job);
  addresses.insert(addresses.end(), others.begin(), others.end());
  return addresses;
}

}  // namespace

const std::vector<HostAddress>& bootstrap_addresses(const Job& job) {
  return job.answers.of<&read_bootstrap_addresses>(job);
}

const std::vector<HostAddress>& socket_addresses(const Job& job) {
  return job.answers.of<&read_socket_addresses>(job);
}

const std::vector<HostAddress>& all_addresses(const Job& job) {
  return job.answers.of<&join_addresses>(job);
}

std::string addresses_text(const std::vector<HostAddress>& addresses) {
  std::vector<std::string> parts;
  const auto hosts = one_per_host(addresses);
  for (const HostAddress& address : hosts) {
    if (parts.size() == kMaxNamed) break;
    const std::string where = address.host.empty() ? "" : " on " + address.host;
    parts.push_back(fmt::format("{}:{}{}", address.name, address.ip, where));
  }
  std::string text = join(parts, ", ");
  if (hosts.size() > kMaxNamed) text += fmt::format(" and {} more", hosts.size() - kMaxNamed);
  return text;
}

FactValue yes_about(std::string what, const std::vector<HostAddress>& addresses) {
  std::set<int> processes;
  for (const HostAddress& address : addresses) processes.insert(address.process);
  std::vector<Evidence> evidence;
  for (const HostAddress& address : one_per_host(addresses)) {
    if (evidence.size() < kMaxNamed) evidence.push_back(address.line);
  }
  return yes(std::move(what), std::move(evidence), {processes.begin(), processes.end()});
}

}  // namespace ncclog
