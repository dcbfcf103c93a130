// What surrounds the ranks on their hosts, and does each have a GPU of its own: containers,
// /dev/shm, host memory, which GPU is whose?
//
//   /dev/shm of 64 MB in a container      cuMem host memory that one rank has and its neighbour not
//   busId 1b000 on node-a is printed by ranks 2 and 3      → job.gpu_shared = yes

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <span>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/facts/job_facts.h"
#include "diagnose/network/connections.h"
#include "diagnose/network/interfaces.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/address.h"
#include "log/line/header.h"

namespace ncclog {
namespace {

// Do the ranks of one host get their host memory in one way?
//
//   dev-7 pid 4101: cuMem host allocations do not appear to be working; falling back to …
//   dev-7 pid 4100: Bootstrap: Using …, Using network Socket, and no such line: no fall-back
//
// From 2.24 on NCCL takes host memory through cuMem where it can, and each process probes that by
// itself. A process that could not reads a neighbour's cuMem descriptor as the name and size of a
// file in /dev/shm: a garbled name, size 0. The line above exists since 2.26.3; before, and where
// a log does not show a process from its beginning, silence proves nothing.

/// The processes of one host, counted by how they get host memory.
struct CumemHostMemory {
  int fell_back = 0;      ///< Said that they fell back to /dev/shm.
  int switched_off = 0;   ///< NCCL_CUMEM_HOST_ENABLE=0 is set for them.
  int kept = 0;           ///< Provably did not fall back.
  int uncertain = 0;      ///< Their lines do not tell.
  bool complete = false;  ///< Every rank of the host has a process in the log.
  bool too_old = false;   ///< The release is before 2.24, which has no such memory by default.

  /// Some neighbours use cuMem memory and others provably do not.
  bool mixed() const { return kept > 0 && fell_back + switched_off > 0; }
  /// All neighbours provably do the same.
  bool alike() const {
    return too_old ||
           (complete && !mixed() && uncertain == 0 && fell_back + switched_off + kept > 0);
  }
};

constexpr std::string_view kFirstWithMemory = "2.24.0";
constexpr std::string_view kFirstWithLine = "2.26.3";

/// True if the log names releases, and all of them are of NCCL 2 and pass.
template <typename Test>
bool all_releases(const Job& job, Test test) {
  const auto passes = [&](const std::string& version) {
    return version.starts_with("2.") && version_parts(version).size() >= 3 && test(version);
  };
  return !job.nccl_versions.empty() && std::ranges::all_of(job.nccl_versions, passes);
}

/// The processes that print a line of one of these kinds.
template <typename... T>
std::set<int> processes_that_print(const Job& job) {
  std::set<int> processes;
  for_each_said<T...>(job, [&](const auto& said) { processes.insert(said.process); });
  return processes;
}

/// Every rank that a communicator has on the host, as far as its processes and ranks tell, is
/// there.
bool is_complete(const Job& job, const std::vector<int>& processes) {
  const auto is_here = [&](int process) { return std::ranges::binary_search(processes, process); };
  int most = 0;
  bool all_seen = true;
  for (const Communicator& comm : job.communicators) {
    const auto there = std::ranges::count_if(
        comm.ranks, [&](const CommRank& rank) { return is_here(rank.process); });
    if (there == 0) continue;
    most = std::max(most, static_cast<int>(there));
    all_seen &= std::ssize(comm.ranks) == comm.nranks && is_all_seen(comm);
  }
  int announced = 0;
  for_each_said<CommLayout>(job, [&](const Said<CommLayout>& said) {
    if (is_here(said.process)) announced = std::max(announced, said.message.local_ranks);
  });
  return most > 0 && (announced > 0 ? most >= announced : all_seen);
}

/// Counts the processes of `host`, an instance of Scope::Host.
CumemHostMemory cumem_host_memory(const Job& job, const Instance& host) {
  CumemHostMemory memory;
  std::set<int> fell_back;
  // Ray prints one line for several processes; the others are silent without having been quiet.
  bool repeated = false;
  for_each_said<CumemHostFallback>(job, [&](const Said<CumemHostFallback>& said) {
    fell_back.insert(said.process);
    repeated |= said.header().repeated > 1;
  });
  std::set<int> off;
  for (const EnvironmentSetting& setting : job.environment) {
    if (setting.name != "NCCL_CUMEM_HOST_ENABLE" || setting.value != "0") continue;
    off.insert(setting.processes.begin(), setting.processes.end());
  }
  // Processes are shown from their first lines to past the probe, which comes before a network is
  // chosen.
  const auto head = processes_that_print<BootstrapInterface, CudaDriverVersion, NcclVersion>(job);
  const auto past = processes_that_print<NetworkSelected, CommInit>(job);
  const bool has_line =
      all_releases(job,
                   [](auto& version) { return compare_releases(version, kFirstWithLine) >= 0; }) ||
      (job.nccl_versions.empty() && !fell_back.empty());
  const bool silence_counts = has_line && !repeated;
  for (const int process : host.processes) {
    if (!nth_process(job, process).has_nccl) continue;
    const bool is_shown =
        head.contains(process) && past.contains(process) && !nth_process(job, process).torn;
    int& count = fell_back.contains(process)  ? memory.fell_back
                 : off.contains(process)      ? memory.switched_off
                 : silence_counts && is_shown ? memory.kept
                                              : memory.uncertain;
    ++count;
  }
  memory.complete = is_complete(job, host.processes);
  memory.too_old = fell_back.empty() && all_releases(job, [](auto& version) {
                     return compare_releases(version, kFirstWithMemory) < 0;
                   });
  return memory;
}

/// "1 fell back from cuMem host memory, 1 did not": whatever is not zero.
std::string counts_text(const CumemHostMemory& memory) {
  std::vector<std::string> parts;
  if (memory.fell_back > 0) parts.push_back(fmt::format("{} did", memory.fell_back));
  if (memory.switched_off > 0) {
    parts.push_back(fmt::format("{} with NCCL_CUMEM_HOST_ENABLE=0", memory.switched_off));
  }
  if (memory.kept > 0) parts.push_back(fmt::format("{} did not", memory.kept));
  if (memory.uncertain > 0) parts.push_back(fmt::format("of {} it is not shown", memory.uncertain));
  return join(parts, ", ");
}

// What surrounds the ranks on their hosts: containers, neighbours that differ.
//
//   rank 1: cuMem host allocations do not appear to be …   host.cumem_fallback_partial
//   rank 0 of the same host: nothing of the kind

constexpr std::string_view kContainerCommands[] = {"docker run",  "docker exec", "podman ",
                                                   "nerdctl ",    "kubectl ",    "enroot ",
                                                   "--container", "apptainer ",  "singularity "};

/// A line as container runtimes and kubectl hand it on: "2024-05-01T10:00:00.1Z stdout F …",
/// "[pod/worker-3/pytorch] …".
bool is_container_output(std::string_view line) {
  if (line.starts_with("[pod/")) return true;
  // The time has no 'd', and no blank: most lines end the question here.
  if (line.substr(0, line.find("NCCL")).find(" std") == line.npos) return false;
  const auto words = split_blanks(line.substr(0, line.find("NCCL")));
  return words.size() > 2 && words[0].find('T') == 10 &&
         (words[1] == "stdout" || words[1] == "stderr") && (words[2] == "F" || words[2] == "P");
}

/// By head of the lines: `fits(text)` is true of it. Lines without a head may fit, too.
template <typename Fits>
std::vector<bool> heads_that_may(const SettledRecords& lines, Fits fits) {
  std::vector<bool> may;  // A process's lines have few heads, so each is read once.
  for (const LineHead* head : lines.heads()) may.push_back(head == nullptr || fits(head->text()));
  return may;
}

/// A line that a container runtime handed on.
std::optional<Record> container_line(const SettledRecords& lines) {
  const std::span<const LineHead* const> heads = lines.heads();
  const std::vector<bool> may_be = heads_that_may(lines, is_container_output);
  const bool has_head = std::find(may_be.begin() + 1, may_be.end(), true) != may_be.end();
  if (!has_head && !lines.layout().has_bare) return std::nullopt;
  for (size_t place = 0; place < lines.size(); ++place) {
    const uint32_t head = lines.head_index(place);
    if (!may_be[head]) continue;
    const Record line = lines[place];
    if (heads[head] != nullptr || is_container_output(line.rest->text())) return line;
  }
  return std::nullopt;
}

FactValue container(const Job& job, const Instance&) {
  for (const Process& process : job.processes) {
    if (is_container_host(process.host)) {
      return yes(fmt::format("the host name {} is a container's", process.host));
    }
  }
  for (const SpeakerLog& log : job.logs) {
    if (const SettledRecords* all = log.records.all()) {
      if (const auto line = container_line(*all)) {
        return yes("a container runtime wrote the log", {evidence_of(*line)});
      }
    }
  }
  FactValue answer = said_answer<ShellCommand>(job, [](const Said<ShellCommand>& said) {
    // "root@c5ab17e0d2f4:/workspace# df" names a host.
    const std::string line = said.record().text();
    const std::string_view text = line;
    const std::string_view prompt = text.substr(std::min(text.find('@'), text.size() - 1) + 1);
    const bool is_in_one = holds_one_of(said.message.command, kContainerCommands) ||
                           is_container_host(prompt.substr(0, prompt.find_first_of(": \t")));
    return is_in_one ? "commands in the log run in a container" : "";
  });
  for (const HostAddress& address : all_addresses(job)) {
    if (address.name == "eth0" && bridge_range(address.ip, false) == "172.17.0.0/16") {
      return yes(fmt::format("eth0 has Docker's address {}", address.ip),
                 {evidence_of(address.line)});
    }
  }
  return answer;
}

FactValue cumem_fallback_partial(const Job& job, const Instance& instance) {
  const CumemHostMemory memory = cumem_host_memory(job, instance);
  if (memory.fell_back > 0 && memory.kept > 0) return yes(counts_text(memory));
  const bool known = memory.too_old || (memory.complete && memory.uncertain == 0);
  return known ? no() : unknown();
}

/// Two things are known to make a rank read a garbled name: neighbours that get host memory in
/// different ways, and a segment of an earlier run.
FactValue garbled_attach(const Job& job, const Instance& instance) {
  constexpr std::string_view kStale =
      ", so a left-over of an ended run or another NCCL build on the host is likely";
  const CumemHostMemory memory = cumem_host_memory(job, instance);
  const bool counted = memory.fell_back + memory.switched_off + memory.kept > 0;
  const std::string counts = counted ? counts_text(memory) : "";
  FactValue answer{.value = std::string("either")};
  if (memory.mixed()) {
    answer.value = std::string("host memory");
    answer.what = fmt::format(
        "neighbours on this host get host memory in different ways (falling back from cuMem to "
        "/dev/shm: {}), and one read the other's cuMem descriptor as a path",
        counts);
  } else if (memory.alike()) {
    answer.value = std::string("stale segment");
    answer.what = memory.too_old ? "this release has no cuMem host memory by default"
                                 : fmt::format(
                                       "all ranks of this host get host memory in one way (falling "
                                       "back from cuMem: {})",
                                       counts);
    answer.what += kStale;
  } else {
    answer.what = fmt::format(
        "either neighbours get host memory in different ways (cuMem here, /dev/shm there), or a "
        "left-over of an ended run was met; this log cannot tell{}",
        counts.empty() ? "" : " (falling back from cuMem: " + counts + ")");
  }
  return answer;
}

FactValue uneven_ranks_per_host(const Job& job, const Instance&) {
  for (const Communicator& comm : job.communicators) {
    std::map<std::string, int> ranks;
    for (const CommRank& rank : comm.ranks) {
      if (rank.process < 0) return unknown();
      ++ranks[nth_process(job, rank.process).host];
    }
    std::set<int> sizes;
    std::vector<std::string> parts;
    for (const auto& [host, count] : ranks) {
      sizes.insert(count);
      parts.push_back(fmt::format("{} on {}", count, host));
    }
    if (sizes.size() > 1) return yes(join(parts, ", "));
  }
  return no();
}

// Did a process change its GPU between two communicators, and do two ranks have the same one?
//
//   n1:77:77 [3] NCCL INFO … rank 3 nranks 4 cudaDev 3 … commId 0x51 - Init COMPLETE
//   n1:77:77 [2] NCCL INFO ENV/Plugin: Closing env plugin ncclEnvDefault
//   [rank3]: … [3] is setting up NCCL communicator and retrieving ncclUniqueId … by key '1' …
//       → job.device_changed = yes, rank 3: its communicator is on GPU 3, it went on with GPU 2
//
// PyTorch keeps a communicator for each device of a group. A rank that changes its GPU builds a new
// one, which the others never join. Only the thread that initialised counts, and only where it is
// the main one: service threads show any device, and their numbers come back.
//
//   n1:42:42 … rank 0 nranks 2 … busId 100000 commId 0xaa - Init START
//   n1:43:43 … rank 1 nranks 2 … busId 100000 commId 0xaa - Init START
//       → job.gpu_shared = yes: NCCL refuses two ranks of a communicator on one GPU of a host
//
// A process may drive several GPUs on purpose: it has several ranks in one communicator, or all
// ranks of a communicator do it alike, or the second communicator came up. Then nothing hangs from
// it, and nobody is accused.

/// The ranks of each process by the order in which they began; none of processes that hold several
/// ranks of one communicator.
std::vector<std::vector<RankIn>> ranks_in_order(const Job& job) {
  std::vector<std::vector<RankIn>> all = ranks_by_process(job);
  for (auto& own : all) {
    const bool has_several =
        std::ranges::adjacent_find(own, {}, &RankIn::communicator) != own.end();
    if (has_several) own.clear();
    std::ranges::sort(own, [](const RankIn& a, const RankIn& b) {
      return std::pair(a.rank->log, a.rank->segment) < std::pair(b.rank->log, b.rank->segment);
    });
  }
  return all;
}

/// How a process shows that it changed.
struct Change {
  int process = -1;
  int communicator = -1;     ///< Of the device before.
  bool left_behind = false;  ///< It waits for a communicator that the others do not join.
  std::string what;
  std::vector<Evidence> lines;
};

/// "GPU 3 (bus id 90)".
std::string gpu_of(const CommRank& rank) {
  const std::string bus = rank.bus_id.empty() ? "" : fmt::format(" (bus id {})", rank.bus_id);
  return fmt::format("GPU {}{}", rank.cuda_dev, bus);
}

std::string name_of(const Job& job, int index) {
  const Process& process = nth_process(job, index);
  const std::string who =
      process.rank >= 0 ? fmt::format("rank {}", process.rank) : std::string("one process");
  return fmt::format("{} ({}, pid {})", who, printable(to_valid_utf8(process.host)), process.pid);
}

Evidence line_at(const Job& job, const Process& process, SourceRef where) {
  Evidence line{process.last, std::string(last_text(job, process))};
  for_each_record(job, process, kKindIndex<CommInit>, [&](const Record& record) {
    if (record.where == where) line = evidence_of(record);
  });
  return line;
}

SourceRef begin_of(const CommSegment& segment) {
  return segment.started.line != 0 ? segment.started : segment.completed;
}

/// Known to be another GPU.
bool differ(const CommRank& a, const CommRank& b) {
  if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id != b.bus_id;
  return a.cuda_dev >= 0 && b.cuda_dev >= 0 && a.cuda_dev != b.cuda_dev;
}

/// Two of its communicators stand on different GPUs.
std::optional<Change> change_between(const Job& job, int process, const std::vector<RankIn>& own) {
  for (size_t i = 1; i < own.size(); ++i) {
    const CommRank& before = *own[i - 1].rank;
    const CommRank& after = *own[i].rank;
    if (!differ(before, after)) continue;
    const CommSegment& second = segment_of(job, after);
    Change change{process, own[i - 1].communicator, second.completed.line == 0, {}, {}};
    change.what =
        fmt::format("{} initialised communicator {} on {} and then {} on {}", name_of(job, process),
                    nth_communicator(job, own[i - 1].communicator).id, gpu_of(before),
                    nth_communicator(job, own[i].communicator).id, gpu_of(after));
    const Process& speaker = nth_process(job, process);
    for (const CommRank* rank : {&before, &after}) {
      change.lines.push_back(line_at(job, speaker, begin_of(segment_of(job, *rank))));
    }
    return change;
  }
  return std::nullopt;
}

/// The first line of the main thread after `since` that shows another device than `device`.
std::optional<Evidence> other_device_line(const SpeakerLog& log, SourceRef since, int device) {
  const auto shows_other = [device](const Header& header) {
    const bool own = is_nccl(header) && header.pid >= 0 && header.tid == header.pid;
    return own && header.cuda_dev >= 0 && header.cuda_dev != device;
  };
  std::optional<Evidence> first;
  const SettledRecords* const all = log.records.all();
  if (all == nullptr) return first;
  const std::string own = fmt::format(" [{}] NCCL ", device);
  const std::vector<bool> may_show = heads_that_may(*all, [&](std::string_view head) {
    return head.find(own) == head.npos && shows_other(parse_header(head));
  });
  for (size_t place = 0; place < all->size(); ++place) {
    if (!may_show[all->head_index(place)]) continue;
    const Record record = (*all)[place];
    if (record.where <= since || (first && first->where < record.where)) continue;
    if (shows_other(parse_record(record).header)) first = evidence_of(record);
  }
  return first;
}

/// Behind its only communicators, all on one GPU, its main thread shows another one.
std::optional<Change> change_after(const Job& job, int process, const std::vector<RankIn>& own) {
  const CommRank& last = *own.back().rank;
  const InitSection* section = init_section(job, last);
  const Process& speaker = nth_process(job, process);
  if (section == nullptr || section->tid != speaker.pid || section->completed.line == 0) {
    return std::nullopt;
  }
  const auto line = other_device_line(job.logs[last.log], section->completed, last.cuda_dev);
  if (!line) return std::nullopt;
  Change change{process, own.back().communicator, false, {}, {}};
  change.what = fmt::format("{} initialised communicator {} on {} and went on with GPU {}",
                            name_of(job, process), nth_communicator(job, change.communicator).id,
                            gpu_of(last), parse_header(line->text).cuda_dev);
  change.lines = {line_at(job, speaker, section->completed), *line};
  // The rank waited in the store for a group's second or later communicator.
  for_each_record(job, speaker, kKindIndex<StoreWaitFailed>, [&](const Record& record) {
    const auto wait = read_message<StoreWaitFailed>(parse_message(record));
    if (change.left_behind || parse_int(wait.key).value_or(0) <= 0) return;
    change.left_behind = true;
    change.what += "; it waited for another communicator of the group in vain";
    change.lines.push_back(evidence_of(record));
  });
  return change;
}

std::vector<Change> find_changes(const Job& job) {
  std::vector<Change> changes;
  const auto all = ranks_in_order(job);
  for (size_t p = 0; p < all.size(); ++p) {
    const Process& process = job.processes[p];
    if (all[p].empty() || process.torn || process.cut) continue;
    const int index = static_cast<int>(p);
    auto change = change_between(job, index, all[p]);
    if (!change) change = change_after(job, index, all[p]);
    if (change) changes.push_back(std::move(*change));
  }
  return changes;
}

/// The processes that changed and are `surely` the reason why the job hangs, or perhaps only.
template <bool surely>
FactValue device_changed(const Job& job, const Instance&) {
  const std::vector<Change>& changes = job.answers.of<&find_changes>(job);
  std::set<int> changed;
  for (const Change& change : changes) changed.insert(change.process);
  const bool stopped = !changes.empty() && stop_evidence(job);
  // "…; ranks 1-3 likewise": one in full is enough to see what happened.
  AnswerParts parts;
  std::vector<int> others;
  for (const Change& change : changes) {
    const auto& members = nth_communicator(job, change.communicator).ranks;
    const bool everybody_changed = std::ranges::all_of(members, [&](const CommRank& rank) {
      return rank.process < 0 || changed.contains(rank.process);
    });
    const bool sure = stopped && change.left_behind && !everybody_changed;
    if (sure != surely) continue;
    if (parts.words.empty()) {
      parts.words = {change.what};
    } else {
      others.push_back(change.process);
    }
    parts.processes.push_back(change.process);
    parts.evidence.insert(parts.evidence.end(), change.lines.begin(), change.lines.end());
  }
  if (!others.empty()) parts.words.push_back(processes_phrase(job, others) + " likewise");
  return parts.answer(unknown());
}

FactValue gpu_shared(const Job& job, const Instance&) {
  constexpr size_t kMost = 3;
  AnswerParts shared;
  for (const Communicator& comm : job.communicators) {
    // Had NCCL not refused, somebody would have completed it.
    const bool is_completed = std::ranges::any_of(comm.ranks, [&](const CommRank& rank) {
      return rank.segment >= 0 && segment_of(job, rank).completed.line != 0;
    });
    if (comm.inferred || is_completed) continue;
    // A name that every machine may have is no host.
    std::map<std::pair<std::string, uint64_t>, std::vector<const CommRank*>> ranks_by_gpu;
    for (const CommRank& rank : comm.ranks) {
      const auto bus = bus_number(rank.bus_id);
      if (rank.process < 0 || rank.segment < 0 || !bus) continue;
      const std::string& host = nth_process(job, rank.process).host;
      if (host.empty() || host == "localhost") continue;
      std::vector<const CommRank*>& ranks = ranks_by_gpu[{host, *bus}];
      // Lines that somebody pasted twice are of one rank.
      const auto is_same = [&](const CommRank* other) {
        return other->process == rank.process && other->rank == rank.rank;
      };
      if (std::ranges::none_of(ranks, is_same)) ranks.push_back(&rank);
    }
    for (const auto& [gpu, ranks] : ranks_by_gpu) {
      if (ranks.size() < 2) continue;
      std::vector<int> numbers;
      for (const CommRank* rank : ranks) numbers.push_back(rank->rank);
      const std::string phrase = fmt::format(
          "{} of communicator {} share GPU {} of {}", ranks_phrase(numbers), to_valid_utf8(comm.id),
          printable(to_valid_utf8(ranks.front()->bus_id)), printable(to_valid_utf8(gpu.first)));
      for (const CommRank* rank : ranks) {
        shared.add(phrase,
                   line_at(job, nth_process(job, rank->process), begin_of(segment_of(job, *rank))),
                   rank->process);
      }
    }
  }
  if (shared.words.size() > kMost) {
    const std::string more = fmt::format("{} more like these", shared.words.size() - kMost);
    shared.words.resize(kMost);
    shared.words.push_back(more);
  }
  return shared.answer(unknown());
}

// Are the rings and trees that the ranks describe rings and trees?
//
//   communicator.graph_broken = yes, "ring of channels 0-23: rank 1 is listed twice"

constexpr size_t kMaxLines = 4;

/// The first lines of kind T of each process of the communicator.
template <typename T>
std::vector<Evidence> first_lines(const Job& job, const Instance& instance) {
  std::vector<Evidence> lines;
  for (const int process : instance.processes) {
    bool first = true;
    for_each_record(job, nth_process(job, process), kKindIndex<T>, [&](const Record& record) {
      if (first && lines.size() < kMaxLines) lines.push_back(evidence_of(record));
      first = false;
    });
  }
  return lines;
}

std::string phrase(std::string_view graph, uint64_t channels, const std::string& remark) {
  return fmt::format("{} of channels {}: {}", graph, channels_text(channels), remark);
}

FactValue graph_broken(const Job& job, const Instance& instance) {
  const Communicator& comm = nth_communicator(job, instance.communicator);
  const auto& graphs = comm.graphs;
  if (may_mix_others(job, comm)) return unknown();
  for (const Ring& ring : graphs.rings) {
    if (ring.check != GraphCheck::Broken) continue;
    std::vector<Evidence> lines = first_lines<RingMembers>(job, instance);
    if (lines.empty()) lines = first_lines<RingNeighbours>(job, instance);
    return yes(phrase("ring", ring.channels, ring.remark), std::move(lines));
  }
  for (const Tree& tree : graphs.trees) {
    if (tree.check != GraphCheck::Broken) continue;
    return yes(phrase("tree", tree.channels, tree.remark), first_lines<Trees>(job, instance));
  }
  const bool any_unknown = std::ranges::any_of(
      graphs.rings, [](const Ring& ring) { return ring.check == GraphCheck::Unknown; });
  return graphs.rings.empty() || any_unknown ? unknown() : no();
}

constexpr std::array kHostFacts = {
    // Some processes of the host fell back from cuMem host memory, and others provably not.
    Fact{"host.cumem_fallback_partial", Scope::Host, FactType::Bool, {}, cumem_fallback_partial},
    // What a garbled segment name points to: "host memory" where ranks of the host get it in
    // different ways, "stale segment" where all provably do the same, else "either".
    Fact{"host.garbled_attach", Scope::Host, FactType::Text, {}, garbled_attach},
    // Host names, commands or addresses show a container; no means nothing does.
    job_fact("job.container", container),
    // Hosts of one communicator run different numbers of ranks.
    comparing_fact("job.uneven_ranks_per_host", uneven_ranks_per_host),
    // A process has a communicator on one GPU, went on with another, waited for a communicator
    // there that others did not join, and the job stopped.
    comparing_fact("job.device_changed", device_changed<true>),
    // A process went on with another GPU than that of its communicator, and nothing hangs from it.
    comparing_fact("job.device_changed_perhaps", device_changed<false>),
    // Ranks of a communicator that nobody completed print the same host and bus id.
    comparing_fact("job.gpu_shared", gpu_shared),
    // The ranks' lines describe a ring that is not closed or a tree that is none; unknown where
    // ranks are not seen or lists are cut.
    Fact{"communicator.graph_broken", Scope::Communicator, FactType::Bool, {}, graph_broken},
};

}  // namespace

std::span<const Fact> host_facts() { return kHostFacts; }

}  // namespace ncclog
