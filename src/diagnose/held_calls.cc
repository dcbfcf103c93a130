#include "diagnose/held_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ncclog {
namespace {

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// One end of a line: a rank, and for messages whether it receives.
struct LineEnd {
  size_t program = 0;
  bool receives = false;
  uint64_t made = 0;           ///< Calls, with those that the program no longer holds.
  uint64_t first = 0;          ///< Index of the first one that it holds.
  std::vector<size_t> places;  ///< In the program, from `first` on.

  size_t place_of(uint64_t index) const {
    const bool is_held = index >= first && index - first < places.size();
    return is_held ? places[index - first] : kNowhere;
  }
};

class Tracing {
 public:
  explicit Tracing(const Job& job) : job_(job), programs_(rank_programs(job)) {
    halts_.assign(programs_.size(), kNowhere);
    for (size_t p = 0; p < programs_.size(); ++p) add_program(p);
    add_idle_ends();
    for (size_t p = 0; p < programs_.size(); ++p) halt(p, first_open(p));
    while (!changed_.empty()) {
      const auto [program, from, to] = changed_.back();
      changed_.pop_back();
      for (size_t at = from; at < to; ++at) doubt(programs_[program].calls[at]);
    }
  }

  std::vector<HeldCall> held() const {
    std::map<std::pair<CallLine, uint64_t>, HeldCall> result;
    for (size_t p = 0; p < programs_.size(); ++p) {
      if (halts_[p] == kNowhere) continue;
      const RankCall& call = programs_[p].calls[halts_[p]];
      if (is_open(call)) continue;
      HeldCall& held = result[{call.line, call.index}];
      held.waiting.push_back(programs_[p].waiter);
      if (held.waiting.size() == 1) held.awaited = awaited(call);
      held.line = call.line;
      held.index = call.index;
    }
    std::vector<HeldCall> list;
    for (auto& [where, held] : result) list.push_back(std::move(held));
    return list;
  }

 private:
  struct Stretch {
    size_t program = 0;
    size_t from = 0;
    size_t to = 0;
  };

  void add_program(size_t p) {
    const std::vector<RankCall>& calls = programs_[p].calls;
    for (size_t at = 0; at < calls.size(); ++at) {
      LineEnd& end = end_of(calls[at].line, p, calls[at].receives);
      if (end.places.empty()) end.first = calls[at].index;
      end.places.push_back(at);
      end.made = calls[at].index + 1;
    }
  }

  LineEnd& end_of(const CallLine& line, size_t program, bool receives) {
    std::vector<LineEnd>& ends = lines_[line];
    const auto found = std::find_if(ends.rbegin(), ends.rend(), [&](const LineEnd& end) {
      return end.program == program && end.receives == receives;
    });
    if (found != ends.rend()) return *found;
    ends.push_back({.program = program, .receives = receives});
    return ends.back();
  }

  /// Ranks that made no call of a line in the time that is kept, or none at all.
  void add_idle_ends() {
    std::map<Waiter, size_t> program_of;
    for (size_t p = 0; p < programs_.size(); ++p) program_of[programs_[p].waiter] = p;
    for (auto& [line, ends] : lines_) {
      for (const CommRank* rank : ranks_at(line)) {
        const auto program = program_of.find(waiter_of(*rank));
        if (program == program_of.end()) continue;
        const bool is_sender = line.is_message() && rank->rank == line.sender;
        if (!line.is_message() || is_sender) add_idle(*rank, program->second, line, false);
        if (rank->rank == line.receiver) add_idle(*rank, program->second, line, true);
      }
      least_[line] = std::min_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
                       return a.made < b.made;
                     })->made;
    }
  }

  /// All ranks of a communicator, or both ends of a message.
  std::vector<const CommRank*> ranks_at(const CallLine& line) const {
    const auto& ranks = job_.communicators[static_cast<size_t>(line.communicator)].ranks;
    std::vector<const CommRank*> result;
    for (const CommRank& rank : ranks) {
      const bool is_end = rank.rank == line.sender || rank.rank == line.receiver;
      if (!line.is_message() || is_end) result.push_back(&rank);
    }
    return result;
  }

  void add_idle(const CommRank& rank, size_t program, const CallLine& line, bool receives) {
    LineEnd& end = end_of(line, program, receives);
    if (end.places.empty()) end.made = calls_made(job_, rank, line, receives);
  }

  /// Somebody whose calls are known did not make it.
  bool is_open(const RankCall& call) const { return least_.at(call.line) <= call.index; }

  size_t first_open(size_t p) const {
    const std::vector<RankCall>& calls = programs_[p].calls;
    const auto open = std::find_if(calls.begin(), calls.end(),
                                   [&](const RankCall& call) { return is_open(call); });
    return open == calls.end() ? kNowhere : static_cast<size_t>(open - calls.begin());
  }

  /// The rank may wait at `place`, and what is behind it may not have begun.
  void halt(size_t program, size_t place) {
    size_t& known = halts_[program];
    if (place >= known) return;
    const size_t end = known == kNowhere ? programs_[program].calls.size() : known + 1;
    known = place;
    changed_.push_back({program, place + 1, end});
  }

  void doubt(const RankCall& call) {
    if (!doubted_.emplace(call.line, call.index).second) return;
    for (const LineEnd& end : lines_.at(call.line)) halt(end.program, end.place_of(call.index));
  }

  std::vector<Waiter> awaited(const RankCall& call) const {
    std::vector<Waiter> result;
    for (const LineEnd& end : lines_.at(call.line)) {
      const size_t place = end.place_of(call.index);
      if (place != kNowhere && place > halts_[end.program]) {
        result.push_back(programs_[end.program].waiter);
      }
    }
    return result;
  }

  const Job& job_;
  const std::vector<RankProgram>& programs_;
  std::map<CallLine, std::vector<LineEnd>> lines_;
  std::map<CallLine, uint64_t> least_;  ///< Calls that all its ends made.
  std::vector<size_t> halts_;           ///< By program: the first call in which it may wait.
  std::vector<Stretch> changed_;
  std::set<std::pair<CallLine, uint64_t>> doubted_;
};

}  // namespace

std::vector<HeldCall> held_calls(const Job& job) { return Tracing(job).held(); }

}  // namespace ncclog
