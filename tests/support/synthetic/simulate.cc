#include "support/synthetic/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace ncclog::testing {
namespace {

/// The collective that the members of a group come to at one place in its sequence.
struct Meeting {
  int arrived = 0;
  double last = 0;  ///< When the last member came.
  Call first_call;
  bool fits = true;  ///< All calls are the same, or close enough to go through.
  bool jammed = false;
};

/// The messages from one rank of a group to another.
struct Channel {
  std::vector<std::pair<int64_t, double>> sent;  ///< Count and time, in order.
  std::vector<std::pair<int64_t, double>> received;
};

/// A call in a rank's queue.
struct Queued {
  Call call;
  size_t place = 0;  ///< In the group's sequence, or in its channel.
  int64_t sequence = 0;
  bool done = false;
};

struct Batch {
  std::vector<Queued> calls;
  double enqueued = 0;
  bool is_ready = false;  ///< At the head of the queue, and known to the others.
};

struct Host {
  size_t next = 0;  ///< Into the program.
  double time = 0;
  double gpu_time = 0;
  std::deque<Batch> queue;
  bool is_busy = false;
  bool is_asleep = false;
  bool is_dead = false;
  bool in_init = false;
};

using ChannelKey = std::tuple<int, int, int>;  ///< Group, from, to.

class Simulation {
 public:
  Simulation(const Layout& layout, const std::vector<Program>& programs,
             const SimulationOptions& options, Seeded& seeded)
      : layout_(layout), programs_(programs), options_(options), seeded_(seeded) {
    const auto world = static_cast<size_t>(layout.world);
    const size_t groups = layout.groups.size();
    hosts_.resize(world);
    run_.happenings.resize(world);
    run_.ends.resize(world);
    run_.progress.assign(world, std::vector<Progress>(groups));
    entered_.assign(world, std::vector<size_t>(groups));
    inits_.assign(world, std::vector<size_t>(groups));
    meetings_.resize(groups);
    init_meetings_.resize(groups);
  }

  JobRun run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < layout_.world; ++rank) moved |= advance(rank);
    }
    for (int rank = 0; rank < layout_.world; ++rank) note_end(rank);
    run_.hung = std::any_of(run_.ends.begin(), run_.ends.end(),
                            [](const RankEnd& end) { return end.how != RankEnd::How::Finished; });
    for (const RankEnd& end : run_.ends) run_.hung_at = std::max(run_.hung_at, end.time);
    for (int rank = 0; rank < layout_.world; ++rank) wake(rank);
    return std::move(run_);
  }

 private:
  const Group& group(int g) const { return layout_.groups[static_cast<size_t>(g)]; }
  Host& host(int rank) { return hosts_[static_cast<size_t>(rank)]; }
  const Program& program(int rank) const { return programs_[static_cast<size_t>(rank)]; }

  void happens(int rank, Happening::Kind kind) {
    Host& on = host(rank);
    on.time += 1e-5 * static_cast<double>(1 + seeded_.below(40));
    run_.happenings[static_cast<size_t>(rank)].push_back(
        {kind, static_cast<int>(on.next), on.time});
  }

  bool advance(int rank) {
    bool moved = false;
    while (advance_gpu(rank)) moved = true;
    while (advance_host(rank)) {
      moved = true;
      while (advance_gpu(rank)) {
      }
    }
    return moved;
  }

  bool advance_host(int rank) {
    Host& on = host(rank);
    if (on.is_busy || on.is_asleep || on.is_dead || on.next >= program(rank).size()) return false;
    const Step& step = program(rank)[on.next];
    switch (step.kind) {
      case Step::Kind::Init:
        return init(rank, step.group);
      case Step::Kind::Calls:
        return enqueue(rank, step);
      case Step::Kind::Sync:
        return wait_for_queue(rank);
      case Step::Kind::Marker:
        happens(rank, Happening::Kind::Marker);
        // Ranks compute for about as long as each other.
        on.time += options_.step * (0.97 + 0.0006 * static_cast<double>(seeded_.below(100)));
        break;
      case Step::Kind::Destroy:
        if (!wait_for_queue(rank)) return false;
        --on.next;
        happens(rank, Happening::Kind::Destroy);
        break;
      case Step::Kind::Sleep:
        on.is_asleep = true;
        return true;
      case Step::Kind::Stop:
        on.is_busy = true;
        return true;
      case Step::Kind::Die:
        if (!wait_for_queue(rank)) return false;
        on.is_dead = true;
        return true;
    }
    ++on.next;
    return true;
  }

  bool wait_for_queue(int rank) {
    Host& on = host(rank);
    if (!on.queue.empty()) return false;
    on.time = std::max(on.time, on.gpu_time);
    ++on.next;
    return true;
  }

  /// Who takes part in making the communicator: of a split, everybody in the parent.
  Meeting& init_meeting(int rank, int g, int& members) {
    const bool is_split = group(g).is_split;
    members = is_split ? layout_.world : group(g).size();
    // The splits of one kind are one call on the parent.
    int key = g;
    while (is_split && key > 0 && group(key - 1).kind == group(g).kind) --key;
    std::vector<Meeting>& meetings = init_meetings_[static_cast<size_t>(key)];
    const size_t place = inits_[static_cast<size_t>(rank)][static_cast<size_t>(g)];
    if (meetings.size() <= place) meetings.resize(place + 1);
    return meetings[place];
  }

  bool init(int rank, int g) {
    Host& on = host(rank);
    int members = 0;
    Meeting& meeting = init_meeting(rank, g, members);
    if (!on.in_init) {
      on.in_init = true;
      happens(rank, Happening::Kind::InitStart);
      ++meeting.arrived;
      meeting.last = std::max(meeting.last, on.time);
      return true;
    }
    if (meeting.arrived < members) return false;
    on.time = std::max(on.time, meeting.last) + 0.2;
    happens(rank, Happening::Kind::InitComplete);
    on.in_init = false;
    ++inits_[static_cast<size_t>(rank)][static_cast<size_t>(g)];
    ++on.next;
    return true;
  }

  bool enqueue(int rank, const Step& step) {
    Host& on = host(rank);
    if (static_cast<int>(on.queue.size()) > options_.run_ahead) return false;
    if (static_cast<int>(on.queue.size()) == options_.run_ahead) {
      on.time = std::max(on.time, on.gpu_time);
    }
    happens(rank, Happening::Kind::Calls);
    on.queue.push_back(batch_of(rank, step));
    ++on.next;
    return true;
  }

  Batch batch_of(int rank, const Step& step) {
    Batch batch;
    batch.enqueued = host(rank).time;
    const int64_t exchange = ++exchanges_[{rank, step.calls.front().group}];
    for (const Call& call : step.calls) {
      Queued queued{.call = call};
      const auto g = static_cast<size_t>(call.group);
      if (is_point_to_point(call.op)) {
        queued.place = messages_[{rank, call.group, call.root * 2 + (call.op == Op::Send)}]++;
        queued.sequence = exchange;
      } else {
        queued.place = entered_[static_cast<size_t>(rank)][g]++;
        queued.sequence = ++run_.progress[static_cast<size_t>(rank)][g].enqueued;
      }
      batch.calls.push_back(queued);
    }
    return batch;
  }

  /// Tells the others that the head of the queue is there, and takes it off once all of it is done.
  bool advance_gpu(int rank) {
    Host& on = host(rank);
    if (on.queue.empty()) return false;
    Batch& batch = on.queue.front();
    bool moved = false;
    if (!batch.is_ready) {
      batch.is_ready = moved = true;
      for (const Queued& queued : batch.calls) announce(rank, queued, batch.enqueued);
    }
    double end = std::max(on.gpu_time, batch.enqueued);
    bool done = true;
    for (Queued& queued : batch.calls) {
      queued.done = queued.done || is_done(rank, queued, end);
      done = done && queued.done;
    }
    if (!done) return moved;
    for (const Queued& queued : batch.calls) {
      if (is_point_to_point(queued.call.op)) continue;
      auto& progress =
          run_.progress[static_cast<size_t>(rank)][static_cast<size_t>(queued.call.group)];
      progress.completed = std::max(progress.completed, queued.sequence);
    }
    on.gpu_time = end + options_.pace;
    on.queue.pop_front();
    return true;
  }

  Channel& channel_of(int rank, const Call& call) {
    const int own = group(call.group).rank_of(rank);
    const int from = call.op == Op::Send ? own : call.root;
    const int to = call.op == Op::Send ? call.root : own;
    return channels_[{call.group, from, to}];
  }

  void announce(int rank, const Queued& queued, double enqueued) {
    const double now = std::max(host(rank).gpu_time, enqueued);
    if (is_point_to_point(queued.call.op)) {
      Channel& channel = channel_of(rank, queued.call);
      auto& side = queued.call.op == Op::Send ? channel.sent : channel.received;
      side.emplace_back(queued.call.count, now);
      return;
    }
    Meeting& meeting = meeting_of(queued);
    if (meeting.arrived++ == 0) meeting.first_call = queued.call;
    meeting.last = std::max(meeting.last, now);
    if (meeting.first_call == queued.call) return;
    const bool same_function = meeting.first_call.op == queued.call.op;
    if (meeting.fits) meeting.jammed = !same_function || works_left_-- <= 0;
    meeting.fits = false;
  }

  Meeting& meeting_of(const Queued& queued) {
    std::vector<Meeting>& meetings = meetings_[static_cast<size_t>(queued.call.group)];
    if (meetings.size() <= queued.place) meetings.resize(queued.place + 1);
    return meetings[queued.place];
  }

  /// `end` becomes the time at which it is, at least.
  bool is_done(int rank, const Queued& queued, double& end) {
    if (is_point_to_point(queued.call.op)) {
      const Channel& channel = channel_of(rank, queued.call);
      if (channel.sent.size() <= queued.place || channel.received.size() <= queued.place) {
        return false;
      }
      const auto& [sent, sent_at] = channel.sent[queued.place];
      const auto& [received, received_at] = channel.received[queued.place];
      end = std::max({end, sent_at, received_at});
      return sent == received;
    }
    const Meeting& meeting = meeting_of(queued);
    end = std::max(end, meeting.last);
    return meeting.arrived == group(queued.call.group).size() && !meeting.jammed;
  }

  void note_end(int rank) {
    const Host& on = host(rank);
    RankEnd& end = run_.ends[static_cast<size_t>(rank)];
    end.time = on.time;
    if (on.is_dead) {
      end.how = RankEnd::How::Dead;
    } else if (!on.queue.empty()) {
      end.how = RankEnd::How::Waiting;
      end.is_in_call = true;
      const Batch& batch = on.queue.front();
      const auto waiting = std::find_if(batch.calls.begin(), batch.calls.end(),
                                        [](const Queued& queued) { return !queued.done; });
      end.call = waiting->call;
      end.sequence = waiting->sequence;
      end.is_batch = batch.calls.size() > 1;
      end.waits_since = batch.enqueued;
    } else if (on.is_busy || on.is_asleep) {
      end.how = RankEnd::How::Busy;
    } else if (on.next < program(rank).size()) {
      end.how = RankEnd::How::Waiting;
    }
  }

  /// A rank that slept goes on alone: the others have given up by then.
  void wake(int rank) {
    Host& on = host(rank);
    if (!on.is_asleep) return;
    on.is_asleep = false;
    on.time = run_.hung_at + options_.timeout * 1.5;
    ++on.next;
    while (on.next < program(rank).size() && program(rank)[on.next].kind == Step::Kind::Calls &&
           enqueue(rank, program(rank)[on.next])) {
    }
  }

  const Layout& layout_;
  const std::vector<Program>& programs_;
  const SimulationOptions& options_;
  Seeded& seeded_;
  int works_left_ = options_.works_for;
  std::vector<Host> hosts_;
  std::vector<std::vector<size_t>> entered_;  ///< By rank and group: collectives enqueued.
  std::vector<std::vector<size_t>> inits_;    ///< By rank and group: communicators made.
  std::vector<std::vector<Meeting>> meetings_;
  std::vector<std::vector<Meeting>> init_meetings_;
  std::map<ChannelKey, Channel> channels_;
  std::map<std::pair<int, int>, int64_t> exchanges_;  ///< By rank and group: batches.
  std::map<ChannelKey, size_t> messages_;             ///< By rank, group, and peer with direction.
  JobRun run_;
};

}  // namespace

JobRun simulate(const Layout& layout, const std::vector<Program>& programs,
                const SimulationOptions& options, Seeded& seeded) {
  return Simulation(layout, programs, options, seeded).run();
}

}  // namespace ncclog::testing
