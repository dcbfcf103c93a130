// What does a run call: which operations of which sizes, how many in an iteration, run by which
// algorithm?
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 …   → AllReduce: "1048576 float32 (sum)"
//   iterations 1-5 call 4 AllGather, 1 AllReduce              → one iteration: the same words
//   AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE …      → AllReduce: RING/SIMPLE 100%
//
// How often something is called depends on how long a run goes on, so it is no trait but a note.
// Sends and receives have sizes that data may decide, so theirs are left out.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/call_sizes.h"
#include "diagnose/iterations.h"
#include "diagnose/trait_tables.h"
#include "log/nccl_names.h"

namespace ncclog {
namespace {

constexpr std::string_view kIteration = "calls of one iteration";
constexpr std::string_view kIterations = "iterations";

/// "1048576 float32 (sum)"; empty for sends and receives.
std::string item_text(const Job& job, const CallSignature& call) {
  if (is_point_to_point(call.op)) return {};
  const bool in_bytes = may_count_bytes({call.op, call.datatype}, job.nccl_versions);
  std::string text =
      fmt::format("{} {}", call.count, in_bytes ? "bytes" : datatype_name(call.datatype));
  const bool reduces = call.op.view().find("Reduce") != std::string_view::npos;
  if (reduces && call.redop >= 0) text += fmt::format(" ({})", reduction_name(call.redop));
  return text;
}

/// The call as it is compared: whoever is its root or peer.
CallSignature without_peer(const CallSignature& call) {
  CallSignature same = comparable(call);
  same.root = -1;
  if (is_point_to_point(same.op)) same.count = 0, same.datatype = -1, same.redop = -1;
  return same;
}

using CallLines = std::map<CallSignature, SourceRef>;

/// Adds a line of each different call that the segment keeps.
void add_lines(const CollectiveCalls& calls, CallLines& lines) {
  if (calls.total == 0) return;
  lines.try_emplace(without_peer(calls.last_call), calls.last);
  for (uint64_t i = calls.collectives.kept_from(); i < calls.collectives.size(); ++i) {
    const PlacedCall* placed = calls.collectives.call(i);
    if (placed != nullptr) lines.try_emplace(without_peer(placed->call), placed->where);
  }
}

/// A line of each of so many different calls, as far as they are kept.
CallLines lines_of_calls(const Job& job, size_t different) {
  CallLines lines;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      if (lines.size() >= different) return lines;
      add_lines(calls_of(segment), lines);
    }
  }
  return lines;
}

void add_operations(const Job& job, const JobCalls& calls, Traits& traits) {
  std::set<CallSignature> different;
  for (const CallKind& kind : calls.kinds) different.insert(without_peer(kind.call));
  const CallLines lines = lines_of_calls(job, different.size());
  std::map<std::string, Trait> by_op;
  for (const CallSignature& call : different) {
    const auto line = lines.find(call);
    const Evidence evidence{line == lines.end() ? SourceRef() : line->second, {}};
    Trait& trait = by_op[call.op.text()];
    const std::string item = item_text(job, call);
    trait.value = item.empty() ? "called" : "called with several sizes";
    if (!item.empty()) trait.items.emplace(item, evidence);
    if (trait.evidence.empty() && evidence.where.line != 0) trait.evidence = {evidence};
  }
  for (auto& [op, trait] : by_op) {
    trait.topic = Topic::Calls;
    trait.name = op;
    traits.push_back(std::move(trait));
  }
}

/// "4 AllGather, 1 AllReduce".
std::string counts_text(const OpCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& [op, n] : counts) parts.push_back(fmt::format("{} {}", n, op));
  return join(parts, ", ");
}

void add_iterations(const Job& job, const JobCalls& calls, Traits& traits) {
  constexpr uint64_t kFew = 3;  // Fewer do not show what is usual.
  const auto found = find_iterations(job, calls, {});
  if (!found || found->count < kFew || found->patterns.empty()) return;
  const IterationPattern& usual = found->patterns[usual_pattern(found->patterns)];
  if (usual.together > 1 || usual.cut_short) return;
  traits.push_back(
      {.topic = Topic::Calls, .name = std::string(kIteration), .value = counts_text(usual.calls)});
  Trait count{.topic = Topic::Calls, .name = std::string(kIterations)};
  count.value = std::to_string(found->count);
  count.is_note = true;
  traits.push_back(std::move(count));
}

bool shows_calls(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const SpeakerLog& log) {
    return log.calls.tape.total() > 0 || log.traces.tape.total() > 0;
  });
}

}  // namespace

void add_call_traits(const Job& job, Traits& traits) {
  const JobCalls calls = job_calls(job);
  if (calls.processes.empty()) return;
  add_operations(job, calls, traits);
  add_iterations(job, calls, traits);
}

Absence call_absence(const Job& job, const Trait& other) {
  if (!shows_calls(job)) return not_told("its logs show no call (subsystem COLL)");
  if (other.name == kIterations) return irrelevant();
  if (other.name == kIteration) {
    return not_told("its logs show too few iterations to say which calls are usual");
  }
  return proven();
}

void add_algorithm_traits(const Job& job, Traits& traits) {
  std::map<std::string, std::map<std::string, int64_t>> by_function;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.tuning.uses) {
      const std::string function = key.function.empty() ? "all operations" : key.function;
      const std::string protocol = key.protocol.empty() ? "" : "/" + key.protocol;
      by_function[function][key.algorithm + protocol] += static_cast<int64_t>(use.count);
    }
  }
  for (const auto& [function, counts] : by_function) {
    Trait trait{.topic = Topic::Algorithm, .name = function};
    trait.value = shares_text(counts);
    trait.shares = shares_of(counts);
    traits.push_back(std::move(trait));
  }
}

Absence algorithm_absence(const Job& job, const Trait&) {
  const bool shows = std::any_of(job.logs.begin(), job.logs.end(),
                                 [](const SpeakerLog& log) { return !log.tuning.uses.empty(); });
  return shows ? proven() : not_told("no line of its logs tells which is used (subsystem TUNING)");
}

}  // namespace ncclog
