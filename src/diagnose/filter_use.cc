#include "diagnose/filter_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "diagnose/fact_answers.h"
#include "diagnose/filter_remarks.h"
#include "diagnose/hca_lists.h"
#include "diagnose/host_addresses.h"
#include "diagnose/nccl_variables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

/// A filter as one process read it.
struct FilterInUse {
  Setting setting;
  Evidence line;
};

using ProcessAndName = std::pair<int, std::string>;
using Filters = std::map<ProcessAndName, FilterInUse>;

Filters filters_in_use(const Job& job) {
  Filters filters;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const NcclVariable* variable = find_nccl_variable(said.message.name);
    if (variable == nullptr || variable->kind != ValueKind::Filter || said.message.value.empty()) {
      return;
    }
    FilterInUse filter;
    filter.setting.name = said.message.name;
    filter.setting.value = said.message.value;
    filter.line = evidence_of(said.record);
    filters.try_emplace({said.process, filter.setting.name}, std::move(filter));
  });
  return filters;
}

const FilterInUse* find_filter(const Filters& filters, int process, std::string_view name) {
  const auto found = filters.find({process, std::string(name)});
  return found == filters.end() ? nullptr : &found->second;
}

std::string on_host(const Job& job, int process) {
  const std::string& host = job.processes[static_cast<size_t>(process)].host;
  return host.empty() ? std::string("its host") : host;
}

JobRemark no_device(const FilterInUse& filter, RemarkLevel level, std::string message,
                    const std::vector<std::string>& names) {
  return {{RemarkKind::MatchesNothing, level, filter.setting.name, filter.setting.value,
           std::move(message), filter_meant(filter.setting.value, names), 0},
          filter.line};
}

/// What hosts of the job are known to have, on all of them together.
struct KnownNames {
  std::vector<std::string> interfaces;
  std::vector<std::string> hcas;
};

KnownNames known_names(const Job& job) {
  KnownNames names;
  const auto add = [](std::vector<std::string>& list, std::string_view name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.emplace_back(name);
  };
  for (const HostDevices& host : known_devices(job)) {
    for (const std::string& name : host.interfaces) add(names.interfaces, name);
    for (const std::string& name : host.hcas) add(names.hcas, name);
  }
  for_each_said<IbPort>(job, [&](const auto& said) { add(names.hcas, said.message.device); });
  for_each_said<IbstatCa>(job, [&](const auto& said) { add(names.hcas, said.message.device); });
  return names;
}

void add_empty_interfaces(const Job& job, const Filters& filters, const KnownNames& names,
                          std::vector<JobRemark>& out) {
  for_each_said<BootstrapNoInterface>(job, [&](const Said<BootstrapNoInterface>& said) {
    const FilterInUse* filter = find_filter(filters, said.process, "NCCL_SOCKET_IFNAME");
    if (filter == nullptr || !said.message.text.ends_with("interface found")) return;
    out.push_back(
        no_device(*filter, RemarkLevel::Error,
                  fmt::format("admits no interface that {} has", on_host(job, said.process)),
                  names.interfaces));
  });
}

void add_empty_hcas(const Job& job, const Filters& filters, const KnownNames& names,
                    std::vector<JobRemark>& out) {
  for_each_said<NoRdmaDevice>(job, [&](const Said<NoRdmaDevice>& said) {
    const FilterInUse* filter = find_filter(filters, said.process, "NCCL_IB_HCA");
    if (filter == nullptr) return;
    out.push_back(no_device(
        *filter, RemarkLevel::Warning,
        fmt::format("admits no RDMA device that {} has, if it has any", on_host(job, said.process)),
        names.hcas));
  });
}

/// Devices that the lists of each process name.
std::map<int, HostDevices> listed_devices(const Job& job) {
  std::map<int, HostDevices> listed;
  for (const HostAddress& address : socket_addresses(job)) {
    listed[address.process].interfaces.push_back(address.name);
  }
  for (const HcaList& list : hca_lists(job)) {
    for (const Hca& hca : list.hcas) listed[list.process].hcas.push_back(hca.name);
  }
  for (auto& [process, devices] : listed) devices.host = on_host(job, process);
  return listed;
}

void add_surprises(const Job& job, const Filters& filters, std::vector<JobRemark>& out) {
  const auto listed = listed_devices(job);
  for (const auto& [key, filter] : filters) {
    const auto devices = listed.find(key.first);
    if (devices == listed.end()) continue;
    const NcclVariable& variable = *find_nccl_variable(filter.setting.name);
    for (Remark& remark : judge_filter(variable, filter.setting, std::span(&devices->second, 1))) {
      if (remark.kind != RemarkKind::MatchesMore) continue;
      remark.variable = filter.setting.name;
      remark.value = filter.setting.value;
      out.push_back({std::move(remark), filter.line});
    }
  }
}

}  // namespace

std::vector<JobRemark> judge_filters_in_use(const Job& job) {
  std::vector<JobRemark> remarks;
  const Filters filters = filters_in_use(job);
  if (filters.empty()) return remarks;
  const KnownNames names = known_names(job);
  add_empty_interfaces(job, filters, names, remarks);
  add_empty_hcas(job, filters, names, remarks);
  add_surprises(job, filters, remarks);
  return remarks;
}

}  // namespace ncclog
