// Which settings of the job do not do what they say?
//
//   $ mpirun -x NCCL_TIMEOUT=3600 …                → job.unknown_variables, "NCCL_TIMEOUT"
//   NCCL_IB_HCA beside NCCL_IB_DISABLE=1           → job.contradictory_settings
//
// The lint (diagnose/environment_lint.h) finds them; each fact is one sort of its remarks.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/job_settings.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 4;

/// "a; b; c; d and 2 more".
std::string few(const std::vector<std::string>& parts, std::string_view separator) {
  if (parts.size() <= kMostNamed) return join(parts, separator);
  return fmt::format("{} and {} more", join(std::span(parts).first(kMostNamed), separator),
                     parts.size() - kMostNamed);
}

/// Remarks that `wanted` takes, each in the words of `words`.
template <typename Wanted, typename Words>
FactValue remarks_answer(const Job& job, std::string_view separator, Wanted wanted, Words words) {
  std::vector<std::string> parts;
  std::vector<Evidence> evidence;
  std::set<std::string> seen;
  for (const JobRemark& each : job_remarks(job)) {
    if (!wanted(each.remark)) continue;
    std::string text = words(each.remark);
    if (!seen.insert(text).second) continue;
    parts.push_back(std::move(text));
    evidence.push_back(each.line);
  }
  return parts.empty() ? unknown() : yes(few(parts, separator), std::move(evidence));
}

std::string sentence(const Remark& remark) {
  const std::string setting =
      remark.value.empty() ? remark.variable : fmt::format("{}={}", remark.variable, remark.value);
  return fmt::format("{} {}", printable(setting), printable(remark.message));
}

template <RemarkKind... kinds>
bool is_kind(const Remark& remark) {
  return ((remark.kind == kinds) || ...);
}

template <RemarkKind... kinds>
FactValue sentences(const Job& job, const Instance&) {
  return remarks_answer(job, "; ", is_kind<kinds...>, sentence);
}

FactValue unknown_variables(const Job& job, const Instance&) {
  return remarks_answer(
      job, ", ",
      [](const Remark& remark) {
        return is_kind<RemarkKind::Unknown, RemarkKind::Misspelt>(remark) &&
               remark.level == RemarkLevel::Warning;
      },
      [](const Remark& remark) { return printable(remark.variable); });
}

FactValue misspelt_variables(const Job& job, const Instance&) {
  return remarks_answer(job, ", ", is_kind<RemarkKind::Misspelt>, [](const Remark& remark) {
    const std::string_view hint = remark.hint;
    constexpr std::string_view kAsks = "did you mean ";
    return fmt::format("{} (meant: {})", printable(remark.variable),
                       hint.substr(hint.starts_with(kAsks) ? kAsks.size() : 0));
  });
}

bool is_about_logging(const Remark& remark) { return remark.variable.starts_with("NCCL_DEBUG"); }

FactValue costly_logging(const Job& job, const Instance&) {
  return remarks_answer(
      job, "; ",
      [](const Remark& remark) {
        return remark.kind == RemarkKind::Costly && is_about_logging(remark);
      },
      sentence);
}

/// Remarks of one kind on filters of one sort.
FactValue filter_sentences(const Job& job, RemarkKind kind, std::string_view variable) {
  return remarks_answer(
      job, "; ",
      [&](const Remark& remark) { return remark.kind == kind && remark.variable == variable; },
      [](const Remark& remark) {
        const std::string hint = remark.hint.empty() ? "" : fmt::format(" ({})", remark.hint);
        return sentence(remark) + printable(hint);
      });
}

FactValue ifname_matches_nothing(const Job& job, const Instance&) {
  return filter_sentences(job, RemarkKind::MatchesNothing, "NCCL_SOCKET_IFNAME");
}

FactValue ifname_matches_more(const Job& job, const Instance&) {
  return filter_sentences(job, RemarkKind::MatchesMore, "NCCL_SOCKET_IFNAME");
}

FactValue hca_matches_nothing(const Job& job, const Instance&) {
  return filter_sentences(job, RemarkKind::MatchesNothing, "NCCL_IB_HCA");
}

FactValue hca_matches_more(const Job& job, const Instance&) {
  return filter_sentences(job, RemarkKind::MatchesMore, "NCCL_IB_HCA");
}

/// Contradictions; that all ways but the network are off has a fact of its own.
FactValue contradictory_settings(const Job& job, const Instance&) {
  return remarks_answer(
      job, "; ",
      [](const Remark& remark) {
        return remark.kind == RemarkKind::Contradictory && remark.variable != "NCCL_P2P_DISABLE";
      },
      sentence);
}

/// Settings that NCCL read although the commands in the log, which hand settings on, do not name
/// them.
FactValue settings_from_elsewhere(const Job& job, const Instance&) {
  std::set<std::string, std::less<>> named;
  for (const CommandSettings& command : command_settings(job)) {
    for (const Setting& setting : command.found.settings) {
      if (setting.name.starts_with("NCCL_")) named.insert(setting.name);
    }
  }
  if (named.empty()) return unknown();
  std::vector<std::string> names;
  std::vector<Evidence> evidence;
  for_each_said<EnvSet>(job, [&](const Said<EnvSet>& said) {
    const std::string name(said.message.name);
    if (named.contains(name)) return;
    named.insert(name);
    names.push_back(fmt::format("{}={}", name, printable(said.message.value)));
    evidence.push_back(evidence_of(said.record));
  });
  return names.empty() ? no() : yes(few(names, ", "), std::move(evidence));
}

/// " for Broadcast of ncclInt8; NCCL_ALGO was set to NVLS": what a sentence ends with. Of many
/// operations the first.
FactValue algorithm_unavailable(const Job& job, const Instance&) {
  FactValue value;
  for_each_said<AlgorithmUnavailable>(job, [&](const Said<AlgorithmUnavailable>& said) {
    const AlgorithmUnavailable& lack = said.message;
    if (!value.evidence.empty() && !(said.record.where < value.evidence.front().where)) return;
    std::string words;
    words += fmt::format(" for {}", lack.function.empty() ? "an operation" : lack.function);
    if (!lack.datatype.empty()) words += fmt::format(" of {}", lack.datatype);
    std::string_view settings = trim(lack.settings);
    if (settings.ends_with('.')) settings.remove_suffix(1);
    // Full stops would end the sentence.
    std::string set = to_valid_utf8(settings);
    std::replace(set.begin(), set.end(), '.', ',');
    if (!set.empty()) words += fmt::format("; {}", set);
    value = yes(to_valid_utf8(words), {evidence_of(said.record)});
  });
  return value;
}

constexpr std::array kFacts = {
    Fact{"job.algorithm_unavailable", Scope::Job, FactType::Bool,
         "NCCL says that no algorithm and protocol is left for an operation; in words: which one, "
         "and what was set.",
         algorithm_unavailable},
    Fact{"job.contradictory_settings", Scope::Job, FactType::Bool,
         "A setting has no effect because of another one of the same process or command.",
         contradictory_settings},
    Fact{"job.costly_logging", Scope::Job, FactType::Bool,
         "A command asks NCCL for every call or every subsystem.", costly_logging},
    Fact{"job.hca_matches_more", Scope::Job, FactType::Bool,
         "NCCL_IB_HCA admits a device because its name begins like one that it names.",
         hca_matches_more},
    Fact{"job.hca_matches_nothing", Scope::Job, FactType::Bool,
         "A process that reads NCCL_IB_HCA found no RDMA device.", hca_matches_nothing},
    Fact{"job.ifname_matches_more", Scope::Job, FactType::Bool,
         "NCCL_SOCKET_IFNAME admits an interface because its name begins like one that it names.",
         ifname_matches_more},
    Fact{"job.ifname_matches_nothing", Scope::Job, FactType::Bool,
         "A process that reads NCCL_SOCKET_IFNAME found no interface.", ifname_matches_nothing},
    Fact{"job.invalid_settings", Scope::Job, FactType::Bool,
         "A setting has a value that NCCL cannot use, or reads as another one.",
         sentences<RemarkKind::Invalid>},
    Fact{"job.misspelt_variables", Scope::Job, FactType::Bool,
         "A command sets a name that is one or two letters away from one that NCCL reads.",
         misspelt_variables},
    Fact{"job.removed_variables", Scope::Job, FactType::Bool,
         "A command sets a variable that this release of NCCL no longer reads.",
         sentences<RemarkKind::Removed>},
    Fact{"job.settings_from_elsewhere", Scope::Job, FactType::Bool,
         "NCCL read a setting that the commands in the log, which set others, do not name.",
         settings_from_elsewhere},
    Fact{"job.too_new_variables", Scope::Job, FactType::Bool,
         "A command sets a variable that this release of NCCL does not read yet.",
         sentences<RemarkKind::TooNew>},
    Fact{"job.unknown_variables", Scope::Job, FactType::Bool,
         "A command sets an NCCL_* name that no release of NCCL and no known plugin reads.",
         unknown_variables},
};

}  // namespace

std::span<const Fact> setting_facts() { return kFacts; }

}  // namespace ncclog
