#include "support/synthetic/fault.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace ncclog::testing {
namespace {

constexpr Fault kFaults[] = {Fault::Stop,        Fault::Skip,         Fault::Extra,
                             Fault::Swap,        Fault::WrongCount,   Fault::WrongDatatype,
                             Fault::WrongRoot,   Fault::WrongOp,      Fault::Inversion,
                             Fault::Late,        Fault::Killed,       Fault::LostFile,
                             Fault::CutFile,     Fault::CollOff,      Fault::SkipMessage,
                             Fault::StopMessage, Fault::WrongMessage, Fault::LostMessage};

/// A collective in a rank's program.
struct Target {
  int rank = 0;
  size_t step = 0;
  uint64_t place = 0;  ///< In the sequence of its group.
};

const Call& call_at(const std::vector<Program>& programs, const Target& target) {
  return programs[static_cast<size_t>(target.rank)][target.step].calls.front();
}

/// Where a rank makes a collective of its own, seen in the log, on the group.
std::vector<Target> targets_of(const Program& program, int rank, int group) {
  std::vector<Target> targets;
  uint64_t place = 0;
  for (size_t s = 0; s < program.size(); ++s) {
    const Step& step = program[s];
    if (step.kind != Step::Kind::Calls || step.calls.front().group != group) continue;
    if (is_point_to_point(step.calls.front().op)) continue;
    const Target target{rank, s, place++};
    if (!step.is_replayed) targets.push_back(target);
  }
  return targets;
}

/// A Send or a Recv in a rank's program.
struct MessageTarget {
  size_t step = 0;
  size_t call = 0;  ///< Into the step's calls.
};

/// Those from the second iteration on that are seen in the log.
std::vector<MessageTarget> messages_of(const Program& program) {
  std::vector<MessageTarget> targets;
  for (size_t s = 0; s < program.size(); ++s) {
    if (program[s].iteration < 1 || program[s].is_replayed) continue;
    for (size_t c = 0; c < program[s].calls.size(); ++c) {
      if (is_point_to_point(program[s].calls[c].op)) targets.push_back({s, c});
    }
  }
  return targets;
}

constexpr bool is_about_message(Fault fault) {
  return fault == Fault::SkipMessage || fault == Fault::StopMessage ||
         fault == Fault::WrongMessage || fault == Fault::LostMessage;
}

/// Plants one fault.
class Planter {
 public:
  Planter(const Layout& layout, std::vector<Program>& programs, Seeded& seeded)
      : layout_(layout), programs_(programs), seeded_(seeded) {}

  Planted plant(Fault fault) {
    Planted planted;
    planted.fault = fault;
    if (is_about_message(fault)) return plant_message(planted);
    constexpr int kTries = 40;
    Fault act = fault;
    if (fault == Fault::LostFile || fault == Fault::CutFile || fault == Fault::CollOff) {
      act = seeded_.chance(30) ? Fault::Stop : Fault::None;
    }
    for (int i = 0; act != Fault::None && i < kTries && planted.act == Fault::None; ++i) {
      if (const auto target = choose()) act_on(act, *target, planted);
    }
    if (act != fault) damage(planted);
    return planted;
  }

 private:
  Program& program(int rank) { return programs_[static_cast<size_t>(rank)]; }
  const Group& group(int g) const { return layout_.groups[static_cast<size_t>(g)]; }

  /// The first iteration is what a rank's later ones are measured by.
  bool is_in_loop(const Target& target) { return program(target.rank)[target.step].iteration >= 1; }

  std::optional<Target> choose() {
    // Groups of many ranks are preferred: in a pair nobody can tell who is wrong.
    const auto g = static_cast<int>(seeded_.below(layout_.groups.size()));
    if (group(g).size() < 3 && seeded_.chance(97)) return std::nullopt;
    const int rank = seeded_.pick<int>(group(g).ranks);
    std::vector<Target> targets = targets_of(program(rank), rank, g);
    std::erase_if(targets, [&](const Target& target) { return !is_in_loop(target); });
    if (targets.empty()) return std::nullopt;
    return seeded_.pick<Target>(targets);
  }

  /// In large groups sometimes two do the same.
  std::vector<Target> with_accomplice(const Target& target, int g) {
    std::vector<Target> all = {target};
    if (group(g).size() < 6 || !seeded_.chance(20)) return all;
    const int other = seeded_.pick<int>(group(g).ranks);
    if (other == target.rank) return all;
    for (const Target& theirs : targets_of(program(other), other, g)) {
      if (theirs.place == target.place) all.push_back(theirs);
    }
    return all;
  }

  void act_on(Fault act, const Target& target, Planted& planted) {
    const int g = call_at(programs_, target).group;
    switch (act) {
      case Fault::Swap:
        if (!swap_calls(target, g)) return;
        break;
      case Fault::Inversion:
        planted.other_group = invert(target, g);
        if (planted.other_group < 0) return;
        break;
      case Fault::Stop:
      case Fault::Late:
      case Fault::Skip:
      case Fault::Killed:
      case Fault::Extra: {
        const Call extra = seeded_.chance(60) ? Call{.group = g} : call_at(programs_, target);
        for (const Target& each : with_accomplice(target, g)) {
          change_steps(act, each, extra);
          planted.guilty.push_back(each.rank);
        }
        break;
      }
      default:
        if (!change_call(act, target, g, planted.guilty)) return;
    }
    if (planted.guilty.empty()) planted.guilty.push_back(target.rank);
    std::sort(planted.guilty.begin(), planted.guilty.end());
    planted.act = act;
    planted.group = g;
    planted.place = target.place;
  }

  void insert(const Target& target, Step step) {
    Program& steps = program(target.rank);
    step.iteration = steps[target.step].iteration;
    steps.insert(steps.begin() + static_cast<long>(target.step), std::move(step));
  }

  void change_steps(Fault act, const Target& target, const Call& extra) {
    Step step;
    switch (act) {
      case Fault::Skip: {
        Program& steps = program(target.rank);
        steps.erase(steps.begin() + static_cast<long>(target.step));
        return;
      }
      case Fault::Extra:
        step.calls = {extra};
        break;
      case Fault::Stop:
        step.kind = Step::Kind::Stop;
        break;
      case Fault::Late:
        step.kind = Step::Kind::Sleep;
        break;
      default:
        step.kind = Step::Kind::Die;
    }
    insert(target, std::move(step));
  }

  /// Exchanges the call with the next one on the same group; false if that one is equal.
  bool swap_calls(const Target& target, int g) {
    Call& call = program(target.rank)[target.step].calls.front();
    for (const Target& next : targets_of(program(target.rank), target.rank, g)) {
      if (next.place != target.place + 1) continue;
      Call& other = program(target.rank)[next.step].calls.front();
      if (other == call) return false;
      std::swap(call, other);
      return true;
    }
    return false;
  }

  /// Exchanges the call with the next one, on another group that shares more of its ranks; that
  /// group, or -1 if there is none.
  int invert(const Target& target, int g) {
    Program& steps = program(target.rank);
    size_t next = target.step + 1;
    while (next < steps.size() &&
           (steps[next].kind == Step::Kind::Sync || steps[next].kind == Step::Kind::Marker)) {
      ++next;
    }
    if (next == steps.size() || steps[next].kind != Step::Kind::Calls) return -1;
    const Step& other = steps[next];
    const int g2 = other.calls.front().group;
    if (g2 == g || other.calls.size() > 1 || other.is_replayed) return -1;
    if (is_point_to_point(other.calls.front().op)) return -1;
    const auto shared = std::count_if(group(g).ranks.begin(), group(g).ranks.end(),
                                      [&](int rank) { return group(g2).has(rank); });
    if (shared < 2) return -1;
    std::swap(steps[target.step].calls, steps[next].calls);
    return g2;
  }

  /// Makes the same change to the call of the target and its accomplice.
  bool change_call(Fault act, const Target& target, int g, std::vector<int>& guilty) {
    Call changed = call_at(programs_, target);
    if (act == Fault::WrongRoot && !is_rooted(changed.op)) return false;
    if (changed.is_user_redop && act == Fault::WrongOp) return false;
    switch (act) {
      case Fault::WrongCount:
        changed.count = seeded_.chance(50) ? changed.count + 1 : changed.count * 2;
        break;
      case Fault::WrongDatatype:
        changed.datatype = changed.datatype == 7 ? 9 : 7;
        break;
      case Fault::WrongRoot:
        changed.root = (changed.root + 1) % group(g).size();
        break;
      default:
        change_op(changed);
    }
    for (const Target& each : with_accomplice(target, g)) {
      program(each.rank)[each.step].calls.front() = changed;
      guilty.push_back(each.rank);
    }
    return true;
  }

  void change_op(Call& call) {
    if (call.op == Op::AllReduce && seeded_.chance(50)) {
      call.redop = call.redop == 2 ? 0 : 2;
    } else {
      call.op = call.op == Op::AllReduce ? Op::Reduce : Op::AllReduce;
    }
  }

  Planted plant_message(Planted planted) {
    Fault act = planted.fault;
    if (act == Fault::LostMessage) {
      act = seeded_.chance(50) ? Fault::SkipMessage : Fault::StopMessage;
    }
    constexpr int kTries = 40;
    for (int i = 0; i < kTries && planted.act == Fault::None; ++i) {
      const auto rank = static_cast<int>(seeded_.below(static_cast<uint64_t>(layout_.world)));
      const std::vector<MessageTarget> targets = messages_of(program(rank));
      if (!targets.empty()) spoil(act, rank, seeded_.pick<MessageTarget>(targets), planted);
    }
    if (planted.fault != act && planted.act != Fault::None) {
      planted.damaged = seeded_.chance(50) ? planted.guilty.front() : planted.peer;
    }
    return planted;
  }

  void spoil(Fault act, int rank, const MessageTarget& target, Planted& planted) {
    std::vector<Step>& steps = program(rank);
    std::vector<Call>& calls = steps[target.step].calls;
    Call& call = calls[target.call];
    planted.act = act;
    planted.guilty = {rank};
    planted.group = call.group;
    planted.peer = group(call.group).ranks[static_cast<size_t>(call.root)];
    if (act == Fault::WrongMessage) {
      call.count *= 2;
    } else if (act == Fault::StopMessage) {
      insert({rank, target.step, 0}, {.kind = Step::Kind::Stop});
    } else if (calls.size() > 1) {
      calls.erase(calls.begin() + static_cast<long>(target.call));
    } else {
      steps.erase(steps.begin() + static_cast<long>(target.step));
    }
  }

  void damage(Planted& planted) {
    planted.damaged = static_cast<int>(seeded_.below(static_cast<uint64_t>(layout_.world)));
    if (planted.act == Fault::None) return;
    planted.damaged =
        seeded_.chance(50) ? planted.guilty.front() : seeded_.pick<int>(group(planted.group).ranks);
  }

  const Layout& layout_;
  std::vector<Program>& programs_;
  Seeded& seeded_;
};

}  // namespace

std::span<const Fault> all_faults() { return kFaults; }

std::string_view name_of(Fault fault) {
  constexpr std::string_view kNames[] = {"none",
                                         "stop",
                                         "skip",
                                         "extra call",
                                         "swapped calls",
                                         "wrong count",
                                         "wrong datatype",
                                         "wrong root",
                                         "wrong op",
                                         "inversion",
                                         "late rank",
                                         "killed rank",
                                         "lost file",
                                         "cut file",
                                         "COLL off",
                                         "skipped message",
                                         "stop before a message",
                                         "wrong message size",
                                         "lost file of a message"};
  return kNames[static_cast<size_t>(fault)];
}

Planted plant(Fault fault, const Layout& layout, std::vector<Program>& programs, Seeded& seeded) {
  return Planter(layout, programs, seeded).plant(fault);
}

}  // namespace ncclog::testing
