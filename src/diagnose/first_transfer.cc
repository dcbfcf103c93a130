#include "diagnose/first_transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/stop_evidence.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// What the log shows of the ways between GPUs.
struct GpuLinks {
  bool nvlink = false;
  bool pcie = false;
  std::string pcie_words;  ///< "the ring's paths are PHB".

  void add(std::string_view type, std::string_view whence) {
    if (type.starts_with("NV")) nvlink = true;
    constexpr std::string_view kPcie[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    if (std::find(std::begin(kPcie), std::end(kPcie), type) == std::end(kPcie)) return;
    pcie = true;
    if (pcie_words.empty()) pcie_words = fmt::format("{} {}", whence, type);
  }
};

/// "PHB/PIX" of a search: the part inside a host.
void add_searches(const Job& job, GpuLinks& links) {
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      for (const SearchedGraph& graph : section->graphs) {
        const std::string_view type = graph.type;
        if (graph.channels > 0) links.add(type.substr(0, type.find('/')), "NCCL's search says");
      }
    }
  }
}

void add_matrix(const Job& job, GpuLinks& links) {
  size_t gpus = 0;
  for_each_said<TopoMatrixRow>(job, [&](const auto&) { ++gpus; });
  for_each_said<TopoMatrixRow>(job, [&](const auto& said) {
    const auto cells = split_blanks(said.message.cells);
    for (size_t i = 0; i < std::min(gpus, cells.size()); ++i) {
      links.add(cells[i], "nvidia-smi topo -m says");
    }
  });
}

bool is_gpu(const SystemTopology& system, int node) {
  return system.nodes[static_cast<size_t>(node)].name.kind == "GPU";
}

void add_topologies(const Job& job, GpuLinks& links) {
  for (const HostTopology& topology : job.topologies) {
    for (const SystemPath& path : topology.system.paths) {
      if (path.from == path.to || !is_gpu(topology.system, path.from) ||
          !is_gpu(topology.system, path.to)) {
        continue;
      }
      links.add(path.type, "the topology says");
    }
  }
}

/// A connection via P2P/…; nullopt if none is logged.
std::optional<SourceRef> p2p_connection(const Job& job) {
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.connections.all) {
      if (key.path.starts_with("P2P")) return use.first;
    }
  }
  return std::nullopt;
}

}  // namespace

FactValue p2p_over_pcie(const Job& job, const Instance&) {
  const auto connection = p2p_connection(job);
  if (!connection) return unknown();
  GpuLinks links;
  add_searches(job, links);
  add_matrix(job, links);
  add_topologies(job, links);
  if (links.nvlink) return no();
  if (!links.pcie) return unknown();
  return yes(links.pcie_words, {{*connection, {}}});
}

namespace {

/// "all_reduce_perf printed no row"; empty if the last run has a row or none was begun.
std::string unmeasured(const Job& job) {
  if (job.nccl_tests.empty()) return {};
  const NcclTestsRun& run = job.nccl_tests.back();
  if (!run.rows.empty() || !run.busbw.empty()) return {};
  return fmt::format("{} printed no row", run.test.empty() ? "nccl-tests" : run.test);
}

bool prints_steps(const Job& job) {
  return std::any_of(job.markers.begin(), job.markers.end(),
                     [](const JobMarkers& input) { return input.total > 0; });
}

}  // namespace

FactValue stalled_from_start(const Job& job, const Instance&) {
  if (const std::string what = unmeasured(job); !what.empty()) {
    const auto stop = stop_evidence(job);
    if (!stop) return unknown();
    return yes(what, {stop->line});
  }
  if (prints_steps(job)) return no();
  std::vector<Evidence> lines;
  bool later = false;
  for_each_said<WatchdogTimeout>(job, [&](const Said<WatchdogTimeout>& said) {
    const int64_t seq = said.message.seq;
    later = later || seq < 1 || seq > 2;
    lines.push_back(evidence_of(said.record));
  });
  if (lines.empty()) return unknown();
  if (later) return no();
  return yes("the first calls timed out", {lines.front()});
}

}  // namespace ncclog
