#include "diagnose/environment_lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/filter_remarks.h"
#include "diagnose/nccl_variables.h"
#include "diagnose/nccl_version.h"
#include "diagnose/other_variables.h"
#include "diagnose/setting_conflicts.h"
#include "diagnose/variable_value.h"

namespace ncclog {
namespace {

constexpr size_t kMostLetters = 2;

Remark make_remark(RemarkKind kind, RemarkLevel level, std::string message, std::string hint = {}) {
  return {kind, level, {}, {}, std::move(message), std::move(hint), 0};
}

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
