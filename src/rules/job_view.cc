#include "rules/job_view.h"

#include <algorithm>

namespace ncclog {

template <typename Lists>
RecordsOf JobView::read(int key, Lists SpeakerLog::*lists) {
  RecordsOf result;
  for (size_t p = 0; p < job_.processes.size(); ++p) {
    const int process = static_cast<int>(p);
    bool full = false;
    bool repeated = false;
    for (const size_t log : job_.processes[p].logs) {
      const auto& by_key = job_.logs[log].*lists;
      const auto list = by_key.find(static_cast<typename Lists::key_type>(key));
      if (list == by_key.end()) continue;
      full |= list->second.full;
      repeated |= list->second.total > list->second.kept.size();
      for (const Record& record : list->second.kept) {
        result.records.push_back({process, &record, parse_record(record)});
      }
    }
    if (full) result.full.push_back(process);
    if (repeated) result.repeated.push_back(process);
  }
  return result;
}

const RecordsOf& JobView::records(const Kind& kind) {
  const int key = kind.index;
  const auto known = by_kind_.find(key);
  if (known != by_kind_.end()) return known->second;
  return by_kind_.emplace(key, read(key, &SpeakerLog::records)).first->second;
}

const RecordsOf& JobView::line_matches(int pattern) {
  const auto known = by_pattern_.find(pattern);
  if (known != by_pattern_.end()) return known->second;
  return by_pattern_.emplace(pattern, read(pattern, &SpeakerLog::line_matches)).first->second;
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
