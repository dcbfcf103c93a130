#include "diagnose/facts/coverage.h"

#include <fmt/format.h>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/facts/missing_hosts.h"
#include "model/derive/steps.h"
#include "model/ledger/call_ledger.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

/// The logs leave it open; `matters` to whoever reads them, whether a rule asks or not.
FactValue open(std::string why, bool matters = false) {
  FactValue value = matters ? no() : unknown();
  value.why = std::move(why);
  return value;
}

bool has_nccl(const Job& job) { return std::ranges::any_of(job.processes, &Process::has_nccl); }

/// Somebody waits in a collective: this is when calls matter.
bool reports_hang(const Job& job) {
  return any_said<WatchdogTimeout, WorkStatus, HeartbeatTimeout>(job);
}

/// "2.13.4" did not honour the variable.
bool ignores_debug_file(const Job& job) {
  return std::ranges::any_of(
      job.nccl_versions, [](const std::string& version) { return version.starts_with("2.13.4"); });
}

FactValue ask_nccl(const Job& job, const Instance&) {
  if (has_nccl(job)) return yes({});
  if (job.losses.count(Loss::LineInDoubt) + job.losses.count(Loss::LineTorn) > 0) {
    return open("Processes wrote into each other's lines; which of them NCCL printed is not sure.");
  }
  return open(job.ras_reports.empty()
                  ? "No line of the log was printed by NCCL itself."
                  : "NCCL's RAS answers; of what NCCL logs itself no line is here.",
              job.losses.recognised > 0 || !job.port_counters.empty());
}

FactValue ask_init(const Job& job, const Instance&) {
  if (has_spoken(job, Subsystem::Init) && !job.communicators.empty()) return yes({});
  return open("No line tells how a communicator was initialised.");
}

FactValue ask_network(const Job& job, const Instance&) {
  if (!job.network.name.empty()) return yes({});
  return open("No line says which network NCCL uses.");
}

FactValue ask_environment(const Job& job, const Instance&) {
  if (!job.environment.empty() || has_spoken(job, Subsystem::Env)) return yes({});
  return open("No line names a setting that NCCL has read.");
}

FactValue ask_channels(const Job& job, const Instance&) {
  const bool connected = std::ranges::any_of(
      job.logs, [](const SpeakerLog& log) { return !log.connections.all.empty(); });
  return connected ? yes({}) : open("No line tells how ranks are connected.");
}

/// Ranks of whom a dump of the Flight Recorder shows calls.
std::set<int> ranks_with_dumps(const Job& job) {
  std::set<int> ranks;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.rank >= 0 && !dump.entries.empty()) ranks.insert(dump.rank);
  }
  return ranks;
}

/// Ranks up to the job's size that are not in `known`.
std::vector<int> ranks_besides(const Job& job, const std::set<int>& known) {
  std::vector<int> ranks;
  for (int rank = 0; rank < job.nranks.value_or(0); ++rank) {
    if (!known.contains(rank)) ranks.push_back(rank);
  }
  return ranks;
}

/// A desync report lists where every rank of its group stands.
bool is_told_by_desync(const Job& job) {
  return std::ranges::any_of(call_ledger(job, CallSource::Desync), [](const CallAccount& account) {
    return account.unseen == 0 && !account.ranks.empty();
  });
}

/// Ranks whose watchdogs say in which collective they stand; none that waits in a message, of which
/// the peer is not told.
std::set<int> ranks_with_works(const Job& job) {
  std::set<int> ranks;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (!work.in_unnamed_group) ranks.insert(work.rank);
  }
  for (const WorkProgress& progress : work_progress(job)) ranks.insert(progress.rank);
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (is_point_to_point(work.op)) ranks.erase(work.rank);
  }
  ranks.erase(-1);
  return ranks;
}

/// What watchdogs tell where neither lines of calls nor dumps do.
FactValue told_by_watchdogs(const Job& job) {
  const std::set<int> told = ranks_with_works(job);
  // Ranks of several runs have the same numbers.
  if (told.empty() || job.runs > 1) {
    return open("The log does not show which collectives the ranks entered.", reports_hang(job));
  }
  if (job.nranks && ranks_besides(job, told).empty()) return yes({});
  const size_t known = static_cast<size_t>(known_ranks(job, told));
  return open(
      fmt::format("Watchdogs tell it of {}; {}.", ranks_phrase({told.begin(), told.end()}),
                  job.nranks || known > told.size() ? "of the others no line does"
                                                    : "whether there are others, no line says"),
      reports_hang(job));
}

FactValue ask_collectives(const Job& job, const Instance&) {
  if (has_spoken(job, Subsystem::Coll) || is_told_by_desync(job)) return yes({});
  const std::set<int> dumped = ranks_with_dumps(job);
  if (dumped.empty()) return told_by_watchdogs(job);
  const std::vector<int> missing = ranks_besides(job, dumped);
  if (missing.empty()) return yes({});
  return open(fmt::format("Neither lines nor dumps show which collectives {} entered.",
                          ranks_phrase(missing)),
              reports_hang(job));
}

/// Ranks that a process of the log stands for: its own, and those that nccl-tests lists for it,
/// since one process may drive several. A label may be a rank or a node; whose it is, is not silent.
std::set<int> ranks_with_lines(const Job& job) {
  std::set<int> ranks;
  std::set<std::pair<std::string_view, int64_t>> processes;
  for (const Process& process : job.processes) {
    ranks.insert(process.rank);
    processes.emplace(process.host, process.pid);
  }
  for (const SpeakerLog& log : job.logs) ranks.insert(log.speaker.rank);
  for_each_said<NcclTestsRank>(job, [&](const auto& said) {
    if (processes.contains({said.message.host, said.message.pid})) ranks.insert(said.message.rank);
  });
  return ranks;
}

/// Ranks of the largest communicator, or up to the job's size, that no line or dump speaks for.
std::vector<int> unseen_ranks(const Job& job) {
  std::vector<int> unseen;
  if (!job.communicators.empty()) {
    for (const CommRank& rank : job.communicators.front().ranks) {
      const bool is_seen = rank.process >= 0 || process_of_rank(job, rank.rank) >= 0;
      if (!is_seen && rank.rank >= 0) unseen.push_back(rank.rank);
    }
    return unseen;
  }
  std::set<int> seen = ranks_with_lines(job);
  // A dump without calls speaks for its rank, too.
  for (const FlightRecorderDump& dump : job.flight_recorders) seen.insert(dump.rank);
  return ranks_besides(job, seen);
}

FactValue ask_all_ranks(const Job& job, const Instance&) {
  if (!job.nranks) return open("The log does not tell how many ranks there are.");
  const std::vector<int> unseen = unseen_ranks(job);
  const auto speakers = std::ranges::count_if(
      job.processes, [](const Process& process) { return process.has_nccl && process.pid >= 0; });
  if (unseen.empty() || speakers == *job.nranks) return yes({});
  // Whose file is there and empty was there, and is silent.
  std::vector<std::string> empty;
  for (const int rank : unseen) {
    const JobInput* file = file_of_rank(job, rank);
    if (file != nullptr) empty.push_back(fmt::format("rank {} ({})", rank, printable(file->path)));
  }
  if (empty.size() == unseen.size()) {
    return open(fmt::format("The own file of {} is there and says nothing.",
                            few_of(empty, kMostNamed, ", ")),
                true);
  }
  if (unseen.size() == static_cast<size_t>(*job.nranks)) {
    return open("No line names the rank that printed it.");
  }
  // Their lines may be here all the same.
  const auto nameless = std::ranges::count_if(job.processes, [](const Process& process) {
    return process.has_nccl && process.pid >= 0 && process.rank < 0;
  });
  if (nameless > 0) {
    return open(
        fmt::format("No line is known to be of {} of {}; of {} here no line tells the rank.",
                    ranks_phrase(unseen), *job.nranks, plural(nameless, "process")),
        true);
  }
  return open(fmt::format("No line speaks for {} of {}; being silent proves nothing.",
                          ranks_phrase(unseen), *job.nranks),
              true);
}

FactValue ask_expected_hosts(const Job& job, const Instance&) {
  const std::vector<std::string> missing = missing_hosts(job);
  if (missing.empty()) return yes({});
  constexpr size_t kMostNamed = 8;
  const size_t named = std::min(missing.size(), kMostNamed);
  std::string names = join(std::span(missing).first(named), ", ");
  if (named < missing.size()) names += fmt::format(" and {} more", missing.size() - named);
  return open(fmt::format("No line comes from {} of {} hosts: {}. What happened there is unknown.",
                          missing.size(), job.expected_hosts.size(), names),
              true);
}

FactValue ask_framework(const Job& job, const Instance&) {
  const bool speaks = std::ranges::any_of(all_kinds(), [&](const Kind& kind) {
    return kind.source == Source::Framework && !records_of_kind(job, kind.index).records.empty();
  });
  return speaks ? yes({}) : open("No line of the framework or the launcher is in the log.");
}

FactValue ask_versions(const Job& job, const Instance&) {
  return job.nccl_versions.empty() ? open("No line says which NCCL runs.") : yes({});
}

FactValue ask_whole_files(const Job& job, const Instance&) {
  std::vector<std::string_view> lost;
  for (const JobInput& input : job.inputs) {
    const bool cut = input.status == InputStatus::Cut;
    if (cut || input.status == InputStatus::Unreadable) lost.push_back(input.path);
  }
  if (lost.empty()) return yes({});
  if (lost.size() == 1) {
    return open(fmt::format("1 of {} inputs is cut short or cannot be read: {}.", job.inputs.size(),
                            printable(lost.front())),
                true);
  }
  return open(fmt::format("{} of {} inputs are cut short or cannot be read.", lost.size(),
                          job.inputs.size()),
              true);
}

/// Ray prints one of several lines that are alike but for their numbers.
FactValue ask_left_out_lines(const Job& job, const Instance&) {
  const uint64_t lines = job.losses.count(Loss::LineLeftOut);
  if (lines == 0) return yes({});
  return open(fmt::format("Ray left out {} like one that it printed; their ranks, hosts and "
                          "values are unknown.",
                          plural(lines, "line")),
              true);
}

// How the next log answers a question. What several of them ask for together: capture_advice.

std::string one_file_per_process(const Job& job) {
  return ignores_debug_file(job)
             ? "NCCL 2.13.4 ignores NCCL_DEBUG_FILE: redirect each rank's stdout to its own file"
             : "NCCL_DEBUG_FILE=nccl.%h.%p.log gives each process its own file";
}

constexpr std::string_view kAllFiles =
    "Collect the files of all ranks from all hosts, also of those that seem fine";
constexpr std::string_view kSetupSubsystems = "INIT,ENV,NET";
constexpr std::string_view kCallSubsystems = "INIT,ENV,NET,COLL";

std::string with_subsystems(const Job& job, std::string_view subsystems) {
  return fmt::format("Set NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS={} on all ranks; {}.", subsystems,
                     one_file_per_process(job));
}

/// Every line that is known is of a command whose output people keep beside logs, or of stacks.
bool is_evidence_alone(const Job& job) {
  constexpr std::string_view kStacks[] = {"python_stack", "py_spy_", "gdb_", "cuda_gdb_",
                                          "stack_of_rank"};
  bool is_some = !job.port_counters.empty();
  for (const SpeakerLog& log : job.logs) {
    is_some |= static_cast<bool>(log.stack_lines);
    for (const auto& entry : log.records) {
      const Kind& kind = all_kinds()[entry.first];
      const bool is_evidence =
          kind.library == Library::Pasted || starts_with_one_of(kind.name, kStacks);
      if (!is_evidence) return false;
      is_some = true;
    }
  }
  return is_some;
}

/// What helps beside such evidence, a sentence; empty: the logs are more than that.
std::string capture_beside(const Job& job) {
  if (!is_evidence_alone(job)) return {};
  const auto has_stacks = [](const SpeakerLog& log) { return static_cast<bool>(log.stack_lines); };
  const auto says = [&](std::string_view fact) { return is_yes(find_fact(fact)->ask(job, {})); };
  if (says("job.analysis_lacking") || says("job.analysis_mismatch")) {
    return "The dumps themselves, of all ranks and with their times, and what the program printed.";
  }
  if (says("job.rank_stacks")) return {};  // They are there of main threads.
  if (std::ranges::any_of(job.logs, has_stacks)) {
    return "The stacks of all threads of every rank, twice, some seconds apart: py-spy dump "
           "--native --pid PID, or gdb -p PID -batch -ex 'thread apply all bt'.";
  }
  if (!job.port_counters.empty()) {
    return "The same reading again some minutes later, with its time and its host; and what the "
           "program printed.";
  }
  return "What the program printed at that time, on which host this was, and what ncclog doctor "
         "says there.";
}

std::string capture_usual_lines(const Job& job) {
  if (std::string beside = capture_beside(job); !beside.empty()) return beside;
  return "Set NCCL_DEBUG=INFO on all ranks; " + one_file_per_process(job) + ".";
}

std::string capture_setup(const Job& job) { return with_subsystems(job, kSetupSubsystems); }

std::string capture_calls(const Job& job) {
  return with_subsystems(job, kCallSubsystems) +
         " With PyTorch also TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1 "
         "(TORCH_NCCL_TRACE_BUFFER_SIZE before the TORCH_FR_ names).";
}

std::string capture_all_ranks(const Job& job) {
  return fmt::format("{}; {}.", kAllFiles, one_file_per_process(job));
}

std::string capture_stderr(const Job&) {
  return "Keep each rank's stderr: torchrun --log-dir DIR --redirects 3, or mpirun "
         "--output-filename DIR.";
}

/// A file that exists and may not be read lacks no copy.
bool is_forbidden(const JobInput& input) {
  return input.status == InputStatus::Unreadable &&
         input.note.find("Permission denied") != input.note.npos;
}

std::string capture_whole_files(const Job& job) {
  const auto forbidden = std::ranges::find_if(job.inputs, is_forbidden);
  if (forbidden != job.inputs.end()) {
    return fmt::format("Let the files be read: chmod a+r {} as their owner, or run ncclog by sudo.",
                       printable(forbidden->path));
  }
  return "Copy the files again once the job has ended, and compare their sizes.";
}

std::string capture_lines_of_ray(const Job&) {
  return "RAY_DEDUP_LOGS=0 makes Ray print every line; the workers' own files lie under "
         "/tmp/ray/session_latest/logs";
}

constexpr Fact kQuestions[] = {
    job_fact("nccl", ask_nccl, "What does NCCL itself say?", capture_usual_lines),
    job_fact("all_ranks", ask_all_ranks, "What did the ranks do that have no lines here?",
             capture_all_ranks),
    job_fact("expected_hosts", ask_expected_hosts, "What happened on the hosts without lines?",
             capture_all_ranks),
    job_fact("collectives", ask_collectives, "Which collective did each rank enter last?",
             capture_calls),
    job_fact("init", ask_init, "How far did the initialisation of each rank come?", capture_setup),
    job_fact("network", ask_network, "Which network does NCCL use?", capture_setup),
    job_fact("environment", ask_environment, "Which settings did NCCL read?", capture_setup),
    job_fact("channels", ask_channels, "Over which paths are ranks connected?", capture_setup),
    job_fact("versions", ask_versions, "Which NCCL runs?", capture_usual_lines),
    job_fact("framework", ask_framework, "What did the framework report?", capture_stderr),
    job_fact("whole_files", ask_whole_files, "What stands in the missing part of the files?",
             capture_whole_files),
    job_fact("left_out_lines", ask_left_out_lines, "What did the lines say that Ray left out?",
             capture_lines_of_ray),
};

void add_nccl_settings(const Job& job, std::string_view subsystems, CaptureAdvice& advice) {
  advice.settings.push_back({"NCCL_DEBUG", "INFO"});
  if (!subsystems.empty()) {
    advice.settings.push_back({"NCCL_DEBUG_SUBSYS", std::string(subsystems)});
  }
  if (ignores_debug_file(job)) {
    advice.steps.push_back(
        "NCCL 2.13.4 ignores NCCL_DEBUG_FILE: redirect each rank's stdout to a file of its own.");
  } else {
    advice.settings.push_back({"NCCL_DEBUG_FILE", "nccl.%h.%p.log"});
  }
}

/// The older name is read by all releases of PyTorch from 2.2 on. Where there are dumps, they were
/// set.
void add_recorder_settings(const Job& job, CaptureAdvice& advice) {
  if (!job.flight_recorders.empty()) {
    advice.steps.push_back(
        "Collect the Flight Recorder's dumps of all ranks (TORCH_NCCL_DEBUG_INFO_TEMP_FILE names "
        "the files).");
    return;
  }
  // A stack of the collective that failed is the recorder's: it was on.
  if (!any_said<FailedStackFrame>(job))
    advice.settings.push_back({"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"});
  advice.settings.push_back({"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"});
  advice.steps.push_back(
      "The TORCH_ settings are for PyTorch; collect its dumps as well "
      "(TORCH_NCCL_DEBUG_INFO_TEMP_FILE names the files).");
}

/// Calls a second of the rank that recorded most, a million at most; 0: no dump tells.
double recorded_rate(const Job& job) {
  constexpr double kMostRate = 1e6;
  double rate = 0;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (dump.entries.size() < 2) continue;
    const int64_t first = dump.entries.front().time_created_ns;
    const int64_t last = dump.entries.back().time_created_ns;
    if (first < 0 || last <= first) continue;
    const double seconds = static_cast<double>(last - first) / 1e9;
    rate = std::max(rate, static_cast<double>(dump.entries.size() - 1) / seconds);
  }
  return std::min(rate, kMostRate);
}

LogSize expected_size(const Job& job, bool calls) {
  /// Averages of NCCL's own lines: 60 to 280 of them to set up one communicator, of about 110
  /// bytes; 185 bytes for a collective.
  constexpr uint64_t kUsualStart = 30'000;
  constexpr uint64_t kBytesPerCall = 185;
  constexpr double kAssumedRate = 300;
  LogSize size;
  // What the inputs hold for each process that printed NCCL lines; 0: nothing to measure.
  const auto processes = std::ranges::count_if(job.processes, [](const Process& process) {
    return process.has_nccl && process.subsystems.test(static_cast<size_t>(Subsystem::Init)) &&
           !process.subsystems.test(static_cast<size_t>(Subsystem::Coll));
  });
  uint64_t bytes = 0;
  for (const JobInput& input : job.inputs) bytes += input.text_bytes;
  const uint64_t measured = processes == 0 ? 0 : bytes / static_cast<uint64_t>(processes);
  size.start_bytes = std::max(measured, kUsualStart);
  size.rests_on = measured > kUsualStart ? "what these logs hold for each process"
                                         : "usual logs with few communicators";
  if (!calls) return size;
  size.bytes_per_call = kBytesPerCall;
  const double measured_rate = recorded_rate(job);
  size.calls_per_second = measured_rate > 0 ? measured_rate : kAssumedRate;
  size.rests_on += measured_rate > 0 ? ", the rate of the recorded calls, 185 bytes a line"
                                     : ", an assumed rate, 185 bytes a line";
  return size;
}

/// "30 kB", "1.2 GB": two figures are more than an estimate holds.
std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1000;
    ++unit;
  }
  return bytes < 10 && unit > 0 ? fmt::format("{:.1f} {}", bytes, kUnits[unit])
                                : fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

}  // namespace

std::vector<std::string> missing_hosts(const Job& job) {
  // "n07" of "n07.cluster.example": both may name one host.
  const auto short_name = [](std::string_view host) { return host.substr(0, host.find('.')); };
  std::set<std::string_view> seen;
  for (const std::string& host : job.hosts) seen.insert(short_name(host));
  std::vector<std::string> missing = job.expected_hosts;
  std::erase_if(missing, [&](const std::string& host) { return seen.contains(short_name(host)); });
  return missing;
}

int blocks_gathered(const Job& job, bool of_default) {
  int64_t most = 0;
  for (const TimedOutWork& work : timed_out_work(job)) {
    const bool counts = !of_default || (!work.group.empty() && is_default_group(work.group));
    const auto operation = operation_of(work.op, AliasSource::Watchdog);
    const bool scatters = operation == Operation::ReduceScatter;
    const int64_t block = scatters ? work.numel_out : work.numel_in;
    const int64_t whole = scatters ? work.numel_in : work.numel_out;
    if (counts && (scatters || operation == Operation::AllGather) && block > 0 &&
        whole % block == 0)
      most = std::max(most, std::min<int64_t>(whole / block, 1 << 20));
  }
  return static_cast<int>(most);
}

int known_ranks(const Job& job, const std::set<int>& seen) {
  return std::max(
      {job.nranks.value_or(0), seen.empty() ? 0 : *seen.rbegin() + 1, blocks_gathered(job, false)});
}

int told_ranks(const Job& job) { return told_nranks(job); }

bool has_spoken(const Job& job, Subsystem subsystem) {
  return std::ranges::any_of(job.processes, [&](const Process& process) {
    return process.subsystems.test(static_cast<size_t>(subsystem));
  });
}

std::span<const Fact> coverage_facts() { return kQuestions; }

bool nccl_answers(const Fact& question) {
  const auto capture = question.how_to_capture;
  return capture == capture_usual_lines || capture == capture_calls || capture == capture_setup;
}

uint64_t LogSize::bytes_per_hour() const {
  return static_cast<uint64_t>(static_cast<double>(bytes_per_call) * calls_per_second * 3600);
}

CaptureAdvice capture_advice(const Job& job, std::span<const Fact* const> open) {
  CaptureAdvice advice;
  std::set<std::string (*)(const Job&)> captures;
  for (const Fact* question : open) {
    const auto capture = question->how_to_capture;
    captures.insert(capture);
    if (capture == capture_all_ranks) advice.steps.push_back(std::string(kAllFiles) + ".");
    if (capture == capture_stderr || capture == capture_whole_files) {
      advice.steps.push_back(capture(job));
    }
  }
  const bool calls = captures.contains(capture_calls);
  const bool setup = captures.contains(capture_setup);
  std::string beside = capture_beside(job);
  if (captures.contains(capture_usual_lines) && !beside.empty()) {
    advice.steps.insert(advice.steps.begin(), std::move(beside));
    return advice;
  }
  if (calls || setup || captures.contains(capture_usual_lines) ||
      captures.contains(capture_all_ranks)) {
    add_nccl_settings(job, calls ? kCallSubsystems : setup ? kSetupSubsystems : "", advice);
    advice.size = expected_size(job, calls);
  }
  if (calls) add_recorder_settings(job, advice);
  if (captures.contains(capture_lines_of_ray)) {
    advice.settings.push_back({"RAY_DEDUP_LOGS", "0"});
    advice.steps.emplace_back(
        "The workers' own files lie under /tmp/ray/session_latest/logs: collect them.");
  }
  return advice;
}

std::string log_size_text(const LogSize& size, std::optional<int> nranks) {
  const auto sum = [&](uint64_t bytes) {
    if (!nranks || *nranks < 2) return std::string();
    return fmt::format(" ({} for {} ranks)",
                       bytes_text(static_cast<double>(bytes) * static_cast<double>(*nranks)),
                       *nranks);
  };
  std::string out =
      fmt::format("about {} a rank{} to begin with",
                  bytes_text(static_cast<double>(size.start_bytes)), sum(size.start_bytes));
  if (size.bytes_per_call > 0) {
    out += fmt::format(", then {} an hour and rank{} at {:.0f} collectives a second",
                       bytes_text(static_cast<double>(size.bytes_per_hour())),
                       sum(size.bytes_per_hour()), size.calls_per_second);
  }
  return fmt::format("{}; it rests on {}", out, size.rests_on);
}

}  // namespace ncclog
