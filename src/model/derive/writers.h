// Who wrote a log file whose lines do not say it?
//
//   nccl-log.gpu-node-01.14623.txt      NCCL_DEBUG_FILE=nccl-log.%h.%p.txt: host and pid
//   run/attempt_1/3/stderr.log          torchrun: the second attempt, local rank 3
//
// A name alone proves nothing: "backup.7.log" has a number too. What the parts of a name mean is
// learnt from files whose lines name their process, and applied to files of the same pattern whose
// lines do not.
//
// Lines that name nobody are those of the process that wrote the file, where its name and its
// neighbours make that certain:
//
//   nccl.node01.77.log   node01:77:80 [0] NCCL INFO …   its lines name node01:77, and so does its
//                        a banner, a table              name: the banner is node01:77's, too
//   nccl.node02.91.log   NCCL INFO … without host       the same pattern: node02:91
//   attempt_0/3/stderr.log   beside stdout.log in which one process speaks: that one
//   rank3.log                beside rank0.log, rank1.log, in which ranks 0 and 1 speak: rank 3,
//                            also where the file is empty

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/job.h"

namespace ncclog {

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

/// Finds out who wrote each input and whose the lines without a name are. Needs Job::logs.
/// `writers` is whom each unit's lines name.
void build_writers(Job& job, const std::map<uint64_t, FileWriter>& writers);

}  // namespace ncclog
