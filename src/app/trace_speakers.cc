#include "app/trace_speakers.h"

#include <fmt/format.h>

#include <algorithm>

namespace ncclog {

TraceSpeakers::TraceSpeakers(const Job& job) : job_(job) {
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const Process& process = job.processes[p];
    if (process.pid >= 0) {
      by_pid_.emplace(std::pair(std::string_view(process.host), process.pid),
                      static_cast<int64_t>(p + 1));
    }
  }
}

int64_t TraceSpeakers::number_of(std::string_view file, const Header& header) {
  const int64_t pid = header.pid >= 0 ? header.pid : header.prefix.pid;
  if (pid < 0) return number_of(file, header.prefix.rank);
  const auto found = by_pid_.find(std::pair(header.host, pid));
  if (found != by_pid_.end()) return found->second;
  const int only = process_of_pid(job_, pid);
  return only < 0 ? number_of_file(file) : only + 1;
}

int64_t TraceSpeakers::number_of(std::string_view file, int rank) {
  const int process = rank < 0 ? -1 : process_of_rank(job_, rank);
  return process < 0 ? number_of_file(file) : process + 1;
}

int64_t TraceSpeakers::number_of_file(std::string_view file) {
  const auto known = by_file_.find(file);
  if (known != by_file_.end()) return known->second;
  const auto number = static_cast<int64_t>(job_.processes.size() + by_file_.size() + 1);
  by_file_.emplace(file, number);
  return number;
}

std::string TraceSpeakers::name_of(int64_t number) const {
  const auto index = static_cast<size_t>(number - 1);
  if (index < job_.processes.size()) {
    const Process& process = job_.processes[index];
    std::string name = process.rank < 0 ? "" : fmt::format("rank {}", process.rank);
    if (!process.host.empty()) name += (name.empty() ? "" : " on ") + process.host;
    if (process.pid < 0) return name;
    return name.empty() ? fmt::format("pid {}", process.pid)
                        : fmt::format("{} (pid {})", name, process.pid);
  }
  const auto file = std::find_if(by_file_.begin(), by_file_.end(),
                                 [&](const auto& entry) { return entry.second == number; });
  if (file == by_file_.end()) return {};
  return fmt::format("lines of {} that name no process", file->first);
}

int64_t TraceSpeakers::order_of(int64_t number) const {
  const auto index = static_cast<size_t>(number - 1);
  const int rank = index < job_.processes.size() ? job_.processes[index].rank : -1;
  return rank < 0 ? INT32_MAX : rank;
}

}  // namespace ncclog
