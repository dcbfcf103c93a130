#include "diagnose/outcome/own_proxy.h"

#include "diagnose/facts/job_facts.h"
#include "diagnose/facts/same_host.h"
#include "log/messages.h"

namespace ncclog {

bool is_of_own_proxy(const Job& job, int process, const Record& record) {
  constexpr int kRemoteError = 6;
  const Process& reporter = nth_process(job, process);
  const Message message = parse_message(record);
  const std::string_view peer = message.field("peer");
  if (!peer.empty() && !is_same_host(peer.substr(0, peer.find('<')), reporter.host)) return false;
  bool is_own = false;
  for_each_record(job, reporter, kKindIndex<ProxyCallFailed>, [&](const Record& failed) {
    const auto call = read_message<ProxyCallFailed>(parse_message(failed));
    const bool is_same = failed.where == record.where;
    const bool is_before = failed.where.unit == record.where.unit && failed.where < record.where;
    // "Proxy Call to rank 3 failed", by rank 3.
    is_own |= is_same && call.code < 0 && call.rank >= 0 && call.rank == reporter.rank;
    is_own |=
        is_before && call.code > 0 && call.code != kRemoteError && level_of(failed) == Level::Warn;
  });
  return is_own;
}

}  // namespace ncclog
