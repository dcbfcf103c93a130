// Who is missing in an initialisation that hangs, and where did it stop?
//
// First the initialisations that came to no end, with those who wait in them and those who are
// missing (unfinished_inits), then the facts about them.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/outcome/end_marks.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/progress.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/messages.h"
#include "model/job.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

// Which initialisations of communicators came to no end, and who is missing in them?
//
//   ranks 0-2 of 4   … commId 0x51 - Init START      waiting
//   rank 3           the file ends with "Bootstrap : Using eth0:10.0.0.4<0>"      missing
//
// ncclCommInitRank returns on all ranks or on none: whoever prints Init COMPLETE met everybody. So
// a rank can only be missing where nobody completes. START exists since 2.18.3; before that a
// communicator is named by COMPLETE alone, and who waits is seen by how it finds its network.
//
// A rank is missing only if the logs cover it: they hold lines of it that end earlier than those of
// the waiting ones, or lines beside theirs and none of NCCL. Files that were not collected look
// different: no line at all, a whole host's ranks, more ranks than are there. Of these the rank is
// called unseen and nothing is concluded. Cut and torn lines count as not collected.
//
// What shows that the communicator was used, shows that its COMPLETE lines are lost: calls,
// children, works that completed, training steps. A member that reports an error of its own is a
// cause that other facts name. Neither is listed.

/// Its ranks are members of the communicator. Of one whose process is known from elsewhere only rank
/// and process are set; where no line names a communicator, the rank is that in the job, or -1.
struct UnfinishedInit {
  int communicator = -1;  ///< Into Job::communicators; -1: no line names one (before 2.18.3).
  int nranks = -1;        ///< -1: unknown.
  bool of_all = false;    ///< Its ranks are those of the job.
  std::vector<CommRank> complete;
  std::vector<CommRank> waiting;  ///< Began, and show neither end nor error. Never empty.
  std::vector<CommRank> missing;  ///< The logs cover them, and they did not begin.
  std::vector<CommRank> unseen;   ///< Neither: their files may be missing.
  /// Where exactly one rank is unseen and its host's other ranks are there: that host. Else empty.
  std::string unseen_host;
};

/// The calls count as well: NCCL takes none before the initialisation ends.
bool is_complete(const CommSegment& segment) {
  return segment.completed.line != 0 || segment.calls->total > 0 ||
         segment.end == CommFate::Destroyed;
}

/// Its silence proves nothing.
bool is_doubtful(const Process& process) { return process.cut || process.torn; }

/// It came to how NCCL finds its network, the last thing before ranks need each other.
bool chose_network(const Job& job, const Process& process) {
  return has_said<NetworkSelected>(job, process);
}

/// Every NCCL of the job is known and older than that.
bool is_before(const Job& job, std::string_view release) {
  return !job.nccl_versions.empty() &&
         std::ranges::all_of(job.nccl_versions, [&](const auto& version) {
           return compare_releases(version, release) < 0;
         });
}

/// Init START exists since then.
constexpr std::string_view kFirstWithStart = "2.18.3";

/// Work of all ranks came to an end, so their communicator was complete.
bool job_made_progress(const Job& job) {
  for (const TimedOutWork& work : timed_out_work(job)) {
    // The first works of a group are a handshake and the one that waits.
    if (is_default_group(work.group) && work.seq > 2) return true;
  }
  for (const WorkProgress& progress : work_progress(job)) {
    if (is_default_group(progress.group) && progress.last_completed >= 1) return true;
  }
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    for (const FlightRecorderGroup& group : dump.groups) {
      if (group.last_completed.value_or(0) >= 1) return true;
    }
  }
  if (std::ranges::any_of(job.nccl_tests, [](const auto& run) { return !run.rows.empty(); })) {
    return true;
  }
  uint64_t steps = 0;
  for (const SpeakerLog& log : job.logs) steps += log.records.find(kKindIndex<IterationLine>).total;
  // The first step may be announced before its first collective.
  return steps >= 2;
}

/// The communicator was used or ended on some rank, or one that holds at least as many ranks came
/// up behind it there: so many calls do not wait in a queue.
/// By log, and of each of its segments: the most ranks of a complete one behind it.
std::vector<std::vector<int>> find_complete_behind(const Job& job) {
  std::vector<std::vector<int>> behind;
  for (const SpeakerLog& log : job.logs) {
    std::vector<int>& most = behind.emplace_back(log.comms.all.size(), INT32_MIN);
    for (size_t s = most.size(); s-- > 1;) {
      const CommSegment& segment = log.comms.all[s];
      most[s - 1] = std::max(most[s], is_complete(segment) ? segment.nranks : INT32_MIN);
    }
  }
  return behind;
}

bool was_used(const Job& job, const Communicator& comm) {
  constexpr uint64_t kMostQueued = 1000;
  const auto& behind = job.answers.of<&find_complete_behind>(job);
  return std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
    if (rank.process < 0) return false;
    const CommSegment& own = segment_of(job, rank);
    if (own.calls->total > kMostQueued || own.end == CommFate::Destroyed) return true;
    const int most = behind[static_cast<size_t>(rank.log)][static_cast<size_t>(rank.segment)];
    return most != INT32_MIN && most >= own.nranks;
  });
}

/// Lines of an initialisation whose START is not there: it is lost.
bool lost_its_start(const Job& job, const Process& process) {
  const auto is_headless = [](const InitSection& section) {
    const bool holds = section.system.any() || !section.graphs.empty() || !section.trees.empty();
    return holds && section.started.line == 0 && section.completed.line == 0;
  };
  return std::ranges::any_of(process.logs, [&](size_t log) {
    const auto& sections = job.logs[log].inits.all();
    return std::ranges::any_of(sections, is_headless);
  });
}

/// By process, where the last of its communicators that were complete began.
std::vector<SourceRef> find_last_complete(const Job& job) {
  std::vector<SourceRef> last;
  for (const Process& process : job.processes) {
    SourceRef& latest = last.emplace_back();
    for (const CommSegment* segment : segments_of(job, process)) {
      if (!is_complete(*segment)) continue;
      latest = std::max(latest, segment->started.line != 0 ? segment->started : segment->completed);
    }
  }
  return last;
}

/// The process did something behind the initialisation that it began at `start`.
bool went_beyond(const Job& job, int process, SourceRef start,
                 const std::set<int>& watchdog_ranks) {
  const Process& speaker = nth_process(job, process);
  if (watchdog_ranks.contains(speaker.rank)) return true;
  return start < job.answers.of<&find_last_complete>(job)[static_cast<size_t>(process)];
}

/// Every rank of the largest communicator has whole lines.
bool find_all_are_there(const Job& job) {
  const auto& ranks = job.communicators.front().ranks;
  return std::ranges::all_of(ranks, [&](const CommRank& rank) {
    return rank.process >= 0 && !is_doubtful(nth_process(job, rank.process));
  });
}

class Search {
 public:
  explicit Search(const Job& job) : job_(job), progress_(job_made_progress(job)) {
    for (size_t p = 0; p < job.processes.size(); ++p) {
      const Process& process = job.processes[p];
      if (process.rank >= 0) {
        const auto [entry, is_new] = by_rank_.try_emplace(process.rank, static_cast<int>(p));
        if (!is_new) entry->second = -1;
      } else if (process.has_nccl && process.pid >= 0 && !is_doubtful(process) &&
                 segments_of(job, process).empty()) {
        orphans_.push_back(static_cast<int>(p));
      }
    }
    for (const TimedOutWork& work : timed_out_work(job)) watchdog_ranks_.insert(work.rank);
    watchdog_ranks_.erase(-1);
    for (const Communicator& comm : job.communicators) {
      world_size_ = std::max(world_size_, comm.nranks);
      if (comm.parent >= 0) parents_.insert(comm.parent);
      for (const CommRank& rank : comm.ranks) {
        if (rank.process >= 0) note_nccl_inputs(nth_process(job, rank.process));
      }
    }
  }

  std::vector<UnfinishedInit> run() {
    std::vector<UnfinishedInit> found;
    for (size_t c = 0; c < job_.communicators.size(); ++c) {
      const Communicator& comm = job_.communicators[c];
      if (!is_judgeable(comm) || parents_.contains(static_cast<int>(c))) continue;
      UnfinishedInit init = sort_ranks(comm);
      if (init.waiting.empty() && !may_wait_without_start(init)) continue;
      init.communicator = static_cast<int>(c);
      if (init.of_all && progress_) continue;
      if (judge(comm, init)) found.push_back(std::move(init));
    }
    if (job_.communicators.empty() && is_before(job_, kFirstWithStart) && !progress_)
      find_nameless(found);
    return found;
  }

 private:
  /// The process with that global rank; -1 if none or several.
  int of_rank(int rank) const {
    const auto known = by_rank_.find(rank);
    return known == by_rank_.end() ? -1 : known->second;
  }

  int64_t input_of(const SpeakerLog& log) const {
    const JobUnit* unit = unit_of(job_, log.last);
    return unit == nullptr ? -1 : static_cast<int64_t>(unit->input);
  }

  void note_nccl_inputs(const Process& process) {
    for (const size_t log : process.logs) {
      if (job_.logs[log].speaker.pid >= 0) nccl_inputs_.insert(input_of(job_.logs[log]));
    }
  }

  /// NCCL's lines of noted processes stand in an input in which `process` speaks: where it prints
  /// none, it would stand there, too.
  bool speaks_beside_nccl(const Process& process) const {
    return std::ranges::any_of(process.logs, [&](size_t log) {
      const int64_t input = input_of(job_.logs[log]);
      return input >= 0 && nccl_inputs_.contains(input);
    });
  }

  static bool is_judgeable(const Communicator& comm) {
    if (comm.nranks < 2 || comm.is_child) return false;
    if (comm.ranks.size() != static_cast<size_t>(comm.nranks)) return false;
    return std::ranges::none_of(comm.ranks, [](const CommRank& rank) {
      return rank.rank < 0 || rank.state == RankState::Unknown;
    });
  }

  /// Ranks that are not there go to `unseen` for now.
  UnfinishedInit sort_ranks(const Communicator& comm) const {
    UnfinishedInit init;
    init.nranks = comm.nranks;
    init.of_all = comm.nranks == world_size_;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) {
        init.unseen.push_back(rank);
      } else {
        (is_complete(segment_of(job_, rank)) ? init.complete : init.waiting).push_back(rank);
      }
    }
    return init;
  }

  /// False where there is nothing to tell.
  bool judge(const Communicator& comm, UnfinishedInit& init) {
    if (was_used(job_, comm)) return false;
    if (std::ranges::count(comm.ranks, RankState::Failed, &CommRank::state) > 0) return false;
    if (init.unseen.size() > init.complete.size() + init.waiting.size()) return false;
    const auto has_failed = [&](const CommRank& rank) { return failed(rank.process); };
    if (std::ranges::any_of(init.waiting, has_failed)) return false;
    // Nothing is said about ranks whose lines are not whole or show that they went on.
    std::erase_if(init.waiting, [&](const CommRank& rank) {
      return is_doubtful(nth_process(job_, rank.process)) ||
             went_beyond(job_, rank.process, segment_of(job_, rank).started, watchdog_ranks_);
    });
    if (!init.complete.empty()) {
      add_waiting_without_start(init);
    } else if (!init.waiting.empty()) {
      find_missing(init);
      // Who waited for the unique id of a communicator that nobody began is not missing.
      const auto is_elsewhere = [&](const CommRank& rank) {
        return failed(rank.process) || waited_in_store(rank.process) ||
               waited_in_store(of_rank(rank.rank));
      };
      if (std::ranges::any_of(init.missing, is_elsewhere)) return false;
      init.unseen_host = host_of_unseen(init);
    }
    return !init.waiting.empty();
  }

  bool failed(int process) const {
    return process >= 0 && reports_own_failure(job_, nth_process(job_, process));
  }

  bool waited_in_store(int process) const {
    return process >= 0 && has_said<StoreWaitFailed>(job_, nth_process(job_, process));
  }

  bool may_wait_without_start(const UnfinishedInit& init) const {
    return init.of_all && !init.unseen.empty() && is_before(job_, kFirstWithStart);
  }

  /// Before 2.18.3: whoever uses NCCL and prints no COMPLETE at all, waits.
  void add_waiting_without_start(UnfinishedInit& init) {
    if (!may_wait_without_start(init)) return;
    const bool one_left = init.unseen.size() == 1 && orphans_.size() == 1;
    std::erase_if(init.unseen, [&](const CommRank& unseen) {
      const int process = one_left ? orphans_.front() : of_rank(unseen.rank);
      if (process < 0 || !waits_without_start(process)) return false;
      init.waiting.push_back({unseen.rank, process});
      return true;
    });
  }

  bool waits_without_start(int process) const {
    const Process& speaker = nth_process(job_, process);
    return chose_network(job_, speaker) && !is_doubtful(speaker) && !failed(process) &&
           segments_of(job_, speaker).empty() && !watchdog_ranks_.contains(speaker.rank);
  }

  /// Moves those from `unseen` to `missing` that the logs cover.
  void find_missing(UnfinishedInit& init) {
    if (init.of_all) {
      find_orphan(init);
      std::set<int> waiting;
      for (const CommRank& rank : init.waiting) waiting.insert(rank.process);
      // NCCL_DEBUG may be set on a few ranks only.
      const bool are_few = init.unseen.size() < init.waiting.size();
      std::erase_if(init.unseen, [&](const CommRank& unseen) {
        const int process = of_rank(unseen.rank);
        if (waiting.contains(process) || !is_covered(process, are_few)) return false;
        init.missing.push_back({unseen.rank, process});
        return true;
      });
    } else if (job_.answers.of<&find_all_are_there>(job_) && is_of_world(init)) {
      init.missing = std::exchange(init.unseen, {});
    }
  }

  /// Those who wait are ranks of the largest communicator, and not of another job.
  bool is_of_world(const UnfinishedInit& init) const {
    const int world = nth_process(job_, job_.communicators.front().ranks.front().process).world;
    return std::ranges::all_of(init.waiting, [&](const CommRank& rank) {
      return nth_process(job_, rank.process).world == world;
    });
  }

  /// One rank is not there, and one process of NCCL says nothing of a rank: they are one.
  void find_orphan(UnfinishedInit& init) {
    if (init.unseen.size() != 1 || orphans_.size() != 1) return;
    const int known = of_rank(init.unseen.front().rank);
    if (known >= 0 && nth_process(job_, known).has_nccl) return;
    if (lost_its_start(job_, nth_process(job_, orphans_.front()))) return;
    init.missing.push_back({init.unseen.front().rank, orphans_.front()});
    init.unseen.clear();
  }

  bool is_covered(int process, bool are_few) const {
    if (process < 0) return false;
    const Process& speaker = nth_process(job_, process);
    if (is_doubtful(speaker) || watchdog_ranks_.contains(speaker.rank)) return false;
    if (lost_its_start(job_, speaker)) return false;
    if (speaker.has_nccl && speaker.pid >= 0) return true;
    return are_few && speaks_beside_nccl(speaker);
  }

  /// The only host that shows one rank less than all others; several ranks on each.
  std::string host_of_unseen(const UnfinishedInit& init) const {
    if (init.unseen.size() != 1 || !init.missing.empty() || !init.of_all) return {};
    std::map<std::string, int> counts;
    int most = 0;
    for (const CommRank& rank : init.waiting) {
      most = std::max(most, ++counts[nth_process(job_, rank.process).host]);
    }
    if (counts.size() == 1 && most >= 2) return counts.begin()->first;
    std::vector<std::string> short_of_one;
    for (const auto& [host, count] : counts) {
      if (count == most) continue;
      if (count != most - 1) return {};
      short_of_one.push_back(host);
    }
    return short_of_one.size() == 1 ? short_of_one.front() : std::string();
  }

  /// Before 2.18.3 no line names a communicator before it is complete.
  void find_nameless(std::vector<UnfinishedInit>& found) {
    UnfinishedInit init;
    init.of_all = true;
    std::vector<int> others;
    for (size_t p = 0; p < job_.processes.size(); ++p) {
      const Process& process = job_.processes[p];
      if (is_doubtful(process) || failed(static_cast<int>(p))) return;
      if (chose_network(job_, process)) {
        init.waiting.push_back({process.rank, static_cast<int>(p)});
        note_nccl_inputs(process);
      } else if (process.rank >= 0 || has_said<BootstrapInterface>(job_, process)) {
        others.push_back(static_cast<int>(p));
      }
    }
    // A framework's "[rank3]" may be one of the waiting processes if those name no rank.
    const bool all_named =
        std::ranges::all_of(init.waiting, [](const CommRank& rank) { return rank.rank >= 0; });
    for (const int process : others) {
      const Process& speaker = nth_process(job_, process);
      const bool covered =
          has_said<BootstrapInterface>(job_, speaker) || (all_named && speaks_beside_nccl(speaker));
      (covered ? init.missing : init.unseen).push_back({speaker.rank, process});
    }
    if (!all_named) init.unseen.clear();
    if (others.size() < init.waiting.size() && !init.missing.empty()) {
      found.push_back(std::move(init));
    }
  }

  const Job& job_;
  bool progress_;
  int world_size_ = -1;
  std::unordered_map<int, int> by_rank_;
  std::vector<int> orphans_;       ///< Whole processes of NCCL that name no rank, no communicator.
  std::set<int64_t> nccl_inputs_;  ///< In which NCCL lines of noted processes stand.
  std::set<int> parents_;          ///< Communicators that have children.
  std::set<int> watchdog_ranks_;   ///< They report works that timed out: they have communicators.
};

/// The initialisations that began and ended on some ranks or on none, in the order of
/// Job::communicators. Those of children are left out: a split is collective over the parent. Ranks
/// ascend in each list. Pure; meant for the job of one run.
std::vector<UnfinishedInit> unfinished_inits(const Job& job) { return Search(job).run(); }

// Who is missing in an initialisation that hangs, and where did it stop?
//
//   job.rank_missing_at_init = yes, rank 3: "ranks 0-2 of 4 wait in communicator 0x51; rank 3 …"
//   job.init_partial         = yes, ranks 6-7: "ranks 0-5 of 8 printed Init COMPLETE …"
//   job.init_stalled         = yes: "all 4 ranks … printed Init START and none of them COMPLETE"
//
// A job that starts looks the same, so each of these is said only where something shows that the
// job stopped, and ends with that. The same without such evidence is job.*_perhaps. Both are
// answered for one run at a time.

constexpr size_t kMostParts = 3;

/// "ranks 0-2", or "3 processes" where ranks are not known.
std::string ranks_of(const std::vector<CommRank>& ranks) {
  std::vector<int> numbers;
  for (const CommRank& rank : ranks) {
    if (rank.rank >= 0) numbers.push_back(rank.rank);
  }
  if (numbers.size() == ranks.size()) return ranks_phrase(numbers);
  return plural(std::ssize(ranks), "process");
}

/// "ranks 0-2 of 4".
std::string share_of(const UnfinishedInit& init, const std::vector<CommRank>& ranks) {
  if (init.nranks < 0) return ranks_of(ranks);
  return fmt::format("{} of {}", ranks_of(ranks), init.nranks);
}

/// "communicator 0x51"; "NCCL" where no line names one.
std::string name_of(const Job& job, const UnfinishedInit& init) {
  if (init.communicator < 0) return "NCCL";
  return "communicator " + nth_communicator(job, init.communicator).id;
}

/// `its last line, at 12:00:03, is "Bootstrap : Using eth0:10.0.0.1<0>"`.
std::string last_words(const Job& job, const Process& process) {
  const std::string when = when_words(last_text(job, process));
  return fmt::format("its last line{} is \"{}\"", when.empty() ? when : when + ",",
                     line_words(last_text(job, process), 100));
}

/// "rank 3 (node-b, pid 77, GPU 3)".
std::string name_of(const Job& job, const CommRank& rank) {
  const int cuda_dev = rank.process < 0 ? -1 : nth_process(job, rank.process).cuda_dev;
  return name_and_place(job, rank.process, rank.rank, cuda_dev, "one process");
}

/// What each of them said last: "rank 3 (node-b, pid 77): its last line is …; and 2 more".
std::string each_last_words(const Job& job, const std::vector<CommRank>& ranks) {
  std::vector<std::string> parts;
  for (const CommRank& rank : ranks) {
    if (rank.process < 0) continue;
    parts.push_back(
        fmt::format("{}: {}", name_of(job, rank), last_words(job, nth_process(job, rank.process))));
  }
  return few_of(parts, kMostParts, "; ");
}

/// "rank 3 (node-b, pid 77) did not: its last line is …", or "ranks 3,4 did not; rank 3 (…): …".
std::string who_did_not(const Job& job, const std::vector<CommRank>& ranks, std::string_view what) {
  if (ranks.size() == 1) {
    const int process = ranks.front().process;
    const std::string last =
        process < 0 ? std::string() : ": " + last_words(job, nth_process(job, process));
    return fmt::format("{} {}{}", name_of(job, ranks.front()), what, last);
  }
  const std::string last = each_last_words(job, ranks);
  return fmt::format("{} {}{}{}", ranks_of(ranks), what, last.empty() ? "" : "; ", last);
}

/// The line with which a rank began: its START, else the last line of its process.
Evidence line_of(const Job& job, const CommRank& rank) {
  return rank.segment >= 0 ? start_line(job, rank) : last_line(job, rank.process);
}

/// What one initialisation adds to an answer; unknown: nothing of that kind.
using Describe = FactValue (*)(const Job&, const UnfinishedInit&);

/// Says `what`, names the guilty, and shows the last line of each of `silent`.
FactValue part(const Job& job, const UnfinishedInit& init, std::string what,
               const std::vector<CommRank>& guilty, const std::vector<CommRank>& silent) {
  FactValue value = yes(std::move(what));
  for (const CommRank& rank : guilty) {
    if (rank.process >= 0) value.processes.push_back(rank.process);
    if (init.of_all && rank.rank >= 0) value.ranks.push_back(rank.rank);
  }
  for (const CommRank& rank : silent) {
    if (rank.process >= 0) value.evidence.push_back(last_line(job, rank.process));
  }
  return value;
}

std::string waiting_phrase(const Job& job, const UnfinishedInit& init) {
  return fmt::format("{} began to initialise {} and {}", share_of(init, init.waiting),
                     name_of(job, init), init.waiting.size() == 1 ? "waits" : "wait");
}

std::string unseen_note(const UnfinishedInit& init) {
  if (init.unseen.empty()) return {};
  return fmt::format("; nothing in these logs tells how far {} came", ranks_of(init.unseen));
}

FactValue describe_missing(const Job& job, const UnfinishedInit& init) {
  if (!init.complete.empty() || init.missing.empty()) return unknown();
  FactValue value =
      part(job, init,
           fmt::format("{}, but {}{}", waiting_phrase(job, init),
                       who_did_not(job, init.missing, "did not begin"), unseen_note(init)),
           init.missing, init.missing);
  value.evidence.push_back(line_of(job, init.waiting.front()));
  return value;
}

FactValue describe_unseen(const Job& job, const UnfinishedInit& init) {
  if (!init.complete.empty() || init.unseen_host.empty()) return unknown();
  FactValue value =
      part(job, init,
           fmt::format("{}; no line of {} is in these logs, though its host seems to be {}",
                       waiting_phrase(job, init), ranks_of(init.unseen),
                       printable(to_valid_utf8(init.unseen_host))),
           init.unseen, {});
  value.evidence.push_back(line_of(job, init.waiting.front()));
  return value;
}

/// The rank's last line is the one behind which only COMPLETE comes, when all is connected.
bool has_connected(const Job& job, const CommRank& rank) {
  if (rank.log < 0) return false;
  const std::string& last = job.logs[static_cast<size_t>(rank.log)].last_text;
  const Event event = parse_event(last, all_wordings());
  return event.message.kind != nullptr && event.message.kind->index == kKindIndex<ChannelCounts>;
}

FactValue describe_partial(const Job& job, const UnfinishedInit& init) {
  // Later releases connect at the first use, so where some ranks print COMPLETE the others' line
  // is lost.
  const bool connects_at_init = is_before(job, "2.22");
  const bool are_most_complete = init.waiting.size() < init.complete.size();
  if (!connects_at_init || !are_most_complete) return unknown();
  if (std::ranges::any_of(init.waiting,
                          [&](const auto& rank) { return has_connected(job, rank); })) {
    return unknown();
  }
  return part(
      job, init,
      fmt::format("{} printed Init COMPLETE of {}, but {}{}", share_of(init, init.complete),
                  name_of(job, init), who_did_not(job, init.waiting, "did not"), unseen_note(init)),
      init.waiting, init.waiting);
}

/// Something failed by itself, so nobody wonders why the others wait.
bool find_is_explained(const Job& job) {
  return !deaths(job).empty() || !first_exceptions(job).empty() ||
         std::ranges::any_of(job.processes, [&](const Process& process) {
           return reports_own_failure(job, process);
         });
}

bool is_explained(const Job& job) { return job.answers.of<&find_is_explained>(job); }

FactValue describe_stalled(const Job& job, const UnfinishedInit& init) {
  const bool all_wait = init.waiting.size() == static_cast<size_t>(std::max(init.nranks, 0));
  if (!all_wait || is_explained(job)) return unknown();
  FactValue value =
      yes(fmt::format("all {} ranks of {} printed Init START and none of them COMPLETE; {}",
                      init.nranks, name_of(job, init), each_last_words(job, init.waiting)));
  for (const CommRank& rank : init.waiting) value.evidence.push_back(line_of(job, rank));
  return value;
}

/// Why it is more than a job that starts. Where some completed, a file may be cut that was once
/// longer: there it takes a failure, not just an end.
std::optional<StopEvidence> stop_of(const Job& job, const UnfinishedInit& init) {
  auto stop = stop_evidence(job);
  if (!init.complete.empty()) return stop && stop->by != StopBy::Ended ? stop : std::nullopt;
  return stop ? stop : long_wait(job, line_of(job, init.waiting.front()));
}

/// Joins what `describe` says about the initialisations that did, or did not, stop for sure.
template <Describe describe, bool stopped>
FactValue unfinished(const Job& job, const Instance&) {
  FactValue value = yes({});
  std::vector<std::string> parts;
  std::optional<StopEvidence> shown;
  for (const UnfinishedInit& init : job.answers.of<&unfinished_inits>(job)) {
    FactValue one = describe(job, init);
    if (!one.known()) continue;
    auto stop = stop_of(job, init);
    if (stop.has_value() != stopped) continue;
    parts.push_back(std::move(one.what));
    std::ranges::move(one.processes, std::back_inserter(value.processes));
    std::ranges::move(one.ranks, std::back_inserter(value.ranks));
    std::ranges::move(one.evidence, std::back_inserter(value.evidence));
    if (!shown) shown = std::move(stop);
  }
  if (parts.empty()) return unknown();
  value.what = few_of(parts, kMostParts, "; and ");
  if (shown) {
    value.what += fmt::format(". The job stopped: {}", shown->what);
    value.evidence.push_back(std::move(shown->line));
  }
  return value;
}

/// It did not just begin where its lines end: others came further, or the job stood still, ended or
/// was started anew.
bool is_more_than_begun(const Job& job, const Communicator& comm, const CommRank& started) {
  const EndState end = outcome_of(job).job.state;
  const auto came_further = [](const CommRank& rank) {
    return rank.calls > 0 || (rank.state != RankState::Started && rank.state != RankState::NotSeen);
  };
  return job.runs > 1 || !job.is_last_run || job.stated || end == EndState::Failed ||
         end == EndState::Stopped || stop_evidence(job) ||
         std::ranges::any_of(comm.ranks, came_further) || long_wait(job, line_of(job, started));
}

/// Ranks that began an initialisation and show neither its end nor an error.
template <bool more_than_begun>
FactValue init_unfinished(const Job& job, const Instance&) {
  AnswerParts unfinished;
  for (const Communicator& comm : job.communicators) {
    std::vector<CommRank> ranks;
    for (const CommRank& rank : comm.ranks) {
      if (rank.state != RankState::Started || rank.process < 0) continue;
      // NCCL takes no call before the initialisation ends: then only the line is lost.
      if (is_doubtful(nth_process(job, rank.process)) || rank.calls > 0) continue;
      ranks.push_back(rank);
    }
    if (ranks.empty()) continue;
    // Their COMPLETE is lost where others print it, and all go on with their work.
    const auto is_complete = [](const CommRank& rank) { return rank.state == RankState::Complete; };
    if (std::ranges::any_of(comm.ranks, is_complete) &&
        steps_follow(job, line_of(job, ranks.front()).where))
      continue;
    if (is_more_than_begun(job, comm, ranks.front()) != more_than_begun) continue;
    for (const CommRank& rank : ranks) {
      unfinished.processes.push_back(rank.process);
      unfinished.evidence.push_back(last_line(job, rank.process));
    }
    unfinished.words.push_back(
        fmt::format("{} of {} in communicator {}", ranks_of(ranks), comm.nranks, comm.id));
    if (!more_than_begun) {
      ranks.resize(1);
      unfinished.words.back() += fmt::format(" ({})", each_last_words(job, ranks));
    }
  }
  return unfinished.answer(no());
}

constexpr std::array kInitFacts = {
    // Ranks print Init START of a communicator and neither COMPLETE nor an error, and others came
    // further or the job came to an end.
    job_fact("job.init_unfinished", init_unfinished<true>),
    // The same where the lines may just end while the job starts.
    job_fact("job.init_unfinished_perhaps", init_unfinished<false>),
    // Before 2.22: some ranks completed an initialisation, others did not, and the job
    // stopped.
    comparing_fact("job.init_partial", unfinished<describe_partial, true>),
    // The same where nothing shows that the job stopped.
    comparing_fact("job.init_partial_perhaps", unfinished<describe_partial, false>),
    // All ranks began an initialisation, none completed it, nothing failed, and the job
    // stopped.
    comparing_fact("job.init_stalled", unfinished<describe_stalled, true>),
    // The same where nothing shows that the job stopped.
    comparing_fact("job.init_stalled_perhaps", unfinished<describe_stalled, false>),
    // Ranks wait in an initialisation that others, whose lines are there, did not begin,
    // and the job stopped.
    comparing_fact("job.rank_missing_at_init", unfinished<describe_missing, true>),
    // The same where nothing shows that the job stopped.
    comparing_fact("job.rank_missing_at_init_perhaps", unfinished<describe_missing, false>),
    // All but one rank wait in an initialisation, no line of that one is there though
    // its host's are, and the job stopped.
    comparing_fact("job.rank_unseen_at_init", unfinished<describe_unseen, true>),
};

}  // namespace

std::span<const Fact> init_facts() { return kInitFacts; }

}  // namespace ncclog
