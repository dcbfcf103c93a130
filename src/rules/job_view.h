// The job as rules ask about it: each kept line is parsed once, each fact is derived once.

#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "diagnose/facts/fact.h"
#include "model/job.h"
#include "rules/field_test.h"

namespace ncclog {

/// Kept lines of one sort, by process, in log order within one.
struct RecordsOf {
  std::vector<ReadRecord> records;
  std::vector<int> full;  ///< Processes that printed more different lines than are kept; ascending.
  /// Processes that printed some of the lines more than once: of those only the first is kept.
  std::vector<int> repeated;
};

/// Invariant: answers about a job that outlives the view, computed at most once. References that it
/// returns stay valid as long as the view does. For one thread.
class JobView {
 public:
  explicit JobView(const Job& job) : job_(job) {}
  JobView(const JobView&) = delete;
  JobView& operator=(const JobView&) = delete;

  const Job& job() const { return job_; }

  const RecordsOf& records(const Kind& kind);

  /// Lines that match the rulebook's line pattern of that number.
  const RecordsOf& line_matches(int pattern);

  /// Instances of a scope, as instances_of gives them.
  const std::vector<Instance>& instances(Scope scope);

  /// The instance of `scope` to which all of the processes belong; nullptr if there is none. The
  /// job is the instance around any processes.
  const Instance* instance_around(std::span<const int> processes, Scope scope);

  /// The fact for one of the instances that this view returned.
  const FactValue& fact(const Fact& fact, const Instance& instance);

 private:
  size_t count(int process, uint16_t key, RecordLists SpeakerLog::*lists) const;
  RecordsOf read(std::span<const int> processes, uint16_t key,
                 RecordLists SpeakerLog::*lists) const;
  void read(int process, uint16_t key, RecordLists SpeakerLog::*lists, RecordsOf& result) const;
  const std::vector<int>& instance_by_process(Scope scope);

  const Job& job_;
  std::map<int, RecordsOf> by_kind_;
  std::map<int, RecordsOf> by_pattern_;
  std::map<Scope, std::vector<Instance>> instances_;
  std::map<Scope, std::vector<int>> instance_by_process_;
  std::map<std::pair<const Fact*, const Instance*>, FactValue> facts_;
};

}  // namespace ncclog
