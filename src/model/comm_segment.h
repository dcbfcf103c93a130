// One life of a communicator pointer inside one process.
//
// A pointer means something inside its process only and comes back after destroy. A segment begins
// with the first line that names the pointer and ends with its destroy or abort, or with a new
// start. Joining the segments of neighbouring stretches is associative: the last open segment of
// the earlier stretch and the first of the later one are the same life unless the later one begins
// anew.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/source_ref.h"
#include "log/messages.h"
#include "model/collective_calls.h"

namespace ncclog {

/// How a communicator's life ended in this process.
enum class CommFate { None, Destroyed, Aborted };

/// What one process said about one communicator.
struct CommSegment {
  uint64_t comm = 0;  ///< The pointer.
  int rank = -1;      ///< -1: no line of its initialisation was seen.
  int nranks = -1;
  int cuda_dev = -1;
  std::string bus_id;
  uint64_t comm_id = 0;  ///< 0: not printed (children since 2.23.4, everything before 2.16).
  uint64_t parent = 0;   ///< Pointer of the parent in this process; 0: not a child.
  int child_count = -1;
  int color = -1;
  int key = -1;
  int nnodes = -1;  ///< From the layout line of 2.20.3 and later.
  int local_ranks = -1;
  SourceRef started;    ///< Init START; line 0: not seen.
  SourceRef completed;  ///< Init COMPLETE; line 0: not seen.
  /// CALL line of the function that made it, behind its initialisation; line 0: not seen.
  SourceRef announced;
  SourceRef ended;  ///< Destroy or Abort COMPLETE; line 0: not seen.
  CommFate end = CommFate::None;
  CollectiveCalls calls;   ///< By COLL lines.
  CollectiveCalls traces;  ///< By CALL lines: the same calls once more where both are printed.

  bool operator==(const CommSegment&) const = default;
};

/// The calls of a segment, from the one kind of line that tells more of them.
const CollectiveCalls& calls_of(const CommSegment& segment);

/// The communicators of one process in the order in which their lives began.
struct CommSegments {
  std::vector<CommSegment> all;

  void add(SourceRef where, const CommInit& init);
  void add(SourceRef where, const CommAnnounced& announced);  ///< 2.4.2's Init START.
  void add(SourceRef where, const CommEnd& ended);
  void add(SourceRef where, const CallInit& call);
  void add(const CommLayout& layout);
  /// `stamp` is what stands before the line's host. Gives the segment's place in `all`.
  int add_call(SourceRef where, std::string_view stamp, uint64_t comm, int nranks,
               const CallSignature& call);
  int add_trace(SourceRef where, std::string_view stamp, uint64_t comm, const CallSignature& call);
  /// The segment to which a call on `comm` belongs now; -1: it begins one.
  int living_segment(uint64_t comm) const;
  /// Another number whenever what living_segment says may have changed.
  uint64_t lives() const { return lives_; }
  /// Gives for each segment of `later` its place in `all`.
  std::vector<int> merge(CommSegments&& later);
  bool operator==(const CommSegments& other) const { return all == other.all; }

 private:
  CommSegment* latest(uint64_t comm);
  size_t living(uint64_t comm);
  size_t append(CommSegment&& segment);
  size_t add(CommSegment&& news);

  std::unordered_map<uint64_t, size_t> latest_;  ///< By pointer: its last life in `all`.
  uint64_t lives_ = 0;
};

}  // namespace ncclog
