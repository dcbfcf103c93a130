#include "replay/exec/comm_steps.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

bool share_a_rank(const PlannedCommunicator& a, const PlannedCommunicator& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&b](int rank) {
    return std::find(b.ranks.begin(), b.ranks.end(), rank) != b.ranks.end();
  });
}

/// Whether one split can have made `next` along with those of `step`.
bool belongs_to(const ReplayPlan& plan, const CommStep& step, const PlannedCommunicator& next) {
  if (next.parent < 0 || next.parent != step.parent) return false;
  return std::none_of(step.made.begin(), step.made.end(), [&](int sibling) {
    const PlannedCommunicator& made = plan.communicators[sibling];
    return made.color == next.color || share_a_rank(made, next);
  });
}

int digit_of(char c) {
  if (is_digit(c)) return c - '0';
  return (c | 0x20) - 'a' + 10;
}

}  // namespace

std::vector<CommStep> comm_steps(const ReplayPlan& plan) {
  std::vector<CommStep> steps;
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    const PlannedCommunicator& communicator = plan.communicators[i];
    if (steps.empty() || !belongs_to(plan, steps.back(), communicator)) {
      steps.push_back({.parent = communicator.parent, .made = {}});
    }
    steps.back().made.push_back(static_cast<int>(i));
  }
  return steps;
}

std::vector<int> communicators_led_by(const ReplayPlan& plan, int rank) {
  std::vector<int> led;
  for (size_t i = 0; i < plan.communicators.size(); ++i) {
    const PlannedCommunicator& communicator = plan.communicators[i];
    if (communicator.parent < 0 && !communicator.ranks.empty() &&
        communicator.ranks.front() == rank) {
      led.push_back(static_cast<int>(i));
    }
  }
  return led;
}

std::string hex_text(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 0xf];
  }
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text, size_t bytes) {
  if (text.size() != 2 * bytes || !std::all_of(text.begin(), text.end(), is_hex_digit)) {
    return std::nullopt;
  }
  std::string result;
  for (size_t i = 0; i < text.size(); i += 2) {
    result += static_cast<char>(digit_of(text[i]) << 4 | digit_of(text[i + 1]));
  }
  return result;
}

}  // namespace ncclog
