// Through which interfaces and RDMA devices do the hosts of a run talk?
//
//   Bootstrap: Using eth0:192.0.2.2<0>                     → bootstrap: "eth0"
//   NET/IB : Using [0]mlx5_0:1/IB … ; OOB ib0:10.1.2.3<0>  → devices of IB: "mlx5_0:1/IB, …"
//
// Hosts are told apart by what they list only. Interfaces that somebody makes for each container or
// virtual machine have numbers that mean nothing: "vn542a10" counts as "vn*a*".

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/interface_classes.h"
#include "diagnose/trait_tables.h"
#include "log/address.h"
#include "log/device_list.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// "veth1f2e" → "veth*": the letters, and a star for each run of what may be a number.
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (!is_digit(c)) {
      out += c;
    } else if (!out.ends_with('*')) {
      out += '*';
    }
  }
  return out;
}

/// The name, if it is one that a machine keeps.
std::string lasting_name(const NetDevice& device) {
  if (is_host_bridge(device.name) && device.name.starts_with("br-")) return "br-*";
  const bool passes = is_virtual_interface(device.name) && !is_host_bridge(device.name);
  const bool local = is_ipv6(device.address) && is_link_local(device.address) &&
                     !is_infiniband_interface(device.name);
  if (passes || local) return without_numbers(device.name);
  return std::string(device.name);
}

std::string device_name(const NetDevice& device) {
  std::string name = lasting_name(device);
  if (device.port >= 0) name += fmt::format(":{}", device.port);
  if (!device.link.empty()) name += fmt::format("/{}", device.link);
  return name;
}

/// What a host lists in one place.
using Devices = std::set<std::string>;

struct HostDevices {
  Devices devices;
  Evidence line;
};

/// By host, for each place in which devices are listed.
using Lists = std::map<std::string, std::map<std::string, HostDevices>>;

void add_list(std::string_view list, const std::string& place, const std::string& host,
              const Record& record, Lists& lists) {
  HostDevices& there = lists[place][host];
  if (there.line.where.line == 0) there.line = evidence_of(record);
  for (const NetDevice& device : parse_device_list(list)) {
    // NCCL's buffer may end in the middle of the last one.
    const bool cut = place == "devices of IB" && device.link != "IB" && device.link != "RoCE";
    if (!cut) there.devices.insert(device_name(device));
  }
}

Lists device_lists(const Job& job) {
  Lists lists;
  const auto host_of = [&](int process) -> const std::string& {
    return job.processes[static_cast<size_t>(process)].host;
  };
  for_each_said<BootstrapInterface>(job, [&](const Said<BootstrapInterface>& said) {
    add_list(said.message.devices, "bootstrap", host_of(said.process), said.record, lists);
  });
  for_each_said<NetDevices>(job, [&](const Said<NetDevices>& said) {
    const std::string& host = host_of(said.process);
    const std::string network(said.message.network);
    add_list(said.message.devices, "devices of " + network, host, said.record, lists);
    if (said.message.oob.empty()) return;
    add_list(said.message.oob, "out-of-band of " + network, host, said.record, lists);
  });
  return lists;
}

std::string devices_text(const Devices& devices) {
  if (devices.empty()) return "none";
  return join(std::vector<std::string>(devices.begin(), devices.end()), " ");
}

}  // namespace

void add_interface_traits(const Job& job, Traits& traits) {
  for (const auto& [place, hosts] : device_lists(job)) {
    StatedValues values;
    for (const auto& [host, there] : hosts) values.add(devices_text(there.devices), there.line);
    traits.push_back(trait_of(Topic::Interface, place, values));
  }
}

Absence interface_absence(const Job&, const Trait&) {
  return not_told("no line of its logs lists them");
}

}  // namespace ncclog
