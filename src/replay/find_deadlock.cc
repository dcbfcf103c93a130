#include "replay/find_deadlock.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ncclog {
namespace {

/// A call on its way.
struct Step {
  CallOfRank place;
  size_t queue = 0;    ///< Its rank's stream.
  size_t meeting = 0;  ///< What ends it.
  bool is_send = false;
  bool begun = false;
  bool done = false;
};

/// Calls that are begun together: one, or a group's calls on one stream.
struct Batch {
  int group = -1;
  std::vector<size_t> steps;
  size_t open = 0;  ///< Of them, not done.
};

/// A stream of a rank. The batch at `head` is begun, those behind it are not.
struct Queue {
  std::vector<Batch> batches;
  size_t head = 0;
};

/// A collective, or a Send and its Recv.
struct Meeting {
  std::vector<size_t> steps;
  size_t begun = 0;
};

class Simulation {
 public:
  Simulation(const ReplayPlan& plan, SendEnds sends) : plan_(plan), sends_(sends) {
    for (size_t r = 0; r < plan.ranks.size(); ++r) add_rank(r);
    for (const CommunicatorCalls& calls : run_calls(plan, MadeIn::Clean)) add_meetings(calls);
  }

  void run() {
    for (size_t q = 0; q < queues_.size(); ++q) ready_.push_back(q);
    while (!ready_.empty()) {
      const size_t queue = ready_.back();
      ready_.pop_back();
      begin_head(queue);
    }
  }

  std::vector<WaitingCall> circle() const {
    for (const Queue& queue : queues_) {
      if (queue.head < queue.batches.size()) return circle_from(waiting_in(queue));
    }
    return {};
  }

 private:
  void add_rank(size_t r) {
    std::map<int, size_t> by_stream;
    const auto& calls = plan_.ranks[r].calls;
    for (size_t at = 0; at < calls.size(); ++at) {
      if (calls[at].made_in == MadeIn::Defect) continue;
      const auto [queue, is_new] = by_stream.emplace(calls[at].stream, queues_.size());
      if (is_new) queues_.emplace_back();
      step_at_[{r, at}] = steps_.size();
      add_to(queues_[queue->second], calls[at].group, steps_.size());
      steps_.push_back({{r, at}, queue->second, 0, calls[at].op == "Send"});
    }
  }

  static void add_to(Queue& queue, int group, size_t step) {
    const bool joins = group >= 0 && !queue.batches.empty() && queue.batches.back().group == group;
    if (!joins) queue.batches.push_back({group, {}, 0});
    queue.batches.back().steps.push_back(step);
    ++queue.batches.back().open;
  }

  void add_meetings(const CommunicatorCalls& calls) {
    const size_t collectives = calls.collectives.empty() ? 0 : calls.collectives.front().size();
    for (size_t k = 0; k < collectives; ++k) {
      std::vector<CallOfRank> places;
      for (const auto& of_rank : calls.collectives) places.push_back(of_rank.at(k));
      add_meeting(places);
    }
    for (const auto& [ends, line] : calls.messages) {
      for (size_t k = 0; k < line.sends.size(); ++k) {
        add_meeting({line.sends[k], line.recvs.at(k)});
      }
    }
  }

  void add_meeting(const std::vector<CallOfRank>& places) {
    Meeting meeting;
    for (const CallOfRank& place : places) {
      meeting.steps.push_back(step_at_.at({place.rank, place.call}));
      steps_[meeting.steps.back()].meeting = meetings_.size();
    }
    meetings_.push_back(std::move(meeting));
  }

  void begin_head(size_t q) {
    const Queue& queue = queues_[q];
    if (queue.head >= queue.batches.size()) return;
    for (const size_t step : queue.batches[queue.head].steps) begin(step);
  }

  void begin(size_t step) {
    steps_[step].begun = true;
    Meeting& meeting = meetings_[steps_[step].meeting];
    if (++meeting.begun == meeting.steps.size()) {
      for (const size_t each : meeting.steps) end(each);
    } else if (steps_[step].is_send && sends_ == SendEnds::ByItself) {
      end(step);
    }
  }

  void end(size_t s) {
    Step& step = steps_[s];
    if (step.done) return;
    step.done = true;
    Queue& queue = queues_[step.queue];
    if (--queue.batches[queue.head].open > 0) return;
    ++queue.head;
    ready_.push_back(step.queue);
  }

  /// A call at the head of a queue that has not come to its end.
  size_t waiting_in(const Queue& queue) const {
    const auto& steps = queue.batches[queue.head].steps;
    return *std::find_if(steps.begin(), steps.end(),
                         [this](size_t step) { return !steps_[step].done; });
  }

  /// Who has not come to where that call waits.
  size_t awaited_by(size_t step) const {
    const auto& steps = meetings_[steps_[step].meeting].steps;
    return *std::find_if(steps.begin(), steps.end(),
                         [this](size_t other) { return !steps_[other].begun; });
  }

  std::vector<WaitingCall> circle_from(size_t step) const {
    std::vector<WaitingCall> links;
    std::map<size_t, size_t> link_of;  // By waiting step.
    while (!link_of.contains(step)) {
      link_of[step] = links.size();
      const size_t awaited = awaited_by(step);
      links.push_back({steps_[step].place, steps_[awaited].place});
      step = waiting_in(queues_[steps_[awaited].queue]);
    }
    links.erase(links.begin(), links.begin() + static_cast<ptrdiff_t>(link_of[step]));
    return links;
  }

  const ReplayPlan& plan_;
  SendEnds sends_;
  std::vector<Step> steps_;
  std::map<std::pair<size_t, size_t>, size_t> step_at_;  ///< By rank and call.
  std::vector<Queue> queues_;
  std::vector<Meeting> meetings_;
  std::vector<size_t> ready_;  ///< Queues whose head is to be begun.
};

}  // namespace

std::vector<WaitingCall> find_deadlock(const ReplayPlan& plan, SendEnds sends) {
  Simulation simulation(plan, sends);
  simulation.run();
  return simulation.circle();
}

}  // namespace ncclog
