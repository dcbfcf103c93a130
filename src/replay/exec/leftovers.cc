#include "replay/exec/leftovers.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "replay/exec/whole_file.h"
#include "replay/exec/worker_protocol.h"

namespace ncclog {
namespace {

constexpr std::string_view kSegmentStart = "nccl-";

/// Names in a folder; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().native());
  }
  return names;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  for (const std::string& name : names_in("/proc")) {
    const auto pid = parse_int(name);
    if (pid && is_digit(name[0])) pids.push_back(static_cast<pid_t>(*pid));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// The segment that a line of /proc/PID/maps is of; empty: of none.
///
///   7f31c4000000-7f31c4a00000 rw-s 00000000 00:17 4211   /dev/shm/nccl-x8Kw2a (deleted)
std::string_view segment_in(std::string_view line) {
  const size_t slash = line.rfind('/');
  if (slash == std::string_view::npos) return {};
  std::string_view name = line.substr(slash + 1);
  if (!name.starts_with(kSegmentStart)) return {};
  return name.substr(0, name.find(' '));
}

/// The first process that has it mapped; -1: none that we can see.
pid_t user_of(const std::string& name) {
  for (pid_t pid : all_pids()) {
    if (segments_of(pid).contains(name)) return pid;
  }
  return -1;
}

bool is_ours(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

/// What /proc/PID/stat says: "4712 (sleep) S 1 4711 …".
struct ProcessState {
  std::string name;
  char state = 'X';
  pid_t group = -1;
};

ProcessState state_of(pid_t pid) {
  const std::string text = read_whole_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  // The name may hold blanks and parentheses itself.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  const auto fields = split_blanks(std::string_view(text).substr(close + 1));
  if (fields.size() < 3) return {};
  return {text.substr(open + 1, close - open - 1), fields[0][0],
          static_cast<pid_t>(parse_int(fields[2]).value_or(-1))};
}

bool carries(pid_t pid, const std::string& token) {
  if (token.empty()) return false;
  const std::string text = read_whole_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  return text.find(fmt::format("{}={}", kTokenVariable, token)) != std::string::npos;
}

bool is_stray(pid_t pid, const ProcessState& state, const std::vector<pid_t>& leaders,
              const std::string& token) {
  if (pid == getpid() || state.state == 'Z' || state.state == 'X') return false;
  return std::find(leaders.begin(), leaders.end(), state.group) != leaders.end() ||
         carries(pid, token);
}

/// True if the process is gone within a second.
bool has_gone(pid_t pid) {
  for (int round = 0; round < 100; ++round) {
    waitpid(pid, nullptr, WNOHANG);
    const char state = state_of(pid).state;
    if (state == 'X' || state == 'Z') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

std::set<std::string> segments_in(const std::string& folder) {
  std::set<std::string> segments;
  for (std::string& name : names_in(folder)) {
    if (name.starts_with(kSegmentStart)) segments.insert(std::move(name));
  }
  return segments;
}

std::set<std::string> segments_of(pid_t pid) {
  std::set<std::string> segments;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::string line;
  while (std::getline(maps, line)) {
    const std::string_view name = segment_in(line);
    if (!name.empty()) segments.emplace(name);
  }
  return segments;
}

std::vector<std::string> remove_segments(const std::set<std::string>& before,
                                         const std::set<std::string>& used,
                                         const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : segments_in(folder)) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (before.contains(name) || !is_ours(path)) continue;
    const pid_t user = user_of(name);
    if (user >= 0) {
      if (used.contains(name)) {
        found.push_back(fmt::format("{} (still used by process {})", path, user));
      }
    } else if (!used.contains(name)) {
      found.push_back(path + " (came up meanwhile; perhaps another job's, so it was left)");
    } else if (unlink(path.c_str()) == 0) {
      found.push_back(path + " (removed)");
    } else {
      found.push_back(fmt::format("{} (cannot be removed: {})", path, std::strerror(errno)));
    }
  }
  return found;
}

int64_t free_bytes(const std::string& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) return -1;
  return static_cast<int64_t>(status.f_bavail) * static_cast<int64_t>(status.f_frsize);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<std::string> end_strays(const std::vector<pid_t>& leaders, const std::string& token) {
  std::vector<std::string> found;
  for (pid_t pid : all_pids()) {
    const ProcessState state = state_of(pid);
    if (!is_stray(pid, state, leaders, token)) continue;
    kill(pid, SIGKILL);
    const char* end = has_gone(pid) ? "killed" : "cannot be killed";
    found.push_back(fmt::format("process {} ({}), {}", pid, printable(state.name), end));
  }
  // Those that ended by themselves after we adopted them.
  for (pid_t leader : leaders) {
    while (waitpid(-leader, nullptr, WNOHANG) > 0) {
    }
  }
  return found;
}

}  // namespace ncclog
