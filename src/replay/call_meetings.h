// A plan's clean run, carried out in thought: which calls meet, and which wait for ever?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → AllReduce 0 and AllReduce 1: both came; message 0 from 0 to 1: the sender came
//
// A collective ends once all ranks of its communicator came to it with equal arguments, a message
// once both ends came to it with equal sizes. A call waits for what is before it on its own stream,
// and for nothing else; the calls of a group wait for each other. Where a Send ends by itself, what
// is behind it does not wait for its Recv; a rank that sends to itself always does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "replay/find_deadlock.h"
#include "replay/plan.h"

namespace ncclog {

/// What meets: a collective of a communicator, or the k-th message from one rank to another.
struct MeetingKey {
  int communicator = -1;
  int sender = -1;    ///< Rank in the communicator; -1: a collective.
  int receiver = -1;  ///< Likewise.
  uint64_t index = 0;

  auto operator<=>(const MeetingKey&) const = default;
};

/// What has to be equal on all sides: function, count, datatype, reduction and root; of a message
/// its size alone.
using CallTerms = std::tuple<std::string, int64_t, int, int, int>;

/// Calls of a rank that are launched together: a group, or one call.
struct LaunchUnit {
  std::vector<size_t> calls;   ///< Of the rank.
  std::vector<size_t> behind;  ///< Units of the rank that wait for it.
  size_t waits_for = 0;        ///< Units before it on its streams that have not ended.
  size_t unmet = 0;            ///< Of its calls.
  size_t open = 0;             ///< Likewise those that `behind` waits for.

  bool has_ended() const { return waits_for == 0 && unmet == 0; }
};

/// A unit of a rank of the plan.
struct UnitOfRank {
  int rank = -1;
  size_t unit = 0;
  bool is_buffered = false;  ///< By a Send that ended before it was met.
};

/// Who came to a call, and whether that is the same call for all.
struct CallMeeting {
  std::vector<UnitOfRank> units;   ///< In the order in which they came.
  std::optional<CallTerms> terms;  ///< Of the first one.
  bool fails = false;              ///< Some came with other terms, or twice.
};

/// The clean run of a plan, as far as it comes.
struct CallMeetings {
  const ReplayPlan& plan;
  SendEnds sends;
  std::vector<std::map<int, int>> places;      ///< By communicator: rank of the plan to rank in it.
  std::vector<std::vector<LaunchUnit>> units;  ///< By rank of the plan.
  std::map<MeetingKey, CallMeeting> meetings;
};

/// Carries out all calls but those of the defect run. `plan` outlives what is returned.
CallMeetings meet_calls(const ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv);

/// Where that call of a rank of the plan meets others.
MeetingKey meeting_key_of(const CallMeetings& met, const PlannedCall& call, int rank);

/// How many have to come there.
size_t expected_at(const ReplayPlan& plan, const MeetingKey& key);

}  // namespace ncclog
