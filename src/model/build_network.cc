// Which network NCCL chose, through which plugin, over which interfaces.

#include <algorithm>
#include <map>
#include <set>

#include "log/device_list.h"
#include "log/messages.h"
#include "log/read_message.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

/// Votes for a name; ties go to the first name in order.
struct Votes {
  std::map<std::string, int> count;

  void add(std::string_view name) {
    if (!name.empty()) ++count[std::string(name)];
  }
  std::string winner() const {
    const auto best =
        std::max_element(count.begin(), count.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return best == count.end() ? std::string() : best->first;
  }
};

/// What a process says last with kind T, by `name_of`.
template <typename T, typename NameOf>
std::string last_name(const Job& job, const Process& process, NameOf name_of) {
  std::string name;
  for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
    const auto message = read_message<T>(parse_record(record).message);
    if (const std::string_view news = name_of(message); !news.empty()) name = news;
  });
  return name;
}

std::string network_name(const Job& job) {
  Votes selected;
  Votes listed;
  for (const Process& process : job.processes) {
    selected.add(last_name<NetworkSelected>(job, process, [](const auto& m) { return m.network; }));
    // Every network that NCCL tries lists its devices; which one it took may be in a lost line.
    if (process.torn) continue;
    listed.add(last_name<NetDevices>(job, process, [](const auto& m) { return m.network; }));
  }
  const std::string name = selected.winner();
  return name.empty() ? listed.winner() : name;
}

std::string plugin_name(const Job& job) {
  Votes loaded;
  Votes missing;
  for (const Process& process : job.processes) {
    loaded.add(last_name<PluginLoaded>(
        job, process, [](const auto& m) { return m.type == "NET" ? m.name : std::string_view(); }));
    missing.add(last_name<PluginMissing>(job, process, [](const auto& m) {
      return m.type == "NET" ? std::string_view("internal") : std::string_view();
    }));
  }
  const std::string name = loaded.winner();
  return name.empty() ? missing.winner() : name;
}

/// Interface names that are Ethernet by the kernel's naming; ib0 and plugins' names are left open.
bool is_ethernet_name(std::string_view name) {
  return name.starts_with("en") || name.starts_with("eth") || name.starts_with("bond");
}

void add_devices(std::set<Interface>& interfaces, const std::string& host,
                 std::string_view devices) {
  for (const NetDevice& device : parse_device_list(devices)) {
    if (device.name.empty()) continue;
    Interface interface {
      host, std::string(device.name), std::string(device.address), device.port,
          std::string(device.link)
    };
    if (interface.link.empty() && interface.port < 0 && is_ethernet_name(device.name)) {
      interface.link = "Ethernet";
    }
    interfaces.insert(std::move(interface));
  }
}

std::vector<Interface> list_interfaces(const Job& job) {
  std::set<Interface> interfaces;
  for (const Process& process : job.processes) {
    for_each_record(job, process, kKindIndex<BootstrapInterface>, [&](const Record& record) {
      const auto message = read_message<BootstrapInterface>(parse_record(record).message);
      add_devices(interfaces, process.host, message.devices);
    });
    for_each_record(job, process, kKindIndex<NetDevices>, [&](const Record& record) {
      const auto message = read_message<NetDevices>(parse_record(record).message);
      add_devices(interfaces, process.host, message.devices);
      add_devices(interfaces, process.host, message.oob);
    });
  }
  return {interfaces.begin(), interfaces.end()};
}

}  // namespace

void build_network(Job& job) {
  job.network.name = network_name(job);
  job.network.plugin = plugin_name(job);
  job.network.interfaces = list_interfaces(job);
}

}  // namespace ncclog
