// Which section of its process's lines belongs to which rank of a communicator?

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "log/header.h"
#include "model/build_steps.h"

namespace ncclog {
namespace {

using Sections = std::map<uint64_t, std::vector<int>>;  ///< By pointer, in order.

/// The sections of each log, looked up once per log.
class SectionDirectory {
 public:
  explicit SectionDirectory(const Job& job) : job_(job), by_log_(job.logs.size()) {}

  /// Place of the section that begins or ends with the lines of `segment`; -1 if there is none.
  int find(int log, const CommSegment& segment) {
    const auto& all = job_.logs[static_cast<size_t>(log)].inits.all();
    const Sections& sections = sections_of(static_cast<size_t>(log));
    const auto same_pointer = sections.find(segment.comm);
    if (same_pointer == sections.end()) return -1;
    for (const int s : same_pointer->second) {
      const InitSection& section = all[static_cast<size_t>(s)];
      const bool same_start = segment.started.line != 0 && section.started == segment.started;
      const bool same_end = segment.completed.line != 0 && section.completed == segment.completed;
      if (same_start || same_end) return s;
    }
    return -1;
  }

 private:
  const Sections& sections_of(size_t log) {
    Sections& sections = by_log_[log];
    const auto& all = job_.logs[log].inits.all();
    if (sections.empty()) {
      for (size_t s = 0; s < all.size(); ++s) {
        if (all[s].comm != 0) sections[all[s].comm].push_back(static_cast<int>(s));
      }
    }
    return sections;
  }

  const Job& job_;
  std::vector<Sections> by_log_;
};

/// The last line of a file that is still written, or was cut, may lack its end: "-> 1" of "-> 12".
bool ends_in_graph_line(const SpeakerLog& log) {
  const std::string_view message = parse_header(log.last_text).message;
  return message.starts_with("Ring ") || message.starts_with("Trees ") ||
         message.starts_with("Channel ");
}

CommGraphs graphs_of(const Job& job, const Communicator& comm) {
  std::vector<RankSays> sayings;
  bool torn = false;
  for (const CommRank& rank : comm.ranks) {
    const InitSection* section = init_section(job, rank);
    if (section == nullptr) continue;
    sayings.push_back({rank.rank, section});
    const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
    torn |= log.torn || ends_in_graph_line(log);
  }
  return build_comm_graphs(comm.nranks, sayings, torn);
}

}  // namespace

void build_graphs(Job& job) {
  SectionDirectory directory(job);
  for (Communicator& comm : job.communicators) {
    for (CommRank& rank : comm.ranks) {
      if (rank.log < 0) continue;
      const SpeakerLog& log = job.logs[static_cast<size_t>(rank.log)];
      rank.section = directory.find(rank.log, log.comms.all[static_cast<size_t>(rank.segment)]);
    }
    for (CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr) continue;
      rank.nvml_dev = section->nvml_dev;
      comm.mnnvl = std::max(comm.mnnvl, section->mnnvl);
    }
    comm.graphs = graphs_of(job, comm);
  }
}

}  // namespace ncclog
