// Did a process change its GPU between two communicators, and do two ranks have the same one?
//
//   n1:77:77 [3] NCCL INFO … rank 3 nranks 4 cudaDev 3 nvmlDev 3 busId 90 commId 0x51 - Init
//   COMPLETE n1:77:77 [2] NCCL INFO ENV/Plugin: Closing env plugin ncclEnvDefault [rank3]: … [3] is
//   setting up NCCL communicator and retrieving ncclUniqueId … by key '1' …
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

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/within_runs.h"
#include "log/bus_id.h"
#include "log/header.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {
namespace {

const Process& process_at(const Job& job, int process) {
  return job.processes[static_cast<size_t>(process)];
}

/// A process as a member of a communicator.
struct Membership {
  int communicator = -1;
  const CommRank* rank = nullptr;
};

/// The memberships of each process by the order in which they began; none of processes that hold
/// several ranks of one communicator.
std::vector<std::vector<Membership>> memberships(const Job& job) {
  std::vector<std::vector<Membership>> all(job.processes.size());
  std::set<int> several;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    std::set<int> members;
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (rank.process < 0) continue;
      if (!members.insert(rank.process).second) several.insert(rank.process);
      all[static_cast<size_t>(rank.process)].push_back({static_cast<int>(c), &rank});
    }
  }
  for (const int process : several) all[static_cast<size_t>(process)].clear();
  for (auto& own : all) {
    std::sort(own.begin(), own.end(), [](const Membership& a, const Membership& b) {
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
  const Process& process = process_at(job, index);
  const std::string who =
      process.rank >= 0 ? fmt::format("rank {}", process.rank) : std::string("one process");
  return fmt::format("{} ({}, pid {})", who, printable(to_valid_utf8(process.host)), process.pid);
}

Evidence line_at(const Job& job, const Process& process, SourceRef where) {
  Evidence line{process.last, process.last_text};
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
std::optional<Change> change_between(const Job& job, int process,
                                     const std::vector<Membership>& own) {
  for (size_t i = 1; i < own.size(); ++i) {
    const CommRank& before = *own[i - 1].rank;
    const CommRank& after = *own[i].rank;
    if (!differ(before, after)) continue;
    const CommSegment& second = segment_of(job, after);
    Change change{process, own[i - 1].communicator, second.completed.line == 0, {}, {}};
    change.what = fmt::format(
        "{} initialised communicator {} on {} and then {} on {}", name_of(job, process),
        job.communicators[static_cast<size_t>(own[i - 1].communicator)].id, gpu_of(before),
        job.communicators[static_cast<size_t>(own[i].communicator)].id, gpu_of(after));
    const Process& speaker = process_at(job, process);
    for (const CommRank* rank : {&before, &after}) {
      change.lines.push_back(line_at(job, speaker, begin_of(segment_of(job, *rank))));
    }
    return change;
  }
  return std::nullopt;
}

/// The first line of the main thread behind `since` that shows another device than `device`.
std::optional<Evidence> other_device_line(const SpeakerLog& log, SourceRef since, int device) {
  std::optional<Evidence> first;
  for (const auto& [kind, list] : log.records) {
    for (const Record& record : list.kept) {
      if (record.where <= since || (first && first->where < record.where)) continue;
      const auto header = parse_nccl_header(record.text);
      const bool own = header && header->pid >= 0 && header->tid == header->pid;
      if (!own || header->cuda_dev < 0 || header->cuda_dev == device) continue;
      first = evidence_of(record);
    }
  }
  return first;
}

/// The rank waited in the store for a group's second or later communicator, in vain.
std::optional<Evidence> waits_for_another(const Job& job, const Process& process) {
  std::optional<Evidence> line;
  for_each_record(job, process, kKindIndex<StoreWaitFailed>, [&](const Record& record) {
    const auto wait = read_message<StoreWaitFailed>(parse_record(record).message);
    if (!line && parse_int(wait.key).value_or(0) > 0) line = evidence_of(record);
  });
  return line;
}

/// Behind its only communicators, all on one GPU, its main thread shows another one.
std::optional<Change> change_behind(const Job& job, int process,
                                    const std::vector<Membership>& own) {
  const CommRank& last = *own.back().rank;
  const InitSection* section = init_section(job, last);
  const Process& speaker = process_at(job, process);
  if (section == nullptr || section->tid != speaker.pid || section->completed.line == 0) {
    return std::nullopt;
  }
  const auto line =
      other_device_line(job.logs[static_cast<size_t>(last.log)], section->completed, last.cuda_dev);
  if (!line) return std::nullopt;
  const auto header = parse_nccl_header(line->text);
  Change change{process, own.back().communicator, false, {}, {}};
  change.what = fmt::format("{} initialised communicator {} on {} and went on with GPU {}",
                            name_of(job, process),
                            job.communicators[static_cast<size_t>(change.communicator)].id,
                            gpu_of(last), header->cuda_dev);
  change.lines = {line_at(job, speaker, section->completed), *line};
  if (auto wait = waits_for_another(job, speaker)) {
    change.left_behind = true;
    change.what += "; it waited for another communicator of the group in vain";
    change.lines.push_back(std::move(*wait));
  }
  return change;
}

std::vector<Change> find_changes(const Job& job) {
  std::vector<Change> changes;
  const auto all = memberships(job);
  for (size_t p = 0; p < all.size(); ++p) {
    const Process& process = job.processes[p];
    if (all[p].empty() || process.torn || process.cut) continue;
    const int index = static_cast<int>(p);
    auto change = change_between(job, index, all[p]);
    if (!change) change = change_behind(job, index, all[p]);
    if (change) changes.push_back(std::move(*change));
  }
  return changes;
}

/// All members of the communicator that are there changed alike.
bool everybody_changed(const Job& job, const Change& change, const std::set<int>& changed) {
  const auto& ranks = job.communicators[static_cast<size_t>(change.communicator)].ranks;
  return std::all_of(ranks.begin(), ranks.end(), [&](const CommRank& rank) {
    return rank.process < 0 || changed.contains(rank.process);
  });
}

/// "…; ranks 1-3 likewise": one in full is enough to see what happened.
std::string changes_phrase(const Job& job, const std::vector<const Change*>& changes) {
  std::vector<int> ranks;
  for (const Change* change : changes) {
    if (change != changes.front()) ranks.push_back(process_at(job, change->process).rank);
  }
  std::erase(ranks, -1);
  if (changes.size() == 1) return changes.front()->what;
  const std::string others = ranks.size() + 1 == changes.size()
                                 ? ranks_phrase(ranks)
                                 : fmt::format("{} more", changes.size() - 1);
  return fmt::format("{}; {} likewise", changes.front()->what, others);
}

FactValue answer(const Job& job, bool surely) {
  const std::vector<Change>& changes = job.answers.of<&find_changes>(job);
  std::set<int> changed;
  for (const Change& change : changes) changed.insert(change.process);
  const auto stop = changes.empty() ? std::nullopt : stop_evidence(job);
  FactValue value = yes({});
  std::vector<const Change*> told;
  for (const Change& change : changes) {
    const bool sure = stop && change.left_behind && !everybody_changed(job, change, changed);
    if (sure != surely) continue;
    told.push_back(&change);
    value.processes.push_back(change.process);
    value.evidence.insert(value.evidence.end(), change.lines.begin(), change.lines.end());
  }
  if (told.empty()) return unknown();
  value.what = changes_phrase(job, told);
  return value;
}

FactValue device_changed(const Job& job, const Instance&) { return answer(job, true); }

/// Ranks of a communicator by host and GPU. A name that every machine may have is no host.
std::map<std::pair<std::string, uint64_t>, std::vector<const CommRank*>> ranks_by_gpu(
    const Job& job, const Communicator& comm) {
  std::map<std::pair<std::string, uint64_t>, std::vector<const CommRank*>> all;
  for (const CommRank& rank : comm.ranks) {
    const auto bus = bus_number(rank.bus_id);
    if (rank.process < 0 || rank.segment < 0 || !bus) continue;
    const std::string& host = process_at(job, rank.process).host;
    if (!host.empty() && host != "localhost") all[{host, *bus}].push_back(&rank);
  }
  return all;
}

/// Nobody completed it: NCCL would have, had it not refused.
bool began_in_vain(const Job& job, const Communicator& comm) {
  return std::none_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
    return rank.segment >= 0 && segment_of(job, rank).completed.line != 0;
  });
}

FactValue gpu_shared(const Job& job, const Instance&) {
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (const Communicator& comm : job.communicators) {
    if (comm.inferred || !began_in_vain(job, comm)) continue;
    for (const auto& [gpu, ranks] : ranks_by_gpu(job, comm)) {
      if (ranks.size() < 2) continue;
      std::vector<int> numbers;
      for (const CommRank* rank : ranks) {
        numbers.push_back(rank->rank);
        value.processes.push_back(rank->process);
        value.evidence.push_back(
            line_at(job, process_at(job, rank->process), begin_of(segment_of(job, *rank))));
      }
      phrases.push_back(fmt::format("{} of communicator {} are all on the GPU with bus id {} of {}",
                                    ranks_phrase(numbers), to_valid_utf8(comm.id),
                                    printable(to_valid_utf8(ranks.front()->bus_id)),
                                    printable(to_valid_utf8(gpu.first))));
    }
  }
  if (phrases.empty()) return unknown();
  constexpr size_t kMost = 3;
  if (phrases.size() > kMost) {
    phrases[kMost] = fmt::format("{} more like these", phrases.size() - kMost);
    phrases.resize(kMost + 1);
  }
  value.what = join(phrases, "; ");
  return value;
}

FactValue device_changed_perhaps(const Job& job, const Instance&) { return answer(job, false); }

constexpr std::array kFacts = {
    Fact{"job.device_changed", Scope::Job, FactType::Bool,
         "A process has a communicator on one GPU, went on with another, waited for a communicator "
         "there that others did not join, and the job stopped.",
         within_runs<device_changed>},
    Fact{"job.device_changed_perhaps", Scope::Job, FactType::Bool,
         "A process went on with another GPU than that of its communicator, and nothing hangs from "
         "it.",
         within_runs<device_changed_perhaps>},
    Fact{"job.gpu_shared", Scope::Job, FactType::Bool,
         "Ranks of a communicator that nobody completed print the same host and bus id.",
         within_runs<gpu_shared>},
};

}  // namespace

std::span<const Fact> device_facts() { return kFacts; }

}  // namespace ncclog
