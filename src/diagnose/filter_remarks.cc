#include "diagnose/filter_remarks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/name_filter.h"
#include "diagnose/variable_value.h"

namespace ncclog {
namespace {

/// So many entries does NCCL take (socket.h, net_ib.cc); the rest is dropped.
constexpr size_t kMostInterfaces = 16;
constexpr size_t kMostHcas = 32;

Remark make_remark(RemarkKind kind, RemarkLevel level, std::string message, std::string hint = {}) {
  return {kind, level, {}, {}, std::move(message), std::move(hint), 0};
}

bool is_about_hcas(const NcclVariable& variable) { return variable.name == "NCCL_IB_HCA"; }

std::string named_few(std::span<const std::string> names) {
  constexpr size_t kMost = 8;
  const auto first = names.first(std::min(names.size(), kMost));
  const std::string text = join(first, ", ");
  return names.size() > kMost ? fmt::format("{} and {} more", text, names.size() - kMost) : text;
}

void judge_form(const NcclVariable& variable, const NameFilter& filter, std::vector<Remark>& out) {
  const size_t most = is_about_hcas(variable) ? kMostHcas : kMostInterfaces;
  for (const FilterEntry& entry : filter.entries) {
    if (trim(entry.name) == entry.name) continue;
    out.push_back(make_remark(RemarkKind::Invalid, RemarkLevel::Warning,
                              fmt::format("holds '{}': the blank belongs to the name, so it never "
                                          "matches",
                                          entry.name),
                              "write the list without blanks"));
    break;
  }
  if (filter.entries.size() <= most) return;
  out.push_back(make_remark(
      RemarkKind::Invalid, RemarkLevel::Warning,
      fmt::format("has {} names, of which NCCL takes the first {}", filter.entries.size(), most)));
}

/// Without a filter NCCL leaves lo, docker and virbr to the last; a filter of ours replaces that.
bool lets_loopback_in(const NcclVariable& variable, const NameFilter& filter) {
  return variable.name == "NCCL_SOCKET_IFNAME" && filter.excludes && !filter.entries.empty() &&
         admits(filter, "lo");
}

std::vector<std::string> admitted(const NameFilter& filter, std::span<const std::string> names) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const std::string& name) { return admits(filter, name); });
  return result;
}

/// Names that an entry speaks of although another device is called exactly so: mlx5_10 of mlx5_1.
std::vector<std::string> also_meant(const NameFilter& filter, const FilterEntry& entry,
                                    std::span<const std::string> names) {
  std::vector<std::string> also;
  if (filter.exact || std::find(names.begin(), names.end(), entry.name) == names.end()) return also;
  for (const std::string& name : names) {
    const bool own = std::any_of(filter.entries.begin(), filter.entries.end(),
                                 [&](const FilterEntry& each) { return each.name == name; });
    if (!own && speaks_of(filter, entry, name)) also.push_back(name);
  }
  return also;
}

std::string how_to_name(const NameFilter& filter) {
  if (filter.excludes) return "leave one out of the list";
  return filter.exact ? "'=' takes whole names only; without it the beginning of one is enough"
                      : "write one of them, or how it begins";
}

void judge_host(const NcclVariable& variable, const Setting& setting, const NameFilter& filter,
                const HostDevices& host, std::vector<Remark>& out) {
  const auto& names = is_about_hcas(variable) ? host.hcas : host.interfaces;
  if (names.empty()) return;
  const std::string_view devices = is_about_hcas(variable) ? "RDMA devices" : "interfaces";
  if (admitted(filter, names).empty()) {
    std::string hint = filter_meant(setting.value, names);
    if (!host.certain && hint.empty()) hint = "right if the job runs on other hosts";
    if (hint.empty()) hint = how_to_name(filter);
    out.push_back(make_remark(
        RemarkKind::MatchesNothing, host.certain ? RemarkLevel::Error : RemarkLevel::Warning,
        fmt::format("admits none of the {} of {}: {}", devices, host.host, named_few(names)),
        std::move(hint)));
    return;
  }
  for (const FilterEntry& entry : filter.entries) {
    const auto also = also_meant(filter, entry, names);
    if (also.empty()) continue;
    out.push_back(make_remark(
        RemarkKind::MatchesMore, RemarkLevel::Warning,
        fmt::format("{} {} on {} as well: names are beginnings of names",
                    filter.excludes ? "leaves out" : "admits", named_few(also), host.host),
        fmt::format("write {}={} if whole names are meant", filter.excludes ? "^" : "",
                    std::string_view(setting.value).substr(filter.excludes ? 1 : 0))));
    break;
  }
}

}  // namespace

std::vector<Remark> judge_filter(const NcclVariable& variable, const Setting& setting,
                                 std::span<const HostDevices> hosts) {
  std::vector<Remark> remarks;
  if (variable.kind != ValueKind::Filter || setting.value.empty()) return remarks;
  const NameFilter filter = parse_name_filter(setting.value);
  judge_form(variable, filter, remarks);
  if (variable.name == "NCCL_OOB_NET_IFNAME") return remarks;
  if (lets_loopback_in(variable, filter)) {
    remarks.push_back(make_remark(RemarkKind::AdmitsLoopback, RemarkLevel::Warning,
                                  "admits lo: a list of exclusions replaces NCCL's own, which "
                                  "leaves lo, docker and virbr out",
                                  fmt::format("{},lo", setting.value)));
  }
  for (const HostDevices& host : hosts) judge_host(variable, setting, filter, host, remarks);
  return remarks;
}

std::string filter_meant(std::string_view text, std::span<const std::string> names) {
  const NameFilter filter = parse_name_filter(text);
  if (filter.excludes || filter.entries.empty()) return {};
  const std::string_view wanted = trim(filter.entries.front().name);
  for (const std::string& name : names) {
    const bool begins = upper_case(name).starts_with(upper_case(wanted));
    if (begins && name.starts_with(wanted))
      return fmt::format("did you mean {}, without '='?", wanted);
    if (begins) return fmt::format("did you mean {}? Case counts", name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = nearest_name(wanted, views);
  return nearest ? fmt::format("did you mean {}?", *nearest) : std::string();
}

}  // namespace ncclog
