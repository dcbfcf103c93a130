#include "diagnose/message_balance.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "diagnose/fact_answers.h"
#include "diagnose/program_twins.h"

namespace ncclog {
namespace {

constexpr size_t kMostCompared = 256;  ///< Ranks.
/// Collectives before which as many messages were sent as received, and not none.
constexpr size_t kFewestMatching = 2;

/// Both ends of messages: places in the ranks' programs.
struct Ends {
  int sender = -1;  ///< Into rank_programs(); -1: it made none of them.
  int receiver = -1;
  std::vector<size_t> sent;
  std::vector<size_t> received;
};

using CollectivePlaces = std::map<std::pair<CallLine, uint64_t>, size_t>;

/// Messages made before the place.
uint64_t made_before(const RankProgram& program, const std::vector<size_t>& messages,
                     size_t place) {
  const auto next = std::lower_bound(messages.begin(), messages.end(), place);
  if (next != messages.end()) return program.calls[*next].index;
  return program.calls[messages.back()].index + 1;
}

class Comparing {
 public:
  explicit Comparing(const Job& job) : programs_(rank_programs(job)) {
    if (programs_.size() > kMostCompared) return;
    collectives_.resize(programs_.size());
    for (size_t p = 0; p < programs_.size(); ++p) add(static_cast<int>(p));
  }

  std::vector<OutOfStep> find() const {
    std::vector<OutOfStep> result;
    for (const auto& [line, ends] : messages_) {
      if (ends.sender < 0 || ends.receiver < 0 || ends.sender == ends.receiver) continue;
      if (auto messages = first_apart(ends)) {
        messages->messages = line;
        result.push_back(*messages);
      }
    }
    return result;
  }

 private:
  const RankProgram& program(int p) const { return programs_[static_cast<size_t>(p)]; }

  void add(int p) {
    const std::vector<RankCall>& calls = program(p).calls;
    for (size_t at = 0; at < calls.size(); ++at) {
      const RankCall& call = calls[at];
      if (!call.line.is_message()) {
        collectives_[static_cast<size_t>(p)][{call.line, call.index}] = at;
        continue;
      }
      Ends& ends = messages_[call.line];
      (call.receives ? ends.receiver : ends.sender) = p;
      (call.receives ? ends.received : ends.sent).push_back(at);
    }
  }

  std::optional<OutOfStep> first_apart(const Ends& ends) const {
    const RankProgram& sender = program(ends.sender);
    const RankProgram& receiver = program(ends.receiver);
    const CollectivePlaces& met = collectives_[static_cast<size_t>(ends.receiver)];
    OutOfStep apart{.sender = sender.waiter, .receiver = receiver.waiter};
    bool is_apart = false;
    size_t matching = 0;
    for (size_t at = 0; at < sender.calls.size(); ++at) {
      const RankCall& call = sender.calls[at];
      if (call.line.is_message()) continue;
      const auto place = met.find({call.line, call.index});
      if (place == met.end()) continue;
      const uint64_t sent = made_before(sender, ends.sent, at);
      const uint64_t received = made_before(receiver, ends.received, place->second);
      if (is_apart && sent - received != apart.sent - apart.received) return std::nullopt;
      if (is_apart) continue;
      if (sent == received) {
        matching += sent > 0 ? 1 : 0;
        continue;
      }
      if (matching < kFewestMatching) return std::nullopt;
      is_apart = true;
      apart.collective = call.line;
      apart.index = call.index;
      apart.sent = sent;
      apart.received = received;
    }
    return is_apart ? std::optional(apart) : std::nullopt;
  }

  const std::vector<RankProgram>& programs_;
  std::vector<CollectivePlaces> collectives_;  ///< By program.
  std::map<CallLine, Ends> messages_;
};

std::vector<OutOfStep> find_out_of_step(const Job& job) { return Comparing(job).find(); }

}  // namespace

const std::vector<OutOfStep>& messages_out_of_step(const Job& job) {
  return job.answers.of<&find_out_of_step>(job);
}

std::vector<OutOfStepRank> ranks_out_of_step(const Job& job) {
  std::vector<OutOfStepRank> result;
  for (const OutOfStep& messages : messages_out_of_step(job)) {
    const bool sender_left = departure_from_twins(job, messages.sender).has_value();
    const bool receiver_left = departure_from_twins(job, messages.receiver).has_value();
    if (sender_left == receiver_left) continue;
    const Waiter& waiter = sender_left ? messages.sender : messages.receiver;
    const bool is_known = std::any_of(result.begin(), result.end(),
                                      [&](const auto& one) { return one.waiter == waiter; });
    if (!is_known) result.push_back({messages, waiter});
  }
  return result;
}

}  // namespace ncclog
