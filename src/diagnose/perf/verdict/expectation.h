// What could a machine give of an operation? Its ceilings, and from where on a curve is normal.
//
//   8 x H100, 2 hosts, 8 x 400 Gb/s   400 by NICs, 480 by NVLink SHARP inside each host → 400 decides
//
// Of what lines say of NICs, of the kind of host and of what such hosts usually have, the first that
// is known counts, whatever the value is. Where NCCL may go several ways (rings or trees on two
// hosts, GPUs with or without a switch between them) it is normal from the best of them on, slow below
// the least, and between the two nobody can tell. What was reached only chooses words: more than
// rings can carry went by trees.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/collectives.h"
#include "diagnose/perf/machine/ceilings.h"
#include "diagnose/perf/machine/machine.h"

namespace ncclog {

/// How well the network is known, the best first.
enum class Known { Said, Type, Typical, No };

/// NICs of one host that take part.
struct HostNetwork {
  Known known = Known::No;
  double bandwidth = -1;  ///< GB/s
  int nics = -1;
  double gbits = -1;        ///< Of one.
  double best = -1;         ///< GB/s of AllReduce over many such hosts.
  double best_of_two = -1;  ///< The same over two.
  double normal = 0.75;     ///< Share from which a curve is normal.
  bool by_slot = false;     ///< The PCIe slots of NICs pass less than their ports.
  std::string_view source;
  std::vector<Evidence> evidence;
};

/// The least share of the best way that may be called normal: what half of the links would give, and
/// what a measurement adds to it, is less.
inline constexpr double kLeastNormal = 0.6;

/// A machine's ceilings for the operation, and what is expected of it.
struct MachineExpectation {
  std::vector<Ceiling> ceilings;
  Ceiling deciding;  ///< The lowest of those on the way; busbw -1: unknown.
  HostNetwork network;
  double slow_below = -1;  ///< GB/s: less is slow whichever way data went.
  double most = -1;        ///< GB/s that the best way gives.
  double best = -1;        ///< What such machines have been seen to reach.
  bool within = false;     ///< Inside one host, or one NVLink domain.
  double line = -1;        ///< Of a host's NICs by rings.
  double ring = -1;        ///< NVLink without the switch's help.

  bool known() const { return deciding.busbw > 0; }

  /// The ceiling is on the way, and decides unless a later one does.
  void decide(const Ceiling& ceiling) {
    ceilings.push_back(ceiling);
    deciding = ceiling;
    slow_below = ceiling.normal_from;
    most = ceiling.busbw;
  }
};

/// What the machine could give; `reached` is the curve's best, GB/s.
MachineExpectation expect_of(const Machine& machine, Operation op, double reached);

/// Racks that NVLink joins, with NICs between them.
bool is_several_domains(const Machine& machine);

/// Such hosts have nothing but Ethernet, as far as lines and names go.
bool has_sockets_alone(const Machine& machine);

// Which machines would a value be normal of, where nothing names one?
//
//   43.3 GB/s of 8 ranks    "87 % of the 50.0 that 400 Gb/s of NICs a host give"
//
// Sockets and host memory end below 40 GB/s, so that what is above passed RDMA NICs or NVLink. That
// it fits proves nothing: half of a faster machine may be all of a slower one.

/// The figures of common_rates.table that fit, in words; empty: none does.
std::string rates_that_fit(const Machine& machine, Operation op, double reached);

}  // namespace ncclog
