#include "replay/shrink_losses.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

/// "1 call", "2 calls".
std::string counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string_view is_or_are(uint64_t number) { return number == 1 ? "is" : "are"; }

std::string alone_sentence(std::vector<int> ranks) {
  std::erase(ranks, -1);
  return fmt::format(
      "No kept rank made the same calls as {}.",
      ranks.empty() ? "some that are left out" : "ranks " + ranges_text(std::move(ranks)));
}

std::string communicators_sentence(const ShrinkLosses& losses, const ReplayPlan& plan) {
  return fmt::format(
      "{} of {} communicators are not made, because fewer than two of their ranks are kept; {} on "
      "them {} left out.",
      losses.communicators, plan.communicators.size(), counted(losses.calls, "call"),
      is_or_are(losses.calls));
}

}  // namespace

std::vector<std::string> loss_sentences(const ShrinkLosses& losses, const ReplayPlan& plan,
                                        size_t kept) {
  std::vector<std::string> sentences;
  sentences.push_back(
      fmt::format("{} ranks are replayed by {}: every communicator is smaller, and its rings and "
                  "trees are others.",
                  plan.ranks.size(), kept));
  if (!losses.alone.empty()) sentences.push_back(alone_sentence(losses.alone));
  if (losses.communicators > 0) sentences.push_back(communicators_sentence(losses, plan));
  if (losses.messages > 0) {
    sentences.push_back(fmt::format("{} to or from ranks that are not kept {} left out.",
                                    counted(losses.messages, "message"),
                                    is_or_are(losses.messages)));
  }
  if (losses.roots > 0) {
    sentences.push_back(
        fmt::format("The root of {} is not kept: the lowest kept rank takes its part.",
                    counted(losses.roots, "call")));
  }
  return sentences;
}

}  // namespace ncclog
