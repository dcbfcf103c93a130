// The steps from a merged shard to the job, and what they share.
//
// Each step fills a part of the job and relies on the parts before it. Torn logs are put in order
// first: hosts, segments and values that only a torn line gives would make processes and
// communicators that never were.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "log/known_messages.h"
#include "log/messages.h"
#include "model/job.h"

namespace ncclog {

/// The reports that lines of ncclras answers make, oldest first; the last kMaxRasReports.
std::vector<RasReport> read_ras_text(const std::deque<OwnedRecord>& lines);

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

// Lines that can occur once and came twice.
//
//   comm 0x5a rank 0 nranks 2 … commId 0xabc1 - Init START
//   comm 0x5a rank 0 nranks 2 … commId 0xabc1 - Init START
//
// Collectors deliver a line again that was not acknowledged, and logs are pasted twice. Lines of
// calls never count as one: where opCount stands still they are the same byte for byte.

/// Joins the lives of communicators that are one told twice.
void join_repeated_segments(std::vector<SpeakerLog>& logs);

/// Sets aside what torn logs say about communicators whose id or beginning is lost: whose they are
/// cannot be told, and a guess would make new ones. Where no log prints either, those stay whose
/// initialisation is complete.
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

/// True unless agents, as of torchrun, stand between the launcher's tasks and the ranks: else "srun:
/// error: node-b: task 3: Killed" is about rank 3.
bool tasks_are_ranks(const Job& job);

// Whatever a job is built of, it is built in this order.

/// Joins the speakers into processes and gives them their global ranks. Needs Job::logs, and who
/// wrote each input (model/derive/writers.h).
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

/// Ranks of the job, as a line says; 0: none says it, and Job::nranks is how many are named, if any.
int told_nranks(const Job& job);

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
