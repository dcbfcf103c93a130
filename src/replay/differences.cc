#include "replay/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnose/nccl_version.h"
#include "replay/call_place.h"
#include "replay/read_back.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

/// Fills a comparison row by row.
class Rows {
 public:
  void add(const std::string& what, const std::string& recorded, const std::string& replayed,
           bool matters) {
    if (recorded.empty()) {
      all_.unknown.push_back(what);
    } else if (recorded == replayed) {
      all_.same.push_back(fmt::format("{}: {}", what, recorded));
    } else {
      all_.differences.push_back({what, recorded, replayed, matters});
    }
  }

  Comparison take() {
    std::stable_partition(all_.differences.begin(), all_.differences.end(),
                          [](const ReplayDifference& row) { return row.matters; });
    return std::move(all_);
  }

 private:
  Comparison all_;
};

/// "2.27.3+cuda12.9" → "2.27.3": what a build adds is no other release.
std::string release_of(std::string_view version) {
  std::string out;
  for (const int part : version_parts(version)) {
    out += (out.empty() ? "" : ".") + std::to_string(part);
  }
  return out.empty() ? std::string(version) : out;
}

Texts releases_of(const Texts& versions) {
  std::set<std::string> releases;
  for (const std::string& version : versions) releases.insert(release_of(version));
  return {releases.begin(), releases.end()};
}

/// True if all of them have the same first two numbers: 2.28.3 and 2.28.9.
bool same_series(const Texts& versions) {
  std::set<std::vector<int>> series;
  for (const std::string& version : versions) {
    std::vector<int> parts = version_parts(version);
    parts.resize(2);
    series.insert(parts);
  }
  return series.size() <= 1;
}

void add_versions(const ReplayPlan& plan, const ReplayOutcome& outcome, const ReadBack& seen,
                  Rows& rows) {
  const Texts recorded = releases_of(plan.nccl_versions);
  Texts replayed = releases_of(seen.nccl_versions);
  if (replayed.empty() && !outcome.nccl_version.empty()) {
    replayed.push_back(release_of(outcome.nccl_version));
  }
  Texts both = recorded;
  both.insert(both.end(), replayed.begin(), replayed.end());
  rows.add("NCCL", join(recorded, ", "), join(replayed, ", "),
           replayed.empty() || !same_series(both));
  const std::string cuda =
      outcome.cuda_version.empty() ? join(seen.cuda_versions, ", ") : outcome.cuda_version;
  rows.add("CUDA", plan.cuda_version, cuda, false);
}

std::string ranks_phrase(int n) { return fmt::format("{} rank{}", n, n == 1 ? "" : "s"); }

std::string hosts_phrase(int n) { return fmt::format("{} host{}", n, n == 1 ? "" : "s"); }

void add_size(const ReplayPlan& plan, const ReplayOutcome& outcome, Rows& rows) {
  const int ranks = static_cast<int>(plan.ranks.size());
  rows.add("ranks of the job", plan.recorded_nranks > 0 ? ranks_phrase(plan.recorded_nranks) : "",
           ranks_phrase(ranks), true);
  if (plan.recorded_nhosts <= 0) return;
  const int hosts = outcome.pseudo_hosts;
  const std::string replayed =
      hosts > 1 ? fmt::format("{} pseudo-hosts on one machine", hosts) : hosts_phrase(hosts);
  rows.add("hosts", hosts_phrase(plan.recorded_nhosts), replayed, hosts != plan.recorded_nhosts);
}

void add_communicator(const PlannedCommunicator& recorded, const SeenCommunicator& seen,
                      bool is_tested, Rows& rows) {
  const std::string of = fmt::format(" of communicator {}", printable(recorded.id));
  if (recorded.recorded_nranks > 0) {
    const int replayed = static_cast<int>(recorded.ranks.size());
    rows.add("size" + of, ranks_phrase(recorded.recorded_nranks), ranks_phrase(replayed),
             is_tested);
  }
  rows.add("transports" + of, transport_names(recorded.transports),
           transport_names(seen.transports), is_tested);
  const auto channels = [](int n) { return n < 0 ? std::string() : std::to_string(n); };
  rows.add("channels" + of, channels(recorded.channels), channels(seen.channels), false);
}

using Choice = std::string RecordedTuning::*;

/// The choices for calls of `op`, sorted; numbers, which early releases print, are left out.
std::set<std::string> choices(const std::vector<RecordedTuning>& tuning, std::string_view op,
                              Choice choice) {
  std::set<std::string> all;
  for (const RecordedTuning& row : tuning) {
    const std::string& value = row.*choice;
    const bool is_name = !value.empty() && !is_digit(value.front());
    if (row.op == op && is_name) all.insert(value);
  }
  return all;
}

/// A replay that makes fewer calls may use fewer of what was recorded, and nothing else.
void add_tuning(const ReplayPlan& plan, const ReadBack& seen, std::string_view op, Choice choice,
                std::string_view word, bool matters, Rows& rows) {
  const std::set<std::string> recorded = choices(plan.tuning, op, choice);
  const std::set<std::string> replayed = choices(seen.tuning, op, choice);
  if (recorded.empty() || replayed.empty()) return;
  const bool is_part =
      std::includes(recorded.begin(), recorded.end(), replayed.begin(), replayed.end());
  const std::string what = fmt::format("{} of {}", word, op);
  const std::string is = fmt::format("{}", fmt::join(replayed, ", "));
  rows.add(what, is_part ? is : fmt::format("{}", fmt::join(recorded, ", ")), is, matters);
}

/// Ops of the tested communicator's calls; without a hypothesis of all.
std::set<std::string> tested_ops(const ReplayPlan& plan, int tested) {
  std::set<std::string> ops;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (tested < 0 || call.communicator == tested) ops.insert(call.op);
    }
  }
  return ops;
}

}  // namespace

Comparison compare_with_record(const ReplayPlan& plan, const ReplayOutcome& outcome,
                               const ReadBack& seen) {
  const int tested = tested_communicator(plan);
  Rows rows;
  add_versions(plan, outcome, seen, rows);
  add_size(plan, outcome, rows);
  for (size_t c = 0; c < plan.communicators.size(); ++c) {
    const bool is_tested = tested < 0 || static_cast<size_t>(tested) == c;
    const SeenCommunicator known =
        c < seen.communicators.size() ? seen.communicators[c] : SeenCommunicator();
    add_communicator(plan.communicators[c], known, is_tested, rows);
  }
  for (const std::string& op : tested_ops(plan, tested)) {
    add_tuning(plan, seen, op, &RecordedTuning::algorithm, "algorithm", true, rows);
    add_tuning(plan, seen, op, &RecordedTuning::protocol, "protocol", false, rows);
  }
  return rows.take();
}

bool differs_in_what_matters(const std::vector<ReplayDifference>& differences) {
  return std::any_of(differences.begin(), differences.end(),
                     [](const ReplayDifference& row) { return row.matters; });
}

int tested_communicator(const ReplayPlan& plan) {
  const std::optional<FrontLine> place = expected_place(plan);
  return place ? place->communicator : -1;
}

std::string transport_names(const std::vector<TransportShare>& transports) {
  std::string out;
  for (const TransportShare& share : transports) {
    out += (out.empty() ? "" : ", ") + printable(share.transport);
  }
  return out;
}

}  // namespace ncclog
