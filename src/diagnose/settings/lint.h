// Are these settings what somebody meant to set?
//
//   NCCL_IB_DISBALE=1           no release reads it; meant: NCCL_IB_DISABLE
//   NCCL_IB_HCA=mlx5_0          has no effect beside NCCL_IB_DISABLE=1
//   NCCL_SOCKET_IFNAME==eth0    admits none of the interfaces ens5, lo
//
// One pure function; a script, a file, a shell's environment and a log are linted alike. What it
// cannot know it does not say: values that a shell would expand are not judged, and names that are
// neither NCCL's nor near one are nobody's business.

#pragma once

#include <optional>

#include "diagnose/settings/nccl_variables.h"
#include "log/settings.h"
#include "log/wording/message_kind.h"
#include "model/statements.h"

namespace ncclog {

/// What is to say about a setting.
enum class RemarkKind {
  Unknown,         ///< No program is known to read it.
  Misspelt,        ///< The same, and a real name is one or two letters away.
  OtherReader,     ///< Another program's by an old name, or of NCCL where RCCL runs or vice versa.
  Removed,         ///< This release of NCCL no longer reads it.
  TooNew,          ///< This release of NCCL does not read it yet.
  Deprecated,      ///< Still read; a newer name does the same.
  Invalid,         ///< NCCL cannot use the value, or reads another one than is written.
  Contradictory,   ///< Another setting takes its effect away.
  Workaround,      ///< Switches off or forces what NCCL would choose better.
  Overwritten,     ///< A file to which several processes write, each from its beginning.
  Costly,          ///< Takes much memory, or writes very long logs.
  MatchesNothing,  ///< A filter that admits none of a host's devices.
  MatchesMore,     ///< A filter that admits other devices than were meant.
  AdmitsLoopback,  ///< A filter of interfaces that lets lo in, which NCCL alone would not.
  NotExported,     ///< A shell's own variable: the job does not get it.
  Differs,         ///< Ranks of one job have different values.
  ConfigFile,      ///< Set by a configuration file, where nobody looks.
};

/// "unknown", "misspelt", "other_reader": lower case, stable, for scripts.
constexpr std::string_view enum_words(RemarkKind) {
  return "unknown|misspelt|other_reader|removed|too_new|deprecated|invalid|contradictory|"
         "workaround|overwritten|costly|matches_nothing|matches_more|admits_loopback|not_exported|"
         "differs|"
         "config_file";
}

enum class RemarkLevel {
  Error,    ///< NCCL fails with it.
  Warning,  ///< It does not do what it says.
  Note,     ///< It works; one should know.
};

constexpr std::string_view enum_words(RemarkLevel) { return "error|warning|note"; }

struct Remark {
  RemarkKind kind = RemarkKind::Unknown;
  RemarkLevel level = RemarkLevel::Warning;
  std::string variable;
  std::string value;
  std::string message;  ///< A clause whose subject is the setting: "is not a number, …".
  std::string hint;     ///< What to do; empty where the message says it all.
  size_t setting = 0;   ///< Into the settings that were linted.
  Evidence line = {};   ///< Of a log: shows the setting; empty where none is kept.

  bool operator==(const Remark&) const = default;
};

/// Devices of a host, against which filters are held.
struct HostDevices {
  std::string host;                     ///< As messages name it: "node-a", "this machine".
  std::vector<std::string> interfaces;  ///< Empty: not known.
  std::vector<std::string> hcas;        ///< Empty: not known.
  bool certain = true;                  ///< False: the job may run on another host.
};

struct LintContext {
  std::string nccl_version;  ///< "2.27.3"; empty: unknown.
  /// Library::Nccl or Library::Rccl, where it is known which one the job runs.
  std::optional<Library> library;
  std::vector<HostDevices> hosts;
  /// The settings are all that a process gets: what is not among them is not set.
  bool complete = false;
  /// Settings that are not exported do not reach the job.
  bool needs_export = false;
};

/// Remarks on `settings`, in their order; those on one setting with the worst first.
std::vector<Remark> lint(std::span<const Setting> settings, const LintContext& context);

// What does a filter of interfaces or RDMA devices admit on the hosts that are known?
//
//   NCCL_SOCKET_IFNAME==eth0, node-a has ens5, lo   → admits nothing there
//   NCCL_IB_HCA=mlx5_1, node-a has mlx5_1, mlx5_10  → admits mlx5_10, too
//   NCCL_SOCKET_IFNAME=^docker0                     → no longer leaves lo out

/// Remarks on a setting whose value is a filter; none for other settings. Hosts of which no
/// devices are known say nothing.
std::vector<Remark> judge_filter(const NcclVariable& variable, const Setting& setting,
                                 std::span<const HostDevices> hosts);

/// What a filter that admits none of `names` may have meant: "did you mean ens5?"; empty if
/// nothing is near.
std::string filter_meant(std::string_view filter, std::span<const std::string> names);

// The settings that a job's logs show, linted (job_settings.cc).
//
//   $ mpirun -x NCCL_TIMEOUT=3600 …                                    a command sets it
//   n1:7:7 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_1      NCCL read it
//
// What NCCL prints it has read, so its name is right and its release reads it; only values and
// company can be wrong. What a command sets may be anything.

/// Library::Nccl or Library::Rccl, whichever alone the banners of the job name; nullopt if none
/// does or both do.
std::optional<Library> library_of(const Job& job);

/// Remarks on all settings of the job, each once: those of commands, then those that NCCL read.
/// Without a release in `context` the job's own is taken, if it has just one; likewise the library.
std::vector<Remark> lint_job(const Job& job, LintContext context);

/// A command of the log, and what it sets.
struct CommandSettings {
  ShellSettings found;  ///< Lines are indices into `lines`, from 1.
  std::vector<Evidence> lines;
};

/// What the commands in the log set: one entry for each process or file that shows some.
const std::vector<CommandSettings>& command_settings(const Job& job);

/// The devices that each host is known to have, from NCCL's lists and from pasted ones. NCCL lists
/// what its filter admitted, so there may be more.
const std::vector<HostDevices>& known_devices(const Job& job);

}  // namespace ncclog
