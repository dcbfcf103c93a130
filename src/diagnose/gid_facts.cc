// Does a RoCE port use an entry of its GID table that other hosts cannot reach?
//
//   mlx5_0  1  0  fe80:0000:…:71d2                  v1  ens2f0     link-local: never routed
//   mlx5_0  1  3  0000:…:ffff:0a78:021f  10.120.2.31  v2  ens2f0   the one that works
//
// Before 2.21 NCCL takes entry 0 unless NCCL_IB_GID_INDEX says otherwise; later it looks for a
// routable one itself.

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/host_addresses.h"
#include "diagnose/interface_classes.h"
#include "diagnose/roce_subnets.h"
#include "log/address.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr int kUnset = -1;

/// NCCL_IB_GID_INDEX as processes report it; kUnset if none does.
int reported_index(const Job& job) {
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_IB_GID_INDEX") continue;
    return static_cast<int>(parse_int(setting.value).value_or(kUnset));
  }
  return kUnset;
}

/// True for "2.8.3": entry 0 is the default. Unknown versions count as new.
bool defaults_to_zero(std::string_view version) {
  const auto parts = split(version, '.');
  if (parts.size() < 2 || parts[0] != "2") return false;
  const auto minor = parse_int(parts[1]);
  return minor && *minor < 21;
}

/// The entry that was used; kUnset if the log does not let one tell.
int index_in_use(const Job& job) {
  const int index = reported_index(job);
  if (index != kUnset) return index;
  const bool old = job.nccl_versions.size() == 1 && defaults_to_zero(job.nccl_versions.front());
  return old ? 0 : kUnset;
}

FactValue from_gid_table(const Job& job, int index) {
  FactValue answer = no();
  for_each_said<GidRow>(job, [&](const Said<GidRow>& said) {
    const GidRow& row = said.message;
    if (row.index != index || (!is_link_local(row.gid) && row.version != "v1")) return;
    answer = yes(fmt::format("GID index {} of {} is {}{}", index, row.device,
                             is_link_local(row.gid) ? "link-local" : "RoCE v1",
                             reported_index(job) == kUnset ? ", the default of this release" : ""),
                 {evidence_of(said.record)});
  });
  return answer;
}

FactValue from_failures(const Job& job) {
  FactValue answer = no();
  const auto look = [&](std::string_view local, std::string_view remote, const Record& record) {
    if (!is_link_local(local) && !is_link_local(remote)) return;
    answer = yes(fmt::format("the failing connection uses link-local GID {}",
                             is_link_local(local) ? local : remote),
                 {evidence_of(record)});
  };
  for_each_said<IbCompletion>(job, [&](const Said<IbCompletion>& said) {
    look(said.message.local_gid, said.message.remote_gid, said.record);
  });
  for_each_said<IbModifyQpFailed>(job, [&](const Said<IbModifyQpFailed>& said) {
    look(said.message.local_gid, said.message.remote_gid, said.record);
  });
  return answer;
}

bool hosts_in_different_subnets(const Job& job) {
  std::set<std::string_view> subnets;
  const auto addresses = bootstrap_addresses(job);
  for (const HostAddress& address : addresses) {
    if (const auto subnet = subnet_of(address.ip); !subnet.empty()) subnets.insert(subnet);
  }
  return subnets.size() > 1;
}

FactValue gid_evidence(const Job& job, const Instance&) {
  const int index = index_in_use(job);
  if (index != kUnset) {
    if (FactValue table = from_gid_table(job, index); !table.what.empty()) return table;
  }
  if (FactValue failures = from_failures(job); !failures.what.empty()) return failures;
  if (index == 0 && reported_index(job) == 0) {
    return yes("NCCL_IB_GID_INDEX=0 is set, usually a link-local RoCE v1 address");
  }
  if (index == 0 && hosts_in_different_subnets(job)) {
    return yes("this release uses GID index 0 by default while the hosts are in different subnets");
  }
  return no();
}

constexpr std::array kFacts = {
    Fact{"job.gid_evidence", Scope::Job, FactType::Bool,
         "The GID in use is link-local or RoCE v1, or index 0 between subnets.", gid_evidence},
    Fact{"job.roce_nics_share_subnet", Scope::Job, FactType::Bool,
         "Two RoCE NICs of one host have addresses that agree in 24 bits; unknown where no line "
         "names addresses of NICs.",
         roce_nics_share_subnet},
};

}  // namespace

std::span<const Fact> gid_facts() { return kFacts; }

}  // namespace ncclog
