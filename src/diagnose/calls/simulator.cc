#include "diagnose/calls/simulator.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace ncclog {

Simulation::Simulation(const std::vector<RankProgram>& programs, Circles circles,
                       const IsComplete& is_complete)
    : programs_(programs) {
  for (size_t p = 0; p < programs.size(); ++p) add_program(static_cast<uint32_t>(p));
  for (auto& [key, meeting] : meetings_) meeting.is_complete = is_complete(key, meeting.calls);
  circles == Circles::Wait ? run_forward() : spread_doubt();
}

std::span<const uint32_t> Simulation::Queue::batch(size_t number) const {
  const size_t end = number + 1 < batches.size() ? batches[number + 1] : calls.size();
  return std::span(calls).subspan(batches[number], end - batches[number]);
}

void Simulation::add_program(uint32_t program) {
  const std::vector<RankCall>& calls = programs_[program].calls;
  std::vector<Step>& steps = steps_.emplace_back();
  steps.reserve(calls.size());
  std::map<int, uint32_t> queue_of;  // By stream.
  auto entry = queue_of.end();
  // Calls of a line follow one another, so the meeting of the next is mostly the next in order.
  auto near = meetings_.begin();
  for (uint32_t c = 0; c < calls.size(); ++c) {
    if (entry == queue_of.end() || entry->first != calls[c].stream) {
      bool is_new = false;
      std::tie(entry, is_new) =
          queue_of.try_emplace(calls[c].stream, static_cast<uint32_t>(queues_.size()));
      if (is_new) queues_.push_back({.program = program, .calls = {}, .batches = {}});
    }
    Queue& queue = queues_[entry->second];
    const bool joins = calls[c].group >= 0 && !queue.calls.empty() &&
                       calls[queue.calls.back()].group == calls[c].group;
    if (!joins) queue.batches.push_back(queue.calls.size());
    queue.calls.push_back(c);
    const MeetingKey key{calls[c].line, calls[c].index};
    if (near == meetings_.end() || near->first != key) near = meetings_.try_emplace(near, key);
    Meeting& meeting = near++->second;
    meeting.calls.push_back({program, c});
    steps.push_back({&meeting, entry->second, static_cast<uint32_t>(queue.batches.size() - 1)});
  }
}

void Simulation::run_forward() {
  std::vector<uint32_t> ready(queues_.size());  // Queues whose head is to be begun.
  std::iota(ready.begin(), ready.end(), 0);
  while (!ready.empty()) {
    Queue& queue = queues_[ready.back()];
    ready.pop_back();
    if (queue.head == queue.batches.size()) continue;
    const std::span<const uint32_t> batch = queue.batch(queue.head);
    queue.open = batch.size();
    for (const uint32_t call : batch) begin({queue.program, call}, ready);
  }
}

void Simulation::begin(const SimulatedCall& call, std::vector<uint32_t>& ready) {
  Meeting& meeting = *step(call).meeting;
  const auto next = meeting.calls.begin() + static_cast<std::ptrdiff_t>(meeting.begun++);
  std::iter_swap(next, std::find(next, meeting.calls.end(), call));
  if (made(call).is_buffered) leave(call, ready);
  if (!meeting.has_ended()) return;
  for (const SimulatedCall& each : meeting.calls) {
    if (!made(each).is_buffered) leave(each, ready);
  }
}

/// The stream waits for the call no more.
void Simulation::leave(const SimulatedCall& call, std::vector<uint32_t>& ready) {
  const uint32_t number = step(call).queue;
  Queue& queue = queues_[number];
  if (--queue.open > 0) return;
  ++queue.head;
  ready.push_back(number);
}

void Simulation::spread_doubt() {
  for (Queue& queue : queues_) queue.head = queue.batches.size();
  std::vector<SimulatedCall> doubted;  // Calls that have perhaps not begun.
  // What a stream may wait in becomes its head; what is behind that has perhaps not begun.
  const auto halt = [&](const SimulatedCall& call) {
    const Step& at = step(call);
    Queue& queue = queues_[at.queue];
    if (at.batch >= queue.head || made(call).is_buffered) return;
    for (size_t b = at.batch + size_t{1}; b <= queue.head && b < queue.batches.size(); ++b) {
      for (const uint32_t behind : queue.batch(b)) doubted.push_back({queue.program, behind});
    }
    queue.head = at.batch;
  };
  for (const auto& [key, meeting] : meetings_) {
    if (!meeting.is_complete) std::for_each(meeting.calls.begin(), meeting.calls.end(), halt);
  }
  std::set<const Meeting*> spread;
  while (!doubted.empty()) {
    const Meeting* meeting = step(doubted.back()).meeting;
    doubted.pop_back();
    if (!spread.insert(meeting).second) continue;
    std::for_each(meeting->calls.begin(), meeting->calls.end(), halt);
  }
  for (auto& [key, meeting] : meetings_) {
    const auto awaited = std::stable_partition(
        meeting.calls.begin(), meeting.calls.end(), [&](const SimulatedCall& call) {
          return step(call).batch <= queues_[step(call).queue].head;
        });
    meeting.begun = static_cast<size_t>(awaited - meeting.calls.begin());
  }
}

/// A call of the head that the stream waits in.
SimulatedCall Simulation::waiting_in(const Queue& queue) const {
  const std::span<const uint32_t> batch = queue.batch(queue.head);
  return {queue.program, *std::ranges::find_if(batch, [&](uint32_t call) {
            const SimulatedCall place{queue.program, call};
            return !has_ended(place) && !made(place).is_buffered;
          })};
}

std::vector<WaitingCall> Simulation::circle() const {
  const auto stuck = std::ranges::find_if(
      queues_, [](const Queue& queue) { return queue.head < queue.batches.size(); });
  if (stuck == queues_.end()) return {};
  std::vector<WaitingCall> links;
  std::map<SimulatedCall, size_t> link_of;  // By waiting call.
  SimulatedCall waiting = waiting_in(*stuck);
  while (link_of.try_emplace(waiting, links.size()).second) {
    const std::span<const SimulatedCall> absent = step(waiting).meeting->awaited();
    links.push_back({waiting, *std::ranges::min_element(absent)});
    waiting = waiting_in(queues_[step(links.back().awaited).queue]);
  }
  // What leads into the circle is no part of it.
  links.erase(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(link_of[waiting]));
  return links;
}

}  // namespace ncclog
