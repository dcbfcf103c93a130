// From the merged shard to the job, step by step.
//
// Each step fills a part of the job and relies on the parts before it. Torn logs are put in order
// first: hosts, segments and values that only a torn line gives would make processes and
// communicators that never were.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/known_messages.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

struct Shard;
struct StretchWriter;

/// The reports that lines of ncclras answers make, oldest first; the last kMaxRasReports.
std::vector<RasReport> read_ras_text(const std::deque<KeptRecord>& lines);

/// Builds the job from everything that was read. `inputs` and `units` are as the reader numbered
/// them; `losses` is the sum of the reader's and the shard's counts. Pure: same values, same job.
Job build_job(Shard&& shard, std::vector<JobInput> inputs, std::vector<JobUnit> units,
              const LossTable& losses);

// A log held in memory, read like a file: for rule examples, quoted lines and tests.

/// The shard of a text held in memory, read as unit 0 of input 0. Lines end with '\n', "\r\n" or
/// '\r'.
Shard read_text(std::string_view text, const LineMatcher& matcher = {});

/// The job of a text held in memory, as if it were a whole file called `path`.
Job job_from_text(std::string_view text, const LineMatcher& matcher = {},
                  std::string path = "log.txt");

// Hosts that only a torn line names.
//
//   gpu-node-01:4121:4188 [3] NCCL INFO …     3812 lines
//   u-node-01:4121:4188 [3] NCCL INFO …       1 line: the beginning was lost to another writer
//
// The same pid under the end of a known host's name is that process, not another one.
//
//   a:4120:4120 [0] NCCL INFO Using network Sockgpu-node-01:4121:4188 [3] NCCL INFO …
//
// Where a record was cut off, its rest may stand before the host of the next: "Sockgpu-node-01".

/// Joins each log whose host is a proper end of another log's host with the same pid to that log;
/// also each log with torn lines whose host ends with such a host. A host named by at least as many
/// lines as the other one stays: then both are real.
///
/// Forgets names that one or two lines give and that nothing else supports: of a torn log, a second
/// host of a pid that says much more elsewhere; a task or host that says nothing recognised.
void join_torn_speakers(std::vector<SpeakerLog>& logs);

/// Sets aside what torn logs say about communicators whose id or beginning is lost: whose they are
/// cannot be told, and a guess would make new ones.
void drop_unplaced_segments(std::vector<SpeakerLog>& logs);

// Values that only a torn log gives, and that others contradict.
//
//   rank 0, 2, 3:   NCCL_NVLS_ENABLE set by environment to 0.
//   rank 1, torn:   NCCL_NVLS_ENABLE set by environment to commId 0x7ef2974ca24400c5 - Init START
//
// A record that ends with a text takes in whatever stands behind it, so in a torn log the wording
// proves the name and not the value. What only one process says, in a log that is torn, while
// others say something else, is as likely a piece of another record as an odd setting.

/// Where some log is torn, forgets values that only one process gives while others give another
/// one: settings and versions of torn logs, and the network of any.
void drop_contradicted_values(std::vector<SpeakerLog>& logs);

// What does the name of a log file say about who wrote it?
//
//   nccl-log.gpu-node-01.14623.txt      NCCL_DEBUG_FILE=nccl-log.%h.%p.txt: host and pid
//   run/attempt_1/3/stderr.log          torchrun: the second attempt, local rank 3
//
// A name alone proves nothing: "backup.7.log" has a number too. What the parts of a name mean is
// learnt from files whose lines name their process, and applied to files of the same pattern whose
// lines do not.

/// A process, as a file's name gives it.
struct FileWriter {
  std::string host;
  int64_t pid = -1;

  bool operator==(const FileWriter&) const = default;
};

/// The names of one folder's kind of files: text around a host, a pid, or both. Made from a name
/// whose writer is known. Invariant: has a pid.
struct NamePattern {
  std::string before;
  std::string between;
  std::string after;
  bool has_host = false;
  bool pid_first = false;  ///< With both: the pid stands before the host.
  std::string host_shape;  ///< Of the host it was made from, digits as '#': "gpu-node-#".

  bool operator==(const NamePattern&) const = default;
};

/// The pattern of `path`, if its last part, without ".gz" and the like, or its last two parts name
/// the writer's pid exactly once. A host that stands there twice is taken for text.
std::optional<NamePattern> learn_pattern(std::string_view path, const FileWriter& writer);

/// Who wrote `path`, if it is a name of that pattern. Another host must look like the pattern's
/// own, digits aside: "gpu-node-07" beside "gpu-node-01". Without host the host is left empty.
std::optional<FileWriter> match_pattern(const NamePattern& pattern, std::string_view path);

/// A worker's own file as torchrun (torch.distributed.elastic, --redirects, --tee) lays them out:
/// <log_dir>/<run>/attempt_<n>/<local rank>/stdout.log, stderr.log.
struct TorchrunFile {
  std::string_view folder;  ///< ".../attempt_1/3"; views the path.
  std::string_view run;     ///< The folder above "attempt_1".
  int attempt = 0;
  int local_rank = 0;
};

/// The parts of such a path; nullopt for any other.
std::optional<TorchrunFile> parse_torchrun_file(std::string_view path);

// The steps of build_job, in the order in which they run. Each fills its part of the job and relies
// on the parts before it.

/// Finds out who wrote each input and whose the lines without a name are. Needs Job::logs.
/// `writers` is whom each unit's lines name.
void build_writers(Job& job, const std::map<uint64_t, StretchWriter>& writers);

/// Joins the speakers into processes and gives them their global ranks. Needs Job::logs.
void build_processes(Job& job);

/// Finds the communicators and the state of each of their ranks. Needs the processes.
void build_communicators(Job& job);

/// Keeps runs apart. Needs the communicators.
void build_runs(Job& job);

/// Network, plugin and interfaces. Needs the processes.
void build_network(Job& job);

/// The sections in which ranks were initialised, and each communicator's graphs. Needs the
/// communicators.
void build_graphs(Job& job);

/// The hosts' devices: those in the logs are added to those of files, which get their hosts. Needs
/// the communicators with their sections, and the network.
void build_topologies(Job& job);

/// What kernels report, tied to hosts and ranks. Needs the processes and communicators.
void build_kernel_events(Job& job);

/// The runs of nccl-tests in the logs and what they measured, besides those of files. Needs the
/// processes.
void build_nccl_tests(Job& job);

/// Settings, versions, hosts, the size of the job, and who printed what. Needs the processes and
/// communicators.
void build_summary(Job& job);

/// Sorts the dumps and ties them to processes where that is certain. Needs the processes and
/// communicators.
void build_flight_recorders(Job& job);

/// All of these from build_processes on. Needs Job::logs and what was read beside them.
void build_parts(Job& job);

// What the steps share.

/// Into Job::inputs: where the line stands; -1: not known, or no line.
int64_t input_of(const Job& job, SourceRef where);

/// Calls `use(message)` for every kept message of kind T in a log, in its order.
template <typename T, typename Use>
void for_each_message(const SpeakerLog& log, Use use) {
  const Records kept = log.records.kept(kKindIndex<T>);
  for (size_t place = kept.first_place(); place < kept.end_place(); ++place) {
    use(read_message<T>(kept.all()->message(place)));
  }
}

/// The same for whoever asks many logs: a text that came lately is not taken apart again.
template <typename T>
class MessageReader {
 public:
  template <typename Use>
  void for_each(const SpeakerLog& log, Use use) {
    const Records kept = log.records.kept(kKindIndex<T>);
    for (size_t place = kept.first_place(); place < kept.end_place(); ++place) {
      const SettledRecords& all = *kept.all();
      const RecordText* const text = all.text(place);
      auto& [known, message] = known_[text->hash % known_.size()];
      // Without a head the text alone does not tell.
      const bool is_known = known == text && all.head_index(place) != 0;
      if (!is_known) message = read_message<T>(all.message(place));
      known = all.head_index(place) != 0 ? text : nullptr;
      use(std::as_const(message));
    }
  }

  /// Of all logs of a process.
  template <typename Use>
  void for_each(const Job& job, const Process& process, Use use) {
    for (const size_t log : process.logs) for_each(job.logs[log], use);
  }

 private:
  std::array<std::pair<const RecordText*, T>, 64> known_;
};

/// Calls `use(message)` for everybody's messages of kind T, by log.
template <typename T, typename Use>
void for_each_message(const Job& job, Use use) {
  MessageReader<T> read;
  for (const SpeakerLog& log : job.logs) read.for_each(log, use);
}

}  // namespace ncclog
