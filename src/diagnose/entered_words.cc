#include "diagnose/entered_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "diagnose/call_words.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

uint64_t messages_sent(const CollectiveCalls& calls) {
  uint64_t sent = 0;
  for (const auto& [peer, totals] : calls.peers) sent += totals.sent.count;
  return sent;
}

bool knows_all(const Job& job, const Communicator& comm) {
  return static_cast<int>(comm.ranks.size()) == comm.nranks &&
         std::all_of(comm.ranks.begin(), comm.ranks.end(), [&](const CommRank& rank) {
           return call_coverage(job, comm, rank) == CallCoverage::Counted;
         });
}

uint64_t messages_of(const Job& job) {
  uint64_t messages = 0;
  for (const Communicator& comm : job.communicators) {
    if (!knows_all(job, comm)) continue;
    for (const CommRank& rank : comm.ranks) messages += messages_sent(*calls_of(job, rank));
  }
  return messages;
}

std::string calls_words(uint64_t calls, std::string_view name) {
  return calls == 1 ? fmt::format("the same {}", name)
                    : fmt::format("the same {} {}s", calls, name);
}

std::string messages_words(uint64_t messages) {
  return messages == 1 ? "the only message between ranks has both ends"
                       : fmt::format("all {} messages between ranks have both ends", messages);
}

}  // namespace

std::string entered_words(const Job& job, const std::vector<CallFront>& fronts) {
  const uint64_t messages = messages_of(job);
  if (fronts.empty()) return messages == 0 ? "" : messages_words(messages);
  const CallFront& front = fronts.front();
  const std::string made =
      fmt::format("all {} ranks of {} made {}",
                  job.communicators[static_cast<size_t>(front.communicator)].nranks,
                  communicator_words(job, front.communicator),
                  calls_words(front.front, messages == 0 ? "call" : "collective"));
  return messages == 0 ? made : made + ", and " + messages_words(messages);
}

}  // namespace ncclog
