// Which software a run uses: NCCL, CUDA, the driver, PyTorch, plugins and the network that they
// bring.
//
//   NCCL version 2.28.9+cuda13.0        → NCCL: "2.28.9", CUDA of NCCL: "13.0"
//   cudaDriverVersion 13000             → CUDA driver: "13.0"
//   Using network AWS Libfabric         → network: "AWS Libfabric"

#include <fmt/format.h>

#include <map>

#include "diagnose/fact_answers.h"
#include "diagnose/process_versions.h"
#include "diagnose/trait_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kNetwork = "network";
constexpr std::string_view kNetPlugin = "network plugin";
constexpr std::string_view kGpuDirect = "GPU Direct RDMA";

void add_if_any(Topic topic, std::string_view name, const StatedValues& values, Traits& traits) {
  if (!values.empty()) traits.push_back(trait_of(topic, std::string(name), values));
}

/// Versions that the job lists; lines that name them are shown where there are some.
void add_listed(const Job& job, std::string_view name, Product product, const StatedValues& said,
                Traits& traits) {
  StatedValues values;
  for (const std::string& version : versions_of(job, product)) {
    const auto line = said.lines.find(version);
    values.add(version, line == said.lines.end() ? Evidence() : line->second);
  }
  add_if_any(Topic::Version, name, values, traits);
}

void add_nccl(const Job& job, Traits& traits) {
  StatedValues nccl;
  StatedValues cuda;
  for_each_said<NcclVersion>(job, [&](const Said<NcclVersion>& said) {
    nccl.add(std::string(said.message.version), evidence_of(said.record));
    cuda.add(std::string(said.message.cuda), evidence_of(said.record));
  });
  add_listed(job, "NCCL", Product::Nccl, nccl, traits);
  add_listed(job, "CUDA of NCCL", Product::Cuda, cuda, traits);
}

/// "13.0" for 13000.
std::string cuda_release(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void add_driver(const Job& job, Traits& traits) {
  StatedValues drivers;
  for_each_said<CudaDriverVersion>(job, [&](const Said<CudaDriverVersion>& said) {
    if (said.message.version < 0) return;
    drivers.add(cuda_release(said.message.version), evidence_of(said.record));
  });
  add_if_any(Topic::Version, "CUDA driver", drivers, traits);
}

void add_parts(const Job& job, Traits& traits) {
  StatedValues torch;
  for_each_said<TorchVersionLine>(job, [&](const Said<TorchVersionLine>& said) {
    torch.add(std::string(said.message.version), evidence_of(said.record));
  });
  add_listed(job, "PyTorch", Product::PyTorch, torch, traits);
  StatedValues sources;
  for_each_said<GitVersion>(job, [&](const Said<GitVersion>& said) {
    sources.add(std::string(said.message.commit), evidence_of(said.record));
  });
  add_if_any(Topic::Version, "source of NCCL", sources, traits);
  std::map<std::string, StatedValues> ofi;
  for_each_said<OfiVersion>(job, [&](const Said<OfiVersion>& said) {
    if (said.message.part == "CUDA driver") return;
    ofi[std::string(said.message.part)].add(std::string(said.message.version),
                                            evidence_of(said.record));
  });
  for (const auto& [part, values] : ofi) add_if_any(Topic::Version, part, values, traits);
}

void add_network_name(const Job& job, Traits& traits) {
  StatedValues networks;
  for_each_said<NetworkSelected>(job, [&](const Said<NetworkSelected>& said) {
    networks.add(std::string(said.message.network), evidence_of(said.record));
  });
  if (networks.empty() && !job.network.name.empty()) networks.add(job.network.name, {});
  add_if_any(Topic::Network, kNetwork, networks, traits);
}

/// "NET" and the other kinds of a network plugin keep their words, as do "TUNER", "ENV", …
std::string plugin_trait_name(std::string_view type) {
  return type == "NET" ? std::string(kNetPlugin) : std::string(type) + " plugin";
}

void add_plugins(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> plugins;
  for_each_said<PluginLoaded>(job, [&](const Said<PluginLoaded>& said) {
    const PluginLoaded& plugin = said.message;
    std::string value(plugin.name);
    if (!plugin.version.empty()) value += fmt::format(" ({})", plugin.version);
    plugins[plugin_trait_name(plugin.type)].add(std::move(value), evidence_of(said.record));
  });
  StatedValues& net = plugins[std::string(kNetPlugin)];
  if (net.empty() && !job.network.plugin.empty()) net.add(job.network.plugin, {});
  for (const auto& [name, values] : plugins) add_if_any(Topic::Network, name, values, traits);
}

void add_gpu_direct(const Job& job, Traits& traits) {
  StatedValues states;
  for_each_said<GpuDirect>(job, [&](const Said<GpuDirect>& said) {
    states.add(std::string(said.message.state), evidence_of(said.record));
  });
  add_if_any(Topic::Network, kGpuDirect, states, traits);
}

}  // namespace

void add_version_traits(const Job& job, Traits& traits) {
  add_nccl(job, traits);
  add_driver(job, traits);
  add_parts(job, traits);
}

Absence version_absence(const Job&, const Trait&) {
  return not_told("no line of its logs names the version");
}

void add_network_traits(const Job& job, Traits& traits) {
  add_network_name(job, traits);
  add_plugins(job, traits);
  add_gpu_direct(job, traits);
}

Absence network_absence(const Job& job, const Trait& other) {
  if (other.name == kNetwork) return not_told("no line of its logs says which network NCCL uses");
  if (other.name == kGpuDirect) return not_told("no line of its logs tells of GPU Direct RDMA");
  // NCCL says of every plugin whether it was found.
  if (other.name == kNetPlugin || !has_initialised(job)) {
    return not_told("no line of its logs tells of plugins");
  }
  return proven();
}

}  // namespace ncclog
