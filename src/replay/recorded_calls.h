// The calls that a plan takes, in the order of their lines, with everything that a replay needs.
//
//   AllReduce: opCount 1b sendbuff 0x7f7b02800000 recvbuff 0x7f7b02800000 count 1048576 datatype 7
//   op 0 root 0 comm 0x3ccb6960 [nranks=8] stream (nil)
//       → the world's rank 0, collective 28, in place, on the null stream
//
// A job keeps no buffers, streams and groups, so the logs are read a second time. Only what
// replay/call_windows.h wants is kept; memory does not depend on how long the logs are. Where a
// call is told by a COLL and by a CALL line, the kind of line that the job counts is taken.

#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log/event.h"
#include "model/comm_segment.h"
#include "model/read_call.h"
#include "replay/call_windows.h"

namespace ncclog {

/// A call as one line of NCCL tells it.
struct RecordedCall {
  Membership by;
  /// Among the member's collectives; of Send and Recv among its messages to, or from, that peer.
  uint64_t index = 0;
  CallSignature call;
  uint64_t sendbuff = 0;  ///< 0: none printed. Of Send the buffer, wherever the release prints it.
  uint64_t recvbuff = 0;
  uint64_t stream = 0;    ///< Pointer; 0 is the null stream.
  uint64_t op_count = 0;  ///< Of COLL lines; 0 of CALL lines.
  int64_t group = -1;     ///< Number of the ncclGroupStart it stands behind; -1: none is printed.

  bool operator==(const RecordedCall&) const = default;
};

/// The calls that fall into the windows, in the order of each process's lines.
struct RecordedCalls {
  std::vector<Membership> members;                      ///< Whose calls were looked for; sorted.
  std::map<int, std::vector<RecordedCall>> by_process;  ///< Into Job::processes.
  std::map<Membership, uint64_t> earlier;               ///< Calls before the member's windows.
  bool has_groups = false;                              ///< Lines of ncclGroupStart are there.
  uint64_t other_calls = 0;  ///< One-sided operations, which no window holds.

  bool operator==(const RecordedCalls&) const = default;
};

/// Follows the events of a job's logs in input order. `job` must outlive it.
class CallRecorder {
 public:
  CallRecorder(const Job& job, const CallWindows& windows);
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  void add(const Event& event);

  /// What was recorded; to be called once, behind the last event.
  RecordedCalls take();

 private:
  /// Which life of a pointer.
  using Life = std::pair<uint64_t, int>;

  /// A member while its lines are read.
  struct Cursor {
    Membership member;
    bool by_traces = false;
    MemberWindows windows;
    uint64_t collectives = 0;
    std::map<int, uint64_t> sent;
    std::map<int, uint64_t> received;
    uint64_t earlier = 0;
  };

  /// A call's number, and the numbers of those that are wanted; none are of an unwanted peer.
  struct Numbered {
    uint64_t index = 0;
    CallWindow wanted;
  };

  struct Group {
    int depth = 0;
    int64_t number = -1;
  };

  struct Speaker {
    int process = -1;
    CommSegments lives;
    std::map<Life, Cursor> cursors;
    std::vector<Cursor*> by_place;  ///< By segment in `lives`, as far as they were looked up.
    std::unordered_map<int64_t, Group> groups;  ///< By thread.
  };

  void add_speaker(const Job& job, size_t log, const std::map<std::pair<int, int>, Membership>& of,
                   const CallWindows& windows);
  static void follow_lives(Speaker& speaker, const Message& message);
  void follow_groups(Speaker& speaker, int64_t thread, std::string_view function);
  static Cursor* cursor_of(Speaker& speaker, const ReadCall& call);
  static Numbered number(Cursor& cursor, std::string_view op, int peer);
  void add_call(Speaker& speaker, const Event& event, const ReadCall& call);

  std::map<std::pair<std::string_view, int64_t>, Speaker> speakers_;  ///< By host and pid.
  int64_t groups_ = 0;
  RecordedCalls recorded_;
};

}  // namespace ncclog
