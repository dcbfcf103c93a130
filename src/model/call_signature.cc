#include "model/call_signature.h"

#include <cstring>

namespace ncclog {
namespace {

/// The finaliser of splitmix64: every input bit reaches every output bit.
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

bool is_point_to_point(const OpName& op) {
  constexpr OpName kNames[] = {"Send", "Recv", "PutSignal", "Signal", "WaitSignal"};
  return std::find(std::begin(kNames), std::end(kNames), op) != std::end(kNames);
}

CallSignature comparable(const CallSignature& call) {
  CallSignature same = call;
  same.redop = std::min(call.redop, kUserRedop);
  return same;
}

uint64_t hash_of(const CallSignature& call) {
  uint64_t words[2] = {};
  const std::string_view op = call.op.view();
  std::memcpy(words, op.data(), op.size());
  uint64_t hash = mixed(words[0] + 0x9e3779b97f4a7c15U);
  for (const uint64_t word :
       {words[1], static_cast<uint64_t>(call.count), static_cast<uint64_t>(call.datatype),
        static_cast<uint64_t>(call.redop), static_cast<uint64_t>(call.root)}) {
    hash = mixed(hash + word + 0x9e3779b97f4a7c15U);
  }
  return hash;
}

}  // namespace ncclog
