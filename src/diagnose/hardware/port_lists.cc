// Which ports of network adapters do listings show, and in which state?
//
//   CA 'mlx5_0'                        → job.ports_listed = yes, "9 ports, all active; Ethernet,
//     Port 1:                            InfiniBand; 10, 56, 100 Gb/s"
//       State: Active                  → job.ports_down = no
//       Rate: 100
//       Link layer: InfiniBand
//
//   mlx5_0 port 1 ==> ib0 (Down)       → job.port_interfaces = yes, "12 network interfaces down"
//
// ibstat(8), ibstatus(8) and ibv_devinfo(1) print the port's own state; ibdev2netdev that of the network
// interface above it, which is down wherever IPoIB is not configured.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// What lines of a kind say, each once. Equal lines are kept once and counted, so which port one is of
/// is known only where all say the same.
template <typename T>
std::set<std::string> words_of(const Job& job, std::string (*words)(const T& message)) {
  std::set<std::string> all;
  for_each_said<T>(job, [&](const Said<T>& said) { all.insert(words(said.message)); });
  return all;
}

/// "PORT_ACTIVE" and "ACTIVE" are "active".
std::set<std::string> port_states(const Job& job) {
  return words_of<IbstatState>(job, [](const IbstatState& line) {
    const std::string state = lower_case(line.state);
    return state.starts_with("port_") ? state.substr(5) : state;
  });
}

std::vector<Evidence> state_lines(const Job& job) {
  std::vector<Evidence> lines;
  for_each_said<IbstatState>(
      job, [&](const auto& said) { lines.push_back(evidence_of(said.record())); });
  return lines;
}

FactValue ports_listed(const Job& job, const Instance&) {
  const std::set<std::string> states = port_states(job);
  if (states.empty()) return unknown();
  std::set<int> rates;
  for_each_said<IbstatRate>(job, [&](const auto& said) { rates.insert(said.message.rate); });
  const std::set<std::string> links = words_of<IbstatLinkLayer>(
      job, [](const IbstatLinkLayer& line) { return std::string(line.link); });
  const uint64_t ports = count_lines<IbstatState>(job);
  FactValue value =
      yes(fmt::format("{}, {}{}", plural(ports, "port"),
                      ports > 1 && states.size() == 1 ? "all " : "", fmt::join(states, ", ")));
  if (!links.empty()) value.what += fmt::format("; {}", fmt::join(links, ", "));
  if (!rates.empty()) value.what += fmt::format("; {} Gb/s", fmt::join(rates, ", "));
  value.evidence = state_lines(job);
  return value;
}

FactValue ports_down(const Job& job, const Instance&) {
  const std::set<std::string> states = port_states(job);
  if (states.empty()) return unknown();
  if (!states.contains("down")) return no();
  const uint64_t ports = count_lines<IbstatState>(job);
  FactValue value = yes(fmt::format("some of {} as down", plural(ports, "port")));
  value.evidence = state_lines(job);
  if (states.size() > 1) return value;
  const std::set<std::string> physical = words_of<IbstatPhysical>(
      job, [](const IbstatPhysical& line) { return to_valid_utf8(line.state); });
  std::vector<std::string> devices;
  for_each_said<IbstatCa>(
      job, [&](const auto& said) { devices.push_back(to_valid_utf8(said.message.device)); });
  value.what = fmt::format("{0} of {0} ports", ports);
  if (devices.size() == ports)
    value.what += fmt::format(" ({})", few_of(devices, kMostNamed, ", "));
  value.what += " as down";
  if (physical.size() == 1) value.what += fmt::format(" and {}", *physical.begin());
  return value;
}

FactValue port_interfaces(const Job& job, const Instance&) {
  FactValue value = yes("");
  std::set<std::string> states;
  for_each_said<IbPort>(job, [&](const auto& said) {
    value.evidence.push_back(evidence_of(said.record()));
    states.insert(lower_case(said.message.state));
  });
  if (states.empty()) return unknown();
  const std::string all = plural(count_lines<IbPort>(job), "network interface");
  value.what = states.size() == 1 ? fmt::format("{} {}", all, *states.begin())
                                  : fmt::format("{}, some up and some down", all);
  return value;
}

constexpr std::array kPortListFacts = {
    // A listing shows ports of network adapters: how many, in which state, of which kind and rate.
    job_fact("job.ports_listed", ports_listed),
    // Some of them are down: which.
    job_fact("job.ports_down", ports_down),
    // A listing shows the network interfaces of RDMA devices: how many are up.
    job_fact("job.port_interfaces", port_interfaces),
};

}  // namespace

std::span<const Fact> port_list_facts() { return kPortListFacts; }

}  // namespace ncclog
