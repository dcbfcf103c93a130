// What the coordinator of a run and its ranks say to each other.
//
//   rank 1 → {"at":"start","rank":1,"pid":4711,"gpu":1,"nccl":"2.28.9","ids":{"0":"6e63…"}}
//   all    ← {"go":"init","ids":{"0":"6e63…","2":"01ab…"}}
//   rank 1 → {"at":"enqueue","init_seconds":1.7}
//   all    ← {"go":"enqueue"}
//   rank 1 → {"progress":{"entered":3,"completed":2,"open":[2]}}            when it changed
//   rank 1 → {"at":"completion"}        all calls are begun
//   rank 1 → {"at":"teardown","verified":{…},"timings":[…]}    all of them are completed
//   all    ← {"go":"teardown"}
//   rank 1 → {"at":"done"}               then it exits with 0
//   rank 1 → {"error":"ncclAllReduce …"} at any time; the coordinator then stops the run
//   all    ← {"go":"abort"}              ncclCommAbort, {"at":"aborted","verified":{…}}, then it
//                                        exits with 3; what was completed before counts
//
// One JSON object a line over one TCP connection for each rank. A rank that is connected serves it
// on a thread of its own, so that "abort" is heard while a call of NCCL blocks. A connection that
// breaks means "abort" to a rank, and that the rank died to the coordinator.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/outcome.h"

namespace ncclog {

/// What a rank says. Exactly one of `at`, `progress`, `error` is meant by a message; the other
/// members go with some values of `at`.
struct RankMessage {
  enum class Kind { At, Progress, Error, Aborted };

  Kind kind = Kind::At;
  ReplayPhase at = ReplayPhase::Start;  ///< Phase that the rank has reached and waits to enter.
  int rank = -1;                        ///< Only of Start: who speaks on this connection.
  int64_t pid = -1;                     ///< Only of Start.
  int gpu = -1;                         ///< Only of Start.
  std::string nccl_version;             ///< Only of Start: of the library it loaded.
  /// Only of Start: by communicator of the plan, the ncclUniqueId in hexadecimal of those that this
  /// rank leads (it is their rank 0 and they are not split off another one).
  std::map<int, std::string> ids;
  double init_seconds = 0;  ///< Only of Enqueue.
  uint64_t entered = 0;     ///< Of Progress and of At.
  uint64_t completed = 0;
  std::vector<uint64_t> open;
  Verification verified;            ///< Of Teardown; of Aborted, for completed calls.
  std::vector<CallTiming> timings;  ///< Only of Teardown, only of the plan's rank 0.
  std::string error;                ///< Only of Error.

  bool operator==(const RankMessage&) const = default;
};

/// What the coordinator says to all ranks.
struct RunOrder {
  enum class Kind { Go, Abort };

  Kind kind = Kind::Go;
  ReplayPhase phase = ReplayPhase::Init;  ///< Of Go: Init, Enqueue or Teardown.
  std::map<int, std::string> ids;         ///< Of Init: all of them.

  bool operator==(const RunOrder&) const = default;
};

/// As one line, with its line end. Deterministic.
std::string write_message(const RankMessage& message);
std::string write_order(const RunOrder& order);

/// nullopt: not such a message, whatever the bytes.
std::optional<RankMessage> parse_message(std::string_view line);
std::optional<RunOrder> parse_order(std::string_view line);

/// Environment variables by which the coordinator starts a rank.
inline constexpr const char* kCoordinatorVariable = "NCCLOG_REPLAY_COORDINATOR";  ///< "HOST:PORT"
inline constexpr const char* kTokenVariable =
    "NCCLOG_REPLAY_TOKEN";  ///< First line of a connection.

/// How a rank's process ends.
enum class RankExit { Done = 0, Error = 1, BadUse = 2, Aborted = 3 };

}  // namespace ncclog
