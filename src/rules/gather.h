// What the rows of a table, or the lines of a message kind, come to: which of them are meant, who is
// the odd one out, and what they are called.
//
//   {each: kernel_event, where: {kind: xid, code: 79}, words: "Xid {code}[ on {host}]"}
//     → yes, "Xid 79 on node-a; Xid 79 on node-b", both lines, the processes of both GPUs
//   {each: nvls_support, odd: state, words: "{state}, {alike} others {common}"}
//     → yes, "not available, 7 others available", the lines of the odd ones
//
// The answer is a fact's: it names processes, and is no where nothing is gathered, never unknown.

#pragma once

#include "rules/judge.h"

namespace ncclog {

FactValue gather(const EachCondition& each, JobView& view);

}  // namespace ncclog
