// Which NIC, or which host that data go to, is slow in all its transfers?
//
//   node-a mlx5_0 → 10.0.0.2: p50 41 us, → 10.0.0.3: 44 us
//   node-a mlx5_1 → 10.0.0.2: p50 512 us, → 10.0.0.3: 498 us     → mlx5_1 of node-a
//
// From the summaries of RDMA queue pairs (NCCL 2.31.2, net_ib/wqe_lat_mon.cc). A NIC that is slow to
// all peers is slow itself; a peer to which all hosts are slow takes its data slowly. Medians count:
// a busy proxy thread makes single transfers long, and all NICs of its host alike.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/facts/fact.h"

namespace ncclog {
namespace {

/// Transfers below which percentiles are hardly known (they are estimated on the way).
constexpr int64_t kLeastTransfers = 100;
/// So many times the others' median, and so long, is slow.
constexpr double kSlowRatio = 4;
constexpr double kSlowUs = 100;

/// Transfers of one NIC, or to one peer: medians by who is on the other side.
struct Transfers {
  std::string name;
  std::string host;  ///< Of a NIC.
  std::map<std::string, std::vector<double>> by_other;
  std::vector<Evidence> evidence;
  std::vector<int> processes;

  /// The fastest of its medians: a slow one is slow with everybody.
  double fastest() const {
    double least = -1;
    for (const auto& [other, medians] : by_other) {
      for (const double median : medians) least = least < 0 ? median : std::min(least, median);
    }
    return least;
  }
};

using TransfersByKey = std::map<std::pair<std::string, std::string>, Transfers>;

void add_transfer(Transfers& transfers, const std::string& other, const Said<WqeSummary>& said) {
  transfers.by_other[other].push_back(static_cast<double>(said.message.p50) / 1000);
  transfers.evidence.push_back(evidence_of(said.record()));
  transfers.processes.push_back(said.process);
}

/// Those that are slow with at least two others, while most of their kind are not.
std::vector<const Transfers*> slow_ones(const TransfersByKey& all, double& usual) {
  constexpr size_t kLeast = 3;
  std::vector<double> fastest;
  for (const auto& [key, transfers] : all) fastest.push_back(transfers.fastest());
  std::vector<const Transfers*> slow;
  if (fastest.size() < kLeast) return slow;
  usual = median_of(fastest);
  for (const auto& [key, transfers] : all) {
    const double own = transfers.fastest();
    if (transfers.by_other.size() > 1 && own >= kSlowUs && own >= kSlowRatio * usual) {
      slow.push_back(&transfers);
    }
  }
  return slow;
}

/// A host whose NICs are all slow has a slow proxy thread, CPU or bus; which, nobody can tell.
std::string transfers_words(const Transfers& transfers, double usual) {
  std::vector<double> medians;
  for (const auto& [other, values] : transfers.by_other) {
    medians.insert(medians.end(), values.begin(), values.end());
  }
  return fmt::format("{}: {:.2f} ms with each of {} peers, median; others' {:.2f} ms",
                     transfers.name, median_of(medians) / 1000, transfers.by_other.size(),
                     usual / 1000);
}

FactValue slow_transfers(const Job& job, const Instance&) {
  TransfersByKey nics;
  TransfersByKey peers;
  for_each_said<WqeSummary>(job, [&](const Said<WqeSummary>& said) {
    const WqeSummary& summary = said.message;
    if (summary.side != "send" || summary.count < kLeastTransfers || summary.p50 <= 0) return;
    const std::string host = nth_process(job, said.process).host;
    const std::string device = printable(to_valid_utf8(summary.device));
    const std::string address(summary.peer.substr(0, summary.peer.find('<')));
    Transfers& nic = nics[{host, device}];
    nic.name = fmt::format("{} of {}", device, printable(to_valid_utf8(host)));
    nic.host = host;
    add_transfer(nic, address, said);
    Transfers& peer = peers[{address, {}}];
    peer.name = "transfers to " + printable(to_valid_utf8(address));
    add_transfer(peer, host, said);
  });
  if (nics.empty()) return unknown("no summary of RDMA transfers is in the logs");
  double usual = 0;
  AnswerParts parts;
  std::set<std::string> hosts;
  for (const Transfers* nic : slow_ones(nics, usual)) {
    parts.add(transfers_words(*nic, usual), nic->evidence.front(), nic->processes.front());
    hosts.insert(nic->host);
  }
  // Where a NIC is slow to everybody, everybody to whom it sends sees a slow one.
  if (parts.words.empty()) {
    for (const Transfers* peer : slow_ones(peers, usual)) {
      parts.add(transfers_words(*peer, usual), peer->evidence.front());
    }
  }
  FactValue answer = parts.answer(no(), "; ", kMostNamed);
  if (is_yes(answer)) answer.hosts.assign(hosts.begin(), hosts.end());
  return answer;
}

constexpr std::array kTransferFacts = {
    // A NIC, or the way to one peer, is several times slower than the others in all its transfers.
    job_fact("job.slow_transfers", slow_transfers),
};

}  // namespace

std::span<const Fact> transfer_facts() { return kTransferFacts; }

}  // namespace ncclog
