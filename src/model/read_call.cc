#include "model/read_call.h"

#include "log/messages.h"
#include "log/read_message.h"

namespace ncclog {
namespace {

ReadCall call_of_line(const Message& message) {
  using Call = CollectiveCall;
  const auto call = read_members<Call, &Call::op, &Call::count, &Call::datatype, &Call::redop,
                                 &Call::root, &Call::comm, &Call::nranks>(message);
  return {call.comm.value,
          call.nranks,
          false,
          {call.op, call.count, call.datatype, call.redop, call.root}};
}

/// ncclBcast's trace gives its own name, its COLL line that of ncclBroadcast.
ReadCall call_of_trace(const Message& message) {
  const auto call = read_message<CallTrace>(message);
  const std::string_view op = call.op == "Bcast" ? "Broadcast" : call.op;
  return {call.comm.value, -1, true, {op, call.count, call.datatype, call.redop, call.root}};
}

}  // namespace

std::optional<ReadCall> read_call(const Event& event) {
  if (event.fate != LineFate::Recognised) return std::nullopt;
  const uint16_t kind = event.message.kind->index;
  if (kind == kKindIndex<CollectiveCall>) return call_of_line(event.message);
  if (kind == kKindIndex<CallTrace>) return call_of_trace(event.message);
  return std::nullopt;
}

}  // namespace ncclog
