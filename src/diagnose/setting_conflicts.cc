#include "diagnose/setting_conflicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnose/nccl_variables.h"
#include "diagnose/nccl_version.h"
#include "diagnose/variable_value.h"

namespace ncclog {
namespace {

/// Whether both are set when one program starts.
bool meet(const Setting& a, const Setting& b) {
  const bool same_program = a.scope == b.scope || a.scope == 0 || b.scope == 0;
  return same_program && a.branch == b.branch && !a.unset && !b.unset;
}

/// What a program that gets one setting gets besides.
class Company {
 public:
  Company(std::span<const Setting> settings, size_t at, const LintContext& context)
      : settings_(settings), own_(settings[at]), context_(context) {}

  const Setting& own() const { return own_; }

  /// The last setting of that name whose value is known; nullptr if there is none.
  const Setting* find(std::string_view name) const {
    const Setting* last = nullptr;
    for (const Setting& setting : settings_) {
      if (setting.name == name && meet(setting, own_)) last = &setting;
    }
    return last != nullptr && last->literal ? last : nullptr;
  }

  bool mentions(std::string_view name) const {
    return std::any_of(settings_.begin(), settings_.end(),
                       [&](const Setting& setting) { return setting.name == name; });
  }

  bool complete() const { return context_.complete; }

  /// Whether the release in use, if it is known, is `release` or later.
  bool may_be(std::string_view release) const {
    return context_.nccl_version.empty() || compare_releases(context_.nccl_version, release) >= 0;
  }

 private:
  std::span<const Setting> settings_;
  const Setting& own_;
  const LintContext& context_;
};

/// What takes the effect away, in words; empty: nothing does.
using FindRival = std::string (*)(const Company& company);

std::string quoted(const Setting& setting) {
  return fmt::format("{}={}", setting.name, setting.value);
}

bool is_about_rdma(std::string_view name) {
  return name != "NCCL_IB_DISABLE" &&
         (name.starts_with("NCCL_IB_") || name.starts_with("NCCL_NET_GDR_"));
}

std::string rdma_is_off(const Company& company) {
  if (!is_about_rdma(company.own().name)) return {};
  const Setting* disable = company.find("NCCL_IB_DISABLE");
  if (disable != nullptr && read_number(disable->value) != 0 &&
      company.own().name.starts_with("NCCL_IB_")) {
    return fmt::format("has no effect: {} switches NCCL's own InfiniBand network off",
                       quoted(*disable));
  }
  const Setting* net = company.find("NCCL_NET");
  if (net == nullptr || upper_case(net->value) != "SOCKET") return {};
  return fmt::format("has no effect: {} keeps to TCP", quoted(*net));
}

std::string p2p_is_off(const Company& company) {
  const Setting* disable = company.find("NCCL_P2P_DISABLE");
  const std::string_view level = company.own().value;
  if (disable == nullptr || read_number(disable->value) != 1 || level == "LOC" || level == "0") {
    return {};
  }
  return fmt::format("has no effect: {} switches P2P off", quoted(*disable));
}

/// NCCL_ALGO asks for nothing but what `switch_name`=0 switches off.
std::string algorithms_are_off(const Company& company, std::string_view switch_name,
                               std::string_view family) {
  const Setting* enable = company.find(switch_name);
  if (enable == nullptr || enable->value.empty() || read_number(enable->value) != 0) return {};
  const auto admitted = admitted_choices(*find_nccl_variable("NCCL_ALGO"), company.own().value);
  const bool all = !admitted.empty() &&
                   std::all_of(admitted.begin(), admitted.end(),
                               [&](const std::string& name) { return name.starts_with(family); });
  return all ? fmt::format("asks for what {} switches off", quoted(*enable)) : std::string();
}

std::string nvls_is_off(const Company& company) {
  return algorithms_are_off(company, "NCCL_NVLS_ENABLE", "NVLS");
}

std::string collnet_is_off(const Company& company) {
  return algorithms_are_off(company, "NCCL_COLLNET_ENABLE", "COLLNET");
}

/// Subsystems and files are of what NCCL_DEBUG lets through.
std::string debug_is_low(const Company& company) {
  const Setting* debug = company.find("NCCL_DEBUG");
  if (debug == nullptr) {
    const bool unset = company.complete() && !company.mentions("NCCL_DEBUG");
    return unset ? "has no effect: NCCL_DEBUG is not set" : "";
  }
  const std::string level = upper_case(debug->value);
  if (level == "INFO" || level == "TRACE" || level.empty()) return {};
  const bool is_file = company.own().name == "NCCL_DEBUG_FILE";
  if (is_file && (level == "WARN" || level == "ABORT")) return {};
  return fmt::format("has no effect: {} prints {}", quoted(*debug),
                     is_file ? "the version at most" : "no INFO lines");
}

std::string shm_is_off(const Company& company) {
  const Setting* disable = company.find("NCCL_SHM_DISABLE");
  if (disable == nullptr || read_number(disable->value) == 0) return {};
  if (company.own().name == "NCCL_P2P_DISABLE" && read_number(company.own().value) != 1) return {};
  return company.own().name == "NCCL_P2P_DISABLE"
             ? fmt::format("leaves only the network between GPUs of one host, together with {}",
                           quoted(*disable))
             : fmt::format("has no effect: {} switches shared memory off", quoted(*disable));
}

std::string gid_is_chosen(const Company& company) {
  const Setting* index = company.find("NCCL_IB_GID_INDEX");
  if (index == nullptr || index->value.empty() || read_number(index->value) < 0) return {};
  return fmt::format("has no effect: {} chooses the GID already", quoted(*index));
}

std::string pkey_is_chosen(const Company& company) {
  const Setting* value = company.find("NCCL_IB_PKEY_VALUE");
  if (value == nullptr || read_number(value->value) <= 0) return {};
  if (!company.may_be(find_nccl_variable("NCCL_IB_PKEY_VALUE")->first)) return {};
  return fmt::format("has no effect: {} chooses the partition already", quoted(*value));
}

std::string ras_is_off(const Company& company) {
  const Setting* enable = company.find("NCCL_RAS_ENABLE");
  if (enable == nullptr || enable->value.empty() || read_number(enable->value) != 0) return {};
  if (read_number(company.own().value) == 0) return {};
  return fmt::format("has no effect: {} switches RAS off", quoted(*enable));
}

std::string too_many_sockets(const Company& company) {
  constexpr int64_t kMost = 64;
  const Setting* threads = company.find("NCCL_SOCKET_NTHREADS");
  if (threads == nullptr) return {};
  const int64_t each = read_number(company.own().value);
  const int64_t many = read_number(threads->value);
  if (each <= 0 || each > kMost || many <= 0 || many > kMost || each * many <= kMost) return {};
  return fmt::format("is reduced: with {} it makes {} sockets, and {} are allowed",
                     quoted(*threads), each * many, kMost);
}

std::string above_most(const Company& company, std::string_view most_name) {
  const Setting* most = company.find(most_name);
  if (most == nullptr || read_number(most->value) <= 0) return {};
  if (read_number(company.own().value) <= read_number(most->value)) return {};
  return fmt::format("is above {}", quoted(*most));
}

std::string ctas_above_most(const Company& company) { return above_most(company, "NCCL_MAX_CTAS"); }

std::string channels_above_most(const Company& company) {
  return above_most(company, "NCCL_MAX_NCHANNELS");
}

/// Who can lose its effect, and to what. `name` ends in '*': how names begin.
struct Conflict {
  std::string_view name;
  FindRival find;
};

constexpr Conflict kConflicts[] = {
    {"NCCL_IB_*", rdma_is_off},
    {"NCCL_NET_GDR_*", rdma_is_off},
    {"NCCL_IB_ADDR_FAMILY", gid_is_chosen},
    {"NCCL_IB_ADDR_RANGE", gid_is_chosen},
    {"NCCL_IB_ROCE_VERSION_NUM", gid_is_chosen},
    {"NCCL_IB_PKEY", pkey_is_chosen},
    {"NCCL_RUN_RAS_DIAGNOSTICS", ras_is_off},
    {"NCCL_P2P_LEVEL", p2p_is_off},
    {"NCCL_P2P_DISABLE", shm_is_off},
    {"NCCL_SHM_LOCALITY", shm_is_off},
    {"NCCL_CUMEM_HOST_ENABLE", shm_is_off},
    {"NCCL_ALGO", nvls_is_off},
    {"NCCL_ALGO", collnet_is_off},
    {"NCCL_DEBUG_SUBSYS", debug_is_low},
    {"NCCL_DEBUG_FILE", debug_is_low},
    {"NCCL_NSOCKS_PERTHREAD", too_many_sockets},
    {"NCCL_MIN_CTAS", ctas_above_most},
    {"NCCL_MIN_NCHANNELS", channels_above_most},
};

bool is_about(const Conflict& conflict, std::string_view name) {
  const std::string_view wanted = conflict.name;
  return wanted.ends_with('*') ? name.starts_with(wanted.substr(0, wanted.size() - 1))
                               : name == wanted;
}

}  // namespace

std::optional<Remark> find_conflict(std::span<const Setting> settings, size_t at,
                                    const LintContext& context) {
  const Company company(settings, at, context);
  if (company.own().unset || company.own().value.empty()) return std::nullopt;
  for (const Conflict& conflict : kConflicts) {
    if (!is_about(conflict, company.own().name)) continue;
    std::string rival = conflict.find(company);
    if (rival.empty()) continue;
    Remark remark;
    remark.kind = RemarkKind::Contradictory;
    remark.message = std::move(rival);
    remark.hint = conflict.find == debug_is_low ? "set NCCL_DEBUG=INFO" : "unset one of the two";
    return remark;
  }
  return std::nullopt;
}

}  // namespace ncclog
