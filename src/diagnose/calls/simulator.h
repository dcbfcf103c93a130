// Which calls of ranks' programs end, which wait for whom, and do some wait in a circle?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//   rank 2:  Recv from 4, Send to 0                 Rank 4 left out its Send: rank 2 waits in its
//   rank 0:  Recv from 2                            Recv, and so rank 0 waits for rank 2.
//
// The idea: the calls are played through in thought. A call begins when those before it on its own
// stream have ended; calls of one group begin together. It ends when all who have to come to it
// have begun it, which is what is called a meeting: a collective, or a message's Send and Recv.
// NCCL has no tags, so that what meets follows from the order of calls alone. A buffered Send is
// one that its stream does not wait for. Hosts never wait, and nothing waits for connections, so
// only what cannot end is said to wait. Whether all who have to come to a meeting ever make the
// call is for the caller to say: logs may no longer hold the calls of some.
//
// A stream is where a queue of batches stands: those before the head have ended, the head has
// begun, those behind it have not. A simulation finds the heads, in one of two ways:
//
//   Circles::Wait   streams and groups are known. All heads begin at the front and move on while
//                   something ends. Who is in a circle stays.
//   Circles::End    streams and groups are not known, and a circle may have been a group. All calls
//                   end but those that somebody lacks; from these doubt spreads to what is behind
//                   them, and to those who have to meet that. Heads move back until nothing changes.
//
// The cost: linear in the calls, but for finding their meetings; each batch begins, and each meeting
// is doubted, once.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "diagnose/calls/rank_programs.h"

namespace ncclog {

/// A call of the programs that are simulated.
struct SimulatedCall {
  uint32_t program = 0;
  uint32_t call = 0;  ///< Into RankProgram::calls.

  auto operator<=>(const SimulatedCall&) const = default;
};

/// What calls have in common that meet.
struct MeetingKey {
  CallLine line;
  uint64_t index = 0;

  auto operator<=>(const MeetingKey&) const = default;
};

struct Meeting {
  std::vector<SimulatedCall>
      calls;                 ///< First those that have begun, in the order in which they came.
  size_t begun = 0;          ///< How many of them have.
  bool is_complete = false;  ///< Whoever has to come has a call of it, or made it before.

  std::span<const SimulatedCall> came() const { return std::span(calls).first(begun); }
  std::span<const SimulatedCall> awaited() const { return std::span(calls).subspan(begun); }
  bool has_ended() const { return is_complete && begun == calls.size(); }
};

/// One link of a circle.
struct WaitingCall {
  SimulatedCall waiting;  ///< Has begun and waits for
  SimulatedCall awaited;  ///< this one, which stands behind the next link's `waiting`.

  bool operator==(const WaitingCall&) const = default;
};

/// What becomes of calls that wait for each other in a circle.
enum class Circles { Wait, End };

class Simulation {
 public:
  using IsComplete = std::function<bool(const MeetingKey&, const std::vector<SimulatedCall>&)>;

  /// `programs` must outlive it. `is_complete` is asked once for each meeting, by line and index.
  Simulation(const std::vector<RankProgram>& programs, Circles circles,
             const IsComplete& is_complete);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  const std::map<MeetingKey, Meeting>& meetings() const { return meetings_; }

  /// All who have to come to that call have begun it.
  bool has_ended(const SimulatedCall& call) const { return step(call).meeting->has_ended(); }

  /// The circle that keeps the first stream from its end; empty: all calls end. Only where all
  /// meetings are complete, and circles wait.
  std::vector<WaitingCall> circle() const;

 private:
  /// Where a call stands.
  struct Step {
    Meeting* meeting = nullptr;
    uint32_t queue = 0;
    uint32_t batch = 0;
  };

  /// A stream of a program.
  struct Queue {
    uint32_t program = 0;
    std::vector<uint32_t> calls;
    std::vector<size_t> batches;  ///< Where in `calls` each begins.
    size_t head = 0;              ///< The first batch that has not ended.
    size_t open = 0;              ///< Of the head's calls, those that the stream waits for.

    std::span<const uint32_t> batch(size_t number) const;
  };

  void add_program(uint32_t program);
  void run_forward();
  void begin(const SimulatedCall& call, std::vector<uint32_t>& ready);
  void leave(const SimulatedCall& call, std::vector<uint32_t>& ready);
  void spread_doubt();

  const Step& step(const SimulatedCall& call) const { return steps_[call.program][call.call]; }
  const RankCall& made(const SimulatedCall& call) const {
    return programs_[call.program].calls[call.call];
  }
  SimulatedCall waiting_in(const Queue& queue) const;

  const std::vector<RankProgram>& programs_;
  std::map<MeetingKey, Meeting> meetings_;
  std::vector<std::vector<Step>> steps_;  ///< By program and call.
  std::vector<Queue> queues_;             ///< By program, then by the first use of their stream.
};

}  // namespace ncclog
