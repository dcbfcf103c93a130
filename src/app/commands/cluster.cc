// One job on many hosts: each scans its own logs, and one merges what came of it.
//
//   ncclog cluster --slurm --jobid 4711 /var/log/nccl
//   → srun … ncclog scan /var/log/nccl -o PARTS/%h.part     on each node, some at a time
//   → srun … ncclog scan --answer PARTS/requests …          where something has to be looked up
//   → the report of one run over all files

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "app/cluster/host_list.h"
#include "app/cluster/tasks.h"
#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "part/requests.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

enum class Launcher { Srun, Mpirun, Ssh };

struct ClusterOptions {
  AnalyzeOptions analyze;
  bool slurm = false;
  std::string jobid;
  std::string nodelist;
  std::vector<std::string> srun;  ///< Further arguments of srun.
  std::string parts;              ///< Where the folder for parts is made; all nodes see it.
  std::string program;            ///< ncclog on the nodes; empty: this one.
  bool shared = false;            ///< All nodes see the same files: each reads a share.
  bool keep_parts = false;
  int64_t time_limit = 600;  ///< Seconds for a round of scans.
  int64_t together = 32;     ///< Nodes that scan at the same time.
  std::optional<Launcher> print;
};

/// Nodes on which to scan, and how srun comes to them.
struct Nodes {
  std::vector<std::string> hosts;
  std::string job;  ///< An allocation that still holds them; empty: srun has to ask for one.
};

/// "node list of a job that runs" by squeue, of one that ended by sacct.
Nodes nodes_of_job(const std::string& job) {
  if (job.empty() || !std::ranges::all_of(job, is_digit)) {
    throw Error(fmt::format("not the number of a job: '{}'", printable(job)), "--jobid");
  }
  constexpr size_t kMostOutput = size_t{1} << 20;
  int status = 0;
  const std::string running =
      output_of({"squeue", "--noheader", "--jobs=" + job, "--states=RUNNING", "--format=%N"},
                kMostOutput, status);
  if (status == 0 && !trim(running).empty()) {
    return {expand_host_list(trim(running), "squeue"), job};
  }
  const std::string ended = output_of(
      {"sacct", "--noheader", "--allocations", "--parsable2", "--jobs=" + job, "--format=NodeList"},
      kMostOutput, status);
  const std::string_view list = trim(ended);
  if (status != 0 || list.empty() || list == "None assigned") {
    throw Error("Slurm does not tell on which nodes it ran", "job " + job, "name them: --nodelist");
  }
  return {expand_host_list(list.substr(0, list.find('\n')), "sacct"), {}};
}

/// Those of the allocation in which this runs, if any.
Nodes own_nodes() {
  const std::string list = environment_variable("SLURM_JOB_NODELIST");
  if (list.empty()) return {};
  return {expand_host_list(list, "SLURM_JOB_NODELIST"), environment_variable("SLURM_JOB_ID")};
}

Nodes find_nodes(const ClusterOptions& options) {
  Nodes own = own_nodes();
  if (!options.nodelist.empty()) {
    Nodes named{expand_host_list(options.nodelist, "--nodelist"), options.jobid};
    const bool are_own = std::ranges::all_of(named.hosts, [&](const std::string& host) {
      return std::ranges::find(own.hosts, host) != own.hosts.end();
    });
    if (options.jobid.empty() && are_own) named.job = own.job;
    return named;
  }
  if (!options.jobid.empty()) return nodes_of_job(options.jobid);
  if (!own.hosts.empty()) return own;
  throw Error("no nodes named", "cluster", "--jobid JOB, --nodelist LIST, or inside an allocation");
}

/// Lets srun ask for nodes, where it would start what it is told in the allocation in which this
/// runs: a batch job that looks at the nodes of another one.
void leave_allocation() {
  for (const std::string& variable : environment_variables()) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool is_of_job = name.starts_with("SLURM_") || name.starts_with("SLURMD_");
    if (is_of_job && name != "SLURM_CONF") unsetenv(name.c_str());
  }
}

std::string own_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "ncclog" : program.string();
}

/// What a node runs; `output` is the file of its part, `more` stands before the paths.
std::vector<std::string> scan_arguments(const ClusterOptions& options, const std::string& output,
                                        std::vector<std::string> more) {
  std::vector<std::string> arguments = {options.program.empty() ? own_program() : options.program,
                                        "scan", "--output", output};
  for (const std::string& rules : options.analyze.rules) {
    arguments.insert(arguments.end(), {"--rules", rules});
  }
  if (options.analyze.input.threads > 0) {
    arguments.insert(arguments.end(), {"--threads", std::to_string(options.analyze.input.threads)});
  }
  std::ranges::move(more, std::back_inserter(arguments));
  arguments.emplace_back("--");
  // A remote shell begins in the home folder, wherever this one stands.
  for (const std::string& path : options.analyze.input.paths) {
    arguments.push_back(options.print ? fs::absolute(path).lexically_normal().string() : path);
  }
  return arguments;
}

std::vector<std::string> srun_arguments(const ClusterOptions& options, const Nodes& nodes,
                                        const std::string& host) {
  std::vector<std::string> arguments = {"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + host};
  if (!nodes.job.empty()) {
    arguments.insert(arguments.end(), {"--jobid=" + nodes.job, "--overlap"});
  }
  std::ranges::copy(options.srun, std::back_inserter(arguments));
  return arguments;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// --print: the lines that a user may run instead.

std::string printed_scans(const ClusterOptions& options, const Nodes& nodes,
                          const std::string& parts) {
  const std::string folder = fs::absolute(parts).lexically_normal().string();
  std::string lines = shell_text(std::vector<std::string>{"mkdir", "-m", "700", folder}) + "\n";
  size_t number = 0;
  for (const std::string& host : nodes.hosts) {
    std::vector<std::string> more;
    ++number;
    if (options.shared) more = {"--share", fmt::format("{}/{}", number, nodes.hosts.size())};
    const auto scan = scan_arguments(options, folder + "/" + host + ".part", std::move(more));
    switch (*options.print) {
      case Launcher::Srun:
        lines += shell_text(joined(srun_arguments(options, nodes, host), scan)) + " &\n";
        break;
      case Launcher::Mpirun:
        lines += shell_text(joined({"mpirun", "-np", "1", "--host", host}, scan)) + " &\n";
        break;
      case Launcher::Ssh:
        // The remote shell reads the line once more.
        lines += shell_text(std::vector<std::string>{"ssh", host, shell_text(scan)}) + " &\n";
        break;
    }
  }
  std::string expected;
  for (const std::string& host : nodes.hosts) expected += (expected.empty() ? "" : ",") + host;
  return lines + "wait\n" +
         shell_text(
             std::vector<std::string>{"ncclog", "analyze", folder, "--expect-hosts", expected}) +
         "\n";
}

/// A line of its own on a terminal, which the next one overwrites.
class RoundLine {
 public:
  explicit RoundLine(bool draws) : draws_(draws) {}
  ~RoundLine() {
    if (!last_.empty()) write("\r\x1b[K");
  }
  RoundLine(const RoundLine&) = delete;
  RoundLine& operator=(const RoundLine&) = delete;

  void show(const TaskProgress& progress) {
    if (!draws_) return;
    const std::string line = fmt::format(
        "ncclog: {} of {} nodes scanned, {} at work, {} failed, {} late, {:.0f} s", progress.done,
        progress.all, progress.running, progress.failed, progress.late, progress.seconds);
    if (line == last_) return;
    last_ = line;
    write("\r\x1b[K" + line);
  }

 private:
  static void write(std::string_view text) { write_all(STDERR_FILENO, text, "standard error"); }

  bool draws_;
  std::string last_;
};

/// One round: which nodes gave a part of that ending.
std::vector<std::string> run_round(const ClusterOptions& options, const Nodes& nodes,
                                   const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& more, std::string_view ending,
                                   const fs::path& folder, Console& console) {
  std::vector<HostTask> tasks;
  std::vector<std::string> files;
  for (const std::string& host : hosts) {
    files.push_back(folder / fmt::format("{}{}.part", host, ending));
    std::vector<std::string> further = more;
    if (options.shared && more.empty()) {
      further = {"--share", fmt::format("{}/{}", tasks.size() + 1, hosts.size())};
    }
    tasks.push_back({host,
                     joined(srun_arguments(options, nodes, host),
                            scan_arguments(options, files.back(), std::move(further))),
                     folder / fmt::format("{}{}.out", host, ending)});
  }
  std::vector<TaskEnd> ends;
  {
    RoundLine line(console.draws_progress && !console.quiet);
    ends = run_tasks(tasks,
                     {.together = static_cast<size_t>(options.together),
                      .seconds = static_cast<double>(options.time_limit)},
                     [&](const TaskProgress& progress) { line.show(progress); });
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::error_code ignored;
    // A part is renamed when it is whole: it is there, or it is not.
    if (fs::exists(files[i], ignored)) {
      parts.push_back(files[i]);
      continue;
    }
    const std::string why = ends[i].state == TaskState::Late
                                ? fmt::format("not done after {} s", options.time_limit)
                            : ends[i].reason.empty() ? fmt::format("exit status {}", ends[i].status)
                                                     : printable(ends[i].reason);
    console.err += fmt::format("ncclog: {}: {}\n", tasks[i].host, why);
  }
  return parts;
}

/// Hosts that have what is asked for.
std::vector<std::string> hosts_of(const Requests& asked) {
  std::set<std::string> hosts;
  for (const Request& request : asked) hosts.insert(request.host);
  return {hosts.begin(), hosts.end()};
}

/// Each round may ask for what only the answers before it make worth asking.
constexpr int kMostRounds = 4;

ExitStatus cluster(const ClusterOptions& options, Console& console) {
  if (options.analyze.input.paths.empty()) {
    throw Error("no logs named", "cluster", "give the files or folders that the nodes shall read");
  }
  if (!options.slurm && !options.print) {
    throw Error("no launcher named", "cluster", "--slurm runs it; --print shows what to run");
  }
  const Nodes nodes = find_nodes(options);
  if (nodes.job.empty()) leave_allocation();
  if (options.print) {
    const std::string folder = options.parts.empty() ? "ncclog-parts" : options.parts;
    console.out += printed_scans(options, nodes, folder);
    return ExitStatus::Fine;
  }
  const std::string where = options.parts.empty() ? "." : options.parts;
  std::error_code error;
  TemporaryFolder parts_folder(fs::absolute(where, error) / "ncclog-parts-",
                               Error("no folder for parts can be made there", where,
                                     "--parts DIR names a place that all nodes see"));
  if (options.keep_parts) parts_folder.keep();
  const fs::path& folder = parts_folder.path();
  std::vector<std::string> parts = run_round(options, nodes, nodes.hosts, {}, {}, folder, console);
  const bool all_came = parts.size() == nodes.hosts.size();
  if (parts.empty()) {
    throw Error(fmt::format("none of {} nodes gave a part", nodes.hosts.size()), "cluster");
  }
  AnalyzeOptions merging = options.analyze;
  merging.input.expected_hosts = nodes.hosts;
  const AnalyzedLogs* logs = nullptr;
  for (int round = 1;; ++round) {
    merging.input.paths = parts;
    logs = &console.keep([&] { return run_pipeline(merging, console.progress); });
    const Requests& asked = *logs->read.asked;
    if (asked.empty() || round == kMostRounds) break;
    const std::string requests = folder / fmt::format("requests-{}", round);
    write_requests(asked, options.analyze, requests);
    const std::vector<std::string> answers =
        run_round(options, nodes, hosts_of(asked), {"--answer", requests},
                  fmt::format(".answers-{}", round), folder, console);
    if (answers.empty()) break;
    parts.insert(parts.end(), answers.begin(), answers.end());
  }
  const ExitStatus status = write_analysis(*logs, merging, console);
  if (options.keep_parts)
    console.err += fmt::format("parts are in {}\n", printable(folder.native()));
  return status == ExitStatus::Fine && !all_came ? ExitStatus::Partial : status;
}

}  // namespace

void declare_cluster(CommandRow& command) {
  ClusterOptions& options = options_of(command, cluster);
  constexpr const char* kNodes = "Nodes";
  add_analyze_flags(command, options.analyze);
  add_flag(command, kNodes, "--slurm", options.slurm, "start the scans by srun");
  add_flag(command, kNodes, "--jobid JOB", options.jobid,
           "the nodes of this job of Slurm, running or ended");
  add_flag(command, kNodes, "--nodelist LIST", options.nodelist,
           "these nodes, as Slurm writes them: n[01-16]");
  add_flag(command, kNodes, "--srun ARG", options.srun,
           "a further argument of srun, such as --account=x; may be repeated");
  add_flag(command, kNodes, "--shared", options.shared,
           "all nodes see the same files: each reads a share of them");
  add_flag(command, kNodes, "--parts DIR", options.parts,
           "where a folder for parts is made that all nodes see (default: here)");
  add_flag(command, kNodes, "--keep-parts", options.keep_parts, "leave that folder when done");
  add_flag(command, kNodes, "--program FILE", options.program,
           "ncclog as the nodes find it (default: this one)");
  add_number(command, kNodes, "--time-limit SECONDS", {1, 86400}, options.time_limit,
             "nodes that are not done by then are late, and unknown");
  add_number(command, kNodes, "--together N", {1, 1024}, options.together,
             "how many nodes scan at the same time");
  add_choice(command, kNodes, "--print", options.print,
             std::vector<Choice<Launcher>>{
                 {"srun", Launcher::Srun}, {"mpirun", Launcher::Mpirun}, {"ssh", Launcher::Ssh}},
             "print the command lines for this launcher, and run nothing");
}

}  // namespace ncclog
