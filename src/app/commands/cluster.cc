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
#include <map>
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

/// A node on which to scan, and how srun comes to it.
struct Node {
  std::string host;
  std::string job;  ///< An allocation that still holds it; empty: srun has to ask for one.
};

using Nodes = std::vector<Node>;

std::vector<std::string> hosts_of(const Nodes& nodes) {
  std::vector<std::string> hosts;
  for (const Node& node : nodes) hosts.push_back(node.host);
  return hosts;
}

/// What a tool of Slurm prints; empty where it cannot be asked, or has no answer.
std::string answer_of(const std::vector<std::string>& arguments) {
  constexpr size_t kMostOutput = size_t{1} << 20;
  int status = 0;
  try {
    std::string output = output_of(arguments, kMostOutput, status);
    return status == 0 ? output : std::string();
  } catch (const Error&) {
    return {};  // It is not installed.
  }
}

void add_nodes(std::string_view list, const std::string& where, const std::string& job,
               Nodes& nodes) {
  for (std::string& host : expand_host_list(list, where)) {
    if (std::ranges::find(nodes, host, &Node::host) == nodes.end())
      nodes.push_back({std::move(host), job});
  }
}

/// "4711 RUNNING n[1-2]", a line for each part of a job and each task of an array. One that does not
/// run names the nodes on which it ran, as long as the controller remembers it.
Nodes nodes_by_squeue(const std::string& job, std::string& state) {
  Nodes nodes;
  const std::string answer =
      answer_of({"squeue", "--noheader", "--jobs=" + job, "--states=all", "--format=%A %T %N"});
  for (const std::string_view line : split(answer, '\n')) {
    const auto words = split_blanks(line);
    if (words.size() < 2) continue;
    state = words[1];
    const std::string allocation = state == "RUNNING" ? std::string(words[0]) : "";
    if (words.size() > 2) add_nodes(words[2], "squeue", allocation, nodes);
  }
  return nodes;
}

/// "   NodeList=n[1-2]"
Nodes nodes_by_scontrol(const std::string& job) {
  Nodes nodes;
  const std::string answer = answer_of({"scontrol", "show", "job", job});
  for (const std::string_view line : split(answer, '\n')) {
    constexpr std::string_view kKey = "NodeList=";
    const std::string_view text = trim(line);
    if (!text.starts_with(kKey)) continue;
    const std::string_view list = text.substr(kKey.size());
    if (!list.empty() && list != "(null)") add_nodes(list, "scontrol", {}, nodes);
  }
  return nodes;
}

Nodes nodes_by_sacct(const std::string& job) {
  Nodes nodes;
  const std::string answer = answer_of({"sacct", "--noheader", "--allocations", "--parsable2",
                                        "--jobs=" + job, "--format=NodeList"});
  for (const std::string_view line : split(answer, '\n')) {
    const std::string_view list = trim(line);
    if (!list.empty() && list != "None assigned") add_nodes(list, "sacct", {}, nodes);
  }
  return nodes;
}

/// Of a job that runs by squeue; of one that ended by whoever still remembers it.
Nodes nodes_of_job(const std::string& job) {
  if (job.empty() || !std::ranges::all_of(job, is_digit)) {
    throw Error(fmt::format("not the number of a job: '{}'", printable(job)), "--jobid");
  }
  std::string state;
  Nodes nodes = nodes_by_squeue(job, state);
  if (nodes.empty()) nodes = nodes_by_scontrol(job);
  if (nodes.empty()) nodes = nodes_by_sacct(job);
  if (nodes.empty()) {
    const bool is_known = !state.empty();
    throw Error(is_known ? fmt::format("it has no nodes; Slurm calls it {}", printable(state))
                         : "Slurm does not tell on which nodes it ran",
                "job " + job, "name them: --nodelist");
  }
  return nodes;
}

/// Those of the allocation in which this runs, if any.
Nodes own_nodes() {
  Nodes nodes;
  const std::string list = environment_variable("SLURM_JOB_NODELIST");
  if (!list.empty())
    add_nodes(list, "SLURM_JOB_NODELIST", environment_variable("SLURM_JOB_ID"), nodes);
  return nodes;
}

Nodes find_nodes(const ClusterOptions& options) {
  Nodes own = own_nodes();
  if (!options.nodelist.empty()) {
    Nodes named;
    add_nodes(options.nodelist, "--nodelist", options.jobid, named);
    const bool are_own = std::ranges::all_of(named, [&](const Node& node) {
      return std::ranges::find(own, node.host, &Node::host) != own.end();
    });
    if (options.jobid.empty() && are_own) {
      for (Node& node : named) node.job = own.front().job;
    }
    return named;
  }
  if (!options.jobid.empty()) return nodes_of_job(options.jobid);
  if (!own.empty()) return own;
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

std::string program_of(const ClusterOptions& options) {
  return options.program.empty() ? own_program() : options.program;
}

/// A remote shell begins in the home folder, wherever this one stands.
std::string whole_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

void add_rules(const ClusterOptions& options, std::vector<std::string>& arguments) {
  for (const std::string& rules : options.analyze.rules) {
    arguments.insert(arguments.end(), {"--rules", options.print ? whole_path(rules) : rules});
  }
}

/// What a node runs; `output` is the file of its part, `more` stands before the paths.
std::vector<std::string> scan_arguments(const ClusterOptions& options, const std::string& output,
                                        std::vector<std::string> more) {
  std::vector<std::string> arguments = {program_of(options), "scan", "--output", output};
  add_rules(options, arguments);
  if (options.analyze.input.threads > 0) {
    arguments.insert(arguments.end(), {"--threads", std::to_string(options.analyze.input.threads)});
  }
  std::ranges::move(more, std::back_inserter(arguments));
  arguments.emplace_back("--");
  for (const std::string& path : options.analyze.input.paths) {
    arguments.push_back(options.print ? whole_path(path) : path);
  }
  return arguments;
}

std::vector<std::string> srun_arguments(const ClusterOptions& options, const Node& node) {
  std::vector<std::string> arguments = {"srun", "--nodes=1", "--ntasks=1",
                                        "--nodelist=" + node.host};
  if (!node.job.empty()) arguments.insert(arguments.end(), {"--jobid=" + node.job, "--overlap"});
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
  const std::string folder = whole_path(parts);
  std::string lines = shell_text(std::vector<std::string>{"mkdir", "-m", "700", folder}) + "\n";
  size_t number = 0;
  for (const Node& node : nodes) {
    std::vector<std::string> more;
    ++number;
    if (options.shared) more = {"--share", fmt::format("{}/{}", number, nodes.size())};
    const auto scan = scan_arguments(options, folder + "/" + node.host + ".part", std::move(more));
    switch (*options.print) {
      case Launcher::Srun:
        lines += shell_text(joined(srun_arguments(options, node), scan)) + " &\n";
        break;
      case Launcher::Mpirun:
        lines += shell_text(joined({"mpirun", "-np", "1", "--host", node.host}, scan)) + " &\n";
        break;
      case Launcher::Ssh:
        // The remote shell reads the line once more; ssh itself would stop where it reads.
        lines +=
            shell_text(std::vector<std::string>{"ssh", "-n", node.host, shell_text(scan)}) + " &\n";
        break;
    }
  }
  std::vector<std::string> merge = {program_of(options), "analyze"};
  add_rules(options, merge);
  merge = joined(merge, {folder, "--expect-hosts", folded_hosts(hosts_of(nodes))});
  return lines + "wait\n" + shell_text(merge) + "\n";
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

/// A round of scans.
struct Round {
  std::vector<std::string> parts;  ///< Of the nodes that gave one.
  std::string failures;            ///< "n[1-3]: no such file or folder", a line for each reason.
};

/// One round; parts have that ending.
Round run_round(const ClusterOptions& options, const Nodes& nodes,
                const std::vector<std::string>& more, std::string_view ending,
                const fs::path& folder, Console& console) {
  std::vector<HostTask> tasks;
  std::vector<std::string> files;
  for (const Node& node : nodes) {
    files.push_back(folder / fmt::format("{}{}.part", node.host, ending));
    std::vector<std::string> further = more;
    if (options.shared && more.empty()) {
      further = {"--share", fmt::format("{}/{}", tasks.size() + 1, nodes.size())};
    }
    tasks.push_back({node.host,
                     joined(srun_arguments(options, node),
                            scan_arguments(options, files.back(), std::move(further))),
                     folder / fmt::format("{}{}.out", node.host, ending)});
  }
  std::vector<TaskEnd> ends;
  {
    RoundLine line(console.draws_progress && !console.quiet);
    ends = run_tasks(tasks,
                     {.together = static_cast<size_t>(options.together),
                      .seconds = static_cast<double>(options.time_limit)},
                     [&](const TaskProgress& progress) { line.show(progress); });
  }
  Round round;
  // By reason, with the host's own name left open in it: who failed so.
  std::map<std::string, std::vector<std::string>> failed;
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::error_code ignored;
    // A part is renamed when it is whole: it is there, or it is not.
    if (fs::exists(files[i], ignored)) {
      round.parts.push_back(files[i]);
      continue;
    }
    std::string why = printable(ends[i].reason);
    if (ends[i].state == TaskState::Late) {
      why =
          fmt::format("not done after {} s{}{}", options.time_limit, why.empty() ? "" : ": ", why);
    }
    if (why.empty()) why = fmt::format("exit status {}", ends[i].status);
    failed[with_open_host(why, tasks[i].host)].push_back(tasks[i].host);
  }
  for (const auto& [why, hosts] : failed) {
    round.failures += fmt::format("{}: {}\n", folded_hosts(hosts),
                                  hosts.size() == 1 ? with_host(why, hosts.front()) : why);
  }
  return round;
}

/// Those that have what is asked for.
Nodes nodes_asked(const Requests& asked, const Nodes& nodes) {
  std::set<std::string> hosts;
  for (const Request& request : asked) hosts.insert(request.host);
  Nodes chosen = nodes;
  std::erase_if(chosen, [&](const Node& node) { return !hosts.contains(node.host); });
  return chosen;
}

/// Each round may ask for what only the answers before it make worth asking.
constexpr int kMostRounds = 4;

void tell(const std::string& failures, Console& console) {
  for (const std::string_view line : split(failures, '\n')) {
    if (!line.empty()) console.err += fmt::format("ncclog: {}\n", line);
  }
}

/// Merges what the nodes gave, and asks them on until nothing is open or they give no more; their
/// answers are added to the inputs of `merging`.
const AnalyzedLogs& merge_rounds(const ClusterOptions& options, const Nodes& nodes,
                                 const fs::path& folder, AnalyzeOptions& merging,
                                 Console& console) {
  for (int round = 1;; ++round) {
    const AnalyzedLogs& logs = console.keep([&] {
      AnalyzedLogs all = run_pipeline(merging, console.progress);
      // What is removed is no place to look at.
      if (!options.keep_parts) all.report.logs.clear();
      return all;
    });
    const Requests& asked = *logs.read.asked;
    if (asked.empty() || round == kMostRounds) return logs;
    const std::string requests = folder / fmt::format("requests-{}", round);
    write_requests(asked, options.analyze, requests);
    const Round answers = run_round(options, nodes_asked(asked, nodes), {"--answer", requests},
                                    fmt::format(".answers-{}", round), folder, console);
    tell(answers.failures, console);
    if (answers.parts.empty()) return logs;
    std::ranges::copy(answers.parts, std::back_inserter(merging.input.paths));
  }
}

ExitStatus cluster(const ClusterOptions& options, Console& console) {
  if (options.analyze.input.paths.empty()) {
    throw Error("no logs named", "cluster", "give the files or folders that the nodes shall read");
  }
  if (!options.slurm && !options.print) {
    throw Error("no launcher named", "cluster", "--slurm runs it; --print shows what to run");
  }
  const Nodes nodes = find_nodes(options);
  const bool wants_own = std::ranges::any_of(nodes, &std::string::empty, &Node::job);
  if (wants_own) leave_allocation();
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
  const fs::path folder = parts_folder.path().lexically_normal();
  Round scans = run_round(options, nodes, {}, {}, folder, console);
  if (scans.parts.empty()) {
    std::string why = scans.failures.substr(0, scans.failures.size() - 1);
    for (size_t at = 0; (at = why.find('\n', at)) != why.npos;) why.replace(at, 1, "; ");
    throw Error(fmt::format("none of {} nodes gave a part", nodes.size()), "cluster", why);
  }
  tell(scans.failures, console);
  const bool all_came = scans.parts.size() == nodes.size();
  AnalyzeOptions merging = options.analyze;
  merging.input.expected_hosts = hosts_of(nodes);
  merging.input.paths = std::move(scans.parts);
  const AnalyzedLogs& logs = merge_rounds(options, nodes, folder, merging, console);
  const ExitStatus status = write_analysis(logs, merging, console);
  if (options.keep_parts)
    console.err += fmt::format("parts are in {}\n", printable(folder.native()));
  // What is missing goes before what was found: the cause may be there.
  const bool all_used = std::ranges::none_of(logs.report.job.inputs, [&](const JobInput& input) {
    return input.status == InputStatus::Unreadable &&
           std::ranges::find(merging.input.paths, input.path) != merging.input.paths.end();
  });
  return all_came && all_used ? status : ExitStatus::Partial;
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
