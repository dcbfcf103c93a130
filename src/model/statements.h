// What was said: the kept lines of a job by what they mean, and lines as evidence.
//
//   for_each_said<WatchdogTimeout>(job, …)    every kept line of that kind, with its process

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "base/text.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

/// A line that shows something.
struct Evidence {
  SourceRef where;
  std::string text;  ///< The line as read.

  bool operator==(const Evidence&) const = default;
};

inline Evidence evidence_of(const Record& record) { return {record.where, record.text()}; }

/// A kept line of one process, with what it says. `message` and `header()` view its texts.
template <typename T>
struct Said {
  int process = -1;  ///< Into Job::processes.
  const T& message;
  const ReadRecord& line;

  Record record() const { return line.record(); }
  SourceRef where() const { return line.where(); }
  Header header() const { return line.header(); }  ///< Read anew; few ask.
};

/// Calls `use(said)` for every kept message of these kinds: one kind after the other, process by
/// process, in log order.
template <typename... T, typename Use>
void for_each_said(const Job& job, Use use) {
  const auto visit = [&]<typename M>(std::type_identity<M>) {
    const RecordsOf& all = records_of_kind(job, kKindIndex<M>);
    std::vector<M> messages;  // By text, each read once.
    for (const ReadRecord& read : all.records) {
      if (read.text == messages.size()) messages.push_back(read_message<M>(read.message()));
      use(Said<M>{read.process(), messages[read.text], read});
    }
  };
  (visit(std::type_identity<T>()), ...);
}

/// Some process printed a line of one of these kinds.
template <typename... T>
bool any_said(const Job& job) {
  return (!records_of_kind(job, kKindIndex<T>).records.empty() || ...);
}

/// "78" of "JOB 78", "STEP 78.3" and "JOB 78+1", a view of it; empty: another line tore it.
inline std::string_view slurm_job_number(std::string_view job) {
  const size_t begin = job.find(' ') + 1;
  const size_t end = std::min(job.find_first_not_of("0123456789", begin), job.size());
  const bool is_whole = end == job.size() || job[end] == '.' || job[end] == '+';
  return begin > 0 && is_whole ? job.substr(begin, end - begin) : std::string_view();
}

/// The rank with which a program's logger tags its lines, "[rank 3] step 20"; -1: none.
inline int rank_in_tag(std::string_view message) {
  constexpr std::string_view kTags[] = {"[rank ", "[Rank "};
  if (!starts_with_one_of(message, kTags)) return -1;
  const auto rank = parse_int(message.substr(6, message.find(']') - 6));
  return rank && std::in_range<int>(*rank) ? static_cast<int>(*rank) : -1;
}

/// Rank of the process that printed a line: its own, or, where nothing else names it, the rank that
/// PyTorch up to 2.1 prints as "[Rank 6]", or a logger as "[rank 6]". What a launcher puts in front of a line is a rank
/// only where the job was built so (model/derive/processes.cc). -1: unknown.
inline int rank_of(const Job& job, int process, const Header& header) {
  const int rank = nth_process(job, process).rank;
  if (rank >= 0) return rank;
  return header.group_rank >= 0 ? header.group_rank : rank_in_tag(header.message);
}

}  // namespace ncclog
