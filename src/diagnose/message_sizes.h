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
// Where one end made more messages, or messages went out of step (diagnose/message_balance.h), one
// that was left out shifts all that follow: then only a size that the other end never had tells, in
// a message that the other end came to.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

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

/// job.message_sizes_differ: what differs, and who is wrong: the rank that several pairs share,
/// because who computes its splits wrongly differs from all its peers; of a single pair the end
/// that left the size that both had always used; else nobody.
FactValue message_sizes_differ(const Job& job, const Instance&);

}  // namespace ncclog
