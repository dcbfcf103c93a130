#include "support/synthetic/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

namespace ncclog::testing {
namespace {

using Json = nlohmann::json;

/// Ids that may name somebody for what was done.
struct Allowed {
  Fault act;
  std::vector<std::string_view> ids;
};

/// These say what the watchdog's lines say, or that messages lack their other end or a communicator
/// a rank, which is true wherever ranks stop between them. So they go with every act, if they name
/// the guilty or nobody.
constexpr std::string_view kWithEveryAct[] = {
    "watchdog-rank-behind", "watchdog-collective-mismatch", "send-recv-unmatched",
    "rank-missing-at-init", "collective-rank-behind-info"};

/// Say that the job stood still, or may have, which is true of every hang.
constexpr std::string_view kStandsStill[] = {"job-stopped-while-stalled", "log-ends-mid-job",
                                             "calls-crossed-at-end"};

const std::vector<Allowed>& allowed_ids() {
  static const std::vector<Allowed> kAllowed = {
      {Fault::Stop, {"collective-rank-missing", "rank-left-early"}},
      {Fault::Late, {"collective-rank-missing", "collective-all-entered-stall"}},
      // Whoever leaves out one of the last calls is through before the others.
      {Fault::Skip,
       {"collective-rank-missing", "mismatched-collectives", "collective-order-inversion",
        "rank-left-early", "communicator-aborted-early"}},
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
      {Fault::WrongMessage, {"send-recv-size-mismatch"}},
  };
  return kAllowed;
}

template <typename Ids>
bool is_among(std::string_view id, const Ids& ids) {
  return std::find(std::begin(ids), std::end(ids), id) != std::end(ids);
}

bool is_allowed(Fault act, std::string_view id) {
  const auto& all = allowed_ids();
  const auto row = std::find_if(all.begin(), all.end(),
                                [&](const Allowed& allowed) { return allowed.act == act; });
  if (row == all.end()) return false;
  return is_among(id, row->ids) || is_among(id, kWithEveryAct);
}

template <typename T>
bool is_part(const std::vector<T>& part, const std::vector<T>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// A finding above info.
struct Claim {
  std::string id, severity, role, message;
  std::vector<int> ranks;
  std::vector<std::string> hosts;
};

std::vector<Claim> claims_of(const Json& report) {
  std::vector<Claim> claims;
  for (const Json& finding : report.at("findings")) {
    if (finding.at("severity") == "info") continue;
    claims.push_back({.id = finding.at("id"),
                      .severity = finding.at("severity"),
                      .role = finding.at("role"),
                      .message = finding.at("message"),
                      .ranks = finding.at("ranks"),
                      .hosts = finding.at("hosts")});
  }
  return claims;
}

std::string sentence(const Claim& claim) {
  return fmt::format("{} {} {} ranks {} hosts {}: {}", claim.severity, claim.role, claim.id,
                     claim.ranks, claim.hosts, claim.message.substr(0, 400));
}

/// Guilty ranks are named, and nobody else, or they are among the sides between which nothing
/// decides.
bool names_rightly(const Truth& truth, const Claim& claim) {
  if (claim.ranks.empty()) return is_part(claim.hosts, truth.hosts) || !truth.sides.empty();
  if (is_part(claim.ranks, truth.planted.guilty)) return true;
  return !truth.sides.empty() && is_part(claim.ranks, truth.sides) &&
         is_part(truth.planted.guilty, claim.ranks);
}

/// Says that the log of a rank lacks lines, which is so, and names nobody else.
bool tells_the_loss(const Planted& planted, const Claim& claim) {
  constexpr std::string_view kTellLoss[] = {"flight-recorder-contradicts", "init-unfinished"};
  return planted.damaged >= 0 && is_among(claim.id, kTellLoss) &&
         (claim.ranks.empty() || claim.ranks == std::vector{planted.damaged});
}

/// Says that the job stood still, where it did or the lines may look so. It is no accusation, and
/// says at most where the guilty are.
bool tells_the_stillness(const Truth& truth, const Claim& claim) {
  const bool is_frame = is_among(claim.id, kStandsStill) && (truth.is_hung || truth.may_look_still);
  return is_frame && (claim.ranks.empty() || (truth.is_marred && names_rightly(truth, claim)));
}

class Judge {
 public:
  Judge(const SyntheticJob& job, const Json& report) : truth_(job.truth), report_(report) {}

  Judgement judge() {
    for (const Claim& claim : claims_of(report_)) judge_claim(claim);
    judge_verdict();
    if (truth_.run_pids.size() > 1) judge_runs();
    return std::move(judgement_);
  }

 private:
  void wrong(std::string_view kind, std::string what, std::string text) {
    judgement_.wrong.push_back({kind, std::move(what), std::move(text)});
  }

  void judge_claim(const Claim& claim) {
    if (tells_the_loss(truth_.planted, claim) || tells_the_stillness(truth_, claim)) return;
    if (!truth_.is_marred) {
      // A hang whose cause was lost with the evidence shows its symptoms all the same.
      if (truth_.is_hung && claim.role == "symptom") return;
      return wrong(claim.ranks.empty() ? kFalseAlarm : kInnocentNamed, claim.id, sentence(claim));
    }
    if (claim.role == "symptom") return;
    const bool names = names_rightly(truth_, claim);
    const bool fits = names && is_allowed(truth_.planted.act, claim.id);
    if (!names) {
      wrong(kInnocentNamed, claim.id, sentence(claim));
    } else if (!fits) {
      wrong(kWrongId, claim.id, sentence(claim));
    }
    // Of a message, both ends are named: the lines do not say which one is wrong.
    const bool is_exact = claim.ranks == truth_.planted.guilty ||
                          (truth_.planted.peer >= 0 && claim.ranks == truth_.sides);
    judgement_.names_guilty |= fits && is_exact;
  }

  void judge_verdict() {
    const std::string status = report_.at("verdict").at("status");
    if (is_among(status, truth_.verdicts)) return;
    const std::string headline = report_.at("verdict").at("headline");
    const bool is_finished = truth_.verdicts.front() == "clean";
    const std::string_view kind = status == "clean" ? kOverClaimsClean
                                  : is_finished     ? kFinishedNotClean
                                                    : kWrongVerdict;
    wrong(kind, fmt::format("{}, not {}", status, fmt::join(truth_.verdicts, " or ")), headline);
  }

  void judge_runs() {
    const Json runs = report_.value("runs", Json::array());
    if (runs.size() != truth_.run_pids.size()) {
      return wrong(kRunsNotApart, fmt::format("{} of {}", runs.size(), truth_.run_pids.size()),
                   "runs: " + runs.dump().substr(0, 400));
    }
    for (size_t i = 0; i < runs.size(); ++i) {
      auto pids = runs[i].at("pids").get<std::vector<int>>();
      std::sort(pids.begin(), pids.end());
      if (!is_part(pids, truth_.run_pids[i])) {
        wrong(kRunsNotApart, fmt::format("pids of run {}", i + 1), runs[i].dump().substr(0, 400));
      }
      const std::string status = runs[i].at("verdict").at("status");
      const bool wants_clean = truth_.run_verdicts[i] == "clean";
      if ((status == "clean") == wants_clean) continue;
      if (i + 1 == runs.size() && truth_.finished && status == "clean") continue;
      // Without the lines of the initialisation, whose calls to compare may not be told.
      const std::string headline = runs[i].at("verdict").at("headline");
      if (headline.find("which communicator is theirs is not told") != headline.npos) continue;
      wrong(wants_clean ? kWrongRunVerdict : kOverClaimsClean,
            fmt::format("run {}: {}", i + 1, status), runs[i].dump().substr(0, 400));
    }
  }

  const Truth& truth_;
  const Json& report_;
  Judgement judgement_;
};

}  // namespace

Judgement judge(const SyntheticJob& job, std::string_view report) {
  const Json parsed = Json::parse(report);
  return Judge(job, parsed).judge();
}

std::string describe_claims(std::string_view report) {
  const Json parsed = Json::parse(report);
  const Json& verdict = parsed.at("verdict");
  std::string text = fmt::format("  verdict {}: {}\n", verdict.at("status").get<std::string>(),
                                 verdict.at("headline").get<std::string>());
  for (const Claim& claim : claims_of(parsed)) text += "  " + sentence(claim) + "\n";
  return text;
}

}  // namespace ncclog::testing
