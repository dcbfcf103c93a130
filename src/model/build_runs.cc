// Do the logs hold one run, or several that happen to lie in one folder?
//
//   node01:77, node01:78   commId 0xa, rank 0 of 2 on GPU 60, rank 1 of 2 on GPU 61
//   node01:91, node01:92   commId 0xb, rank 0 of 2 on GPU 60, rank 1 of 2 on GPU 61
//   → two runs: other processes have the same ranks on the same GPUs, and no communicator joins
//   them
//
// One job has many communicators, also some that are not joined (replicas that serve side by side),
// so being apart is not enough: the same ranks must stand on the same GPUs, or torchrun's folders
// must say that these were two attempts. A pid that begins to use NCCL again, with communicators of
// its own, had two lives, as pids in containers have, or two copies of NCCL; its lines cannot be
// told apart.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/build_steps.h"
#include "model/file_names.h"

namespace ncclog {
namespace {

/// Where a rank ran: host and bus id.
using Gpu = std::pair<std::string, std::string>;

/// Processes joined by communicators, directly or through others.
struct World {
  std::vector<int> processes;
  int communicator = -1;  ///< The largest: into Job::communicators.
  SourceRef first;
  std::map<int, Gpu> gpus;  ///< By rank of that communicator.
  std::string attempt_of;   ///< The folder in which torchrun keeps the attempts; empty: unknown.
  int attempt = -1;
};

/// Joins processes; `root` of two is the same once `join` has joined them.
class Groups {
 public:
  explicit Groups(size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), size_t{0});
  }
  size_t root(size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(size_t a, size_t b) { parents_[root(a)] = root(b); }

 private:
  std::vector<size_t> parents_;
};

void add_gpus(const Job& job, const Communicator& comm, World& world) {
  for (const CommRank& rank : comm.ranks) {
    if (rank.rank < 0 || rank.process < 0 || rank.bus_id.empty()) continue;
    world.gpus[rank.rank] = {job.processes[static_cast<size_t>(rank.process)].host, rank.bus_id};
  }
}

/// The attempt that all files say in which the world's processes speak first.
void add_attempt(const Job& job, World& world) {
  std::set<std::pair<std::string, int>> attempts;
  for (const int p : world.processes) {
    const JobUnit* unit = unit_of(job, job.processes[static_cast<size_t>(p)].first);
    if (unit == nullptr) return;
    const auto file = parse_torchrun_file(job.inputs[unit->input].path);
    if (!file) return;
    attempts.emplace(file->run, file->attempt);
  }
  if (attempts.size() != 1) return;
  world.attempt_of = attempts.begin()->first;
  world.attempt = attempts.begin()->second;
}

World make_world(const Job& job, std::vector<int> processes, int communicator) {
  World world;
  world.processes = std::move(processes);
  world.communicator = communicator;
  world.first = job.processes[static_cast<size_t>(world.processes.front())].first;
  for (const int p : world.processes) {
    world.first = std::min(world.first, job.processes[static_cast<size_t>(p)].first);
  }
  add_gpus(job, job.communicators[static_cast<size_t>(communicator)], world);
  add_attempt(job, world);
  return world;
}

/// The worlds of the job, in order of their first lines.
std::vector<World> find_worlds(const Job& job) {
  Groups groups(job.processes.size());
  std::map<size_t, int> largest;  // By a member; communicators come largest first.
  for (const Communicator& comm : job.communicators) {
    int before = -1;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) continue;
      if (before >= 0) groups.join(static_cast<size_t>(before), static_cast<size_t>(rank.process));
      before = rank.process;
    }
  }
  for (size_t c = job.communicators.size(); c-- > 0;) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process < 0) continue;
      largest[groups.root(static_cast<size_t>(rank.process))] = static_cast<int>(c);
    }
  }
  std::map<size_t, std::vector<int>> members;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    if (largest.contains(groups.root(p))) members[groups.root(p)].push_back(static_cast<int>(p));
  }
  std::vector<World> worlds;
  for (auto& [root, processes] : members) {
    worlds.push_back(make_world(job, std::move(processes), largest.at(root)));
  }
  std::sort(worlds.begin(), worlds.end(),
            [](const World& a, const World& b) { return a.first < b.first; });
  return worlds;
}

/// The same ranks on the same GPUs, as far as both are seen, and at least one of them.
bool take_same_place(const World& a, const World& b) {
  int shared = 0;
  for (const auto& [rank, gpu] : a.gpus) {
    const auto other = b.gpus.find(rank);
    if (other == b.gpus.end()) continue;
    if (gpu.first.empty() || other->second != gpu) return false;
    ++shared;
  }
  return shared > 0;
}

/// Two attempts, or worlds of equal size of which one takes the place of the other. A world of one
/// rank has none to be apart from: any program may run beside it.
bool are_different_runs(const Job& job, const World& a, const World& b) {
  if (!a.attempt_of.empty() && a.attempt_of == b.attempt_of && a.attempt != b.attempt) return true;
  const int nranks = job.communicators[static_cast<size_t>(a.communicator)].nranks;
  const bool alike =
      nranks > 1 && nranks == job.communicators[static_cast<size_t>(b.communicator)].nranks;
  return alike && take_same_place(a, b);
}

/// A start of NCCL parts its communicators into those only before and those only behind it.
bool has_several_lives(const SpeakerLog& log) {
  for (size_t s = 1; s < log.starts.size(); ++s) {
    std::set<uint64_t> before;
    std::set<uint64_t> behind;
    for (const CommSegment& segment : log.comms.all) {
      if (segment.started.line == 0 || segment.comm_id == 0 || segment.nranks < 2) continue;
      (segment.started < log.starts[s] ? before : behind).insert(segment.comm_id);
    }
    const bool shared =
        std::any_of(before.begin(), before.end(), [&](uint64_t id) { return behind.contains(id); });
    if (!before.empty() && !behind.empty() && !shared) return true;
  }
  return false;
}

void mark_restarts(Job& job) {
  for (Process& process : job.processes) {
    process.restarted = std::any_of(process.logs.begin(), process.logs.end(),
                                    [&](size_t log) { return has_several_lives(job.logs[log]); });
  }
}

void add_run(Job& job, const World& world, bool certain) {
  for (const int p : world.processes) {
    job.processes[static_cast<size_t>(p)].run = static_cast<int>(job.runs.size());
  }
  const int nranks = job.communicators[static_cast<size_t>(world.communicator)].nranks;
  job.runs.push_back({world.processes, nranks, world.attempt, certain});
}

}  // namespace

void build_runs(Job& job) {
  // Torn lines make many worlds; more of them than this are no runs that people keep together.
  constexpr size_t kMaxWorlds = 1024;
  mark_restarts(job);
  const std::vector<World> worlds = find_worlds(job);
  if (worlds.size() > kMaxWorlds) return;
  std::vector<bool> certain;
  for (const World& world : worlds) {
    certain.push_back(std::any_of(worlds.begin(), worlds.end(), [&](const World& other) {
      return &other != &world && are_different_runs(job, world, other);
    }));
  }
  if (std::count(certain.begin(), certain.end(), true) == 0) return;
  for (size_t w = 0; w < worlds.size(); ++w) add_run(job, worlds[w], certain[w]);
}

}  // namespace ncclog
