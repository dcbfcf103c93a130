// Where in a line does another record begin?
//
//   node-a:41:41 [0] NCCL INFO NVLS multicast supp[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] …
//   "shape": tensor.shape(Worker_TP4 pid=4814)     self.run()
//     8388608   2097152   float   sum   -1node-a: Test CUDA failure common.cu:303 '…'
//
// Processes that write into one file leave the line end out, or cut each other off. What begins like
// no other text is a record wherever it stands: a rank's or a worker's tag, the headers of PyTorch's
// and glog's loggers, a traceback, and whatever a row of nccl-tests is followed by. What stands
// before it is a record too, the end of which may be lost. NCCL's own headers are none of these:
// where the name of a host begins only those can tell who know the hosts (TearGuard in
// model/shard/read_log.h).

#pragma once

#include <cstddef>
#include <string_view>

namespace ncclog {

/// Place in `line` where the first record begins that is not the line's own; npos: none does. What
/// launchers and collectors put before a record belongs to it. Costs a look for three bytes and
/// for two blanks where the line has none.
size_t next_record_start(std::string_view line);

/// True if a text says something by itself, as no prefix of an unknown launcher does: it is a
/// record of a framework or of NCCL, fits a wording, or reads like an error. Not for a step: what
/// a step line says is found wherever it stands.
bool is_understood(std::string_view text);

// What stands in every line that holds such a start, as literals of log/literal_set.h.

inline constexpr std::string_view kTracebackStart = "Traceback (most recent call last)";
inline constexpr std::string_view kWorkerPid = " pid=\x01";
inline constexpr std::string_view kGlogPlaces[] = {".cc:\x01",  ".cpp:\x01", ".h:\x01",
                                                   ".hpp:\x01", ".py:\x01",  ".cu:\x01"};

}  // namespace ncclog
