// Is a report right about a synthetic job?
//
// It is judged by what scripts read, the JSON report. An accusation is a finding of severity error
// or warning whose role is cause: it says who did something. Symptoms list the ranks whose own
// lines report them, which are the ones that wait. "No one is named" is never wrong, only
// unhelpful; a name too many or an id that contradicts what was planted is wrong. Advice about
// settings is wrong as well: the settings are in order.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/finding.h"
#include "support/synthetic/synthetic_job.h"

namespace ncclog::testing {

/// What is said and not true.
struct WrongClaim {
  std::string_view kind;  ///< "innocent named", …: one of kWrongKinds.
  std::string what;       ///< The finding's id, the verdict, …: alike for what is alike.
  std::string sentence;
};

inline constexpr std::string_view kInnocentNamed = "innocent named";
inline constexpr std::string_view kFalseAlarm = "false alarm";
inline constexpr std::string_view kWrongId = "wrong id";
inline constexpr std::string_view kOverClaimsClean = "hung or failed, but clean";
inline constexpr std::string_view kFinishedNotClean = "finished, but not clean";
inline constexpr std::string_view kWrongVerdict = "wrong verdict";
inline constexpr std::string_view kRunsNotApart = "runs not apart";
inline constexpr std::string_view kWrongRunVerdict = "wrong verdict of a run";

struct Judgement {
  std::vector<WrongClaim> wrong;
  bool names_guilty = false;  ///< Some accusation names the guilty ranks and nobody else.
};

/// `report`: as `analyze --format json` writes it.
Judgement judge(const SyntheticJob& job, std::string_view report);

/// Verdict and findings above info, one a line: "error collective-rank-missing ranks 5 hosts
/// node-a".
std::string describe_claims(std::string_view report);

}  // namespace ncclog::testing
