#include "base/posix.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace ncclog {

bool Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

Pipe::Pipe(const std::string& where) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(std::strerror(errno), where);
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& beginning, const Error& refusal) {
  std::string name = beginning.native() + "XXXXXX";
  const HeldBack signals;
  if (mkdtemp(name.data()) == nullptr) throw refusal;
  path_ = std::move(name);
  leftover_ = Leftover(path_.native());
}

TemporaryFolder::~TemporaryFolder() {
  if (!is_kept_) remove_all_of(path_.c_str());
}

TemporaryFolder new_temporary_folder() {
  std::error_code error;
  const std::filesystem::path beginning = std::filesystem::temp_directory_path(error) / "ncclog-";
  const Error refusal("no temporary folder can be made", beginning.string() + "XXXXXX",
                      "set TMPDIR to a folder that can be written");
  if (error) throw refusal;
  return TemporaryFolder(beginning, refusal);
}

std::optional<std::string> read_whole_file(const std::filesystem::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  std::string text;
  std::array<char, size_t{16} << 10> block;
  for (;;) {
    const ssize_t count = read(file.get(), block.data(), block.size());
    if (count == 0) return text;
    if (count > 0) text.append(block.data(), static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) return std::nullopt;
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::optional<std::string> text = read_whole_file(path);
  if (!text) throw Error("cannot be read", path.native());
  return *std::move(text);
}

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

std::vector<std::string> environment_variables() {
  std::vector<std::string> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    variables.emplace_back(*each);
  }
  return variables;
}

std::string host_name() {
  std::array<char, 256> name{};
  const bool is_known = gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return is_known ? name.data() : "localhost";
}

namespace {

/// What exec wants, made before the process forks: nothing may be allocated after it.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool redirect(int from, int to) {
  // dup2() would leave it to be closed by exec.
  if (from == to) return fcntl(to, F_SETFD, 0) == 0;
  return from < 0 || dup2(from, to) >= 0;
}

/// In the child: true if all is as `start` asks for.
bool prepare(const NewProcess& start, pid_t parent) {
  if (start.leads_group) setpgid(0, 0);
  if (start.end_with_us != 0) {
    prctl(PR_SET_PDEATHSIG, start.end_with_us);
    // With another parent, ours died before prctl() could tell the kernel.
    if (getppid() != parent) return false;
  }
  std::signal(SIGPIPE, SIG_DFL);
  if (start.held) sigprocmask(SIG_SETMASK, &*start.held, nullptr);
  if (start.inherited >= 0) fcntl(start.inherited, F_SETFD, 0);
  const int nothing = start.has_input ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
  return (start.has_input || nothing >= 0) && redirect(nothing, STDIN_FILENO) &&
         redirect(start.output, STDOUT_FILENO) && redirect(start.error, STDERR_FILENO);
}

}  // namespace

pid_t start_process(const NewProcess& start) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const Descriptor reading(ends[0]);
  Descriptor report(ends[1]);
  const std::vector<char*> arguments = pointers_to(start.arguments);
  const std::vector<char*> given = pointers_to(start.environment);
  char* const* environment = start.environment.empty() ? environ : given.data();
  const std::string& program = start.program.empty() ? start.arguments.front() : start.program;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return -1;
  if (pid == 0) {
    if (prepare(start, parent)) execvpe(program.c_str(), arguments.data(), environment);
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = write(report.get(), &reason, sizeof(reason));
    _exit(127);
  }
  // The pipe closes when exec succeeds; else errno comes through it.
  report.close();
  int reason = 0;
  if (read(reading.get(), &reason, sizeof(reason)) <= 0) return pid;
  waitpid(pid, nullptr, 0);
  errno = reason;
  return -1;
}

}  // namespace ncclog
