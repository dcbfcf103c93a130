#include "support/synthetic/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace ncclog::testing {
namespace {

/// Ids that may name somebody for what was done.
struct Allowed {
  Fault act;
  std::vector<std::string_view> ids;
};

/// These say what the watchdog's lines say, or that messages lack their other end or a communicator
/// a rank, which is true wherever ranks stop between them. So they go with every act, if they name
/// the guilty or nobody.
constexpr std::string_view kWithEveryAct[] = {"watchdog-rank-behind",
                                              "watchdog-collective-mismatch", "send-recv-unmatched",
                                              "rank-missing-at-init"};

const std::vector<Allowed>& allowed_ids() {
  static const std::vector<Allowed> kAllowed = {
      {Fault::Stop, {"collective-rank-missing"}},
      {Fault::Late, {"collective-rank-missing", "collective-all-entered-stall"}},
      {Fault::Skip,
       {"collective-rank-missing", "mismatched-collectives", "collective-order-inversion"}},
      {Fault::Extra,
       {"collective-rank-missing", "mismatched-collectives", "collective-order-inversion"}},
      {Fault::Swap, {"mismatched-collectives"}},
      {Fault::WrongCount, {"mismatched-collectives"}},
      {Fault::WrongDatatype, {"mismatched-collectives"}},
      {Fault::WrongRoot, {"mismatched-collectives"}},
      {Fault::WrongOp, {"mismatched-collectives"}},
      {Fault::Inversion, {"collective-order-inversion", "collective-rank-missing"}},
      {Fault::Killed, {"process-killed", "collective-rank-missing"}},
      {Fault::SkipMessage, {"collective-rank-missing", "collective-order-inversion"}},
      {Fault::StopMessage, {"collective-rank-missing"}},
      {Fault::WrongMessage, {}},
  };
  return kAllowed;
}

bool is_allowed(Fault act, std::string_view id) {
  const auto& all = allowed_ids();
  const auto row = std::find_if(all.begin(), all.end(),
                                [&](const Allowed& allowed) { return allowed.act == act; });
  if (row == all.end()) return false;
  const auto is_id = [&](std::string_view each) { return each == id; };
  return std::any_of(row->ids.begin(), row->ids.end(), is_id) ||
         std::any_of(std::begin(kWithEveryAct), std::end(kWithEveryAct), is_id);
}

template <typename T>
bool is_part(const std::vector<T>& part, const std::vector<T>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// The guilty are named, whole and alone, or as one of the sides between which nothing decides.
bool names_rightly(const Truth& truth, const Finding& finding) {
  if (finding.ranks.empty()) return is_part(finding.hosts, truth.hosts) || !truth.sides.empty();
  if (finding.ranks == truth.planted.guilty) return true;
  return !truth.sides.empty() && is_part(finding.ranks, truth.sides) &&
         is_part(truth.planted.guilty, finding.ranks);
}

/// Says that the log of a rank lacks lines, which is so, and names nobody else.
bool tells_the_loss(const Planted& planted, const Finding& finding) {
  return planted.damaged >= 0 && finding.id == "flight-recorder-contradicts" &&
         (finding.ranks.empty() || finding.ranks == std::vector{planted.damaged});
}

std::string sentence(const Finding& finding) {
  return fmt::format("{} {} {} ranks {} hosts {}: {}", to_string(finding.severity),
                     to_string(finding.role), finding.id, finding.ranks, finding.hosts,
                     finding.message.substr(0, 400));
}

}  // namespace

Judgement judge(const SyntheticJob& job, const Diagnosis& diagnosis) {
  const Truth& truth = job.truth;
  Judgement judgement;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity == Severity::Info || finding.role == Role::Symptom) continue;
    if (tells_the_loss(truth.planted, finding)) continue;
    const bool fits = truth.is_marred && is_allowed(truth.planted.act, finding.id) &&
                      names_rightly(truth, finding);
    if (!fits) judgement.wrong.push_back(sentence(finding));
    judgement.names_guilty |= fits && finding.ranks == truth.planted.guilty;
  }
  return judgement;
}

std::string describe(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) {
    if (finding.severity != Severity::Info) text += "  " + sentence(finding) + "\n";
  }
  return text.empty() ? "  nothing above info\n" : text;
}

}  // namespace ncclog::testing
