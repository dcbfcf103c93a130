#include "app/replay_folder.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "app/output_file.h"
#include "app/plan_file.h"
#include "base/error.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan_json.h"
#include "replay/judge/verdict.h"

namespace ncclog {

namespace fs = std::filesystem;

namespace {

/// Whose replay a file of the folder is of; nullopt: there is no such file.
template <typename PlanOf>
std::optional<std::string> plan_of(const fs::path& file, PlanOf plan_of_text) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    return plan_of_text(read_replay_file(file.string()));
  } catch (const Error&) {
    return std::string();  // Somebody else's file, or a newer ncclog's.
  }
}

}  // namespace

fs::path new_replay_folder(const std::string& plan_hash) {
  const std::string name = "ncclog-replay-" + plan_hash.substr(0, 8);
  fs::path path = name;
  for (int n = 2; fs::exists(path); ++n) path = fmt::format("{}-{}", name, n);
  return path;
}

void check_replay_folder(const fs::path& folder, const ReplayPlan& plan, const std::string& hash) {
  const auto of_plan = [&](const std::string& text) {
    return parse_plan(text, "plan.json") == plan ? hash : plan_hash(text);
  };
  const auto of_outcome = [](const std::string& text) {
    return parse_outcome(text, "outcome.json").plan;
  };
  const auto of_result = [](const std::string& text) {
    return parse_result(text, "result.json").plan;
  };
  for (const auto& found :
       {plan_of(folder / "plan.json", of_plan), plan_of(folder / "outcome.json", of_outcome),
        plan_of(folder / "result.json", of_result)}) {
    if (found && *found != hash) {
      throw Error("holds another plan, or what came out of it", folder.string(),
                  "choose another --out");
    }
  }
}

void take_refusal_away(const fs::path& folder) {
  const fs::path path = folder / "outcome.json";
  if (!fs::exists(path)) return;
  if (!is_of_a_refusal(read_replay_file(path.string()))) {
    throw Error("holds the outcome of another replay", folder.string(), "choose another --out");
  }
  fs::remove(path);
}

void make_replay_folder(const fs::path& folder, const std::string& plan_text) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error("cannot be made: " + failed.message(), folder.string(), "choose another --out");
  }
  write_output_file((folder / "plan.json").string(), plan_text);
}

}  // namespace ncclog
