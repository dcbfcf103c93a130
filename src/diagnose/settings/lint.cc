#include "diagnose/settings/lint.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/job_facts.h"

namespace ncclog {
namespace {

/// So many entries does NCCL take (socket.h, net_ib.cc); the rest is dropped.
constexpr size_t kMostInterfaces = 16;
constexpr size_t kMostHcas = 32;

Remark warning(RemarkKind kind, std::string message, std::string hint = {}) {
  return {.kind = kind, .message = std::move(message), .hint = std::move(hint)};
}

Remark note(RemarkKind kind, std::string message, std::string hint = {}) {
  return {.kind = kind,
          .level = RemarkLevel::Note,
          .message = std::move(message),
          .hint = std::move(hint)};
}

bool is_about_hcas(const NcclVariable& variable) { return variable.name == "NCCL_IB_HCA"; }

std::string named_few(const std::vector<std::string>& names) { return few_of(names, 8, ", "); }

void judge_form(const NcclVariable& variable, const NameFilter& filter, std::vector<Remark>& out) {
  const size_t most = is_about_hcas(variable) ? kMostHcas : kMostInterfaces;
  for (const FilterEntry& entry : filter.entries) {
    if (trim(entry.name) == entry.name) continue;
    out.push_back(warning(RemarkKind::Invalid,
                          fmt::format("holds '{}': the blank belongs to the name, so it never "
                                      "matches",
                                      entry.name),
                          "write the list without blanks"));
    break;
  }
  if (filter.entries.size() <= most) return;
  out.push_back(warning(
      RemarkKind::Invalid,
      fmt::format("has {} names, of which NCCL takes the first {}", filter.entries.size(), most)));
}

/// Names that an entry speaks of although another device is called exactly so: mlx5_10 of mlx5_1.
std::vector<std::string> also_meant(const NameFilter& filter, const FilterEntry& entry,
                                    std::span<const std::string> names) {
  std::vector<std::string> also;
  if (filter.exact || std::ranges::find(names, entry.name) == names.end()) return also;
  for (const std::string& name : names) {
    const bool own = std::ranges::any_of(
        filter.entries, [&](const FilterEntry& each) { return each.name == name; });
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
  const auto is_admitted = [&](const std::string& name) { return admits(filter, name); };
  if (std::ranges::none_of(names, is_admitted)) {
    std::string hint = filter_meant(setting.value, names);
    if (!host.certain && hint.empty()) hint = "right if the job runs on other hosts";
    if (hint.empty()) hint = how_to_name(filter);
    out.push_back(warning(
        RemarkKind::MatchesNothing,
        fmt::format("admits none of the {} of {}: {}", devices, host.host, named_few(names)),
        std::move(hint)));
    if (host.certain) out.back().level = RemarkLevel::Error;
    return;
  }
  for (const FilterEntry& entry : filter.entries) {
    const auto also = also_meant(filter, entry, names);
    if (also.empty()) continue;
    out.push_back(
        warning(RemarkKind::MatchesMore,
                fmt::format("{} {} on {} as well: names are beginnings of names",
                            filter.excludes ? "leaves out" : "admits", named_few(also), host.host),
                fmt::format("write {}={} if whole names are meant", filter.excludes ? "^" : "",
                            std::string_view(setting.value).substr(filter.excludes ? 1 : 0))));
    break;
  }
}

// Can NCCL make anything of a value, and what will it make of it?
//
//   NCCL_IB_DISABLE=true      reads as 0: InfiniBand stays on
//   NCCL_BUFFSIZE=4M          reads as 4 bytes
//   NCCL_P2P_LEVEL=nvl        ignored: only NVL in upper case counts
//   NCCL_ALGO=Ring,Treee      the initialisation fails

/// NCCL goes on with something else.
Remark invalid(std::string message, std::string hint = {}) {
  return warning(RemarkKind::Invalid, std::move(message), std::move(hint));
}

/// NCCL ends with an error.
Remark failing(std::string message, std::string hint) {
  return {.kind = RemarkKind::Invalid,
          .level = RemarkLevel::Error,
          .message = std::move(message),
          .hint = std::move(hint)};
}

bool is_word_of(std::string_view word, std::string_view values, bool any_case) {
  const auto words = split(values, '|');
  return std::ranges::any_of(words, [&](std::string_view each) {
    return any_case ? upper_case(each) == upper_case(word) : each == word;
  });
}

std::optional<Remark> outside(int64_t number, std::string_view range) {
  const size_t dots = range.find("..");
  if (dots == range.npos) return std::nullopt;
  const int64_t low = parse_int(range.substr(0, dots)).value_or(INT64_MIN);
  const int64_t high = parse_int(range.substr(dots + 2)).value_or(INT64_MAX);
  if (number >= low && number <= high) return std::nullopt;
  return invalid(fmt::format("is outside of what it may be, {} to {}", low, high));
}

std::optional<Remark> judge_number(const NcclVariable& variable, std::string_view value) {
  if (value == "18446744073709551615") return std::nullopt;
  const std::string copy(value.substr(0, kLongestNumber));
  char* end = nullptr;
  errno = 0;
  const int64_t number = std::strtoll(copy.c_str(), &end, 0);
  const bool is_too_large = errno == ERANGE;
  if (end == copy.c_str()) {
    if (is_word_of(value, "FALSE|NO|OFF|N", true)) return std::nullopt;
    return invalid("is not a number, so NCCL reads it as 0",
                   is_word_of(value, "TRUE|YES|ON|Y", true) ? "write 1" : "write a number");
  }
  if (is_too_large) {
    return invalid(fmt::format("is too large, so NCCL uses the default {}", variable.fallback));
  }
  if (!trim(value.substr(static_cast<size_t>(end - copy.c_str()))).empty()) {
    return invalid(fmt::format("is read as {}: what follows the number is ignored", number),
                   "write the number in full, without unit or comment");
  }
  std::optional<Remark> fault = outside(number, variable.values);
  if (fault && variable.name == "NCCL_IB_TIMEOUT") {
    fault->hint = "the value is an exponent, 4.096 µs × 2^value: 22 is 17 seconds";
  }
  return fault;
}

std::optional<Remark> judge_decimal(const NcclVariable& variable, std::string_view value) {
  const std::string copy(value.substr(0, kLongestNumber));
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  const bool is_whole = end != copy.c_str() && *end == '\0';
  if (is_whole && std::isfinite(number) && number > 0) return std::nullopt;
  return invalid(fmt::format("is no number above 0, and NCCL 2.31.2 and later use {} instead",
                             variable.fallback),
                 "write a number without unit or comment");
}

std::optional<Remark> judge_power(const NcclVariable& variable, std::string_view value) {
  if (std::optional<Remark> fault = judge_number(variable, value)) return fault;
  const int64_t number = read_number(value);
  if (number <= 0 || (number & (number - 1)) == 0) return std::nullopt;
  return invalid("is ignored because it is no power of two");
}

/// "did you mean 'X'?", else the words that there are.
std::string hint_for(std::string_view word, std::string_view values) {
  const auto words = split(values, '|');
  const std::string wanted = upper_case(trim(word));
  std::vector<std::string> upper;
  for (const std::string_view each : words) upper.push_back(upper_case(each));
  const std::vector<std::string_view> views(upper.begin(), upper.end());
  if (const auto nearest = nearest_name(wanted, views)) {
    const auto at = std::ranges::find(views, *nearest) - views.begin();
    return fmt::format("did you mean {}?", words[at]);
  }
  return fmt::format("it may be {}", fmt::join(words, ", "));
}

std::optional<Remark> judge_word(const NcclVariable& variable, std::string_view value) {
  if (is_word_of(value, variable.values, variable.kind() == ValueKind::AnyCaseWord)) return {};
  return invalid("is none of the words that NCCL knows here, so it is ignored",
                 hint_for(value, variable.values));
}

std::optional<Remark> judge_word_list(const NcclVariable& variable, std::string_view value) {
  if (value.starts_with('^')) value.remove_prefix(1);
  for (const std::string_view word : split(value, ',')) {
    if (word.empty() || is_word_of(word, variable.values, true)) continue;
    return invalid(fmt::format("holds '{}', which NCCL does not know: it ignores that word, or "
                               "from 2.30.7 on all of them",
                               word),
                   hint_for(word, variable.values));
  }
  return std::nullopt;
}

/// The functions whose algorithm can be chosen, between '|'.
std::string tuned_functions() {
  std::vector<std::string_view> names;
  for (const OperationTraits& operation : kOperations) {
    if (operation.has_kernel()) names.push_back(operation.name);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::optional<Remark> judge_choice(const NcclVariable& variable, std::string_view value) {
  static const std::string kFunctions = tuned_functions();
  bool first = true;
  for (const ChoicePart& part : choice_parts(value)) {
    if (!part.function.empty() && !is_word_of(part.function, kFunctions, true)) {
      return failing(
          fmt::format("names the function '{}', which NCCL does not know here", part.function),
          hint_for(part.function, kFunctions));
    }
    if (!first && part.function.empty() && !part.names.empty()) {
      return failing("has a second list without a function in front of it",
                     "write it like ring;allreduce:tree,ring");
    }
    first = false;
    for (const std::string_view name : part.names) {
      if (is_word_of(name, variable.values, true)) continue;
      return failing(
          fmt::format("holds '{}', which NCCL does not know: the initialisation fails", name),
          hint_for(name, variable.values));
    }
  }
  return std::nullopt;
}

std::optional<Remark> judge_level(const NcclVariable& variable, std::string_view value) {
  // XGMI is what builds of RCCL call NVL (src/graph/topo.cc, topoPathTypeStr).
  std::string levels = "LOC|NVL|XGMI|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS";
  if (!variable.values.empty()) levels += fmt::format("|{}", variable.values);
  if (is_digit(value.front()) || is_word_of(value, levels, false)) return std::nullopt;
  const bool lower = is_word_of(value, levels, true);
  return invalid("is no distance that NCCL knows, so it is ignored",
                 lower ? fmt::format("write it in upper case: {}", upper_case(value))
                       : "it may be LOC, NVL, PIX, PXB, PHB or SYS");
}

// Does another setting take a setting's effect away?
//
//   NCCL_IB_HCA=mlx5_0 beside NCCL_IB_DISABLE=1       there is no InfiniBand to choose devices of
//   NCCL_DEBUG_SUBSYS=NET beside NCCL_DEBUG=WARN      subsystems are of INFO lines

/// Whether both are set when one program starts.
bool meet(const Setting& a, const Setting& b) {
  const bool same_program = a.scope == b.scope || a.scope == 0 || b.scope == 0;
  return same_program && a.branch == b.branch && !a.unset && !b.unset;
}

/// The last setting of that name which a program gets besides `own`, if its value is known; nullptr
/// if there is none.
const Setting* find_beside(std::span<const Setting> settings, const Setting& own,
                           std::string_view name) {
  const Setting* last = nullptr;
  for (const Setting& setting : settings) {
    if (setting.name == name && meet(setting, own)) last = &setting;
  }
  return last != nullptr && last->literal ? last : nullptr;
}

std::string quoted(const Setting& setting) {
  return fmt::format("{}={}", setting.name, setting.value);
}

/// A line of setting_remarks.table.
struct RemarkRow {
  std::string_view name;  ///< Ends in '*': how names begin.
  std::string_view value;
  std::string_view rival;  ///< Empty: the row asks for no other setting.
  std::string_view rival_value;
  std::string_view kind;
  std::string_view what;  ///< "{}" is the rival with its value.
  std::string_view hint;
};

constexpr RemarkRow kRemarkRows[] = {
#include "diagnose/settings/setting_remarks.inc"
};

/// True if a value is what a row asks for; `rival` is the other setting's value.
bool is_asked_for(std::string_view asked, std::string_view value, std::string_view rival) {
  const int64_t number = read_number(value);
  if (asked.empty() || value.empty()) return asked.empty();
  if (asked == "set") return true;
  if (asked == "on") return number != 0;
  if (asked == "off") return number == 0;
  if (asked == "above") return number > read_number(rival);
  const std::string_view rest = asked.substr(asked.find(' ') + 1);
  if (asked.starts_with("lacks ")) {
    const bool is_file = value != "stdout" && value != "stderr" && !value.starts_with("/dev/");
    return is_file && std::ranges::none_of(split(rest, '|'), [&](std::string_view word) {
             return value.find(word) != value.npos;
           });
  }
  if (asked.starts_with("from ")) return number >= read_number(rest);
  if (asked.starts_with("only ")) {
    const auto admitted = admitted_choices(*find_nccl_variable("NCCL_ALGO"), value);
    return !admitted.empty() && std::ranges::all_of(admitted, [&](const std::string& name) {
      return name.starts_with(rest);
    });
  }
  // A number counts however it is written, "0x1" or " 1". What is none reads as 0, so 0 is a word.
  const auto is_word = [&](std::string_view word) {
    return upper_case(value) == word || (number != 0 && number == read_number(word));
  };
  return std::ranges::any_of(split(rest, '|'), is_word) != asked.starts_with("not ");
}

/// Subsystems and files are of what NCCL_DEBUG lets through. Empty: nothing is wrong.
std::string debug_is_low(std::span<const Setting> settings, const Setting& own,
                         const LintContext& context) {
  const Setting* debug = find_beside(settings, own, "NCCL_DEBUG");
  if (debug == nullptr) {
    const bool mentioned = std::ranges::any_of(
        settings, [](const Setting& setting) { return setting.name == "NCCL_DEBUG"; });
    return context.complete && !mentioned ? "has no effect: NCCL_DEBUG is not set" : "";
  }
  const std::string level = upper_case(debug->value);
  if (level == "INFO" || level == "TRACE" || level.empty()) return {};
  const bool is_file = own.name == "NCCL_DEBUG_FILE";
  if (is_file && (level == "WARN" || level == "ABORT")) return {};
  return fmt::format("has no effect: {} prints {}", quoted(*debug),
                     is_file ? "the version at most" : "no INFO lines");
}

/// Empty: NCCL makes as many sockets as it is told.
std::string too_many_sockets(std::span<const Setting> settings, const Setting& own) {
  constexpr int64_t kMost = 64;
  const Setting* threads = find_beside(settings, own, "NCCL_SOCKET_NTHREADS");
  if (threads == nullptr) return {};
  const int64_t each = read_number(own.value);
  const int64_t many = read_number(threads->value);
  if (each <= 0 || each > kMost || many <= 0 || many > kMost || each * many <= kMost) return {};
  return fmt::format("is reduced: with {} it makes {} sockets, and {} are allowed",
                     quoted(*threads), each * many, kMost);
}

/// Whether the release in use is known, and older than the first that reads the variable.
bool is_too_old(const LintContext& context, const NcclVariable& variable) {
  return !context.nccl_version.empty() &&
         compare_releases(context.nccl_version, variable.first) < 0;
}

/// The remark of a row on `own`; nullopt: the row does not hold. Settings of programs or branches
/// that need not meet do not contradict each other.
std::optional<Remark> remark_of(const RemarkRow& row, std::span<const Setting> settings,
                                const Setting& own, const LintContext& context) {
  const bool is_switch = row.name.ends_with('*') && own.name.ends_with("_DISABLE");
  if (is_switch || !fits_name(row.name, own.name)) return std::nullopt;
  const Setting* rival = row.rival.empty() ? nullptr : find_beside(settings, own, row.rival);
  const std::string_view rival_value = rival == nullptr ? "" : std::string_view(rival->value);
  if (!is_asked_for(row.value, own.value, rival_value)) return std::nullopt;
  if (row.rival.empty()) {
    const bool costs = row.kind == "costly";
    if (row.kind == "overwritten") {
      return warning(RemarkKind::Overwritten, std::string(row.what), std::string(row.hint));
    }
    return note(costs ? RemarkKind::Costly : RemarkKind::Workaround, std::string(row.what),
                std::string(row.hint.empty() ? "unset it unless this is a test" : row.hint));
  }
  if (rival == nullptr || !is_asked_for(row.rival_value, rival_value, {})) return std::nullopt;
  if (is_too_old(context, *find_nccl_variable(rival->name))) return std::nullopt;
  return warning(RemarkKind::Contradictory, fmt::format(fmt::runtime(row.what), quoted(*rival)),
                 "unset one of the two");
}

/// Adds the contradiction that `own` is in, told at the setting that loses its effect, and its
/// price.
void judge_effect(std::span<const Setting> settings, const Setting& own, const LintContext& context,
                  std::vector<Remark>& out) {
  if (own.value.empty()) return;
  // What of NCCL's own arithmetic takes the effect away.
  std::string what;
  const bool is_debug = own.name == "NCCL_DEBUG_SUBSYS" || own.name == "NCCL_DEBUG_FILE";
  if (is_debug && !own.unset) what = debug_is_low(settings, own, context);
  if (own.name == "NCCL_NSOCKS_PERTHREAD" && !own.unset) what = too_many_sockets(settings, own);
  bool defeated = !what.empty();
  if (defeated) {
    out.push_back(warning(RemarkKind::Contradictory, std::move(what),
                          is_debug ? "set NCCL_DEBUG=INFO" : "unset one of the two"));
  }
  for (const RemarkRow& row : kRemarkRows) {
    if (defeated && row.kind != "costly") continue;
    auto remark = remark_of(row, settings, own, context);
    if (!remark) continue;
    defeated = remark->kind == RemarkKind::Contradictory;
    out.push_back(std::move(*remark));
    if (!defeated) return;
  }
}

constexpr size_t kMostLetters = 2;

/// The nearest of `names`, at most kMostLetters away.
std::optional<std::string_view> nearest_of(std::string_view name,
                                           std::span<const std::string_view> names) {
  const auto best = nearest_name(name, names);
  return best && edit_distance(name, *best) <= kMostLetters ? best : std::nullopt;
}

/// True for "NCLL_DEBUG" and "nccl_debug": the first word could be NCCL's. Other libraries of
/// collectives have names of their own.
bool is_near_nccl(std::string_view name) {
  constexpr std::string_view kOtherLibraries[] = {"RCCL", "UCCL", "HCCL", "MCCL",
                                                  "XCCL", "ECCL", "ACCL"};
  const std::string first = upper_case(name.substr(0, name.find('_')));
  return name.find('_') != name.npos &&
         edit_distance(first, "NCCL") <= kMostLetters - (first.size() < 4 ? 1 : 0) &&
         !equals_one_of(first, kOtherLibraries);
}

/// The NCCL variable that a name which nobody reads may have meant: one or two letters away.
std::optional<std::string_view> meant_by(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NcclVariable& variable : nccl_variables()) names.push_back(variable.name);
  return nearest_of(name, names);
}

/// What a name that begins like those of a known reader may have meant. Of readers none of whose
/// names are known, none is told.
std::optional<std::string_view> meant_of_family(std::string_view name, std::string_view beginning) {
  std::vector<std::string_view> family;
  for (const OtherVariable& row : other_variables()) {
    const bool is_real = !row.is_unread() && !row.name.ends_with('*');
    if (is_real && row.name.starts_with(beginning)) family.push_back(row.name);
  }
  const auto meant = nearest_of(name, family);
  if (meant || family.empty()) return meant;
  return beginning.starts_with("NCCL_") ? meant_by(name) : std::nullopt;
}

Remark misspelt(std::string_view meant) {
  return warning(RemarkKind::Misspelt, "has no effect: nobody reads this name",
                 fmt::format("did you mean {}?", meant));
}

/// Names that neither NCCL nor a known neighbour reads.
std::optional<Remark> judge_unread(std::string_view name) {
  if (name.starts_with("TORCH_NCCL_")) {
    if (const auto meant = meant_of_family(name, "TORCH_NCCL_")) return misspelt(*meant);
    return note(RemarkKind::Unknown, "is not among the variables that PyTorch 2.0 to 2.10 reads");
  }
  const bool is_ncclish = name.starts_with("NCCL_");
  if (!is_ncclish && !is_near_nccl(name)) return std::nullopt;
  if (const auto meant = meant_by(upper_case(name))) return misspelt(*meant);
  if (!is_ncclish) return std::nullopt;
  return warning(RemarkKind::Unknown,
                 "has no effect: no release of NCCL and no known plugin reads this name");
}

std::optional<Remark> judge_other(const OtherVariable& other, std::string_view name) {
  if (other.is_unread()) {
    return warning(RemarkKind::Unknown,
                   "has no effect: no release of NCCL or PyTorch reads this name",
                   std::string(other.instead));
  }
  if (other.name != name) {
    const auto meant = meant_of_family(name, other.name.substr(0, other.name.size() - 1));
    return meant ? std::optional(misspelt(*meant)) : std::nullopt;
  }
  if (other.instead.empty()) return std::nullopt;
  return note(RemarkKind::OtherReader,
              fmt::format("is {}'s, not NCCL's, by its old name", other.reader),
              fmt::format("{} is its name now", other.instead));
}

/// Variables of one of the two libraries where the other one runs.
std::optional<Remark> judge_library(std::string_view name, std::optional<Library> library) {
  if (library == Library::Nccl && find_nccl_variable(name) == nullptr && is_rccl_variable(name)) {
    return note(RemarkKind::OtherReader, "has no effect: RCCL reads it, and this job runs NCCL");
  }
  if (library == Library::Rccl &&
      (name.starts_with("NCCL_NVLS") || name.starts_with("NCCL_MNNVL"))) {
    return note(RemarkKind::OtherReader,
                "has no effect: this job runs RCCL, and AMD's GPUs have no NVLink");
  }
  return std::nullopt;
}

std::string replaced_by(const NcclVariable& variable) {
  return variable.replacement.empty() ? "remove it" : fmt::format("use {}", variable.replacement);
}

/// Whether the release in use reads the variable at all.
std::optional<Remark> judge_release(const NcclVariable& variable, const LintContext& context) {
  const std::string_view version = context.nccl_version;
  const bool known = !version.empty();
  const bool removed = !variable.last.empty();
  if (removed && (!known || compare_releases(version, variable.last) > 0)) {
    Remark remark = warning(RemarkKind::Removed,
                            fmt::format("is read up to NCCL {} only{}", variable.last,
                                        known ? fmt::format(", and this is {}", version) : ""),
                            replaced_by(variable));
    const bool recent = compare_releases(variable.last, "2.22") > 0;
    if (!known && recent) remark.level = RemarkLevel::Note;
    return remark;
  }
  // The table begins at 2.4.2, so it cannot say what older releases lack.
  if (variable.first != "2.4.2" && is_too_old(context, variable)) {
    return warning(RemarkKind::TooNew, fmt::format("is read by NCCL {} and later, and this is {}",
                                                   variable.first, version));
  }
  if (!removed && !variable.replacement.empty()) {
    return note(RemarkKind::Deprecated, "is an older name that is still read",
                replaced_by(variable));
  }
  return std::nullopt;
}

/// What is wrong with a value; nullopt if nothing is for certain. An empty one counts as not set.
std::optional<Remark> judge_text(const NcclVariable& variable, const std::string& value) {
  // Shells take quotes away; nccl.conf, docker's env files and YAML in YAML do not.
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value[0] == value.back()) {
    return warning(RemarkKind::Invalid, "has quotes that belong to the value here",
                   "write it without quotes");
  }
  // In the order of ValueKind; of the kinds after these any value will do.
  constexpr std::optional<Remark> (*kJudges[])(const NcclVariable&, std::string_view) = {
      judge_number, judge_decimal,   judge_power,  judge_word,
      judge_word,   judge_word_list, judge_choice, judge_level};
  const auto kind = static_cast<size_t>(variable.kind());
  if (value.empty() || kind >= std::size(kJudges)) return std::nullopt;
  return kJudges[kind](variable, value);
}

/// True if there is a remark.
bool add(std::optional<Remark> remark, std::vector<Remark>& out) {
  if (remark) out.push_back(std::move(*remark));
  return remark.has_value();
}

/// Adds remarks on what stands in a setting that the release reads.
void judge_values(const NcclVariable& variable, std::span<const Setting> settings,
                  const Setting& setting, const LintContext& context, std::vector<Remark>& out) {
  if (!setting.literal) return;
  if (add(judge_text(variable, setting.value), out)) return;
  for (Remark& remark : judge_filter(variable, setting, context.hosts)) {
    out.push_back(std::move(remark));
  }
  judge_effect(settings, setting, context, out);
  const int64_t mib = read_number(setting.value) >> 20;
  if (setting.name != "NCCL_BUFFSIZE" || mib < 64) return;
  out.push_back(warning(RemarkKind::Costly,
                        fmt::format("takes {} MiB for each channel and peer, where 4 are usual; "
                                    "GPU and shared memory run out",
                                    mib),
                        "unset it"));
}

/// Remarks on one of the settings, in the order in which they are found.
std::vector<Remark> lint_one(std::span<const Setting> settings, const Setting& setting,
                             const LintContext& context) {
  std::vector<Remark> remarks;
  if (add(judge_library(setting.name, context.library), remarks)) return remarks;
  const NcclVariable* variable = find_nccl_variable(setting.name);
  // NCCL's table says nothing of what RCCL has kept.
  const bool is_kept = context.library == Library::Rccl && is_rccl_variable(setting.name);
  if (variable == nullptr || is_kept) {
    const OtherVariable* other = find_other_variable(setting.name);
    add(other != nullptr ? judge_other(*other, setting.name) : judge_unread(setting.name), remarks);
    return remarks;
  }
  if (!setting.exported && context.needs_export) {
    remarks.push_back(note(RemarkKind::NotExported,
                           "is set for the script itself only, unless it is exported elsewhere",
                           fmt::format("export {}", setting.name)));
  }
  auto release = judge_release(*variable, context);
  const bool unread = release && release->kind != RemarkKind::Deprecated;
  add(std::move(release), remarks);
  if (!unread || context.nccl_version.empty()) {
    judge_values(*variable, settings, setting, context, remarks);
  }
  return remarks;
}

}  // namespace

std::vector<Remark> judge_filter(const NcclVariable& variable, const Setting& setting,
                                 std::span<const HostDevices> hosts) {
  std::vector<Remark> remarks;
  if (variable.kind() != ValueKind::Filter || setting.value.empty()) return remarks;
  const NameFilter filter = parse_name_filter(setting.value);
  judge_form(variable, filter, remarks);
  if (variable.name == "NCCL_OOB_NET_IFNAME") return remarks;
  // Without a filter NCCL leaves lo, docker and virbr to the last; a filter of ours replaces that.
  const bool is_exclusion = filter.excludes && !filter.entries.empty();
  if (variable.name == "NCCL_SOCKET_IFNAME" && is_exclusion && admits(filter, "lo")) {
    remarks.push_back(warning(RemarkKind::AdmitsLoopback,
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
      return filter.exact ? fmt::format("did you mean {}, without '='?", wanted)
                          : fmt::format("others have {}", name);
    if (begins) return fmt::format("did you mean {}? Case counts", name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = nearest_name(wanted, views);
  return nearest ? fmt::format("did you mean {}?", *nearest) : std::string();
}

std::vector<Remark> lint(std::span<const Setting> settings, const LintContext& context) {
  std::vector<Remark> remarks;
  for (size_t at = 0; at < settings.size(); ++at) {
    std::vector<Remark> found = lint_one(settings, settings[at], context);
    std::ranges::stable_sort(found, {}, &Remark::level);
    for (Remark& remark : found) {
      remark.variable = settings[at].name;
      remark.value = settings[at].value;
      remark.setting = at;
      remarks.push_back(std::move(remark));
    }
  }
  return remarks;
}

}  // namespace ncclog
