#include "replay/exec/held_processes.h"

#include <algorithm>
#include <csignal>

#include "replay/exec/leftovers.h"
#include "replay/exec/worker_protocol.h"

namespace ncclog {

void send_signal(HeldProcess& process, int number) {
  if (!process.is_running()) return;
  process.sent_signal = number;
  process.child->signal(number);
}

bool is_any_to_be_asked(const std::vector<HeldProcess>& processes) {
  return std::any_of(processes.begin(), processes.end(), [](const HeldProcess& process) {
    return process.is_running() && process.child->descriptor() < 0;
  });
}

ProcessEnd end_of(const HeldProcess& process, const ProcessStatus& status, bool was_ordered) {
  // Who was killed may have ended by the SIGTERM before.
  const bool is_late = process.sent_signal == SIGKILL && status.signal == SIGTERM;
  const bool is_ours = status.signal == 0 || status.signal == process.sent_signal || is_late;
  if (process.sent_signal != 0 && is_ours) {
    const bool was_killed = process.sent_signal == SIGKILL && !is_late;
    return was_killed ? ProcessEnd::Killed : ProcessEnd::Terminated;
  }
  const bool has_obeyed = status.exit_code == static_cast<int>(RankExit::Aborted);
  const bool is_on_abort = was_ordered && status.signal == 0 && has_obeyed;
  return is_on_abort ? ProcessEnd::OnAbort : ProcessEnd::ByItself;
}

std::set<std::string> mapped_segments(const std::vector<HeldProcess>& processes) {
  std::set<std::string> segments;
  for (const HeldProcess& process : processes) {
    if (process.is_running()) segments.merge(segments_of(process.child->pid()));
  }
  return segments;
}

std::string last_line_of(const std::vector<HeldProcess>& processes, int rank) {
  for (const HeldProcess& process : processes) {
    if (process.what->rank == rank) return last_line_of(process.what->start.output);
  }
  return {};
}

std::vector<pid_t> pids_of(const std::vector<HeldProcess>& processes) {
  std::vector<pid_t> pids;
  for (const HeldProcess& process : processes) {
    if (process.child) pids.push_back(process.child->pid());
  }
  return pids;
}

}  // namespace ncclog
