#include "diagnose/perf/perf_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "diagnose/perf/curve.h"
#include "diagnose/perf/perf_causes.h"
#include "diagnose/perf/perf_words.h"

namespace ncclog {
namespace {

// What a curve comes to, of which only the end counts.

struct CurveEnd {
  double best = -1;       ///< GB/s
  int64_t best_at = -1;
  double last = -1;       ///< At the largest size.
  int64_t last_at = -1;
  int64_t first_at = -1;
  double plateau = -1;    ///< Where it leads to; the best where it does not rise any more.
  bool climbing = false;
  bool one_size = false;
  bool falls = false;     ///< To less than half of its best.
  bool dips = false;      ///< Its best is not its end, by more than a tenth.
  int64_t wrong = 0;
};

CurveEnd read_end(const Measurement& measurement) {
  const Curve curve = read_curve(measurement);
  CurveEnd end;
  end.wrong = std::max<int64_t>(curve.wrong, 0);
  if (!(curve.peak > 0) || !std::isfinite(curve.peak)) return end;
  end.best = end.plateau = curve.peak;
  end.best_at = curve.peak_at;
  std::vector<const CurveSize*> sizes;
  for (const CurveSize& size : curve.sizes) {
    if (size.bytes > 0 && size.busbw > 0) sizes.push_back(&size);
  }
  end.one_size = sizes.size() <= 1;
  if (sizes.empty()) return end;
  for (const CurveSize& size : curve.sizes) {
    if (size.bytes > 0 && end.first_at < 0) end.first_at = size.bytes;
  }
  end.last_at = sizes.back()->bytes;
  end.last = sizes.back()->busbw;
  end.climbing = curve.is_climbing;
  constexpr double kMostBeyond = 1.25;  // A few rows do not carry further than that.
  if (end.climbing && curve.asymptote > 0) {
    end.plateau = std::clamp(curve.asymptote, end.best, kMostBeyond * end.best);
  }
  constexpr int64_t kSmall = 1 << 20;  // Below, latency decides.
  end.falls = end.best_at >= kSmall && end.last < end.best / 2;
  end.dips = !end.falls && end.best_at >= kSmall && end.last < 0.9 * end.best;
  return end;
}

/// Share of `busbw` that a size shows where a call costs some time to begin with: 73 us on 8 H200
/// (published by size), 340 us on two hosts of 8 H100, 570 us on ten.
double share_at(int64_t bytes, double busbw, double factor, int nranks, bool within) {
  constexpr double kWithin = 73;
  constexpr double kBetween = 270;
  constexpr double kPerRank = 4;
  const double start_us = within ? kWithin : kBetween + kPerRank * std::clamp(nranks, 2, 512);
  const double moving_us = static_cast<double>(bytes) / (busbw / factor) / 1e3;
  return moving_us / (start_us + moving_us);
}

// What the machine could give.

/// How well the network is known, the best first.
enum class Known { Said, Type, Typical, Fitted, No };

/// NICs of one host that take part.
struct HostNetwork {
  Known known = Known::No;
  double bandwidth = -1;  ///< GB/s
  int nics = -1;
  double gbits = -1;      ///< Of one.
  double best = -1;       ///< GB/s of AllReduce over many such hosts.
  double normal = 0.75;   ///< Share from which a curve is normal.
  std::string source;
  std::vector<Evidence> evidence;
};

/// GPUs of one host that are neighbours of a NIC each use that one: few GPUs, few NICs.
int used_nics(int nics, int per_host) {
  constexpr int kWholeHost = 8;
  return per_host <= 0 || per_host >= kWholeHost ? nics : std::min(nics, per_host);
}

/// Of a known kind of host the share that belongs to the GPUs which take part.
int used_nics(const HostType& type, int per_host) {
  if (per_host <= 0 || type.gpus <= 0 || per_host >= type.gpus) return type.nics;
  return std::max(1, type.nics * per_host / type.gpus);
}

HostNetwork known_network(const Machine& machine) {
  HostNetwork network;
  network.normal = path_factor("normal-nic");
  const int per_host = machine.per_host();
  if (machine.nics > 0 && machine.nic_gbits > 0) {
    network.known = Known::Said;
    network.nics = used_nics(machine.nics, per_host);
    network.gbits = machine.nic_gbits;
    network.source = "NICs and rates that lines list";
    network.evidence = machine.nic_lines;
  } else if (machine.type != nullptr) {
    network.known = Known::Type;
    network.nics = used_nics(*machine.type, per_host);
    if (machine.nics > 0) network.nics = std::min(network.nics, machine.nics);
    network.gbits = machine.type->nic_gbits;
    network.best = machine.type->best;
    network.source = machine.type->source;
  } else if (machine.searched.between > 0) {
    network.known = Known::Said;
    network.bandwidth = machine.searched.between;
    network.normal = path_factor("normal-searched");
    network.source = "NCCL's search for rings";
    network.evidence = {machine.searched.line};
  } else if (machine.gpu != nullptr && machine.gpu->nic_gbits > 0 && per_host > 0 &&
             (machine.nics < 0 || (machine.nics == per_host && per_host == 8))) {
    network.known = Known::Typical;
    network.nics = per_host;
    network.gbits = machine.gpu->nic_gbits;
    network.source = "what most hosts with such GPUs have";
  }
  if (network.bandwidth < 0 && network.nics > 0) {
    network.bandwidth = network.nics * network.gbits / 8;
  }
  return network;
}

/// A machine's ceilings for the operation, and what is expected of it.
struct Expectation {
  std::vector<Ceiling> ceilings;
  Ceiling deciding;             ///< The lowest of those on the way; busbw -1: unknown.
  HostNetwork network;
  double best = -1;             ///< What such machines have been seen to reach.
  bool within = false;          ///< Inside one host, or one NVLink domain.
  double line = -1;             ///< Of a host's NICs by rings.
  double ring = -1;             ///< NVLink without the switch's help.

  bool known() const { return deciding.busbw > 0; }
};

/// NVLink joins the hosts of a GB200 or GB300 rack; up to 72 GPUs, 4 a host.
bool is_nvlink_domain(const Machine& machine) {
  constexpr int kRack = 72;
  const bool is_rack_model =
      machine.gpu != nullptr && (machine.gpu->words == "gb200" || machine.gpu->words == "gb300");
  return machine.mnnvl || (is_rack_model && machine.nranks <= kRack);
}

bool is_several_domains(const Machine& machine) {
  return machine.gpu != nullptr && machine.gpu->words.starts_with("gb") &&
         machine.gpu->links == GpuLinks::NVLink && !is_nvlink_domain(machine);
}

std::string gpus_text(const Machine& machine, int gpus) {
  return fmt::format("{} x {}", gpus, upper_case(machine.gpu->words));
}

/// What GPUs of one host, or NVLink domain, exchange.
void expect_within(const Machine& machine, std::string_view op, int gpus, double reached,
                   Expectation& expected) {
  if (machine.gpu == nullptr || gpus < 2) return;
  const GpuModel& gpu = *machine.gpu;
  const RingFigure ring = ring_in_host(gpu, gpus);
  // Buffers that are registered let the switch multicast for other operations too.
  const bool beyond_rings = reached > path_factor("carried") * ring.usual;
  const double nvls = nvls_of(gpu, beyond_rings ? "AllReduce" : op, gpus);
  expected.ring = ring.usual;
  if (gpu.links == GpuLinks::PCIe) {
    Ceiling slot = {Stage::PCIe, ring.usual, ring.usual * path_factor("normal-pcie"),
                    fmt::format("a PCIe slot of {} gives", upper_case(gpu.words)),
                    std::string(gpu.source)};
    if (machine.searched.within > 0 && expected.within) {
      slot.busbw = machine.searched.within;
      slot.normal_from = std::min(slot.normal_from, slot.busbw * path_factor("normal-searched"));
      slot.why = fmt::format("NCCL reckons with ({})", machine.searched.type);
      slot.source = "NCCL's search for rings";
      slot.evidence = {machine.searched.line};
      slot.in_use = true;
    }
    expected.ceilings.push_back(slot);
    expected.deciding = slot;
    return;
  }
  Ceiling rings = {Stage::NVLink, ring.usual, ring.least * path_factor("normal-nvlink"),
                   fmt::format("{} give by rings over {}", gpus_text(machine, gpus),
                               gpu.links == GpuLinks::XGMI ? "XGMI" : "NVLink"),
                   std::string(gpu.source)};
  rings.in_use = machine.has_p2p;
  if (machine.searched.within > 0 && expected.within && machine.searched.type.starts_with("NV")) {
    rings.evidence = {machine.searched.line};
  }
  expected.ceilings.push_back(rings);
  expected.deciding = rings;
  const bool switched_off =
      machine.setting("NCCL_NVLS_ENABLE") != nullptr && !machine.is_on("NCCL_NVLS_ENABLE");
  if (nvls <= 0 || machine.nvls == false || switched_off) return;
  Ceiling by_switch = {Stage::NVLS, nvls, nvls * path_factor("normal-nvls"),
                       fmt::format("{} give by NVLink SHARP", gpus_text(machine, gpus)),
                       std::string(gpu.source), machine.nvls_lines};
  by_switch.in_use = machine.nvls == true;
  // Where no line speaks of it, an old release or a virtual machine may do without.
  if (!by_switch.in_use) by_switch.normal_from = rings.normal_from;
  expected.ceilings.push_back(by_switch);
  expected.deciding = by_switch;
}

std::string nics_text(const HostNetwork& network) {
  if (network.nics <= 0) return fmt::format("{} GB/s between hosts", bandwidth_text(network.bandwidth));
  return fmt::format("{} NIC{} x {:g} Gb/s a host", network.nics, network.nics == 1 ? "" : "s",
                     network.gbits);
}

/// What NICs let pass; by trees where rings cannot have carried what was reached.
Ceiling over_network(const Machine& machine, std::string_view op, double reached,
                     HostNetwork& network, double& line) {
  const int nhosts = std::max(machine.nhosts, 2);
  const int nranks = std::max(machine.nranks, 2);
  // A guess that is too low is no guess: such hosts have faster NICs than most.
  const auto most = [&](double bandwidth) {
    return op == "AllReduce" ? by_trees_over_nics(nranks, nhosts, bandwidth)
                             : over_nics(op, nranks, nhosts, bandwidth);
  };
  constexpr double kFastest = 800;
  while (network.known == Known::Typical && network.gbits < kFastest &&
         reached > path_factor("carried") * most(network.bandwidth)) {
    network.gbits *= 2;
    network.bandwidth *= 2;
  }
  line = over_nics(op, nranks, nhosts, network.bandwidth);
  Ceiling nics = {Stage::NIC, line, line * network.normal, nics_text(network) + " give",
                  network.source, network.evidence};
  nics.in_use = network.known == Known::Said;
  if (op == "AllReduce" && reached > path_factor("carried") * line) {
    nics.busbw = by_trees_over_nics(nranks, nhosts, network.bandwidth);
    nics.why = nics_text(network) + " give by trees";
  }
  return nics;
}

/// NICs whose number is known and whose rate is not: the standard rate that explains the value.
HostNetwork fitted_rate(const Machine& machine, std::string_view op, double reached) {
  HostNetwork network;
  network.nics = used_nics(machine.nics, machine.per_host());
  network.normal = path_factor("normal-nic");
  network.source = "NICs that lines list; the rate is what explains the value";
  network.evidence = machine.nic_lines;
  const int nhosts = std::max(machine.nhosts, 2);
  const double by_ring = over_nics(op, machine.nranks, nhosts, 1);
  const double by_tree =
      op == "AllReduce" ? by_trees_over_nics(machine.nranks, nhosts, 1) : by_ring;
  constexpr double kGoodFit = 0.8;
  for (const double factor : {by_ring, by_tree}) {
    const double needed = reached / factor;
    const double gbits = nic_rate_that_carries(needed, network.nics);
    if (gbits < 100) continue;  // NICs of that size are no HPC fabric: it may as well be a fault.
    const double rate = network.nics * gbits / 8;
    if (network.known == Known::Fitted && needed < kGoodFit * rate) continue;
    network.known = Known::Fitted;
    network.gbits = gbits;
    network.bandwidth = rate;
    if (needed >= kGoodFit * rate) break;
  }
  return network;
}

void expect_between(const Machine& machine, std::string_view op, double reached,
                    Expectation& expected) {
  HostNetwork network = known_network(machine);
  if (network.known == Known::No && machine.nics > 0) {
    network = fitted_rate(machine, op, reached);
  }
  if (network.known == Known::No) {
    expected.deciding = {};
    return;
  }
  const Ceiling nics = over_network(machine, op, reached, network, expected.line);
  expected.network = network;
  expected.ceilings.push_back(nics);
  if (network.best > 0 && op == "AllReduce") expected.best = network.best;
  const bool is_local_less = expected.known() && expected.deciding.busbw < nics.busbw;
  if (!is_local_less) expected.deciding = nics;
  // Links inside a host are shared with what comes over NICs: the rate of NICs decides what is low.
  expected.deciding.normal_from =
      std::min(expected.deciding.normal_from > 0 && is_local_less ? expected.deciding.normal_from
                                                                  : nics.normal_from,
               nics.normal_from);
  if (expected.best > 0) {
    expected.deciding.normal_from =
        std::min(expected.deciding.normal_from, expected.best * path_factor("normal-best"));
  }
}

/// Sockets where nothing else is to be had.
void expect_sockets(const Machine& machine, Expectation& expected) {
  const bool is_tcp_type = machine.type != nullptr && machine.type->is_tcp;
  const double rate =
      is_tcp_type ? machine.type->network() : std::max(machine.searched.between, -1.0);
  if (rate <= 0) return;
  expected.deciding = {Stage::TCP, rate, rate * path_factor("normal-tcp"),
                       is_tcp_type ? fmt::format("Ethernet of {} gives", machine.type_by)
                                   : std::string("NCCL reckons with between hosts"),
                       is_tcp_type ? std::string(machine.type->source) : "NCCL's search for rings",
                       machine.net_lines};
  expected.deciding.in_use = true;
  expected.ceilings.push_back(expected.deciding);
}

/// Such hosts have nothing but Ethernet, as far as lines and names go.
bool has_sockets_alone(const Machine& machine) {
  if (machine.net != NetKind::TCP || machine.has_rdma_nics) return false;
  if (machine.type != nullptr) return machine.type->is_tcp;
  // Who switches RDMA off may have it, but on hosts with cards of that age.
  constexpr int kOld = 3;
  if (machine.gpu != nullptr && machine.gpu->pcie <= kOld) return !machine.gpu->has_rdma;
  if (machine.is_on("NCCL_IB_DISABLE")) return false;
  if (machine.gpu != nullptr) return !machine.gpu->has_rdma;
  return machine.lacks_rdma;
}

Expectation expect(const Machine& machine, std::string_view op, double reached) {
  Expectation expected;
  const bool in_domain = is_nvlink_domain(machine) && machine.nhosts != 1;
  // Where nothing but NCCL's search is known, one host is taken for all.
  const bool seems_one = machine.nhosts < 0 && machine.hosts_seen == 1 && machine.gpu == nullptr;
  expected.within =
      machine.nhosts == 1 || in_domain || (seems_one && machine.searched.within > 0);
  if (is_several_domains(machine) || machine.shares_gpu) return expected;
  if (expected.within) {
    expect_within(machine, op, machine.nranks, reached, expected);
    // NCCL's own words, where no name tells the links.
    if (!expected.known() && machine.searched.within > 0) {
      expected.deciding = {machine.searched.type.starts_with("NV") ? Stage::NVLink : Stage::PCIe,
                           machine.searched.within,
                           machine.searched.within * path_factor("normal-searched"),
                           fmt::format("NCCL reckons with ({})", machine.searched.type),
                           "NCCL's search for rings",
                           {machine.searched.line},
                           true};
      expected.ceilings.push_back(expected.deciding);
    }
    return expected;
  }
  if (machine.nhosts < 2) return expected;
  expect_within(machine, op, machine.per_host(), reached, expected);
  // A PCIe slot is no bound for several NICs of a host.
  if (expected.deciding.stage == Stage::PCIe) expected.deciding = {};
  if (has_sockets_alone(machine)) {
    expected.deciding = {};
    expect_sockets(machine, expected);
  } else {
    expect_between(machine, op, reached, expected);
  }
  return expected;
}

// What explains a value where nothing names the machine.
//
//   43.3 GB/s of 8 ranks    87 % of 50: one NIC of 400 Gb/s or two of 200 a host
//
// Sockets and host memory end below 40 GB/s, so that what is above passed RDMA NICs or NVLink, and
// near the rate of a common set of NICs it is normal. What is lower may be anything.

Ceiling explained_by_rates(const Machine& machine, std::string_view op, double reached) {
  if (reached < path_factor("surely-rdma")) return {};
  std::vector<Ceiling> candidates;
  const bool one_host = machine.nranks > 0 && machine.nranks <= 8 && machine.nhosts < 2;
  const auto add = [&](Stage stage, double busbw, std::string why) {
    candidates.push_back({stage, busbw, busbw * path_factor("normal-nic"), std::move(why),
                          "rates of common NICs and published figures of NVLink"});
  };
  // Two hosts of as many ranks may have used trees.
  const bool may_be_two = machine.nranks % 2 == 0 && machine.nranks <= 16 && machine.nhosts < 3;
  constexpr int kTwoHosts = 16;
  if (op == "AllReduce" && (machine.nvls_tree || one_host || machine.mnnvl ||
                            (may_be_two && machine.nranks == kTwoHosts))) {
    add(Stage::NVLS, 480, "H100 or H200 give by NVLink SHARP");
    add(Stage::NVLS, 840, "B200 or B300 give by NVLink SHARP");
  }
  if (one_host) {
    add(Stage::NVLink, 130, "V100 give by rings over NVLink");
    add(Stage::NVLink, 235, "A100 give by rings over NVLink");
    add(Stage::NVLink, 370, "H100 or H200 give by rings over NVLink");
    add(Stage::NVLink, 680, "B200 give by rings over NVLink");
  }
  if (!machine.nvls_tree && machine.nhosts != 1) {
    for (const double network : {50.0, 100.0, 200.0, 400.0, 800.0}) {
      add(Stage::NIC, network, fmt::format("{:g} Gb/s of NICs a host give", network * 8));
    }
  }
  std::vector<Ceiling> by_trees;
  for (const double network : {25.0, 50.0, 100.0, 200.0, 400.0}) {
    if (op != "AllReduce" || !may_be_two || machine.nvls_tree || machine.nranks < 2) break;
    const double busbw = by_trees_over_nics(machine.nranks, 2, network);
    by_trees.push_back({Stage::NIC, busbw, busbw * path_factor("normal-nic"),
                        fmt::format("{:g} Gb/s of NICs a host give by trees on two hosts",
                                    network * 8),
                        "NVIDIA/nccl#812"});
  }
  const auto nearest = [&](std::vector<Ceiling>& all, double fit) {
    std::ranges::sort(all, {}, &Ceiling::busbw);
    for (const Ceiling& each : all) {
      if (reached > path_factor("carried") * each.busbw) continue;
      return reached >= fit * each.busbw ? each : Ceiling{};
    }
    return Ceiling{};
  };
  constexpr double kGoodFit = 0.8;
  Ceiling found = nearest(candidates, kGoodFit);
  if (found.busbw < 0) found = nearest(by_trees, kGoodFit);
  if (found.busbw < 0) found = nearest(candidates, path_factor("normal-nic"));
  return found;
}

// The verdict.

std::string_view op_name(const Measurement& measurement) {
  return measurement.op.empty() ? std::string_view("The test") : std::string_view(measurement.op);
}

std::string subject_of(const Measurement& measurement, const Machine& machine) {
  std::string text(op_name(measurement));
  if (machine.nranks > 0) text += fmt::format(" of {}", plural(machine.nranks, "rank"));
  if (machine.nhosts > 0) text += fmt::format(" on {}", plural(machine.nhosts, "host"));
  return text;
}

/// Per cent below.
int below(double reached, double of) { return static_cast<int>(std::lround(100 * (1 - reached / of))); }

void add(std::vector<std::string>& to, std::vector<std::string> words) {
  for (std::string& word : words) {
    if (std::ranges::find(to, word) == to.end()) to.push_back(std::move(word));
  }
}

struct Case {
  const Measurement& measurement;
  const Machine& machine;
  CurveEnd curve;
  Expectation expected;
  std::vector<PerfCause> causes;
};

void add_row(const Measurement& measurement, int64_t bytes, PerfVerdict& verdict) {
  const MeasuredPoint* best = nullptr;
  for (const MeasuredPoint& point : measurement.points) {
    if (point.bytes == bytes && (best == nullptr || point.busbw() > best->busbw())) best = &point;
  }
  if (best != nullptr && best->where.line > 0) verdict.evidence.push_back({best->where, best->text});
}

/// What a careless reader would take wrongly.
void add_notes(const Case& of, PerfVerdict& verdict) {
  const CurveEnd& curve = of.curve;
  const Measurement& measurement = of.measurement;
  const Machine& machine = of.machine;
  const auto note = [&](std::string_view key, const PerfFigures& figures = {}) {
    add(verdict.notes, perf_words("note", key, figures));
  };
  if (curve.wrong > 0) note("wrong", {{"figure", std::to_string(curve.wrong)}});
  const std::string size = bytes_text(curve.last_at);
  if (curve.falls) {
    note("falls", {{"figure", bandwidth_text(curve.best)}, {"last", bandwidth_text(curve.last)}});
  } else if (curve.dips) {
    note("dip", {{"size", bytes_text(curve.best_at)}, {"last", bandwidth_text(curve.last)}});
  }
  if (curve.one_size) note("one-size", {{"size", size}});
  if (curve.climbing) note("climbing", {{"size", size}});
  constexpr int64_t kSmall = int64_t{64} << 20;
  if (curve.last_at < kSmall) note("small-sizes", {{"size", size}});
  constexpr double kMisleading = 0.7;
  if (measurement.mean_busbw > 0 && measurement.mean_busbw < kMisleading * curve.best) {
    note("average", {{"figure", bandwidth_text(measurement.mean_busbw)},
                     {"from", bytes_text(curve.first_at)}});
    add(verdict.do_not, perf_words("not", "average"));
  }
  const double line = of.expected.line;
  if (line > 0 && curve.best > path_factor("carried") * line && verdict.stage == Stage::NIC) {
    note("over-line",
         {{"figure", bandwidth_text(line)}, {"hosts", std::to_string(machine.nhosts)}});
  }
  if (of.expected.within && machine.gpu != nullptr && machine.gpu->nvls > 0) {
    const PerfFigures figures = {{"op", measurement.op},
                                 {"figure", bandwidth_text(machine.gpu->ring)},
                                 {"usual", bandwidth_text(machine.gpu->nvls)}};
    if (measurement.op != "AllReduce" && !measurement.op.empty()) {
      note("no-nvls-op", figures);
    } else if (machine.nvls == false || machine.nranks < machine.gpu->nvls_from) {
      note("no-nvls", figures);
    } else if (curve.best < 0.85 * machine.gpu->nvls && verdict.answer == PerfAnswer::Normal) {
      note("nvls-unused", figures);
    }
  }
  if (measurement.nranks_by_ratio && machine.nranks > 0) {
    note("ranks-by-ratio", {{"figure", std::to_string(machine.nranks)}});
  }
  if (machine.per_host() == 1 && machine.nhosts > 1 && machine.nics != 1) note("one-gpu-a-host");
  if (machine.shares_gpu && verdict.stage != Stage::Rank) note("shared-gpu");
  if (of.expected.network.known == Known::Fitted) {
    note("nic-rate", {{"figure", fmt::format("{:g}", of.expected.network.gbits)}});
  }
}

void set_normal(const Ceiling& ceiling, const Case& of, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = ceiling.stage;
  verdict.ceiling = ceiling.busbw;
  verdict.machine_ceiling = ceiling.busbw;
  verdict.headline = fmt::format(
      "{}: {} GB/s of the {} that {}: normal", subject_of(of.measurement, of.machine),
      bandwidth_text(of.curve.best), bandwidth_text(ceiling.busbw), ceiling.why);
  verdict.evidence.insert(verdict.evidence.end(), ceiling.evidence.begin(), ceiling.evidence.end());
  for (const PerfCause& cause : of.causes) {
    const auto setting = cause.figures.find("setting");
    if (setting == cause.figures.end()) continue;
    add(verdict.notes, perf_words("note", "set", {{"setting", setting->second}}));
  }
}

/// What to capture so that the next log tells more.
void add_capture(const Case& of, PerfVerdict& verdict) {
  const Machine& machine = of.machine;
  const auto capture = [&](std::string_view key) {
    add(verdict.capture, perf_words("capture", key));
  };
  if (machine.gpu == nullptr && of.measurement.gpus.empty()) capture("ranks");
  if (machine.net == NetKind::Unknown && !of.expected.within) capture("transport");
  if (machine.searched.within < 0) capture("graph");
  if (machine.nics > 0 && machine.nic_gbits < 0 && !of.expected.within) capture("rates");
  constexpr int64_t kEnough = int64_t{1} << 30;
  if (of.curve.last_at > 0 && of.curve.last_at < kEnough) capture("sizes");
}

void set_limited(const PerfCause& cause, const Case& of, PerfVerdict& verdict) {
  const Expectation& expected = of.expected;
  verdict.answer = PerfAnswer::Limited;
  verdict.stage = cause.stage;
  verdict.machine_ceiling = expected.best > 0 ? expected.best : expected.deciding.busbw;
  verdict.ceiling = cause.path;
  if (cause.key == "few-nics") {
    verdict.ceiling = expected.deciding.busbw;
    verdict.machine_ceiling = cause.path;
  }
  if (cause.stage == Stage::Protocol && is_on_loopback(of.machine)) {
    verdict.ceiling = verdict.machine_ceiling = path_factor("loopback-tcp");
  }
  if (cause.path > 0 && cause.key != "few-nics") {
    verdict.ceilings.push_back({cause.stage, cause.path, -1,
                                "is left by " + join(perf_words("cause", cause.key, cause.figures), ""),
                                cause.source, cause.evidence, true});
  }
  const double of_what = verdict.machine_ceiling;
  verdict.headline = fmt::format(
      "{}: {} GB/s{}, limited by {}", subject_of(of.measurement, of.machine),
      bandwidth_text(of.curve.best),
      of_what > 0 ? fmt::format(", {} % below the {} of {}", below(of.curve.best, of_what),
                                bandwidth_text(of_what),
                                cause.stage == Stage::Protocol && is_on_loopback(of.machine)
                                    ? "Simple on the same path"
                                    : "this machine")
                  : std::string(),
      join(perf_words("cause", cause.key, cause.figures), ""));
  for (const Evidence& line : cause.evidence) {
    if (line.where.line > 0) verdict.evidence.push_back(line);
  }
  add(verdict.attempts, perf_words("try", cause.key, cause.figures));
  if (cause.stage == Stage::TCP || cause.stage == Stage::SHM || cause.stage == Stage::Protocol) {
    add(verdict.do_not, perf_words("not", "fabric"));
  }
  if (cause.stage == Stage::Channels) add(verdict.do_not, perf_words("not", "channels"));
}

void set_below(double ceiling, double machine_ceiling, const std::string& of_what, const Case& of,
               PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::Below;
  verdict.ceiling = ceiling;
  verdict.machine_ceiling = machine_ceiling;
  const bool ends_lower = of.curve.falls || of.curve.dips;
  verdict.headline = fmt::format(
      "{}: {} GB/s{}, {} % below the {} {}{}; these lines do not tell which stage or host it is",
      subject_of(of.measurement, of.machine), bandwidth_text(of.curve.best),
      ends_lower ? " at best" : "", below(of.curve.best, ceiling), bandwidth_text(ceiling), of_what,
      ends_lower ? fmt::format(", and {} % below it at {}", below(of.curve.last, ceiling),
                               bytes_text(of.curve.last_at))
                 : "");
  if (of.curve.falls) add(verdict.attempts, perf_words("try", "falls"));
  const bool over_pcie = of.expected.deciding.stage == Stage::PCIe;
  add(verdict.attempts, perf_words("try", !of.expected.within ? "below-between"
                                          : over_pcie        ? "below-pcie"
                                                             : "below-within"));
  constexpr double kHalf = 0.6;
  if (!of.expected.within && of.curve.best > 0.4 * ceiling && of.curve.best < kHalf * ceiling) {
    add(verdict.attempts, perf_words("try", "below-acs"));
  }
  constexpr int kMany = 8;
  if (of.machine.nhosts > kMany) add(verdict.notes, perf_words("note", "scale"));
  if (of.machine.nhosts > 1) {
    add(verdict.do_not, perf_words("not", "slow-host"));
    add(verdict.capture, perf_words("capture", "pairs"));
    add(verdict.capture, perf_words("capture", "repeat"));
  }
  add_capture(of, verdict);
}

void set_cannot_tell(const std::string& why, const Case& of, PerfVerdict& verdict) {
  verdict.answer = PerfAnswer::CannotTell;
  verdict.headline =
      fmt::format("{}: {} GB/s; {}", subject_of(of.measurement, of.machine),
                  bandwidth_text(std::max(of.curve.best, 0.0)), why);
  add_capture(of, verdict);
}

/// Nothing was moved, or nothing was measured.
bool judge_no_test(const Case& of, PerfVerdict& verdict) {
  if (of.machine.nranks == 1) {
    const int lone = of.measurement.lone_processes;
    set_cannot_tell(
        lone > 1 ? fmt::format("cannot tell: {} processes ran the test each for itself, with one "
                               "rank, as a build without MPI does",
                               lone)
                 : std::string("cannot tell: with one rank no data are moved, so this is no test of "
                               "communication"),
        of, verdict);
    verdict.capture.clear();
    add(verdict.attempts, perf_words("try", "one-rank"));
    return true;
  }
  if (of.curve.best > 0) return false;
  set_cannot_tell("cannot tell: no row has a bandwidth", of, verdict);
  return true;
}

/// Racks of NVLink that NICs join: what between them decides is known of no machine yet.
bool judge_domains(const Case& of, PerfVerdict& verdict) {
  if (!is_several_domains(of.machine)) return false;
  constexpr int kGpusAHost = 4;
  const double nics = kGpusAHost * of.machine.gpu->nic_gbits / 8;
  if (of.curve.plateau < nics) {
    set_cannot_tell("cannot tell: for several racks of NVLink no figure is published", of, verdict);
    return true;
  }
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = Stage::NIC;
  verdict.headline = fmt::format(
      "{}: {} GB/s over several racks of NVLink, more than the {} GB/s of a host's NICs: normal, as "
      "far as figures are published",
      subject_of(of.measurement, of.machine), bandwidth_text(of.curve.best), bandwidth_text(nics));
  return true;
}

/// Hosts with one GPU whose EFA cannot reach its memory.
bool judge_efa_without_gdr(const Case& of, PerfVerdict& verdict) {
  const Machine& machine = of.machine;
  const bool is_efa = machine.provider == "efa" ||
                      (machine.provider.empty() && machine.net_name == "AWS Libfabric");
  if (!is_efa || machine.slingshot || machine.gdr == true || machine.gpu != nullptr || machine.type != nullptr || machine.nranks > 4) return false;
  const double usual = path_factor("efa-without-gdr");
  if (of.curve.best < path_factor("normal-nic") * usual || of.curve.best > 2 * usual) return false;
  verdict.answer = PerfAnswer::Normal;
  verdict.stage = Stage::NICWithoutGDR;
  verdict.headline = fmt::format(
      "{}: {} GB/s over EFA, as hosts with one GPU and data staged in host memory give: normal",
      subject_of(of.measurement, machine), bandwidth_text(of.curve.best));
  verdict.evidence.insert(verdict.evidence.end(), machine.nic_lines.begin(),
                          machine.nic_lines.end());
  return true;
}

/// What most such hosts have is a guess: only what is below the least of them is accused.
void judge_typical(const Case& of, PerfVerdict& verdict) {
  const Ceiling& usual = of.expected.deciding;
  // Hosts with a quarter of the usual network are sold too.
  constexpr double kLeast = 0.25;
  const double least = kLeast * of.expected.line;
  if (of.curve.falls || of.curve.best < path_factor("normal-nic") * least) {
    const double carried = std::max(least, of.curve.best);
    set_below(carried, usual.busbw, "that the slowest network of such hosts gives", of, verdict);
    return;
  }
  set_cannot_tell(
      fmt::format("cannot tell: {} usually, and the logs do not tell what these hosts have "
                  "({} % of that)",
                  usual.why, 100 - below(of.curve.best, usual.busbw)),
      of, verdict);
  verdict.machine_ceiling = usual.busbw;
  if (of.curve.best < 0.6 * usual.busbw) add(verdict.notes, perf_words("note", "half"));
}

/// No ceiling: the value itself may still say something.
void judge_unknown_machine(const Case& of, PerfVerdict& verdict) {
  const Machine& machine = of.machine;
  if (has_sockets_alone(machine) && machine.nhosts != 1) {
    // Below, not even Ethernet of 10 Gb/s.
    constexpr double kSlowest = 0.5;
    if (of.curve.best >= kSlowest && !of.curve.falls) {
      verdict.answer = PerfAnswer::Normal;
      verdict.stage = Stage::TCP;
      verdict.headline = fmt::format(
          "{}: {} GB/s over TCP sockets, which is all that these hosts show: normal",
          subject_of(of.measurement, machine), bandwidth_text(of.curve.best));
      verdict.evidence = machine.net_lines;
      add(verdict.capture, perf_words("capture", "graph"));
      return;
    }
  }
  const double reached = of.curve.plateau;
  const Ceiling explained = explained_by_rates(machine, of.measurement.op, reached);
  if (explained.busbw > 0 && !of.curve.falls && !machine.shares_gpu && of.causes.empty()) {
    set_normal(explained, of, verdict);
    add(verdict.notes, perf_words("note", "fitted",
                                  {{"figure", std::to_string(100 - below(reached, explained.busbw))},
                                   {"why", explained.why.substr(0, explained.why.find(" give"))}}));
    add_capture(of, verdict);
    return;
  }
  // Every process names a network, one that it does not need as well.
  constexpr double kSurelyNotLocal = 5;
  const bool may_be_local = machine.nhosts < 0 && machine.hosts_seen < 2 && !machine.has_net &&
                            of.curve.best >= kSurelyNotLocal;
  const auto cause = std::ranges::find_if(of.causes, [&](const PerfCause& each) {
    return !(may_be_local && each.stage == Stage::TCP && each.key.starts_with("tcp"));
  });
  if (cause != of.causes.end()) {
    set_limited(*cause, of, verdict);
    add_capture(of, verdict);
    return;
  }
  if (of.curve.falls) {
    set_cannot_tell("it falls as messages grow, which no healthy path does; cannot tell why", of,
                    verdict);
    add(verdict.attempts, perf_words("try", "falls"));
    return;
  }
  set_cannot_tell("cannot tell: nothing in the logs names the machine or its links", of, verdict);
}

/// A cause that a line proves may take so much that even a normal-looking value is its own.
bool is_at_its_limit(const PerfCause& cause, const Case& of) {
  if (cause.key == "pcie") return of.curve.best <= 1.1 * cause.path;
  if (cause.key == "few-nics") return of.curve.best < 0.75 * cause.path;
  if (cause.key == "algo") {
    return cause.path > 0 && cause.path < 0.85 * of.expected.deciding.busbw &&
           of.curve.best < 0.85 * of.expected.deciding.busbw;
  }
  return false;
}

void judge_by_ceiling(const Case& of, PerfVerdict& verdict) {
  const Expectation& expected = of.expected;
  const Ceiling& deciding = expected.deciding;
  const int nranks = std::max(of.machine.nranks, 2);
  const double factor = std::max(1.0, bus_factor(of.measurement.op, nranks));
  const double share =
      share_at(of.curve.last_at, deciding.busbw, factor, nranks, expected.within);
  const bool is_high = !of.curve.falls && (of.curve.plateau >= deciding.normal_from ||
                                           of.curve.best >= deciding.normal_from * share);
  for (const PerfCause& cause : of.causes) {
    if (is_at_its_limit(cause, of)) return set_limited(cause, of, verdict);
  }
  if (is_high) return set_normal(deciding, of, verdict);
  if (of.measurement.in_training) {
    return set_cannot_tell(
        "cannot tell: calls of a training were timed, and what a rank waits for others is part of "
        "them",
        of, verdict);
  }
  if (!of.causes.empty()) {
    set_limited(of.causes.front(), of, verdict);
    add_capture(of, verdict);
    return;
  }
  if (expected.network.known == Known::Typical && deciding.stage == Stage::NIC) {
    return judge_typical(of, verdict);
  }
  if (expected.network.known == Known::Fitted && !expected.within) {
    return set_cannot_tell("cannot tell: the rate of the NICs is in no line", of, verdict);
  }
  const double of_what = expected.best > 0 ? expected.best : deciding.busbw;
  set_below(of_what, of_what,
            expected.best > 0 ? fmt::format("that such machines reach ({})", of.machine.type_by)
                              : fmt::format("that {}", deciding.why),
            of, verdict);
  verdict.stage = Stage::Unknown;
}

std::vector<PerfVerdict> derive_verdicts(const Job& job) {
  std::vector<PerfVerdict> verdicts;
  for (const Measurement& measurement : measurements(job)) {
    verdicts.push_back(judge_measurement(measurement, machine_of(job, measurement)));
  }
  if (verdicts.empty() && !job.communicators.empty()) {
    if (auto paths = judge_paths(machine_of(job))) verdicts.push_back(std::move(*paths));
  }
  return verdicts;
}

constexpr std::string_view kStages[] = {"nvlink",   "nvls",     "pcie",      "shm",  "cpu",
                                        "nic",      "nic-without-gdr", "tcp", "protocol",
                                        "channels", "algorithm", "rank",     "unknown"};

constexpr std::string_view kAnswers[] = {"normal", "limited", "below", "cannot-tell"};

}  // namespace

std::string_view to_string(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

std::string_view to_string(PerfAnswer answer) { return kAnswers[static_cast<size_t>(answer)]; }

PerfVerdict judge_measurement(const Measurement& measurement, const Machine& machine) {
  PerfVerdict verdict;
  verdict.measurement = &measurement;
  Case of = {measurement, machine, read_end(measurement), {}, {}};
  verdict.reached = of.curve.best;
  verdict.reached_at = of.curve.best_at;
  add_row(measurement, of.curve.best_at, verdict);
  if (judge_no_test(of, verdict)) return verdict;
  of.expected = expect(machine, measurement.op, of.curve.best);
  of.causes = perf_causes(machine, measurement.op, of.expected.deciding.busbw);
  if (!judge_domains(of, verdict) && !judge_efa_without_gdr(of, verdict)) {
    if (of.expected.known()) {
      judge_by_ceiling(of, verdict);
    } else {
      judge_unknown_machine(of, verdict);
    }
  }
  verdict.ceilings.insert(verdict.ceilings.end(), of.expected.ceilings.begin(),
                          of.expected.ceilings.end());
  const Known known = of.expected.network.known;
  verdict.by_guess = !of.expected.within &&
                     ((machine.rate_by_name && known == Known::Said) ||
                      (known == Known::Typical && verdict.answer == PerfAnswer::Limited));
  std::ranges::stable_sort(verdict.ceilings, {}, &Ceiling::busbw);
  std::erase_if(verdict.evidence, [](const Evidence& line) { return line.where.line == 0; });
  add_notes(of, verdict);
  return verdict;
}

std::optional<PerfVerdict> judge_paths(const Machine& machine) {
  if (!machine.has_net && !machine.has_p2p && !machine.has_shm) return std::nullopt;
  static const Measurement kNothing;
  PerfVerdict verdict;
  std::string path = "P2P";
  if (machine.has_net) {
    path = fmt::format("NET/{} {} GPUDirect RDMA", printable(machine.net_name),
                       machine.gdr == true ? "with" : "without");
    verdict.stage = machine.net == NetKind::TCP ? Stage::TCP
                    : machine.gdr == true       ? Stage::NIC
                                                : Stage::NICWithoutGDR;
    verdict.evidence = machine.gdr_lines;
  } else if (machine.has_shm) {
    path = "host memory (SHM)";
    verdict.stage = Stage::SHM;
    verdict.evidence = machine.shm_lines;
  } else {
    verdict.stage = Stage::NVLink;
  }
  verdict.headline = fmt::format(
      "Nothing was measured, so the rate cannot be told; data go over {}{}", path,
      machine.channels > 0 ? fmt::format(", {}", plural(machine.channels, "channel")) : "");
  if (machine.channels > 0) verdict.evidence.push_back(machine.channels_line);
  add(verdict.capture, perf_words("capture", "table"));
  if (machine.has_net && machine.per_host() == 1) add(verdict.capture, perf_words("capture", "pods"));
  return verdict;
}

const std::vector<PerfVerdict>& perf_verdicts(const Job& job) {
  return job.answers.of<&derive_verdicts>(job);
}

}  // namespace ncclog
