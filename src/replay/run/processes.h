// How is a process of a run asked for, in which environment does it run, how is it started and
// ended?
//
//   ncclog-replay run plan.json --out result --vary NCCL_P2P_DISABLE=0,1 --vary NCCL_ALGO=Ring,Tree
//   → 4 variations, each in the defect mode and then in the clean one: 8 runs
//   → ncclog-replay rank {"mode":"defect","rank":0,"gpu":0} plan.json     for each rank

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/posix.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace CLI {
class App;
}

namespace ncclog {

// Files that are written at once or not at all.

/// Puts the text in the place of what was there; who reads the file meanwhile sees the one or the
/// other. Throws Error.
void write_whole_file(const std::filesystem::path& path, const std::string& text);

// How is a process of a run started?
//
//   ncclog-replay rank {"mode":"defect","rank":0,"gpu":0} plan.json
//   ncclog-replay rank {"mode":"clean","rank":1,"gpu":1,"timed_runs":20} plan.json libnccl.so
//
// The run starts its processes by this command line, and by the two variables of
// replay/run/protocol.h.

/// A bit that is flipped in what a call received, before it is compared: shows that the comparison
/// sees and locates it.
struct PlantedCorruption {
  int rank = -1;      ///< Of the plan.
  uint64_t call = 0;  ///< Into calls_in() of the rank.
  int64_t element = 0;

  bool operator==(const PlantedCorruption&) const = default;
};

/// "1:28:4096"; nullopt: not three numbers.
std::optional<PlantedCorruption> parse_corruption(std::string_view text);

/// What the process of a rank is told on its command line, besides paths.
struct RankCommand {
  MadeIn mode = MadeIn::Clean;               ///< Clean or Defect.
  int rank = -1;                             ///< Of the plan.
  int gpu = -1;                              ///< CUDA's index.
  int timed_runs = 0;                        ///< 0: nothing is timed.
  std::optional<PlantedCorruption> corrupt;  ///< Ignored by the other ranks.

  bool operator==(const RankCommand&) const = default;
};

/// The command line, the program's name first: the command as JSON, and by themselves the paths of
/// the plan's file and of NCCL's library (empty: as NcclLibrary searches), which may be any bytes.
std::vector<std::string> arguments_of(const RankCommand& command, const std::string& plan,
                                      const std::string& nccl);

/// nullopt: it is none.
std::optional<RankCommand> parse_command(std::string_view text);

// In which environment does a rank of a replay run?
//
//   the user's own, less NCCL_… and TORCH_…        PATH, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES
//   the settings of the job that the plan takes    NCCL_ALGO=Ring
//   what makes the replay readable and safe        NCCL_DEBUG=INFO …, NCCL_NVLS_ENABLE=0
//   pseudo-hosts                                   NCCL_HOSTID=pseudo-host-1, NCCL_NET=Socket …
//   --set and --vary                               NCCL_P2P_DISABLE=1
//
// Later rows replace earlier ones. NVLink multicast (NVLS) stays off unless it is asked for: who
// is killed in the middle of it can leave the fabric of all GPUs of the host unusable.

using Environment = std::map<std::string, std::string>;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What a run adds to the plan.
struct RunSetup {
  Settings settings;       ///< Of --set, then of the variation; later ones win.
  int hosts = 1;           ///< Pseudo-hosts; 1: the ranks share a host as they do.
  bool multicast = false;  ///< NVLS is left to NCCL.
  std::string logs;        ///< Absolute path of the run's folder.
  std::string token;       ///< random_token() of the run.
};

/// Of this process.
Environment this_environment();

/// 32 hexadecimal digits that no other process has in its environment.
std::string random_token();

/// Pseudo-host of a rank of the plan, 0 … hosts - 1: as recorded if there were as many, else equal
/// stretches of ranks.
int pseudo_host_of(const ReplayPlan& plan, int rank, int hosts);

/// The whole environment of the process that holds rank `rank` of the plan.
Environment environment_of(const ReplayPlan& plan, int rank, const RunSetup& setup,
                           const Environment& inherited);

/// What of that is said of all runs: NCCL's variables of rank 0 and those of CUDA's that change how
/// it runs, less those that differ between ranks and runs.
Settings settings_in_force(const ReplayPlan& plan, const RunSetup& setup,
                           const Environment& inherited);

/// "NCCL_ALGO=Ring" as a pair. Throws Error, a whole sentence, if a replay does not set that.
std::pair<std::string, std::string> parse_setting(const std::string& text);

// What can be asked of `ncclog-replay run`?

/// The flags of `ncclog-replay run`; ncclog hands on those of `ncclog replay run`.
struct RunFlags {
  std::string plan;               ///< Path of the plan's file.
  std::string out;                ///< Folder for the outcome and NCCL's logs.
  std::string mode = "both";      ///< "both", "defect" or "clean".
  int hosts = 0;                  ///< Pseudo-hosts; 0: as many as the plan has.
  std::vector<std::string> set;   ///< NAME=VALUE, for all runs.
  std::vector<std::string> vary;  ///< NAME=VALUE,VALUE,… each.
  std::vector<int> devices;       ///< GPUs by rank; empty: the first ones that are free.
  bool share = false;             ///< GPUs that others use may be taken.
  std::string nccl;               ///< Library; empty: the one that the loader finds.
  int time_runs = 0;              ///< Timed repetitions in clean runs; 0: none.
  int deadline = 0;               ///< Seconds for calls and for what follows; 0: as planned.
  bool multicast = false;         ///< NVLink multicast is left to NCCL.
  bool judged = false;  ///< ncclog tells what is in the outcome: a refusal is not printed.
  std::string corrupt;  ///< RANK:CALL:ELEMENT; empty: nothing is falsified.

  bool operator==(const RunFlags&) const = default;
};

/// Lets `app`, which is the subcommand `run`, read them into `flags`, which it keeps a reference
/// to.
void add_run_flags(CLI::App& app, RunFlags& flags);

/// The settings of --set. Throws Error if a replay does not set one of them.
Settings fixed_settings(const RunFlags& flags);

/// What the flags come to: of each run the mode, what --vary sets in it and the folder of its logs,
/// "run-1-defect". Variations in the order of the flags, the last one changing fastest; in each the
/// defect run first. Both modes of a plan without a defect are one and the same clean run. Throws
/// Error if they come to no run, or to more than 128.
std::vector<RunOutcome> list_runs(const ReplayPlan& plan, const RunFlags& flags);

// A process that a run started: known by its pid, heard of when it ends, never left behind.
//
//   ChildProcess rank({.program = "/proc/self/exe", .arguments = {"ncclog-replay", "rank", …}});
//   poll(rank.descriptor()) … rank.reap()   →  ended by signal 9
//
// The process leads a process group of its own, so that Ctrl-C reaches the coordinator alone, and
// is killed by the kernel if the coordinator dies.

/// What is started, and with what around it.
struct ProcessStart {
  std::string program;                 ///< Path of the executable.
  std::vector<std::string> arguments;  ///< The program's name first.
  Environment environment;             ///< All of it.
  std::string output;                  ///< File for its standard output and error.
  int channel = -1;                    ///< Descriptor that the process inherits; -1: none.
};

/// Invariant: a process that has not been reaped is killed and waited for when the object goes.
class ChildProcess {
 public:
  /// Throws Error if the program cannot be started.
  explicit ChildProcess(const ProcessStart& start);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// Becomes readable when the process ends; -1 where the kernel has no such descriptors (before
  /// Linux 5.3): then ask has_ended() now and then.
  int descriptor() const { return descriptor_.get(); }

  bool is_running() const { return pid_ > 0 && !has_ended_; }

  /// Looks whether it has, without waiting.
  bool has_ended();

  /// Its exit status; -1: it still runs, or a signal ended it.
  int exit_code() const { return exit_code_; }
  /// The signal that ended it; 0: none did.
  int ended_by() const { return signal_; }

  /// Sends a signal if it still runs.
  void signal(int number);

  /// Gives a process up that not even SIGKILL ends (it hangs in the kernel).
  void abandon();

 private:
  pid_t pid_ = -1;
  Descriptor descriptor_;
  bool has_ended_ = false;
  int exit_code_ = -1;
  int signal_ = 0;
};

/// What a process wrote last: the last line of its output, printable; empty: there is none.
std::string last_line_of(const std::string& path);

}  // namespace ncclog
