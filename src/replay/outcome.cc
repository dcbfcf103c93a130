#include "replay/outcome.h"

#include <algorithm>
#include <iterator>

namespace ncclog {
namespace {

constexpr std::string_view kPhases[] = {"start",      "init",     "enqueue",
                                        "completion", "teardown", "done"};
constexpr std::string_view kRunEnds[] = {"completed", "hung", "failed",
                                         "wrong",     "died", "not-started"};
constexpr std::string_view kProcessEnds[] = {"by-itself", "on-abort", "terminated", "killed",
                                             "lost"};

/// The enumerator that stands at the word's place.
template <typename Enum, size_t n>
std::optional<Enum> parse_word(const std::string_view (&words)[n], std::string_view word) {
  const auto* found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words)) return std::nullopt;
  return static_cast<Enum>(found - std::begin(words));
}

}  // namespace

std::string_view to_string(ReplayPhase phase) { return kPhases[static_cast<size_t>(phase)]; }
std::string_view to_string(RunEnd end) { return kRunEnds[static_cast<size_t>(end)]; }
std::string_view to_string(ProcessEnd end) { return kProcessEnds[static_cast<size_t>(end)]; }

std::optional<ReplayPhase> parse_replay_phase(std::string_view word) {
  return parse_word<ReplayPhase>(kPhases, word);
}

std::optional<RunEnd> parse_run_end(std::string_view word) {
  return parse_word<RunEnd>(kRunEnds, word);
}

std::optional<ProcessEnd> parse_process_end(std::string_view word) {
  return parse_word<ProcessEnd>(kProcessEnds, word);
}

}  // namespace ncclog
