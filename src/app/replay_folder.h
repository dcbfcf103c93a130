// The folder of a replay: new, or one in which nothing of another replay is.
//
//   ncclog-replay-5f0c1a2b/plan.json      written before the runs
//                          outcome.json   by ncclog-replay
//                          result.json    by ncclog, at the end

#pragma once

#include <filesystem>
#include <string>

#include "replay/plan/plan.h"

namespace ncclog {

/// "ncclog-replay-5f0c1a2b", or the first of that name with a number that is not there yet. It is
/// not made.
std::filesystem::path new_replay_folder(const std::string& plan_hash);

/// Throws Error if the folder holds another plan or what was found out about one. It need not be
/// there. `hash` is that of the plan's file.
void check_replay_folder(const std::filesystem::path& folder, const ReplayPlan& plan,
                         const std::string& hash);

/// An outcome of an earlier replay must not pass for this one's. That of a refusal is removed;
/// throws Error if one is there that somebody waited for.
void take_refusal_away(const std::filesystem::path& folder);

/// Makes the folder with the plan in it. Throws Error.
void make_replay_folder(const std::filesystem::path& folder, const std::string& plan_text);

}  // namespace ncclog
