#include "rules/job_view.h"

#include <algorithm>
#include <numeric>

namespace ncclog {

/// Lines that a process printed. Events are large and thousands of processes print the same, so
/// room is made for as many as there are.
size_t JobView::count(int process, uint16_t key, RecordLists SpeakerLog::*lists) const {
  size_t count = 0;
  for (const size_t log : job_.processes[static_cast<size_t>(process)].logs) {
    const RecordList* list = (job_.logs[log].*lists).find(key);
    if (list != nullptr) count += list->kept.size();
  }
  return count;
}

RecordsOf JobView::read(std::span<const int> processes, uint16_t key,
                        RecordLists SpeakerLog::*lists) const {
  RecordsOf result;
  size_t total = 0;
  for (const int process : processes) total += count(process, key, lists);
  result.records.reserve(total);
  for (const int process : processes) read(process, key, lists, result);
  return result;
}

/// Adds what `process` printed.
void JobView::read(int process, uint16_t key, RecordLists SpeakerLog::*lists,
                   RecordsOf& result) const {
  bool full = false;
  bool repeated = false;
  for (const size_t log : job_.processes[static_cast<size_t>(process)].logs) {
    const RecordList* list = (job_.logs[log].*lists).find(key);
    if (list == nullptr) continue;
    full |= list->full;
    repeated |= list->total > list->kept.size();
    for (const Record& record : list->kept) {
      result.records.push_back({process, &record, parse_record(record).message});
    }
  }
  if (full) result.full.push_back(process);
  if (repeated) result.repeated.push_back(process);
}

const RecordsOf& JobView::records(const Kind& kind) {
  const auto [known, is_new] = by_kind_.try_emplace(kind.index);
  if (!is_new || job_.processes_by_kind.empty()) return known->second;
  known->second = read(job_.processes_by_kind[kind.index], kind.index, &SpeakerLog::records);
  return known->second;
}

const RecordsOf& JobView::line_matches(int pattern) {
  const auto [known, is_new] = by_pattern_.try_emplace(pattern);
  if (!is_new) return known->second;
  std::vector<int> all(job_.processes.size());
  std::iota(all.begin(), all.end(), 0);
  known->second = read(all, static_cast<uint16_t>(pattern), &SpeakerLog::line_matches);
  return known->second;
}

const std::vector<Instance>& JobView::instances(Scope scope) {
  const auto known = instances_.find(scope);
  if (known != instances_.end()) return known->second;
  return instances_.emplace(scope, instances_of(job_, scope)).first->second;
}

const std::vector<int>& JobView::instance_by_process(Scope scope) {
  std::vector<int>& result = instance_by_process_[scope];
  if (!result.empty()) return result;
  result.assign(job_.processes.size(), -1);
  const std::vector<Instance>& all = instances(scope);
  for (size_t i = 0; i < all.size(); ++i) {
    for (const int process : all[i].processes) {
      result[static_cast<size_t>(process)] = static_cast<int>(i);
    }
  }
  return result;
}

const Instance* JobView::instance_around(std::span<const int> processes, Scope scope) {
  const std::vector<Instance>& all = instances(scope);
  if (scope == Scope::Job) return &all.front();
  const bool splits_processes =
      scope == Scope::Host || scope == Scope::Process || scope == Scope::Rank;
  if (!splits_processes || processes.empty()) return nullptr;
  const std::vector<int>& by_process = instance_by_process(scope);
  const int first = by_process[static_cast<size_t>(processes.front())];
  const bool same = std::all_of(processes.begin(), processes.end(), [&](int process) {
    return by_process[static_cast<size_t>(process)] == first;
  });
  return same && first >= 0 ? &all[static_cast<size_t>(first)] : nullptr;
}

const FactValue& JobView::fact(const Fact& fact, const Instance& instance) {
  const auto key = std::make_pair(&fact, &instance);
  const auto known = facts_.find(key);
  if (known != facts_.end()) return known->second;
  return facts_.emplace(key, fact.derive(job_, instance)).first->second;
}

}  // namespace ncclog
