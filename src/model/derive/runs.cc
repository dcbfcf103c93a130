// Does what was read hold one run or several? The question and its examples stand in split_runs.h.
//
//   pids 9-12 joined by 0xa, ranks 0-3 on GPUs 0-3 of node01     a world
//   pids 71-74 joined by 0xb, the same ranks on the same GPUs    another one, of another run
//   pid 80, alone on a communicator of one rank                  apart from nobody
//
// The idea: processes that communicators join, directly or through others, are a world. Two worlds
// are of different runs if one takes the place of the other. Worlds that do are ordered by time and
// gathered to certain runs; one that takes nobody's place may be a part of any of these. Where no
// line tells how communicators began, runs show in that processes take their turns on the same GPUs
// or hosts.

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "log/line/header.h"
#include "log/messages.h"
#include "model/derive/split_runs.h"
#include "model/derive/steps.h"
#include "model/derive/writers.h"

namespace ncclog {

static bool is_complete(const Job& job, const CommRank& rank) {
  return rank.log >= 0 && segment_of(job, rank).completed.line != 0;
}

std::vector<size_t> latecomers(const Job& job, const Communicator& comm) {
  if (comm.inferred) return {};
  std::map<int, int> complete;  // By rank, how many of its processes are.
  for (const CommRank& rank : comm.ranks) {
    if (rank.rank >= 0 && rank.process >= 0 && is_complete(job, rank)) ++complete[rank.rank];
  }
  std::vector<size_t> late;
  bool reused = false;
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    const CommRank& rank = comm.ranks[r];
    const bool begun = rank.rank >= 0 && rank.process >= 0 && !is_complete(job, rank);
    const auto others = begun ? complete.find(rank.rank) : complete.end();
    if (others == complete.end()) continue;
    reused |= others->second == 1;
    late.push_back(r);
  }
  return reused ? late : std::vector<size_t>();
}

namespace {

/// Where a rank ran: host and bus id.
using Gpu = std::pair<std::string, std::string>;

/// Processes joined by communicators, directly or through others.
struct World {
  std::vector<int> processes;
  int nranks = -1;        ///< Of the largest communicator.
  bool is_whole = false;  ///< All its ranks are seen.
  SourceRef first;
  std::map<int, Gpu> gpus;         ///< By rank of that communicator.
  std::set<std::string> versions;  ///< Of NCCL.
  std::string attempt_of;  ///< The folder in which torchrun keeps the attempts; empty: unknown.
  int attempt = -1;
  std::string slurm_job;           ///< The number in the names of its files; empty: none is there.
  int64_t input = -1;              ///< In which all its processes speak; -1: in several.
  std::optional<SourceRef> ended;  ///< A line there that tells of an end, behind all they say.
};

void add_gpus(const Job& job, const Communicator& comm, World& world) {
  for (const CommRank& rank : comm.ranks) {
    if (rank.rank < 0 || rank.process < 0) continue;
    // CALL lines name the device and no bus id.
    const std::string gpu = rank.bus_id.empty() && rank.cuda_dev >= 0
                                ? "device " + std::to_string(rank.cuda_dev)
                                : rank.bus_id;
    if (gpu.empty()) continue;
    // A rank that took over the id of an attempt before is of another world.
    if (!std::ranges::binary_search(world.processes, rank.process)) continue;
    world.gpus[rank.rank] = {nth_process(job, rank.process).host, gpu};
  }
}

/// The attempt that all files say in which the world's processes speak first.
void add_attempt(const Job& job, World& world) {
  std::set<std::pair<std::string, int>> attempts;
  for (const int p : world.processes) {
    const int64_t input = input_of(job, nth_process(job, p).first);
    if (input < 0) return;
    const auto file = parse_torchrun_file(job.inputs[static_cast<size_t>(input)].path);
    if (!file) return;
    attempts.emplace(file->run, file->attempt);
  }
  if (attempts.size() != 1) return;
  world.attempt_of = attempts.begin()->first;
  world.attempt = attempts.begin()->second;
}

/// The places at which somebody says that a job, or its processes, were ended.
std::vector<SourceRef> ends_told(const Job& job) {
  std::vector<SourceRef> ends;
  for (const SpeakerLog& log : job.logs) {
    for (const uint16_t kind :
         {kKindIndex<AgentSignalled>, kKindIndex<WorkerGroupRestart>, kKindIndex<JobCancelled>,
          kKindIndex<LaunchStopped>, kKindIndex<ChildFailed>, kKindIndex<WorkerFailed>,
          kKindIndex<ProcessEnded>}) {
      for (const Record& record : log.records.kept(kind)) ends.push_back(record.where);
    }
  }
  std::ranges::sort(ends);
  return ends;
}

/// "771203" of "logs/slurm-771203.out", as Slurm names outputs unless it is told otherwise.
std::string slurm_job_of(const std::string& path) {
  constexpr std::string_view kBegin = "slurm-";
  const std::string_view name = std::string_view(path).substr(path.find_last_of('/') + 1);
  if (!name.starts_with(kBegin)) return {};
  const size_t end = name.find_first_not_of("0123456789_", kBegin.size());
  return std::string(name.substr(kBegin.size(), end - kBegin.size()));
}

void add_versions(const Job& job, World& world) {
  for (const int p : world.processes) {
    for (const size_t log : nth_process(job, p).logs) {
      for (const Record& record : job.logs[log].records.kept(kKindIndex<NcclVersion>))
        world.versions.emplace(read_message<NcclVersion>(parse_message(record)).version);
    }
  }
}

/// Fills in where the world speaks, and how that goes on.
void add_input(const Job& job, const std::vector<SourceRef>& ends, World& world) {
  std::set<int64_t> inputs;
  std::set<std::string> slurm_jobs;
  SourceRef last;
  for (const int p : world.processes) {
    for (const size_t log : nth_process(job, p).logs) {
      if (job.logs[log].speaker.pid < 0) continue;
      for (const SourceRef where : {job.logs[log].first, job.logs[log].last}) {
        inputs.insert(input_of(job, where));
      }
      last = std::max(last, job.logs[log].last);
    }
  }
  for (const int64_t input : inputs) {
    slurm_jobs.insert(input < 0 ? "" : slurm_job_of(job.inputs[static_cast<size_t>(input)].path));
  }
  if (slurm_jobs.size() == 1) world.slurm_job = *slurm_jobs.begin();
  if (inputs.size() != 1) return;
  world.input = *inputs.begin();
  const auto end = std::ranges::upper_bound(ends, last);
  if (end != ends.end() && input_of(job, *end) == world.input) world.ended = *end;
}

World make_world(const Job& job, std::vector<int> processes, const Communicator& largest) {
  World world;
  world.processes = std::move(processes);
  world.nranks = largest.nranks;
  world.is_whole =
      largest.nranks > 1 && !largest.inferred &&
      std::ranges::all_of(largest.ranks, [](const CommRank& rank) { return rank.process >= 0; });
  world.first = nth_process(job, world.processes.front()).first;
  for (const int p : world.processes)
    world.first = std::min(world.first, nth_process(job, p).first);
  add_gpus(job, largest, world);
  add_attempt(job, world);
  add_versions(job, world);
  return world;
}

/// The worlds of the job, in order of their first lines.
std::vector<World> find_worlds(const Job& job) {
  boost::disjoint_sets_with_storage<> groups(job.processes.size());
  std::map<size_t, const Communicator*> largest;  // By a member.
  for (const Communicator& comm : job.communicators) {
    const std::vector<size_t> late = latecomers(job, comm);
    // Who was in time and who came late are two worlds: each rank is joined with the last of its
    // own.
    int before[2] = {-1, -1};
    for (size_t r = 0; r < comm.ranks.size(); ++r) {
      const int process = comm.ranks[r].process;
      if (process < 0) continue;
      int& last = before[std::ranges::binary_search(late, r) ? 1 : 0];
      if (last >= 0) groups.union_set(static_cast<size_t>(last), static_cast<size_t>(process));
      last = process;
    }
  }
  // The largest one comes first.
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      if (rank.process >= 0) {
        largest.try_emplace(groups.find_set(static_cast<size_t>(rank.process)), &comm);
      }
    }
  }
  std::map<size_t, std::vector<int>> members;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (largest.contains(groups.find_set(p)))
      members[groups.find_set(p)].push_back(static_cast<int>(p));
  }
  const std::vector<SourceRef> ends = ends_told(job);
  std::vector<World> worlds;
  for (auto& [root, processes] : members) {
    worlds.push_back(make_world(job, std::move(processes), *largest.at(root)));
    add_input(job, ends, worlds.back());
  }
  std::ranges::sort(worlds, {}, &World::first);
  return worlds;
}

/// The same ranks on the same GPUs, as far as both are seen, and at least one of them.
bool take_same_place(const World& a, const World& b) {
  int shared = 0;
  for (const auto& [rank, gpu] : a.gpus) {
    const auto other = b.gpus.find(rank);
    if (other == b.gpus.end()) continue;
    // Without a host any GPU "61000" would be the same one.
    if (gpu.first.empty() || other->second != gpu) return false;
    ++shared;
  }
  return shared > 0;
}

/// In one file the job of one world ends, and only then the other begins: a scheduler that starts a
/// job again may give it other hosts.
bool are_requeued(const World& a, const World& b) {
  const auto follows = [](const World& before, const World& after) {
    return before.ended && *before.ended < after.first;
  };
  return a.input >= 0 && a.input == b.input && (follows(a, b) || follows(b, a));
}

/// Each has all its ranks, and its own release of NCCL, which no job has two of.
bool use_other_releases(const World& a, const World& b) {
  // A line that was cut has a part of it.
  const auto is_shared = [&](const std::string& one) {
    return std::ranges::any_of(b.versions, [&](const std::string& other) {
      return one.starts_with(other) || other.starts_with(one);
    });
  };
  return a.is_whole && b.is_whole && !a.versions.empty() && !b.versions.empty() &&
         std::ranges::none_of(a.versions, is_shared);
}

/// Two attempts or jobs, or worlds of equal size of which one takes the place of the other. A world
/// of one rank has none to be apart from: any program may run beside it.
bool are_different_runs(const World& a, const World& b) {
  if (!a.slurm_job.empty() && !b.slurm_job.empty() && a.slurm_job != b.slurm_job) return true;
  if (!a.attempt_of.empty() && a.attempt_of == b.attempt_of && a.attempt != b.attempt) return true;
  if (use_other_releases(a, b)) return true;
  return a.nranks > 1 && a.nranks == b.nranks && (take_same_place(a, b) || are_requeued(a, b));
}

/// Which of many worlds are of another run than some other one?
class Rivals {
 public:
  explicit Rivals(const std::vector<World>& worlds) {
    for (const World& world : worlds) {
      if (!world.slurm_job.empty()) slurm_jobs_.insert(world.slurm_job);
      if (!world.attempt_of.empty()) attempts_[world.attempt_of].insert(world.attempt);
      if (world.nranks <= 1) continue;
      for (const auto& [rank, gpu] : world.gpus) by_gpu_[{rank, gpu}].push_back(&world);
      if (world.input < 0) continue;
      const auto [same, is_new] =
          by_input_.try_emplace({world.input, world.nranks}, world.first, world.ended);
      auto& [last, ended] = same->second;
      last = std::max(last, world.first);
      if (world.ended && (!ended || *world.ended < *ended)) ended = world.ended;
    }
  }

  /// As are_different_runs() of the world and another one.
  bool has(const World& world) const {
    if (!world.slurm_job.empty() && slurm_jobs_.size() > 1) return true;
    if (!world.attempt_of.empty() && attempts_.at(world.attempt_of).size() > 1) return true;
    if (world.nranks <= 1) return false;
    if (world.input >= 0) {
      // Nobody ends before it begins, so it is no rival of itself.
      const auto& [last, ended] = by_input_.at({world.input, world.nranks});
      if ((world.ended && *world.ended < last) || (ended && *ended < world.first)) return true;
    }
    return std::ranges::any_of(world.gpus, [&](const auto& gpu) {
      return std::ranges::any_of(by_gpu_.at(gpu), [&](const World* other) {
        return other != &world && other->nranks == world.nranks && take_same_place(world, *other);
      });
    });
  }

 private:
  std::set<std::string> slurm_jobs_;
  std::map<std::string, std::set<int>> attempts_;
  std::map<std::pair<int, Gpu>, std::vector<const World*>> by_gpu_;
  /// By input and size, where the last one begins, and where the first one is over.
  std::map<std::pair<int64_t, int>, std::pair<SourceRef, std::optional<SourceRef>>> by_input_;
};

/// A start of NCCL parts its communicators into those only before and those only behind it.
bool has_several_lives(const SpeakerLog& log) {
  if (log.starts.size() < 2) return false;
  std::map<uint64_t, std::pair<SourceRef, SourceRef>> spans;  // By id, its first and last begin.
  for (const CommSegment& segment : log.comms.all) {
    if (segment.started.line == 0 || segment.comm_id == 0 || segment.nranks < 2) continue;
    auto& [first, last] =
        spans.try_emplace(segment.comm_id, segment.started, segment.started).first->second;
    first = std::min(first, segment.started);
    last = std::max(last, segment.started);
  }
  std::vector<SourceRef> firsts;
  std::vector<SourceRef> lasts;
  for (const auto& [id, span] : spans) {
    firsts.push_back(span.first);
    lasts.push_back(span.second);
  }
  std::ranges::sort(firsts);
  std::ranges::sort(lasts);
  return std::any_of(log.starts.begin() + 1, log.starts.end(), [&](SourceRef start) {
    const auto begun = std::ranges::lower_bound(firsts, start) - firsts.begin();
    const auto done = std::ranges::lower_bound(lasts, start) - lasts.begin();
    return begun > 0 && begun == done && std::cmp_less(done, lasts.size());
  });
}

/// The inputs in which the world's processes begin to speak, with the first line in each.
std::map<int64_t, SourceRef> inputs_of(const Job& job, const World& world) {
  std::map<int64_t, SourceRef> inputs;
  for (const int p : world.processes) {
    const SourceRef first = nth_process(job, p).first;
    const int64_t input = input_of(job, first);
    if (input < 0) continue;
    const auto [known, is_new] = inputs.try_emplace(input, first);
    if (!is_new) known->second = std::min(known->second, first);
  }
  return inputs;
}

/// By host the smallest pid.
std::map<std::string, int64_t> pids_of(const Job& job, const World& world) {
  std::map<std::string, int64_t> pids;
  for (const int p : world.processes) {
    const Process& process = nth_process(job, p);
    const auto [known, is_new] = pids.try_emplace(process.host, process.pid);
    if (!is_new) known->second = std::min(known->second, process.pid);
  }
  return pids;
}

/// The latest time that a last line of the world's processes carries; nullopt: none.
std::optional<int64_t> time_of(const Job& job, const World& world) {
  std::optional<int64_t> latest;
  for (const int p : world.processes) {
    const LineTime time = find_line_time(last_text(job, nth_process(job, p)));
    if (time.known() && (!latest || *latest < time.nanoseconds)) latest = time.nanoseconds;
  }
  return latest;
}

/// Orders the worlds by what `key_of` gives for each, if it gives something for all.
template <typename KeyOf>
bool sort_by(std::vector<World>& worlds, KeyOf key_of) {
  std::vector<std::pair<decltype(key_of(worlds[0])), size_t>> order;
  for (size_t w = 0; w < worlds.size(); ++w) {
    order.emplace_back(key_of(worlds[w]), w);
    if (!order.back().first) return false;
  }
  std::ranges::sort(order);
  std::vector<World> sorted;
  for (const auto& [key, w] : order) sorted.push_back(std::move(worlds[w]));
  worlds = std::move(sorted);
  return true;
}

/// The same by what they have under the first name that all of them have; `map_of` gives for each
/// what it has.
template <typename MapOf>
bool sort_by_shared(std::vector<World>& worlds, MapOf map_of) {
  std::vector<decltype(map_of(worlds.front()))> maps;
  for (const World& world : worlds) maps.push_back(map_of(world));
  for (const auto& [name, first] : maps.front()) {
    const auto key_of = [&, &wanted = name](const World& world) {
      const auto& map = maps[static_cast<size_t>(&world - worlds.data())];
      const auto found = map.find(wanted);
      return found == map.end() ? std::nullopt : std::optional(found->second);
    };
    if (sort_by(worlds, key_of)) return true;
  }
  return false;
}

/// Orders the worlds of several runs as they began: by torchrun's attempts, by their places in a
/// file that all write into, by times, by the pids on a host that all used, and where nothing tells
/// by their files' names.
void order_by_time(const Job& job, std::vector<World>& worlds) {
  if (worlds.empty()) return;
  const auto attempt_of = [](const World& world) {
    return world.attempt < 0 ? std::nullopt : std::optional(world.attempt);
  };
  if (sort_by(worlds, attempt_of)) return;
  if (sort_by_shared(worlds, [&](const World& world) { return inputs_of(job, world); })) return;
  if (sort_by(worlds, [&](const World& world) { return time_of(job, world); })) return;
  sort_by_shared(worlds, [&](const World& world) { return pids_of(job, world); });
}

Run make_run(const std::vector<const World*>& worlds, bool certain) {
  Run run;
  run.certain = certain;
  for (const World* world : worlds) {
    run.processes.insert(run.processes.end(), world->processes.begin(), world->processes.end());
    run.nranks = std::max(run.nranks, world->nranks);
    run.attempt = world->attempt;
  }
  std::ranges::sort(run.processes);
  return run;
}

/// Worlds in their order make up runs: one that takes nobody's place in the run before belongs to
/// it, as the second of two replicas that were started again together.
std::vector<std::vector<const World*>> gather(const std::vector<World>& worlds) {
  std::vector<std::vector<const World*>> runs;
  for (const World& world : worlds) {
    const bool goes_on =
        !runs.empty() && std::none_of(runs.back().begin(), runs.back().end(), [&](const World* w) {
          return are_different_runs(*w, world);
        });
    if (goes_on) {
      runs.back().push_back(&world);
    } else {
      runs.push_back({&world});
    }
  }
  return runs;
}

/// Processes that make calls, and of whose communicators no line tells the beginning.
struct Caller {
  int process = -1;
  int device = -1;  ///< As its last line says; of a process with several GPUs any of them.
  int nranks = -1;  ///< Of its largest communicator.
};

/// Empty if some communicator's beginning is told.
std::vector<Caller> callers_of(const Job& job) {
  std::vector<Caller> callers;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (!process.has_nccl || process.pid < 0 || process.torn) continue;
    Caller caller{static_cast<int>(p), parse_header(last_text(job, process)).cuda_dev, -1};
    for (const size_t log : process.logs) {
      for (const CommSegment& segment : job.logs[log].comms.all) {
        if (segment.comm_id != 0 || segment.rank >= 0) return {};
        caller.nranks = std::max(caller.nranks, segment.nranks);
      }
    }
    if (caller.nranks >= 2) callers.push_back(caller);
  }
  return callers;
}

/// In one file, one behind the other, with the end of a job between them. Without it a file may be
/// put together of those of single processes.
bool follows(const Job& job, const std::vector<SourceRef>& ends, const Process& before,
             const Process& after) {
  const int64_t input = input_of(job, before.last);
  if (input < 0 || input != input_of(job, after.first)) return false;
  const auto end = std::ranges::upper_bound(ends, before.last);
  return end != ends.end() && *end < after.first;
}

/// The worlds of processes that take their turns at each place, by pid; empty if they do not, as
/// often everywhere, with pids that grow. `may_follow` says whether two at one place may be two
/// turns.
template <typename Place, typename PlaceOf, typename MayFollow>
std::vector<World> take_turns(const Job& job, const std::vector<Caller>& callers, PlaceOf place_of,
                              MayFollow may_follow) {
  const auto process = [&](int p) -> const Process& { return nth_process(job, p); };
  std::map<Place, std::vector<int>> by_place;
  for (const Caller& caller : callers) by_place[place_of(caller)].push_back(caller.process);
  const size_t turns = by_place.begin()->second.size();
  std::vector<World> worlds(turns);
  for (auto& [place, processes] : by_place) {
    // One turn is one run. With unequal numbers of turns nobody knows which go together.
    if (turns < 2 || processes.size() != turns) return {};
    std::ranges::sort(processes, [&](int a, int b) { return process(a).pid < process(b).pid; });
    for (size_t t = 0; t < turns; ++t) {
      if (t > 0 && !may_follow(process(processes[t - 1]), process(processes[t]))) return {};
      worlds[t].processes.push_back(processes[t]);
    }
  }
  for (World& world : worlds) {
    std::ranges::sort(world.processes);
    add_attempt(job, world);
  }
  for (size_t t = 1; t < turns; ++t) {
    for (const auto& [host, pid] : pids_of(job, worlds[t])) {
      for (const int p : worlds[t - 1].processes) {
        if (process(p).host == host && process(p).pid >= pid) return {};
      }
    }
  }
  return worlds;
}

/// Without initialisation lines no line says which processes belong together: communicators are put
/// together by their sizes, and mix those of several runs. Then runs show in that processes take
/// their turns: on each GPU, as many as make up the world, or on each host behind each other.
std::vector<World> worlds_by_turns(const Job& job) {
  const std::vector<Caller> callers = callers_of(job);
  if (callers.empty()) return {};
  int nranks = -1;
  bool has_devices = true;
  for (const Caller& caller : callers) {
    nranks = std::max(nranks, caller.nranks);
    has_devices &= caller.device >= 0;
  }
  const auto host_of = [&](const Caller& caller) { return nth_process(job, caller.process).host; };
  if (has_devices) {
    using Device = std::pair<std::string, int>;
    std::vector<World> worlds = take_turns<Device>(
        job, callers, [&](const Caller& caller) { return Device(host_of(caller), caller.device); },
        [](const Process&, const Process&) { return true; });
    const bool fills = std::cmp_equal(callers.size(), worlds.size() * static_cast<size_t>(nranks));
    if (!worlds.empty() && fills) return worlds;
  }
  const std::vector<SourceRef> ends = ends_told(job);
  return take_turns<std::string>(job, callers, host_of, [&](const Process& a, const Process& b) {
    return follows(job, ends, a, b);
  });
}

/// The first step that each input prints into which no process of NCCL writes: outputs of programs.
std::vector<int64_t> first_steps_of_outputs(const Job& job) {
  std::set<int64_t> spoken_in;
  for (const SpeakerLog& log : job.logs) {
    if (log.speaker.pid < 0) continue;
    for (const SourceRef where : {log.first, log.last}) spoken_in.insert(input_of(job, where));
  }
  std::map<uint32_t, int64_t> steps;
  for (const InputClock& input : job.clocks) {
    if (!input.markers.empty()) steps.emplace(input.input, input.markers.front().step);
    for (const bool has_zone : {false, true}) {
      const int64_t first = input.pulse.clock(has_zone).steps.first;
      if (first >= 0) steps.emplace(input.input, first);
    }
  }
  std::vector<int64_t> result;
  for (const auto& [input, step] : steps) {
    if (step >= 0 && !spoken_in.contains(input)) result.push_back(step);
  }
  return result;
}

/// Jobs that ran beside each other on GPUs of their own: each world is whole, each has an output of
/// its own, the outputs print the same steps, and no line names a rank that one of them lacks. The
/// replicas of one job share an output, or count their ranks on.
bool are_side_by_side(const Job& job, const std::vector<World>& worlds) {
  const std::vector<int64_t> steps = first_steps_of_outputs(job);
  if (worlds.size() < 2 || steps.size() != worlds.size()) return false;
  int fewest = std::numeric_limits<int>::max();
  for (const World& world : worlds) {
    const bool is_whole = world.nranks >= 2 && std::cmp_equal(world.gpus.size(), world.nranks) &&
                          std::cmp_equal(world.processes.size(), world.nranks);
    if (!is_whole) return false;
    fewest = std::min(fewest, world.nranks);
  }
  const auto names_other_rank = [&](const SpeakerLog& log) { return log.speaker.rank >= fewest; };
  if (std::ranges::any_of(job.logs, names_other_rank)) return false;
  return std::ranges::count(steps, steps.front()) == static_cast<int64_t>(steps.size());
}

}  // namespace

std::vector<Run> find_runs(const Job& job) {
  // Torn lines make many worlds; more of them than this are no runs that people keep together.
  constexpr size_t kMaxWorlds = 1024;
  std::vector<World> worlds = find_worlds(job);
  if (worlds.size() > kMaxWorlds) return {};
  const Rivals rivals(worlds);
  std::vector<World> certain;
  std::vector<World> others;
  for (const World& world : worlds) (rivals.has(world) ? certain : others).push_back(world);
  std::vector<Run> runs;
  if (certain.empty()) {
    certain = are_side_by_side(job, worlds) ? worlds : worlds_by_turns(job);
    order_by_time(job, certain);
    for (const World& world : certain) runs.push_back(make_run({&world}, true));
    return runs;
  }
  order_by_time(job, certain);
  for (const auto& run : gather(certain)) runs.push_back(make_run(run, true));
  for (const World& world : others) runs.push_back(make_run({&world}, false));
  return runs;
}

void build_runs(Job& job) {
  for (Process& process : job.processes) {
    process.restarted = std::ranges::any_of(
        process.logs, [&](size_t log) { return has_several_lives(job.logs[log]); });
  }
  job.runs = std::max<size_t>(1, find_runs(job).size());
  if (job.runs == 1) job.runs = std::max<size_t>(1, appended_runs(job).runs.size());
  const std::vector<World> worlds = find_worlds(job);
  for (size_t w = 0; w < worlds.size(); ++w) {
    if (!worlds[w].is_whole) continue;
    for (const int p : worlds[w].processes)
      job.processes[static_cast<size_t>(p)].world = static_cast<int>(w);
  }
}

}  // namespace ncclog
