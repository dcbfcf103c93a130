// The job as its logs describe it: hosts, processes, communicators, network, settings.
//
//   node-a:41:41 [0] NCCL INFO ncclCommInitRank comm 0x5a rank 0 nranks 2 … - Init COMPLETE
//     → a process node-a:41, a communicator of 2 ranks, rank 0 of it complete on that process
//
// Built once from the merged shard (model/derive/build_job.h) and never changed afterwards. Parts
// refer to each other by index. Everything is sorted by name, never by the order in which lines
// came, so that interleaving the processes' lines in another way gives the same job, line numbers
// aside. Whoever reads a job needs nothing of model/shard.

#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "base/loss_table.h"
#include "model/calls.h"
#include "model/companions/host_report.h"
#include "model/companions/inspector.h"
#include "model/companions/nccl_tests.h"
#include "model/companions/pci_devices.h"
#include "model/companions/port_counters.h"
#include "model/flight_recorder.h"
#include "model/process_log.h"
#include "model/ras.h"
#include "model/timeline.h"
#include "model/topology.h"

namespace ncclog {

// What was read.

/// One file of the run, or of an archive in it.
struct JobInput {
  std::string path;  ///< As found from the user's arguments; "-" is stdin.
  /// "plain", "gzip", "bzip2", "xz", "zstd"; "tar+gzip" of an archive; "flight_recorder"
  /// of a dump, "ras" of what the RAS service answered in JSON, "inspector" of its measurements.
  std::string format;
  bool is_archive = false;  ///< It only holds the inputs after it whose paths begin with "PATH!/".
  uint64_t bytes = 0;       ///< On disk; of a file in an archive, unpacked.
  uint64_t text_bytes = 0;  ///< Unpacked, that were read as lines; not in reports.
  uint64_t lines = 0;
  InputStatus status = InputStatus::Whole;
  std::string note;  ///< One sentence about what is odd; empty if nothing is.
  /// The process that wrote it, where its name and other lines make that certain; else empty, -1.
  std::string host;
  int64_t pid = -1;
  int attempt = -1;  ///< Of torchrun to run the job, by the file's folder; -1: none named.
  int rank =
      -1;  ///< Global rank whose file it is, by its name and other ranks' files; -1: unknown.
};

/// Where a unit's lines stand in its input.
struct JobUnit {
  uint64_t number = 0;      ///< SourceRef::unit of its lines.
  uint32_t input = 0;       ///< Into Job::inputs.
  uint64_t first_line = 1;  ///< Number in the input of the unit's line 1.
};

// Who took part.

/// A process, joined from everything that speaks for it: its NCCL lines, "[rank3]" records, …
/// An entry with neither pid nor rank collects what a file says without naming anybody.
struct Process {
  std::string host;  ///< Empty: unknown.
  int64_t pid = -1;
  int rank = -1;      ///< Global rank: that in its largest communicator, else as prefixes say.
  int cuda_dev = -1;  ///< Of its largest communicator.
  std::string bus_id;
  std::vector<size_t> logs;  ///< Into Job::logs.
  std::bitset<32> subsystems;
  int nvls = -1;          ///< 1 if NVLink SHARP can be used, 0 if not; -1: not printed.
  bool has_nccl = false;  ///< Some of its lines carry an NCCL header.
  bool cut = false;       ///< Lines at its end are missing: a cut input, Ray, mark_short_logs.
  bool torn = false;      ///< Lines around it are torn or in doubt: its silence proves nothing.
  SourceRef first;
  SourceRef last;
  int64_t last_log = -1;   ///< Into Job::logs: whose last line that is; -1: there is none.
  bool restarted = false;  ///< It begins to use NCCL twice: its pid may have had two lives.
  /// Of the processes that communicators join, where all ranks of the largest one are seen: a number
  /// that these have in common; -1: not all are, or none join it with others.
  int world = -1;
};

/// No communicator joins the two, and each has all ranks of its own beside it: two jobs, or parts of
/// one that have nothing to do with each other.
inline bool are_apart(const Process& a, const Process& b) {
  return a.world >= 0 && b.world >= 0 && a.world != b.world;
}

/// Where a rank runs, as a table says: nccl-tests lists all of them, torchrun those that failed.
struct ListedRank {
  int rank = -1;
  int64_t pid = -1;
  std::string host;  ///< Up to the first dot; empty: not printed, or not known which one.

  bool operator==(const ListedRank&) const = default;
};

/// State of a rank of a communicator, as far as the lines go.
enum class RankState { NotSeen, Started, Complete, Failed, Destroyed, Aborted, Unknown };
constexpr std::string_view enum_words(RankState) {
  return "not_seen|started|complete|failed|destroyed|aborted|unknown";
}

/// One rank of a communicator.
struct CommRank {
  int rank = -1;     ///< -1: no initialisation line names it.
  int process = -1;  ///< Into Job::processes; -1: not seen.
  int cuda_dev = -1;
  std::string bus_id;
  RankState state = RankState::Unknown;
  uint64_t calls = 0;
  int log = -1;  ///< Into Job::logs, with `segment` the place of its CommSegment there.
  int segment = -1;
  int key = -1;       ///< Of a split: where the caller wanted the rank to stand.
  int nvml_dev = -1;  ///< Physical index of its GPU.
  int section = -1;   ///< Into that log's initialisation sections; -1: none.
};

struct Communicator {
  std::string id;  ///< commId as printed ("0x9c1b…"), or "inferred-1" where none is printed.
  bool inferred = false;
  int nranks = -1;
  int nnodes = -1;                 ///< As NCCL's layout line says; -1: not printed.
  std::vector<std::string> hosts;  ///< Distinct, sorted.
  int parent = -1;                 ///< Into Job::communicators; -1: none or unknown.
  int child_count = -1;            ///< Number of a child of its parent; -1: not printed.
  int color = -1;                  ///< Of a split; -1: not printed.
  int mnnvl = -1;         ///< 1 if NVLink reaches over several of its nodes; -1: not printed.
  bool is_child = false;  ///< Made by split, shrink or grow, even if the parent is unknown.
  /// By rank. Those not seen are listed too when nranks is known, up to 262144 in all of the job.
  std::vector<CommRank> ranks;
  std::optional<uint64_t> calls;  ///< Largest number of calls of one rank; nullopt: none logged.
  CommGraphs graphs;
  /// Between those of its ranks whose calls the logs cover; nullopt: their calls are alike.
  std::optional<FirstDifference> difference;
  std::vector<CallGap> gaps;  ///< By member, then place; what they explain is no difference.
};

// What it ran on, and with.

/// A network interface or HCA that some host named.
struct Interface {
  std::string host;
  std::string name;
  std::string address;  ///< Empty: none printed.
  int port = -1;        ///< HCA port; -1: not an HCA.
  std::string link;     ///< "IB", "RoCE", "Ethernet" for sockets, empty if unknown.

  auto operator<=>(const Interface&) const = default;
};

struct Network {
  std::string name;  ///< As after "Using network"; empty: unknown.
  /// Name of an external net plugin, "internal" if none loaded; empty: unknown.
  std::string plugin;
  std::vector<Interface> interfaces;  ///< Sorted, without duplicates.
};

/// A setting that NCCL reports, with the processes that report it.
struct EnvironmentSetting {
  std::string name;
  std::string value;
  std::vector<int> processes;  ///< Into Job::processes, sorted.
};

// What kernels report about the job's hosts, tied to the ranks that it concerns.
//
//   node-a.dmesg: [77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, …
//   + node-a:4242:4300 [2] NCCL INFO ncclCommInitRank comm 0x5a rank 2 … busId 1b000 …
//     → host node-a, rank 2
//
// The host is what the line's prefix names, else the one host of the job that the file's path
// names. Nothing is tied by likeness: a bus id alone fits one GPU of every host. Kernel lines of
// dmesg carry the time since boot; only those with a clock can be ordered against the job.

/// How a kernel's event concerns the job.
enum class KernelRelation {
  Process,    ///< It names the pid of a process of the job.
  Gpu,        ///< It names host and bus id of a GPU that the job uses.
  Host,       ///< It is about a host of the job; whether about a part that the job uses is unknown.
  Unknown,    ///< Nothing tells which host it is about.
  OtherGpu,   ///< It names a GPU that no rank of the job uses.
  OtherHost,  ///< It is about a host on which the job does not run.
};

struct KernelEvent {
  uint16_t kind = 0;  ///< Index of the message kind: Xid, Sxid, OomKill, …
  SourceRef where;
  std::string text;    ///< The line.
  std::string host;    ///< Empty: nothing names it.
  std::string bus_id;  ///< As printed; "GPU6": the driver's own number; empty: none.
  int code = -1;       ///< Of Xid and SXid.
  int64_t pid = -1;
  std::string name;  ///< Of the process with that pid.
  KernelRelation relation = KernelRelation::Unknown;
  int process = -1;  ///< Into Job::processes; set for Process and Gpu.
  int rank = -1;     ///< Global rank it concerns; -1: unknown.
};

// How the job ended, as the user saw it: `--outcome hung`.
//
// A log that just ends does not say whether the job stood still, was killed at work, or was copied
// while it ran. Who was there knows.

enum class StatedOutcome {
  Hung,      ///< It stood still: the end of the logs is the moment of the hang.
  Crashed,   ///< It ended by an error.
  Slow,      ///< It went on, too slowly.
  Finished,  ///< It came to its end.
};

/// As users and reports spell them.
constexpr std::string_view enum_words(StatedOutcome) { return "hung|crashed|slow|finished"; }

// What was worked out about a job, so that it is worked out once.
//
//   job.answers.of<&read_hca_lists>(job)     a dozen facts ask for the RDMA devices of a process
//
// An answer is a pure function of a job that no longer changes. For one thread.

/// Answers by the function that gives them. Copies and moved ones begin empty: what they belong to
/// may be changed.
class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) {}
  Answers& operator=(const Answers&) {
    known_.clear();
    return *this;
  }

  /// What `derive(asked)` gives, derived on first use. Valid as long as this object is.
  template <auto derive, typename Asked>
  const auto& of(const Asked& asked) const {
    using Answer = decltype(derive(asked));
    static constexpr char kKey = 0;  // Its address stands for the function.
    const auto found = known_.find(&kKey);
    if (found != known_.end()) return *static_cast<const Answer*>(found->second.get());
    auto answer = std::make_shared<Answer>(derive(asked));
    // Kept to the end, beside those of all others.
    if constexpr (requires { answer->shrink_to_fit(); }) answer->shrink_to_fit();
    const Answer& result = *answer;
    known_.emplace(&kKey, std::move(answer));
    return result;
  }

 private:
  mutable std::map<const void*, std::shared_ptr<const void>> known_;
};

// The whole.

struct Job {
  std::vector<JobInput> inputs;
  std::vector<JobUnit> units;  ///< By number.
  LossTable losses;
  std::vector<SpeakerLog> logs;  ///< Everything that was said, by speaker in sorted order.
  std::vector<Process> processes;
  std::vector<ListedRank> listed_ranks;     ///< nccl-tests' first, then by log.
  std::vector<Communicator> communicators;  ///< Largest first.
  UnknownShapes unknown;                    ///< NCCL lines that no wording fits.
  std::vector<InputClock> clocks;           ///< By number of the input; of all that hold text.
  /// How many runs show in it, counting what may be a part of another one (model/derive/split_runs.h).
  /// More than one: it is what was read, and split_runs makes the job of each.
  size_t runs = 1;
  bool is_last_run = true;  ///< False: the job of a run, and another one began after it.
  Network network;
  std::vector<HostTopology> topologies;              ///< By host, then source.
  std::vector<PciListing> pci_devices;               ///< In input order.
  std::vector<PortCounter> port_counters;            ///< In input order.
  std::vector<EnvironmentSetting> environment;       ///< By name, then value.
  std::vector<KernelEvent> kernel_events;            ///< In input order.
  std::vector<NcclTestsRun> nccl_tests;              ///< In input order.
  std::vector<FlightRecorderDump> flight_recorders;  ///< By rank, unknown ones last; then by place.
  std::vector<InspectedRank> inspected;              ///< In input order.
  /// When calls were entered, by the times in front of their lines: the last ones of communicators
  /// whose lines are stamped to fractions of a second, read again by their places. By place.
  std::vector<TimedLine> call_stamps;
  std::map<SourceRef, std::string> quoted;  ///< Lines kept by place only, if read again.
  std::vector<RasReport> ras_reports;       ///< In input order; of all, the last ones.
  std::vector<std::string> nccl_versions;   ///< Distinct, sorted: "2.28.9".
  std::vector<std::string> cuda_versions;
  std::vector<std::string> pytorch_versions;
  std::vector<std::string> hosts;  ///< Distinct, sorted.
  std::optional<int> nranks;       ///< nullopt: the log does not let one tell.
  int nhosts = 0;
  Answers answers;                       ///< What later layers ask about the job more than once.
  std::vector<HostReport> host_reports;  ///< Of its hosts, as far as they were given.
  std::optional<StatedOutcome> stated;   ///< How it ended, as the user says; nullopt: not said.
  /// Where it ran, as the user or Slurm says; empty: not said.
  std::vector<std::string> expected_hosts;
};

/// By index, as parts of the job refer to each other.
inline const Process& nth_process(const Job& job, int process) {
  return job.processes[static_cast<size_t>(process)];
}

inline const Communicator& nth_communicator(const Job& job, int communicator) {
  return job.communicators[static_cast<size_t>(communicator)];
}

/// The last line of the process, as SpeakerLog::last_text; empty if there is none.
std::string_view last_text(const Job& job, const Process& process);

/// Place of a line as people write it: path and line number in the file.
struct FileLine {
  std::string path;
  uint64_t line = 0;
};
FileLine file_line(const Job& job, SourceRef where);

/// The unit that `where` is in; nullptr if the job has none of that number.
const JobUnit* unit_of(const Job& job, SourceRef where);

/// Calls `use(record)` for every kept record of `kind` that `process` printed, in log order.
template <typename Use>
void for_each_record(const Job& job, const Process& process, uint16_t kind, Use&& use) {
  for (const size_t log : process.logs) {
    for (const Record& record : job.logs[log].records.kept(kind)) use(record);
  }
}

// The kept lines of one sort, from all processes in a row.
//
//   "NET/Plugin: No plugin found"     20,000 lines, one text
//   "Setting affinity for GPU 3 …"    20,000 lines, eight texts
//
// Thousands of ranks print the same few texts, which records share. Who asks what lines say decides
// it once for each text (RecordsOf::texts), and then looks at numbers.

/// A kept line. A large job has a million of them, so it is read again by those few who ask what
/// it says.
struct ReadRecord {
  const SettledRecords* log = nullptr;
  uint32_t place = 0;  ///< In `log`.
  uint32_t text = 0;   ///< Into RecordsOf::texts.

  int process() const { return log->process(); }  ///< Into Job::processes.
  Record record() const { return (*log)[place]; }
  SourceRef where() const { return log->where(place); }
  Level level() const { return log->level(place); }
  Message message() const { return log->message(place); }
  Header header() const { return parse_record(record()).header; }
};

/// Kept lines of one sort.
struct RecordsOf {
  std::vector<ReadRecord> records;  ///< By process, in log order within one.
  /// The first of `records` with each text, by its place there; few texts stand here twice.
  std::vector<uint32_t> texts;
  std::vector<int> full;  ///< Processes that printed more different lines than are kept; ascending.
  /// Processes that printed some of the lines more than once: of those only the first is kept.
  std::vector<int> repeated;
};

/// Lines of the kind of that index. Valid as long as the job's answers.
const RecordsOf& records_of_kind(const Job& job, uint16_t kind);

/// Lines that the pattern of that number found, in the LineMatcher with which the logs were read.
const RecordsOf& records_of_pattern(const Job& job, size_t pattern);

/// The section in which that rank was initialised; nullptr if its lines were not seen.
const InitSection* init_section(const Job& job, const CommRank& rank);

/// True if some process is torn: what the job does not say proves nothing.
bool is_torn(const Job& job);

/// Its processes took part in one run, so they may be compared with each other: neither are there
/// several, nor may a pid have had several lives.
bool is_of_one_run(const Job& job);

/// The place of the only process, or communicator, for which `fits` holds; -1 if there is none or
/// more than one.
template <typename T, typename Fits>
int find_only(const std::vector<T>& all, Fits fits) {
  const auto found = std::ranges::find_if(all, fits);
  if (found == all.end() || std::any_of(found + 1, all.end(), fits)) return -1;
  return static_cast<int>(found - all.begin());
}

/// Some communicator is smaller than another one, so a rank that NCCL prints may be one in a part of
/// the job.
bool has_sub_communicators(const Job& job);

/// The rank's own file, as far as its name tells; nullptr: none is known. Owned by the job.
const JobInput* file_of_rank(const Job& job, int rank);

/// The process of that global rank; -1 if none or several.
int process_of_rank(const Job& job, int rank);

/// The host on which tables list that pid; empty: none or several. Owned by the job.
std::string_view listed_host(const Job& job, int64_t pid);

/// The process with that pid; -1 if none or several hosts have it.
int process_of_pid(const Job& job, int64_t pid);

// Which of the segments of a log is a rank's, and which life of its pointer is it?
//
//   0x3ccb6960 init … destroy     segment 0, life 0
//   0x5ac01200 init …             segment 1, life 0
//   0x3ccb6960 init …             segment 2, life 1
//
// A log that is read a second time shows its lives in the same order. So a life is found again by
// its pointer and its number, where places of segments may have moved.

/// The segment that holds the rank's lines. `rank` has to have one: log and segment are not -1.
/// Owned by the job.
const CommSegment& segment_of(const Job& job, const CommRank& rank);

/// What that rank called; nullptr if none of its lines were seen. Owned by the job.
const CollectiveCalls* calls_of(const Job& job, const CommRank& rank);

/// How many lives of the same pointer stand before that place.
int life_of(const std::vector<CommSegment>& all, size_t place);

// Whose library printed the log: NVIDIA's NCCL or AMD's RCCL, which calls itself NCCL in its lines.

/// True if a message stands in the log that only RCCL prints, such as its banner.
bool is_rccl(const Job& job);

/// "RCCL" or "NCCL".
inline std::string_view library_name(const Job& job) { return is_rccl(job) ? "RCCL" : "NCCL"; }

/// Who printed an NCCL line that no wording fits: "aws-ofi-nccl", "nccl-rdma-sharp-plugins", "NCCL
/// inspector", "RCCL"; "" if nothing in it tells.
std::string_view printer_of(std::string_view line);

}  // namespace ncclog
