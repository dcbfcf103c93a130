// Which messages between two ranks do not fit each other?
//
//   rank 4 received twice before the 9th AllReduce, rank 6 had sent once     out of step
//   rank 0: Send to 1, Recv from 1; rank 1: Send to 0, Recv from 0           a circle
//   rank 1 sends 3145728 bfloat16, rank 2 receives 2097152                   sizes differ
//
// Messages are compared pair by pair, sender with receiver, since NCCL matches the n-th Send with
// the n-th Recv and compares no sizes. Messages of which only one end is there at the
// end are UnmatchedMessages (diagnose/calls/who_waits.h), a message that a rank left out against
// its past is a ProgramDivergence (diagnose/calls/diverged.h).

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

// Which messages were out of step when both their ends had gone on?
//
//   rank 4:  Recv←6 AllReduce (#8) | Recv←6 AllReduce (#9) | Recv←6
//   rank 6:  Send→4 AllReduce (#8) |        AllReduce (#9) | Send→4 AllReduce (#10)
//       → before the 9th AllReduce of both, rank 4 had received twice and rank 6 had sent once
//
// Counts where the logs end tell how far each rank has come: here as many were sent as received. At
// a collective that both made, both were at one place of the program. Where their messages matched
// at all earlier ones, and were as far apart at all later ones, one of both left a message out
// there or made one too many.

/// Messages from one rank to another that went out of step.
struct OutOfStep {
  CallLine messages;
  Waiter sender;
  Waiter receiver;
  CallLine collective;  ///< The first one before which they were not as many.
  uint64_t index = 0;   ///< Of it.
  uint64_t sent = 0;    ///< Until then.
  uint64_t received = 0;
};

/// All such messages between ranks whose programs are known, by CallLine. Empty for jobs of very
/// many ranks, where nobody compares them all. Valid as long as the job.
const std::vector<OutOfStep>& messages_out_of_step(const Job& job);

// Do ranks wait in a circle for each other's Recv?
//
//   rank 0: Send to 1, Recv from 1     both gave up on that Send: each Recv stands behind a Send
//   rank 1: Send to 0, Recv from 0     that does not end before the other one's Recv begins
//       → job.messages_in_circle = yes: "rank 0 → rank 1 → rank 0"
//
// The messages of one communicator run on one stream, one after the other. So a rank whose watchdog
// gave up on a message has not begun what stands behind it, and whoever waits for that waits for
// the rank. The lines of a group (batch_isend_irecv) look the same, but PyTorch reports it as
// COALESCED; up to 2.0, where it did not, nothing is said.
//
// Without lines of calls it is enough that every rank of the job gave up on a Send: each waits for
// one of the others, so some wait in a circle. That holds where all messages run on one stream,
// which a communicator of two of the ranks disproves.

/// job.messages_in_circle: names all ranks of the circle.
FactValue messages_in_circle(const Job& job, const Instance&);

// Do a Send and the Recv that takes it agree on the size?
//
//   rank 1: Send … count 3145728 … root 2     once, and five times count 2097152
//   rank 2: Recv … count 2097152 … root 1     six times
//       → rank 1 sends 3145728 bfloat16 to rank 2, which receives 2097152 (message 4 between them)
//
// NCCL does not compare the sizes: the data are cut or the rest is old, or the transport waits for
// ever. So this is a fault even where the job finished.
//
// Single messages are not kept, but how often each size came, and a hash of all sizes in order
// (PeerMessages). Where one message differs, the sizes say which two, and as the hash is a
// polynomial, the difference of both ends' hashes says where: (x - y) * base^(messages behind it).
// Where one end made more messages, or messages went out of step (diagnose/calls/messages.h), one
// that was left out shifts all that follow: then only a size that the other end never had tells, in
// a message that the other end came to.

/// The rule that tells of them.
inline constexpr std::string_view kMessageSizesRule = "send-recv-size-mismatch";

/// Messages from one rank to another, not all of which have one size at both ends.
struct MessageConflict {
  int communicator = -1;  ///< Into Job::communicators.
  int sender = -1;        ///< Into Communicator::ranks.
  int receiver = -1;      ///< Likewise.
  /// What one end had more often than the other; nullopt: not known, or several sizes.
  std::optional<CallSignature> sent;
  std::optional<CallSignature> received;
  std::optional<uint64_t> index;  ///< Of the message between the two, from 0; nullopt: not known.
  int changed = -1;  ///< The end that left the size that both always used; -1: not known.
};

/// All of them, in order of communicators, senders and receivers. Valid as long as the job.
const std::vector<MessageConflict>& message_conflicts(const Job& job);

/// Shows what the rank called last, in place of a message that no line shows; once. The line itself
/// is looked up later (app/read/read_job.h).
void show_last_call(const Job& job, const CommRank& rank, FactValue& value);

/// job.message_sizes_differ: what differs, and who is wrong: the rank that several pairs share,
/// because who computes its splits wrongly differs from all its peers; of a single pair the end
/// that left the size that both had always used; else nobody.
FactValue message_sizes_differ(const Job& job, const Instance&);

}  // namespace ncclog
