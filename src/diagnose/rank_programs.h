// What did each rank call last, over all its communicators and with all its peers, in order?
//
//   rank 2:  … AllReduce of the world (#4), Recv from 1 (#4), Send to 3 (#4), AllReduce (#5)
//
// The order is that of the lines of its process. Which calls were one group, and which stood on
// which stream, is not known.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/waiter.h"
#include "model/job.h"

namespace ncclog {

/// Calls that meet in their order: the collectives of a communicator, or the messages from one of
/// its ranks to another.
struct CallLine {
  int communicator = -1;  ///< Into Job::communicators.
  int sender = -1;        ///< Rank in the communicator; -1: collectives.
  int receiver = -1;      ///< Likewise.

  bool is_message() const { return sender >= 0; }
  auto operator<=>(const CallLine&) const = default;
};

/// A call in a rank's program.
struct RankCall {
  CallLine line;
  OpName op;
  bool receives = false;  ///< Of a message: it is the Recv.
  uint64_t index = 0;     ///< Among the rank's calls of that line and end, from 0.
  int kind = -1;          ///< Equal for calls of this program that are the same but for size.
};

/// The last calls of one rank.
struct RankProgram {
  Waiter waiter;
  std::vector<RankCall> calls;
};

inline constexpr size_t kProgramCalls = 2048;  ///< Of each process, at most.

/// The programs of all ranks whose calls are counted and in one order. Valid as long as the job.
const std::vector<RankProgram>& rank_programs(const Job& job);

/// The program of a rank; nullptr: it has none. Valid as long as the job.
const RankProgram* program_of(const Job& job, const Waiter& waiter);

/// RankCall::kind of each call, in order.
std::vector<int> kinds_of(const RankProgram& program);

/// How often that rank, which has a program, called in that line, at that end.
uint64_t calls_made(const Job& job, const CommRank& rank, const CallLine& line, bool receives);

}  // namespace ncclog
