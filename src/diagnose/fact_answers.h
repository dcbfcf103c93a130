// Words for writing facts: how an answer is made, and how all messages of a kind are visited.
//
//   return yes("ranks 1-3 wait for rank 0", {evidence_of(record)}, {process});
//
// A fact that cannot know returns unknown(); silence is never "no".

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/fact.h"
#include "log/messages.h"
#include "log/read_message.h"

namespace ncclog {

inline FactValue unknown() { return {}; }

inline FactValue no() { return {false, {}, {}, {}, {}}; }

/// "yes" with its evidence in words and lines, and the processes (into Job::processes) and ranks
/// that it identifies as guilty.
inline FactValue yes(std::string what, std::vector<Evidence> evidence = {},
                     std::vector<int> processes = {}, std::vector<int> ranks = {}) {
  return {true, std::move(what), std::move(evidence), std::move(processes), std::move(ranks)};
}

inline FactValue number(int64_t value) { return {value, {}, {}, {}, {}}; }

inline Evidence evidence_of(const Record& record) { return {record.where, record.text}; }

/// A kept line of one process, with what it says. `message` and `header` view `record.text`.
template <typename T>
struct Said {
  int process = -1;  ///< Into Job::processes.
  const Record& record;
  Header header;
  T message;
};

/// Calls `use(said)` for every kept message of kind T, process by process, in log order.
template <typename T, typename Use>
void for_each_said(const Job& job, Use&& use) {
  if (job.processes_by_kind.empty()) return;  // Nothing was read.
  for (const int p : job.processes_by_kind[kKindIndex<T>]) {
    const Process& process = job.processes[static_cast<size_t>(p)];
    for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
      const Event event = parse_record(record);
      use(Said<T>{p, record, event.header, read_message<T>(event.message)});
    });
  }
}

/// Rank of the process that printed a line: its own, or, where nothing else names it, the rank
/// that PyTorch up to 2.1 prints as "[Rank 6]". What a launcher puts in front of a line is a rank
/// only where the job was built so (model/build/processes.cc). -1: unknown.
inline int rank_of(const Job& job, int process, const Header& header) {
  const int rank = job.processes[static_cast<size_t>(process)].rank;
  return rank >= 0 ? rank : header.group_rank;
}

/// "rank 3", "ranks 0-3", or "" for no ranks.
std::string ranks_phrase(const std::vector<int>& ranks);

}  // namespace ncclog
