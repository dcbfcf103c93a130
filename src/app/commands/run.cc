// ncclog run -- COMMAND…
//
// Starts a command with the logging that a diagnosis needs, and judges the logs when it has ended.
//
//   ncclog-logs/20260105-120000-gpu-n41-4711/     one start; old files are never mixed in
//     nccl.gpu-n41.4715.log                       of each process
//     gpu-n41.host                                what doctor saw before the start
//     ncclog-run.task-0.log                       how the command ended
//     report.md
//
// Tasks that one launcher has started share a folder, which they find without speaking to each
// other; the one that ends last judges all of it.

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/output.h"
#include "app/run/child_process.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "host/read_host.h"
#include "report/report.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

// What does a job's environment need, so that its logs can be judged, and which task is this?
//
//   --level normal   NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,ENV,…   about 30 kB a rank
//   NCCL_DEBUG=WARN is set already                                   kept, and said so
//   SLURM_PROCID=3, SLURM_STEP_NUM_TASKS=8                           task 3 of 8
//
// Pure: an environment in, settings out.

/// How much is logged.
enum class LogLevel {
  Light,        ///< How communicators are set up.
  Normal,       ///< Also networks, topology and settings.
  Collectives,  ///< Also each call: who called what, and who did not.
};

/// A variable of the job.
struct JobSetting {
  std::string name;
  std::string value;
  bool is_kept = false;  ///< The user has set it: `value` is the user's.
};

/// The value of a variable of the environment; empty: it is not set, or empty.
using VariableReader = std::function<std::string(const std::string& name)>;

/// How the names of the Flight Recorder's dumps begin; the rank stands behind it.
constexpr std::string_view kDumpName = "nccl_trace_rank_";

/// Where a command stands among those that a launcher started alike.
struct LaunchedTask {
  std::string launcher;  ///< "srun", "torchrun", "mpirun"; empty: it was started alone.
  int number = 0;
  int count = 1;
  /// What all tasks of one start have in common and others mostly have not: "slurm-77.0".
  std::string start;
};

struct LevelSettings {
  std::string_view subsystems;
  std::string_view cost;
};

constexpr LevelSettings kLevelSettings[] = {
    {"INIT,ENV,BOOTSTRAP", "about 15 kB for each rank, however long the job runs"},
    {"INIT,ENV,BOOTSTRAP,NET,GRAPH", "about 40 kB for each rank, however long the job runs"},
    {"INIT,ENV,BOOTSTRAP,NET,GRAPH,COLL",
     "about 40 kB for each rank, and 200 bytes for each of its collectives: some 70 MB an hour for "
     "each rank at 100 collectives a second"},
};

/// Bytes of a path or a name that do no harm in one.
std::string safe_name(std::string_view text) {
  constexpr size_t kMostBytes = 80;
  std::string name;
  for (const char c : text.substr(0, kMostBytes)) {
    name += is_alnum(c) || c == '.' || c == '_' || c == '-' ? c : '-';
  }
  return name;
}

/// A launcher's own variables: the task's number, how many there are, what they have in common.
struct LauncherVariables {
  const char* name;
  const char* number;
  const char* count;
  std::string_view start;  ///< With blanks between them.
};

/// The innermost first.
constexpr LauncherVariables kLaunchers[] = {
#include "app/run/launchers.inc"
};

/// "about 40 kB for each rank, and 300 bytes for each collective: some 11 MB an hour at 10 calls a
/// second": what a level costs.
std::string_view cost_of(LogLevel level) { return kLevelSettings[static_cast<size_t>(level)].cost; }

/// What the command gets, in the order in which people write it. `folder` is an absolute path;
/// `pipe_stem` is of new_pipe_stem (app/run/child_process.h): empty for a job that nobody asks.
std::vector<JobSetting> job_settings(LogLevel level, const std::string& folder,
                                     const std::string& pipe_stem,
                                     const VariableReader& environment) {
  const std::pair<const char*, std::string> wanted[] = {
      {"NCCL_DEBUG", "INFO"},
      {"NCCL_DEBUG_SUBSYS", std::string(kLevelSettings[static_cast<size_t>(level)].subsystems)},
      {"NCCL_DEBUG_FILE", folder + "/nccl.%h.%p.log"},
      // From 2.26 on; earlier releases do not read them.
      {"NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL"},
      {"NCCL_DEBUG_TIMESTAMP_FORMAT", "[%F %T.%6f] "},
      {"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"},
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"},
      {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", fmt::format("{}/{}", folder, kDumpName)},
      {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", pipe_stem},
  };
  std::vector<JobSetting> settings;
  for (const auto& [name, value] : wanted) {
    const std::string own = environment(name);
    const bool is_kept = !own.empty();
    if (!is_kept && value.empty()) continue;
    settings.push_back({name, is_kept ? own : value, is_kept});
  }
  return settings;
}

LaunchedTask task_of(const VariableReader& environment) {
  for (const LauncherVariables& launcher : kLaunchers) {
    const auto number = parse_int(environment(launcher.number));
    const auto count = parse_int(environment(launcher.count));
    constexpr int64_t kMostTasks = 1 << 20;
    if (!number || !count || *count < 1 || *count > kMostTasks || *number < 0 ||
        *number >= *count) {
      continue;
    }
    LaunchedTask task{launcher.name, static_cast<int>(*number), static_cast<int>(*count),
                      launcher.name};
    for (const std::string_view name : split_blanks(launcher.start)) {
      const std::string value = environment(std::string(name));
      if (!value.empty()) task.start += "-" + safe_name(value);
    }
    return task;
  }
  return {};
}

struct RunOptions {
  std::vector<std::string> command;
  LogLevel level = LogLevel::Normal;
  std::string logs = "ncclog-logs";  ///< The folder in which each start gets its own.
  int64_t stall = 0;                 ///< Seconds without a sign of life; 0: nobody looks.
  bool stacks = false;               ///< Then also collects stacks.
  bool copy_output = false;          ///< Keeps what the command prints beside the logs.
  ColorChoice color = ColorChoice::Auto;
};

/// A start: its folder, and this task's place in it.
struct Started {
  LaunchedTask task;
  fs::path folder;  ///< Empty: none can be written to, and the command runs as if it ran alone.
  fs::path record;  ///< This task's own file.
  std::vector<JobSetting> settings;
};

/// Creates a file that must not exist yet. False if it does.
bool create_new(const fs::path& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.is_open() && errno == EEXIST) return false;
  if (!file.is_open()) throw Error(std::strerror(errno), path);
  try {
    write_all(file.get(), text, path.string());
  } catch (const Error&) {
    unlink(path.c_str());
    throw;
  }
  return true;
}

void append_to(const fs::path& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.is_open()) throw Error(std::strerror(errno), path);
  write_all(file.get(), text, path.string());
  fsync(file.get());
}

std::string task_words(const LaunchedTask& task) {
  return fmt::format("task {} of {}", task.number, task.count);
}

/// "[2026-01-05 12:00:00] ncclog run: ", as NCCL writes times: a line of a task's own file.
std::string stamp() {
  return fmt::format("[{:%F %T}] ncclog run: ", fmt::localtime(std::time(nullptr)));
}

/// Finds this start's folder. A launcher may use the same names again: then this task's file is
/// there already, of an earlier start, and so are those of all others. Throws Error where no folder
/// can be made, or nothing be written into it.
void find_folder(const RunOptions& options, Started& started) {
  constexpr int kMostStarts = 10'000;
  const std::time_t now = std::time(nullptr);
  std::string name = started.task.start;
  if (name.empty()) {
    name = fmt::format("{:%Y%m%d-%H%M%S}-{}-{}", fmt::localtime(now), host_name(), getpid());
  }
  std::error_code error;
  const fs::path logs = fs::absolute(options.logs, error);
  for (int number = 1; number <= kMostStarts; ++number) {
    const fs::path folder = logs / (number == 1 ? name : fmt::format("{}.{}", name, number));
    fs::create_directories(folder, error);
    if (error) throw Error(error.message(), folder, "name another folder by --logs");
    started.record = folder / fmt::format("ncclog-run.task-{}.log", started.task.number);
    const std::string text =
        fmt::format("{}{} on {} starts {}\n", stamp(), task_words(started.task), host_name(),
                    printable(options.command.front()));
    if (!create_new(started.record, text)) continue;
    started.folder = folder;
    return;
  }
  throw Error("too many starts in this folder", logs, "name another folder by --logs");
}

/// What doctor sees, once for each host. It is a help, so that nothing depends on it.
void record_host(const Started& started) {
  try {
    HostTree tree = HostTree::live();
    create_new(started.folder / (host_name() + ".host"), read_host(tree, "this host").record);
  } catch (const std::exception&) {
    return;
  }
}

// What is said on standard error, beside what the command says there. Where that cannot be written,
// the command goes on.

void print(const Console& console, const std::string& text) {
  try {
    if (!console.quiet) write_all(STDERR_FILENO, text, "standard error");
  } catch (const Error&) {
    return;
  }
}

void say(const Console& console, const std::string& text) {
  print(console, fmt::format("ncclog run: {}\n", text));
}

/// "logs/nccl.log: cannot write: No space left on device"
std::string words_of(const Error& error) {
  return (error.where().empty() ? "" : printable(error.where()) + ": ") + printable(error.what());
}

Started begin(const RunOptions& options, const Console& console) {
  Started started{.task = task_of(environment_variable)};
  try {
    find_folder(options, started);
  } catch (const Error& error) {
    say(console, "no logs can be written, so the command runs without: " + words_of(error));
  }
  return started;
}

void record(const Started& started, const std::string& text, const Console& console) {
  try {
    append_to(started.record, stamp() + text + "\n");
  } catch (const Error& error) {
    say(console, fmt::format("not recorded, that {}: {}", text, words_of(error)));
  }
}

void announce(const RunOptions& options, const Started& started, const Console& console) {
  if (started.task.number != 0) return;
  say(console, fmt::format("logs go to {}; this level writes {}",
                           printable(started.folder.string()), cost_of(options.level)));
  for (const JobSetting& setting : started.settings) {
    if (!setting.is_kept) continue;
    say(console,
        fmt::format("{}={} is kept as it was set", setting.name, printable(setting.value)));
    if (setting.name == "NCCL_DEBUG_FILE") {
      say(console, "so NCCL's logs are not beside the others; analyse them with 'ncclog analyze'");
    }
  }
}

// Judging.

/// What this start has set already needs no advice; a level that logs more may.
void drop_own_advice(const RunOptions& options, const Started& started, CaptureAdvice& advice) {
  bool wants_calls = false;
  std::erase_if(advice.settings, [&](const CaptureSetting& wanted) {
    wants_calls |= wanted.value.find("COLL") != wanted.value.npos;
    return std::ranges::any_of(started.settings, [&](const JobSetting& own) {
      return own.name == wanted.name && !own.is_kept;
    });
  });
  if (wants_calls && options.level != LogLevel::Collectives) {
    advice.steps.emplace_back("ncclog run --level collectives logs each call.");
  }
}

/// The report on all that the folder holds: the text for people goes to standard error, the page
/// beside the logs. False if there is no page.
bool judge(const RunOptions& options, const Started& started, const fs::path& page,
           Console& console) {
  try {
    AnalyzeOptions analysis;
    analysis.input.paths = {started.folder.string()};
    const Report& report = console
                               .keep([&] {
                                 AnalyzedLogs logs = run_pipeline(analysis);
                                 drop_own_advice(options, started, logs.report.diagnosis.capture);
                                 return logs;
                               })
                               .report;
    TextStyle style = console.style(options.color);
    style.colour = options.color == ColorChoice::Always;
    print(console, "\n" + write_text(report, style));
    write_output_file(page.string(), write_markdown(report));
    return true;
  } catch (const Error& error) {
    say(console, fmt::format("there is no report {}: {}", printable(page.string()),
                             printable(error.what())));
  } catch (const std::exception& error) {
    say(console, fmt::format("the logs could not be judged: {}", printable(error.what())));
  }
  return false;
}

/// Says whether all tasks of the start have ended, as far as their files show.
bool all_ended(const Started& started) {
  constexpr size_t kMaxRecordBytes = size_t{64} << 10;
  for (int number = 0; number < started.task.count; ++number) {
    const HostAnswer record = read_host_file(
        (started.folder / fmt::format("ncclog-run.task-{}.log", number)).string(), kMaxRecordBytes);
    const bool has_ended = record.text.find(" exited with status ") != record.text.npos ||
                           record.text.find(" was ended by signal ") != record.text.npos;
    if (!has_ended) return false;
  }
  return true;
}

/// Two tasks that end at once may both see that all others have ended; one of them judges.
void judge_once(const RunOptions& options, const Started& started, Console& console) {
  const fs::path lock = started.folder / ".judging";
  try {
    if (!create_new(lock, "")) return;
  } catch (const Error&) {
    // A full disk has no room for it; then two reports are better than none.
  }
  const fs::path page = started.folder / "report.md";
  std::error_code error;
  if (!fs::exists(page, error) && judge(options, started, page, console)) {
    say(console, fmt::format("the report is {}", printable(page.string())));
  }
  fs::remove(lock, error);
}

// Watching.

/// How much the job has written.
struct Written {
  uintmax_t bytes = 0;
  size_t files = 0;

  bool operator==(const Written&) const = default;
};

Written written_in(const fs::path& folder) {
  Written written;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename();
    // What we have written or asked for shows no life.
    constexpr std::string_view kOwn[] = {"ncclog-run.", kDumpName, "stacks."};
    if (name.ends_with(".md") || starts_with_one_of(name, kOwn)) continue;
    const uintmax_t bytes = it->file_size(ignored);
    if (ignored) continue;
    written.bytes += bytes;
    ++written.files;
  }
  return written;
}

std::string found_program(const char* name) {
  const std::string folders = environment_variable("PATH");
  for (const std::string_view folder : split(folders, ':')) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

/// Stacks of the processes below the command that have NCCL loaded.
void collect_stacks(const Started& started, pid_t command, const Console& console) {
  constexpr int kMostSeconds = 30;
  constexpr size_t kMaxMaps = size_t{16} << 20;
  const std::string py_spy = found_program("py-spy");
  const std::string gdb = found_program("gdb");
  if (py_spy.empty() && gdb.empty())
    return say(console, "there is neither py-spy nor gdb for stacks");
  for (const pid_t pid : descendants_of(command)) {
    const HostAnswer maps = read_host_file(fmt::format("/proc/{}/maps", pid), kMaxMaps);
    if (maps.text.find("libnccl") == maps.text.npos && pid != command) continue;
    const std::string number = std::to_string(pid);
    const std::vector<std::string> words =
        !py_spy.empty()
            ? std::vector<std::string>{py_spy, "dump", "--pid", number}
            : std::vector<std::string>{gdb, "-p", number, "-batch", "-ex", "thread apply all bt"};
    const fs::path path = started.folder / fmt::format("stacks.{}.{}.txt", host_name(), number);
    if (run_into_file(words, path.string(), kMostSeconds)) {
      say(console, fmt::format("stacks of pid {} are in {}", pid, printable(path.string())));
    }
  }
}

/// Looks once a second whether anything was written. A stall is told once; what is written
/// afterwards ends it. Before NCCL has begun, programs are silent for long: they import modules, load
/// data and wait for each other.
class StallWatch {
 public:
  StallWatch(const RunOptions& options, const Started& started, const std::string& pipe_stem,
             Console& console)
      : options_(options), started_(started), pipe_stem_(pipe_stem), console_(console) {}

  void look(pid_t command) {
    if (options_.stall == 0 || started_.folder.empty()) return;
    const Written now = written_in(started_.folder);
    const auto time = Clock::now();
    // Where nothing can be written, silence shows nothing.
    if (is_disk_full()) since_ = time;
    if (now != last_ && state_ != State::Asked) {
      if (state_ == State::Told) again_ = time;
      // A job that gives up says so, for a moment.
      if (again_ && time - *again_ > kLongestLastWords) {
        note(fmt::format("something is written again after stall {}", stalls_));
        again_.reset();
      }
      last_ = now;
      since_ = time;
      state_ = State::Moving;
    }
    if (state_ == State::Moving && time - since_ >= patience()) {
      state_ = State::Asked;
      asked_ = time;
      ++stalls_;
      seconds_ = std::chrono::duration_cast<std::chrono::seconds>(patience()).count();
      note(fmt::format("nothing was written for {} s, stall {}", seconds_, stalls_));
      if (options_.stacks) collect_stacks(started_, command, console_);
      before_ = dumps();
      dumped_ = before_;
      asked_of_ = pipe_stem_.empty() ? 0 : ask_for_dumps(pipe_stem_);
      // What is written into a folder of the user's is not waited for.
      if (is_kept("TORCH_NCCL_DEBUG_INFO_TEMP_FILE")) asked_of_ = 0;
      return;
    }
    if (state_ == State::Asked && (time - asked_ >= kMostWait || have_answered())) {
      state_ = State::Told;
      last_ = now;  // Who was asked says so in the output: no sign of life.
      if (is_first()) tell();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// By the names of dumps: when each was written, and how much.
  using Dumps = std::map<std::string, std::pair<fs::file_time_type, uintmax_t>>;
  enum class State { Moving, Asked, Told };

  /// PyTorch looks into its pipes once a second, and takes seconds to name the frames of its stacks.
  static constexpr std::chrono::seconds kMostWait{30};
  static constexpr std::chrono::seconds kLongestLastWords{10};
  /// So many times longer a program may be silent before NCCL has begun.
  static constexpr int kBeforeNccl = 10;

  bool is_first() const { return started_.task.number == 0; }

  bool is_kept(std::string_view name) const {
    return std::ranges::any_of(
        started_.settings, [&](const JobSetting& own) { return own.is_kept && own.name == name; });
  }

  bool is_disk_full() const {
    std::error_code error;
    const fs::space_info space = fs::space(started_.folder, error);
    return !error && space.available == 0;
  }

  /// NCCL has written, or PyTorch has made a process group, which waits at its pipe. Logs that go
  /// elsewhere tell nothing.
  bool has_begun() {
    std::error_code error;
    begun_ = begun_ || is_kept("NCCL_DEBUG_FILE") || count_pipes(pipe_stem_) > 0;
    for (fs::directory_iterator it(started_.folder, error), end; !begun_ && !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename();
      begun_ = name.starts_with("nccl") && !name.starts_with("ncclog-run.");
    }
    return begun_;
  }

  Clock::duration patience() {
    return std::chrono::seconds(options_.stall) * (has_begun() ? 1 : kBeforeNccl);
  }

  Dumps dumps() const {
    Dumps all;
    std::error_code error;
    std::error_code ignored;
    for (fs::directory_iterator it(started_.folder, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename();
      if (name.starts_with(kDumpName)) {
        all[name] = {it->last_write_time(ignored), it->file_size(ignored)};
      }
    }
    return all;
  }

  /// Whether all who were asked have written since, and write no more. Clocks of file systems are
  /// not compared with this host's.
  bool have_answered() {
    const Dumps now = dumps();
    const auto is_new = [&](const auto& dump) {
      const auto known = before_.find(dump.first);
      return known == before_.end() || known->second != dump.second;
    };
    return now == std::exchange(dumped_, now) && std::ranges::count_if(now, is_new) >= asked_of_;
  }

  /// For the report at the end. The command goes on, whatever becomes of it.
  void note(const std::string& text) const {
    if (is_first()) record(started_, text, console_);
  }

  void tell() {
    say(console_,
        fmt::format("nothing was written for {} s. Nothing is ended; so far the logs show:",
                    seconds_));
    judge(options_, started_, started_.folder / "stall.md", console_);
  }

  const RunOptions& options_;
  const Started& started_;
  const std::string& pipe_stem_;
  Console& console_;
  Written last_;
  Clock::time_point since_ = Clock::now();
  Clock::time_point asked_;
  bool begun_ = false;
  int stalls_ = 0;
  int64_t seconds_ = 0;                     ///< Without a sign of life, at the last of them.
  int64_t asked_of_ = 0;                    ///< So many processes of this host.
  Dumps before_;                            ///< When they were asked.
  Dumps dumped_;                            ///< At the last look.
  std::optional<Clock::time_point> again_;  ///< When something came after a stall that was told.
  State state_ = State::Moving;
};

std::string end_words(const LaunchedTask& task, const CommandEnd& end) {
  std::string words = fmt::format("pid {}, {}, ", end.pid, task_words(task));
  words += end.signal > 0
               ? fmt::format("was ended by signal {} ({})", end.signal, signal_name(end.signal))
               : fmt::format("exited with status {}", end.status);
  if (end.requested > 0) words += " after " + signal_name(end.requested);
  return words;
}

/// What is missing of what was asked for, as far as it is known.
void say_what_is_missing(const Started& started, const CommandEnd& end, const Console& console) {
  const std::string folder = printable(started.folder.string());
  std::error_code error;
  const fs::space_info space = fs::space(started.folder, error);
  if (end.copy_lost != 0) {
    say(console, fmt::format("the copy of the output in {} is not whole: {}", folder,
                             std::strerror(end.copy_lost)));
  }
  if (!error && space.available == 0) {
    say(console,
        fmt::format("there is no space left in {}: what NCCL wrote there lacks lines", folder));
  }
}

ExitStatus run_job(const RunOptions& options, Console& console) {
  if (options.command.empty()) {
    throw Error("no command named", "run", "write it behind --: ncclog run -- torchrun train.py");
  }
  std::optional<HeldSignals> signals(std::in_place);
  Started started = begin(options, console);
  const bool has_folder = !started.folder.empty();
  const std::string pipe_stem = has_folder && options.stall > 0 ? new_pipe_stem() : "";
  CommandStart start{.arguments = options.command};
  if (has_folder) {
    started.settings =
        job_settings(options.level, started.folder.string(), pipe_stem, environment_variable);
    record_host(started);
    announce(options, started, console);
  }
  for (const JobSetting& setting : started.settings) {
    if (!setting.is_kept) start.variables.emplace_back(setting.name, setting.value);
  }
  // Without calls in the logs, what the command prints is its only sign of life.
  const bool needs_output = options.stall > 0 && options.level != LogLevel::Collectives;
  if (has_folder && (options.copy_output || needs_output)) {
    const auto copy = [&](const char* stream) {
      return started.folder / fmt::format("{}.task-{}.log", stream, started.task.number);
    };
    start.output_copy = copy("stdout");
    start.error_copy = copy("stderr");
  }
  StallWatch watch(options, started, pipe_stem, console);
  const CommandEnd end = run_command(start, *signals, [&](pid_t pid) { watch.look(pid); });
  signals.reset();  // From here on they are ours again.
  remove_pipes(pipe_stem);
  if (end.refused != 0) {
    const std::string text = error_text(options.command.front(), std::strerror(end.refused),
                                        "this command could not be started");
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
  if (has_folder) {
    record(started, end_words(started.task, end), console);
    say_what_is_missing(started, end, console);
    if (end.refused == 0 && all_ended(started)) judge_once(options, started, console);
  }
  end_like(end);
  return static_cast<ExitStatus>(end.status);
}

}  // namespace

void declare_run(CommandRow& command) {
  RunOptions& options = options_of(command, run_job);
  add_argument(command, "COMMAND", options.command, "the command and its arguments, behind --");
  add_choice(command, kFurtherFlags, "--level", options.level,
             in_order<LogLevel>({"light", "normal", "collectives"}),
             "what NCCL logs: how communicators are set up, also networks and topology, also each "
             "call");
  add_flag(command, kOutputFlags, "-o,--logs DIR", options.logs,
           "the folder in which each start gets a folder of its own (default: ncclog-logs)");
  add_flag(command, kOutputFlags, "--copy-output", options.copy_output,
           "keep what the command prints beside the logs; it then writes to pipes, not to a "
           "terminal");
  add_number(command, kFurtherFlags, "--stall SECONDS", {1, 86'400 * 7}, options.stall,
             "judge the logs while the command runs, once nothing was written for so long; without "
             "--level collectives this copies the output, too");
  add_flag(command, kFurtherFlags, "--stacks", options.stacks,
           "collect stacks by py-spy or gdb then, where they are installed")
      .needs = "--stall";
  add_color_flag(command, options.color);
}

}  // namespace ncclog
