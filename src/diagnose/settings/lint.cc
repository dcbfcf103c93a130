#include "diagnose/settings/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/settings/nccl_variables.h"
#include "diagnose/settings/values.h"

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

namespace {

// Does another setting take a setting's effect away?
//
//   NCCL_IB_HCA=mlx5_0 beside NCCL_IB_DISABLE=1       there is no InfiniBand to choose devices of
//   NCCL_DEBUG_SUBSYS=NET beside NCCL_DEBUG=WARN      subsystems are of INFO lines

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

/// The contradiction that `settings[at]` is in, told at the setting that loses its effect; nullopt
/// if there is none that is certain. Settings of programs or branches that need not meet do not
/// contradict each other.
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

constexpr size_t kMostLetters = 2;

/// The nearest of `names` that `name_of` gives, at most kMostLetters away.
template <typename Rows, typename NameOf>
std::optional<std::string_view> nearest_row(std::string_view name, const Rows& rows,
                                            NameOf name_of) {
  std::optional<std::string_view> best;
  size_t distance = kMostLetters + 1;
  for (const auto& row : rows) {
    const std::string_view candidate = name_of(row);
    const size_t longer = std::max(candidate.size(), name.size());
    if (longer - std::min(candidate.size(), name.size()) > kMostLetters) continue;
    const size_t letters = edit_distance(name, candidate);
    if (letters >= distance) continue;
    distance = letters;
    best = candidate;
  }
  return best;
}

/// True for "NCLL_DEBUG" and "nccl_debug": the first word could be NCCL's. Other libraries of
/// collectives have names of their own.
bool is_near_nccl(std::string_view name) {
  constexpr std::string_view kOthers[] = {"RCCL", "UCCL", "HCCL", "MCCL", "XCCL", "ECCL", "ACCL"};
  const std::string first = upper_case(name.substr(0, name.find('_')));
  return name.find('_') != name.npos &&
         edit_distance(first, "NCCL") <= kMostLetters - (first.size() < 4 ? 1 : 0) &&
         std::find(std::begin(kOthers), std::end(kOthers), first) == std::end(kOthers);
}

std::optional<std::string_view> meant_torch(std::string_view name) {
  return nearest_row(name, torch_variables(), [](const OtherVariable& row) { return row.name; });
}

Remark misspelt(std::string_view meant) {
  return make_remark(RemarkKind::Misspelt, RemarkLevel::Warning,
                     "has no effect: nobody reads this name",
                     fmt::format("did you mean {}?", meant));
}

/// Names that neither NCCL nor a known neighbour reads.
std::optional<Remark> judge_unread(std::string_view name) {
  if (const UnreadName* unread = find_unread_name(name)) {
    return make_remark(RemarkKind::Unknown, RemarkLevel::Warning,
                       "has no effect: no release of NCCL or PyTorch reads this name",
                       std::string(unread->hint));
  }
  if (name.starts_with("TORCH_NCCL_")) {
    if (const auto meant = meant_torch(name)) return misspelt(*meant);
    return make_remark(RemarkKind::Unknown, RemarkLevel::Note,
                       "is not among the variables that PyTorch 2.0 to 2.10 reads");
  }
  const bool is_ncclish = name.starts_with("NCCL_");
  if (!is_ncclish && !is_near_nccl(name)) return std::nullopt;
  if (const auto meant = meant_by(upper_case(name))) return misspelt(*meant);
  if (!is_ncclish) return std::nullopt;
  return make_remark(RemarkKind::Unknown, RemarkLevel::Warning,
                     "has no effect: no release of NCCL and no known plugin reads this name");
}

/// What a name that begins like those of a known reader may have meant. Of readers none of whose
/// names are known, none is told.
std::optional<std::string_view> meant_of_family(std::string_view name, std::string_view beginning) {
  bool is_listed = false;
  const auto of_family = [&](const OtherVariable& row) {
    if (!row.name.starts_with(beginning)) return std::string_view();
    is_listed = true;
    return row.name;
  };
  const auto meant = nearest_row(name, named_variables(), of_family);
  if (meant || !is_listed) return meant;
  return beginning.starts_with("NCCL_") ? meant_by(name) : std::nullopt;
}

std::optional<Remark> judge_other(const OtherVariable& other, std::string_view name) {
  if (other.name != name) {
    const auto meant = meant_of_family(name, other.name);
    return meant ? std::optional(misspelt(*meant)) : std::nullopt;
  }
  if (other.replacement.empty()) return std::nullopt;
  return make_remark(RemarkKind::OtherReader, RemarkLevel::Note,
                     fmt::format("is {}'s, not NCCL's, by its old name", other.reader),
                     fmt::format("{} is its name now", other.replacement));
}

/// Variables of one of the two libraries where the other one runs.
std::optional<Remark> judge_library(std::string_view name, std::optional<Library> library) {
  if (library == Library::Nccl && !is_nccl_variable(name) && is_rccl_variable(name)) {
    return make_remark(RemarkKind::OtherReader, RemarkLevel::Note,
                       "has no effect: RCCL reads it, and this job runs NCCL");
  }
  if (library == Library::Rccl &&
      (name.starts_with("NCCL_NVLS") || name.starts_with("NCCL_MNNVL"))) {
    return make_remark(RemarkKind::OtherReader, RemarkLevel::Note,
                       "has no effect: this job runs RCCL, and AMD's GPUs have no NVLink");
  }
  return std::nullopt;
}

std::string replaced_by(const NcclVariable& variable) {
  return variable.replacement.empty() ? "remove it" : fmt::format("use {}", variable.replacement);
}

/// Whether the release in use reads the variable at all.
std::optional<Remark> judge_release(const NcclVariable& variable, std::string_view version) {
  const bool known = !version.empty();
  const bool removed = !variable.last.empty();
  if (removed && (!known || compare_releases(version, variable.last) > 0)) {
    const bool recent = compare_releases(variable.last, "2.22") > 0;
    return make_remark(RemarkKind::Removed,
                       !known && recent ? RemarkLevel::Note : RemarkLevel::Warning,
                       fmt::format("is read up to NCCL {} only{}", variable.last,
                                   known ? fmt::format(", and this is {}", version) : ""),
                       replaced_by(variable));
  }
  // The table begins at 2.4.2, so it cannot say what older releases lack.
  if (known && variable.first != "2.4.2" && compare_releases(version, variable.first) < 0) {
    return make_remark(
        RemarkKind::TooNew, RemarkLevel::Warning,
        fmt::format("is read by NCCL {} and later, and this is {}", variable.first, version));
  }
  if (!removed && !variable.replacement.empty()) {
    return make_remark(RemarkKind::Deprecated, RemarkLevel::Note,
                       "is an older name that is still read", replaced_by(variable));
  }
  return std::nullopt;
}

bool is_on(const Setting& setting) { return read_number(setting.value) != 0; }
bool is_one(const Setting& setting) { return read_number(setting.value) == 1; }
bool is_off(const Setting& setting) { return !setting.value.empty() && !is_on(setting); }
bool is_chosen(const Setting& setting) { return !setting.value.empty(); }
bool is_local_only(const Setting& setting) {
  return setting.value == "LOC" || setting.value == "0";
}
bool is_socket(const Setting& setting) { return upper_case(setting.value) == "SOCKET"; }

/// Settings that take a way of working from NCCL: right in a test, expensive when they stay.
struct Workaround {
  std::string_view name;
  bool (*applies)(const Setting& setting);
  std::string_view what;
};

constexpr Workaround kWorkarounds[] = {
    {"NCCL_P2P_DISABLE", is_one,
     "keeps GPUs of one host from reaching each other, over NVLink too"},
    {"NCCL_P2P_LEVEL", is_local_only,
     "keeps GPUs of one host from reaching each other, over NVLink too"},
    {"NCCL_SHM_DISABLE", is_on, "sends what shared memory would carry over the network"},
    {"NCCL_IB_DISABLE", is_on, "switches InfiniBand and RoCE off; several hosts then talk TCP"},
    {"NCCL_NET", is_socket, "forces TCP between hosts"},
    {"NCCL_NET_GDR_LEVEL", is_local_only, "switches GPU Direct RDMA off"},
    {"NCCL_NVLS_ENABLE", is_off, "switches NVLink SHARP off"},
    {"NCCL_CUMEM_ENABLE", is_off, "switches the cuMem allocator off, and with it what needs it"},
    {"NCCL_ALGO", is_chosen, "forces algorithms for all sizes; NCCL usually chooses better"},
    {"NCCL_PROTO", is_chosen, "forces protocols for all sizes; NCCL usually chooses better"},
};

std::optional<Remark> judge_workaround(const Setting& setting) {
  for (const Workaround& each : kWorkarounds) {
    if (setting.name != each.name || !each.applies(setting)) continue;
    return make_remark(RemarkKind::Workaround, RemarkLevel::Note, std::string(each.what),
                       "unset it unless this is a test");
  }
  return std::nullopt;
}

std::optional<Remark> judge_cost(const Setting& setting) {
  constexpr int64_t kHugeBuffer = int64_t{64} << 20;
  if (setting.name == "NCCL_BUFFSIZE" && read_number(setting.value) >= kHugeBuffer) {
    return make_remark(RemarkKind::Costly, RemarkLevel::Warning,
                       fmt::format("takes {} MiB for each channel and peer, where 4 are usual; GPU "
                                   "and shared memory run out",
                                   read_number(setting.value) >> 20),
                       "unset it");
  }
  if (setting.name == "NCCL_DEBUG" && upper_case(setting.value) == "TRACE") {
    return make_remark(RemarkKind::Costly, RemarkLevel::Note,
                       "logs every call, which makes very long logs",
                       "NCCL_DEBUG=INFO is enough for most questions");
  }
  if (setting.name == "NCCL_DEBUG_SUBSYS" && upper_case(setting.value) == "ALL") {
    return make_remark(RemarkKind::Costly, RemarkLevel::Note,
                       "logs every step of every collective, which makes very long logs",
                       "INIT,ENV,NET,COLL,GRAPH,BOOTSTRAP is enough for most questions");
  }
  return std::nullopt;
}

/// Shells take quotes away; nccl.conf, docker's env files and YAML in YAML do not.
bool is_quoted(std::string_view value) {
  return value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
         value.front() == value.back();
}

std::optional<Remark> judge_text(const NcclVariable& variable, const Setting& setting) {
  if (is_quoted(setting.value)) {
    return make_remark(RemarkKind::Invalid, RemarkLevel::Warning,
                       "has quotes that belong to the value here", "write it without quotes");
  }
  auto fault = judge_value(variable, setting.value);
  if (!fault) return std::nullopt;
  return make_remark(RemarkKind::Invalid, fault->fails ? RemarkLevel::Error : RemarkLevel::Warning,
                     std::move(fault->what), std::move(fault->hint));
}

/// Gathers remarks on one setting.
class SettingRemarks {
 public:
  SettingRemarks(std::span<const Setting> settings, size_t at, std::vector<Remark>& out)
      : setting_(settings[at]), at_(at), out_(out), begin_(out.size()) {}
  ~SettingRemarks() {
    std::stable_sort(out_.begin() + static_cast<std::ptrdiff_t>(begin_), out_.end(),
                     [](const Remark& a, const Remark& b) { return a.level < b.level; });
  }
  SettingRemarks(const SettingRemarks&) = delete;
  SettingRemarks& operator=(const SettingRemarks&) = delete;

  bool add(std::optional<Remark> remark) {
    if (!remark) return false;
    remark->variable = setting_.name;
    remark->value = setting_.value;
    remark->setting = at_;
    out_.push_back(std::move(*remark));
    return true;
  }

 private:
  const Setting& setting_;
  size_t at_;
  std::vector<Remark>& out_;
  size_t begin_;
};

void judge_values(const NcclVariable& variable, std::span<const Setting> settings, size_t at,
                  const LintContext& context, SettingRemarks& remarks) {
  const Setting& setting = settings[at];
  if (!setting.literal) return;
  if (remarks.add(judge_text(variable, setting))) return;
  for (Remark& remark : judge_filter(variable, setting, context.hosts)) {
    remarks.add(std::move(remark));
  }
  const bool defeated = remarks.add(find_conflict(settings, at, context));
  if (!defeated) remarks.add(judge_workaround(setting));
  remarks.add(judge_cost(setting));
}

std::optional<Remark> judge_export(const Setting& setting, const LintContext& context) {
  if (setting.exported || !context.needs_export) return std::nullopt;
  return make_remark(RemarkKind::NotExported, RemarkLevel::Note,
                     "is set for the script itself only, unless it is exported elsewhere",
                     fmt::format("export {}", setting.name));
}

void lint_one(std::span<const Setting> settings, size_t at, const LintContext& context,
              std::vector<Remark>& out) {
  SettingRemarks remarks(settings, at, out);
  const Setting& setting = settings[at];
  if (remarks.add(judge_library(setting.name, context.library))) return;
  const NcclVariable* variable = find_nccl_variable(setting.name);
  // NCCL's table says nothing of what RCCL has kept.
  const bool is_kept = context.library == Library::Rccl && is_rccl_variable(setting.name);
  if (variable == nullptr || is_kept) {
    const OtherVariable* other = find_other_variable(setting.name);
    remarks.add(other != nullptr ? judge_other(*other, setting.name) : judge_unread(setting.name));
    return;
  }
  remarks.add(judge_export(setting, context));
  auto release = judge_release(*variable, context.nccl_version);
  const bool unread = release && release->kind != RemarkKind::Deprecated;
  remarks.add(std::move(release));
  if (!unread || context.nccl_version.empty()) {
    judge_values(*variable, settings, at, context, remarks);
  }
}

}  // namespace

std::string_view to_string(RemarkKind kind) {
  constexpr std::array<std::string_view, 16> kNames = {
      "unknown",         "misspelt",     "other_reader",    "removed",
      "too_new",         "deprecated",   "invalid",         "contradictory",
      "workaround",      "costly",       "matches_nothing", "matches_more",
      "admits_loopback", "not_exported", "differs",         "config_file"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view to_string(RemarkLevel level) {
  constexpr std::array<std::string_view, 3> kNames = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(level)];
}

std::optional<std::string_view> meant_by(std::string_view name) {
  return nearest_row(name, nccl_variables(), [](const NcclVariable& row) { return row.name; });
}

std::vector<Remark> lint(std::span<const Setting> settings, const LintContext& context) {
  std::vector<Remark> remarks;
  for (size_t at = 0; at < settings.size(); ++at) lint_one(settings, at, context, remarks);
  return remarks;
}

}  // namespace ncclog
