// What did a run do: how large is it, over which transports and channels, what did it call, how
// fast, and what did it warn of?
//
// One function derives the facts of a topic, one says why a run may lack one of them.

#include <fmt/format.h>

#include <tuple>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/compare/run_difference.h"
#include "diagnose/facts/fact.h"
#include "diagnose/iterations/call_counts.h"
#include "diagnose/iterations/iterations.h"
#include "diagnose/network/connections.h"
#include "diagnose/outcome/first_failure.h"
#include "diagnose/perf/measured/measurement.h"
#include "diagnose/perf/verdict/perf_words.h"

namespace ncclog {

// How large is a run, how is it spread, and how far did it come?
//
//   8 ranks on 2 hosts, 4 on each; communicators: 1 of 8 ranks, 4 of 2 ranks; all of them complete
//
// Ranks that the logs do not show belong to no number: what is not known of all is not compared.

namespace {

/// "4", or "8, 8, 4" where they differ; empty if some are not seen.
template <typename KeyOf>
std::string ranks_by(const Communicator& comm, KeyOf key_of) {
  std::map<decltype(key_of(comm.ranks.front())), int> counts;
  for (const CommRank& rank : comm.ranks) ++counts[key_of(rank)];
  std::vector<int> sizes;
  for (const auto& [key, count] : counts) sizes.push_back(count);
  std::sort(sizes.rbegin(), sizes.rend());
  if (sizes.front() == sizes.back()) return std::to_string(sizes.front());
  return fmt::format("{}", fmt::join(sizes, ", "));
}

void add_spread(const Job& job, FactValue::Set& facts) {
  if (job.communicators.empty()) return;
  const Communicator& largest = job.communicators.front();
  const bool is_whole = largest.nranks > 0 && std::ssize(largest.ranks) == largest.nranks;
  if (!is_whole || !is_all_seen(largest)) return;
  const auto host_of = [&](const CommRank& rank) -> std::string {
    return nth_process(job, rank.process).host;
  };
  facts.push_back({.value = ranks_by(largest, host_of), .of = "ranks on a host"});
  const auto process_of = [](const CommRank& rank) { return rank.process; };
  facts.push_back({.value = ranks_by(largest, process_of), .of = "ranks in a process"});
}

/// "1 of 8 ranks, 4 of 2 ranks".
void add_communicators(const Job& job, FactValue::Set& facts) {
  const bool is_any_inferred = std::ranges::any_of(
      job.communicators, [](const Communicator& comm) { return comm.inferred && !comm.is_child; });
  if (job.communicators.empty() || is_any_inferred) return;
  std::map<int, int> counts;
  for (const Communicator& comm : job.communicators) ++counts[comm.nranks];
  std::vector<std::string> parts;
  for (auto size = counts.rbegin(); size != counts.rend(); ++size) {
    parts.push_back(fmt::format("{} of {} ranks", size->second, size->first));
  }
  facts.push_back({.value = join(parts, ", "), .of = "communicators"});
}

bool is_complete(const Job& job, const CommRank& rank) {
  if (rank.state == RankState::Complete || rank.state == RankState::Destroyed) return true;
  return rank.log >= 0 && rank.segment >= 0 && segment_of(job, rank).completed.line != 0;
}

/// "complete", or "6 of 8 ranks complete" over all communicators, with a line of one that is not.
void add_progress(const Job& job, FactValue::Set& facts) {
  size_t all = 0;
  size_t complete = 0;
  std::vector<Evidence> lines;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      const bool begins = rank.process >= 0 && section != nullptr && section->started.line != 0;
      if (!begins && !is_complete(job, rank)) continue;
      ++all;
      complete += is_complete(job, rank) ? 1 : 0;
      if (!is_complete(job, rank) && lines.empty()) lines.push_back({section->started, {}});
    }
  }
  if (all == 0) return;
  std::string progress = "complete";
  if (complete < all) progress = fmt::format("{} of {} ranks complete", complete, all);
  facts.push_back(
      {.value = std::move(progress), .evidence = std::move(lines), .of = "initialisation"});
}

FactValue::Set shape(const Job& job, const Instance&) {
  FactValue::Set facts;
  if (job.nranks) facts.push_back({.value = int64_t{*job.nranks}, .of = "number of ranks"});
  if (job.nhosts > 0) facts.push_back({.value = int64_t{job.nhosts}, .of = "number of hosts"});
  add_spread(job, facts);
  add_communicators(job, facts);
  add_progress(job, facts);
  return facts;
}

FactValue without_shape(const Job&, const FactValue& other, const Job&) {
  if (other.of == "initialisation" || other.of == "communicators") {
    return unknown("its logs do not tell how communicators were initialised");
  }
  if (other.of.starts_with("number of ")) return unknown("no line of its logs tells");
  return unknown("its logs do not show all ranks");
}

// Over which transports do ranks reach each other, within a host and between hosts?
//
//   Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM     → within a host: P2P/CUMEM
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3(5)/GDRDMA
//                                                 → between hosts: NET/IB/GDRDMA (PXN)
//
// The names are those that NCCL prints, without numbers of devices and ranks. What counts is which
// names there are and which part of the connections each has: a longer run connects more pairs.

constexpr std::string_view kP2pCheck = "within hosts: P2P for all pairs";

std::string_view name_of(EdgeReach reach) {
  constexpr std::string_view kNames[] = {"between ranks of unknown hosts", "within a host",
                                         "between hosts"};
  return kNames[static_cast<size_t>(reach)];
}

/// "24 P2P/CUMEM", "P2P/CUMEM 75%, SHM 25%": what makes up a whole, largest first.
FactValue share_fact(std::string name, const Shares& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [what, count] : sorted) {
    const std::string share =
        sorted.size() == 1 ? "" : fmt::format(" {:.0f}%", 100 * share_of(count, counts));
    parts.push_back(fmt::format("{}{} ({})", what, share, count));
  }
  return {.value = counts, .what = join(parts, ", "), .of = std::move(name)};
}

/// "NET/IB/3(5)/GDRDMA" → "NET/IB/GDRDMA (PXN)".
std::string lasting_path(const PathParts& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path.text, '/')) {
    const bool is_number = !part.empty() && is_digit(part.front());
    if (!is_number && part.find('[') == part.npos) parts.emplace_back(trim(part));
  }
  return join(parts, "/") + (path.proxy_rank >= 0 ? " (PXN)" : "");
}

FactValue::Set transports(const Job& job, const Instance&) {
  std::map<EdgeReach, Shares> counts;
  std::map<EdgeReach, std::map<std::string, SourceRef>> lines;
  for (const Edge& edge : edges_of(job)) {
    // Both ends announce a network; the sender's line counts where it is there.
    const bool is_other_end =
        edge.path->transport == Transport::NET && !edge.sends && edge.peer >= 0;
    if (is_other_end) continue;
    const std::string name = lasting_path(*edge.path);
    ++counts[edge.reach][name];
    SourceRef& line = lines[edge.reach].try_emplace(name, edge.where).first->second;
    line = std::min(line, edge.where);
  }
  FactValue::Set facts;
  for (const auto& [reach, by_name] : counts) {
    FactValue& fact = facts.emplace_back(share_fact(std::string(name_of(reach)), by_name));
    for (const auto& [name, line] : lines[reach]) {
      if (fact.evidence.size() < kMostShown) fact.evidence.push_back({line, {}});
    }
  }
  // NCCL's own answer to whether all GPUs of a host reach each other directly.
  const Stated direct =
      stated_by<P2pCheck>(job, [](const auto& check) { return check.direct == 1 ? "yes" : "no"; });
  return stated_facts({{std::string(kP2pCheck), direct}}, std::move(facts));
}

FactValue without_transport(const Job& job, const FactValue& other, const Job&) {
  if (other.of == kP2pCheck) return unknown("its logs do not tell");
  const std::vector<Edge>& edges = edges_of(job);
  if (edges.empty()) {
    return unknown(is_torn(job) ? "lines of its logs are torn"
                                : "no line of its logs tells how ranks are connected");
  }
  // Where the hosts of some pairs are unknown, they may be of any sort.
  const bool is_unknown =
      std::ranges::any_of(edges, [](const Edge& edge) { return edge.reach == EdgeReach::Unknown; });
  if (is_unknown || other.of == name_of(EdgeReach::Unknown)) {
    return unknown("its logs do not tell on which hosts some ranks are");
  }
  return other.of == name_of(EdgeReach::OtherHost) && job.nhosts == 1 ? unknown() : no();
}

// How many channels do communicators have, and which rings and trees do they form?
//
//   24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, …
//   Channel 00/24 : 0 1 2 3         → rings of 4 ranks: "24 channels; 0 1 2 3"
//
// Rings and trees are held against those of communicators with as many ranks only; the number of
// channels of the largest communicators is compared whatever their sizes.

constexpr std::string_view kLargest = "largest communicator";

std::string role_of(const Job& job, const Communicator& comm) {
  if (comm.nranks == job.communicators.front().nranks) return std::string(kLargest);
  return fmt::format("communicators of {} ranks", comm.nranks);
}

/// The first line of kind T that the process of the communicator's lowest seen rank keeps.
template <typename T>
Evidence line_of(const Job& job, const Communicator& comm) {
  Evidence line;
  for (const CommRank& rank : comm.ranks) {
    if (rank.process < 0) continue;
    const Process& process = nth_process(job, rank.process);
    for_each_record(job, process, kKindIndex<T>, [&](const Record& record) {
      if (line.where.line == 0) line = evidence_of(record);
    });
    if (line.where.line != 0) break;
  }
  return line;
}

std::string numbers_text(const ChannelNumbers& numbers) {
  std::vector<std::string> parts;
  const auto add = [&](int number, std::string_view what) {
    if (number >= 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  add(numbers.coll, "coll");
  add(numbers.nvls, "nvls");
  add(numbers.p2p, "p2p");
  add(numbers.p2p_per_peer, "p2p per peer");
  return join(parts, ", ");
}

int count_channels(uint64_t mask) { return __builtin_popcountll(mask); }

/// "24 channels; 0 1 2 3"; empty where a ring is not known as a whole.
std::string rings_text(const Communicator& comm) {
  std::vector<std::string> parts;
  for (const Ring& ring : comm.graphs.rings) {
    const bool is_whole = static_cast<int>(ring.order.size()) == comm.nranks;
    if (ring.check == GraphCheck::Broken) {
      parts.push_back(fmt::format("{} broken", count_channels(ring.channels)));
    } else if (is_whole) {
      parts.push_back(fmt::format("{}; {}", plural(count_channels(ring.channels), "channel"),
                                  fmt::join(ring.order, " ")));
    } else {
      return {};
    }
  }
  std::ranges::sort(parts);
  return join(parts, ", ");
}

/// "24 channels with root 0 and depth 3"; empty where a tree is not known as a whole.
std::string trees_text(const Communicator& comm) {
  std::map<std::pair<int, int>, int> channels;  // By root and depth.
  int broken = 0;
  for (const Tree& tree : comm.graphs.trees) {
    if (tree.check == GraphCheck::Unknown) return {};
    if (tree.check == GraphCheck::Broken) broken += count_channels(tree.channels);
    if (tree.check == GraphCheck::Sound) {
      channels[{tree.root, tree.depth}] += count_channels(tree.channels);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [shape, count] : channels) {
    parts.push_back(fmt::format("{} with root {} and depth {}", plural(count, "channel"),
                                shape.first, shape.second));
  }
  if (broken > 0) parts.push_back(fmt::format("{} broken", broken));
  return join(parts, ", ");
}

/// Channels that a search found, and at which bandwidth: "24 channels, 30.0/30.0 GB/s, NVL/PIX".
std::string search_text(const SearchedGraph& graph) {
  std::vector<std::string> numbers;
  for (const std::string_view part : split(graph.bw, '/')) {
    const auto number = parse_decimal(part);
    numbers.push_back(number ? fmt::format("{:.1f}", *number) : std::string(part));
  }
  return fmt::format("{}, {} GB/s, {}", plural(graph.channels, "channel"), join(numbers, "/"),
                     graph.type);
}

std::string_view pattern_name(int pattern) {
  constexpr std::string_view kNames[] = {"", "trees", "trees", "trees", "rings", "NVLS", "CollNet"};
  return pattern >= 0 && pattern < std::ssize(kNames) ? kNames[pattern] : "";
}

void add_searches(const Job& job, const Communicator& comm, StatedByName& stated) {
  for (const GraphSearch& search : comm.graphs.searches) {
    const std::string_view pattern = pattern_name(search.graph.pattern);
    if (pattern.empty()) continue;
    stated[fmt::format("search for {}, {}", pattern, role_of(job, comm))].try_emplace(
        search_text(search.graph), line_of<GraphPattern>(job, comm));
  }
}

FactValue::Set channel_values(const Job& job, const Instance&) {
  StatedByName stated;
  // Communicators that look the same say the same.
  std::set<std::tuple<int, std::string, std::string, std::string>> known;
  for (const Communicator& comm : job.communicators) {
    if (comm.nranks < 0) continue;
    const std::string numbers = numbers_text(comm.graphs.channels);
    const std::string rings = rings_text(comm);
    const std::string trees = trees_text(comm);
    if (!known.emplace(comm.nranks, numbers, rings, trees).second) continue;
    if (!numbers.empty()) {
      stated[role_of(job, comm)].try_emplace(numbers, line_of<ChannelCounts>(job, comm));
    }
    if (!rings.empty()) {
      stated[fmt::format("rings of {} ranks", comm.nranks)].try_emplace(
          rings, line_of<RingMembers>(job, comm));
    }
    if (!trees.empty()) {
      stated[fmt::format("trees of {} ranks", comm.nranks)].try_emplace(trees,
                                                                        line_of<Trees>(job, comm));
    }
    add_searches(job, comm, stated);
  }
  return stated_facts(stated);
}

FactValue without_channels(const Job& job, const FactValue& other, const Job&) {
  const bool is_of_size = !other.of.ends_with(kLargest);
  const bool has_size = std::ranges::any_of(job.communicators, [&](const auto& comm) {
    return other.of.ends_with(fmt::format("of {} ranks", comm.nranks));
  });
  const bool is_elsewhere = is_of_size && !has_size && !job.communicators.empty();
  return is_elsewhere ? unknown() : unknown("its logs do not tell");
}

// What does a run call: which operations of which sizes, how many in an iteration, run by which
// algorithm?
//
//   AllReduce: opCount 1a … count 1048576 datatype 7 op 0 …   → AllReduce: "1048576 float32 (sum)"
//   iterations 1-5 call 4 AllGather, 1 AllReduce              → one iteration: the same words
//   AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE …      → AllReduce: RING/SIMPLE 100%
//
// How often something is called depends on how long a run goes on, so it is only noted.
// Sends and receives have sizes that data may decide, so theirs are left out.

constexpr std::string_view kIteration = "calls of one iteration";
constexpr std::string_view kIterations = "iterations";

/// "1048576 float32 (sum)"; empty for sends and receives.
std::string item_text(const Job& job, const CallSignature& call) {
  if (is_point_to_point(call.op)) return {};
  const bool in_bytes = may_count_bytes({call.op, call.datatype}, job.nccl_versions);
  std::string text =
      fmt::format("{} {}", call.count, in_bytes ? "bytes" : datatype_name(call.datatype));
  if (traits_of(call.op.operation()).reduces() && call.redop >= 0)
    text += fmt::format(" ({})", reduction_name(call.redop));
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

/// A line of each of so many different calls, as far as they are kept.
CallLines lines_of_calls(const Job& job, size_t different) {
  CallLines lines;
  for (const SpeakerLog& log : job.logs) {
    for (const CommSegment& segment : log.comms.all) {
      const CollectiveCalls& calls = calls_of(segment);
      if (lines.size() >= different || calls.total == 0) continue;
      lines.try_emplace(without_peer(calls.last_call), calls.last);
      for (uint64_t i = calls.collectives.kept_from(); i < calls.collectives.size(); ++i) {
        const PlacedCall* placed = calls.collectives.call(i);
        if (placed != nullptr) lines.try_emplace(without_peer(placed->call), placed->where);
      }
    }
  }
  return lines;
}

void add_operations(const Job& job, const JobCalls& calls, FactValue::Set& facts) {
  std::set<CallSignature> different;
  for (const CallKind& kind : calls.kinds) different.insert(without_peer(kind.call));
  const CallLines lines = lines_of_calls(job, different.size());
  std::map<std::string, Stated> by_op;
  std::map<std::string, Evidence> first_lines;
  for (const CallSignature& call : different) {
    const auto line = lines.find(call);
    const Evidence evidence{line == lines.end() ? SourceRef() : line->second, {}};
    Stated& items = by_op[call.op.text()];
    if (std::string item = item_text(job, call); !item.empty()) items.emplace(item, evidence);
    if (evidence.where.line != 0) first_lines.try_emplace(call.op.text(), evidence);
  }
  for (auto& [op, items] : by_op) {
    FactValue& fact = facts.emplace_back(FactValue{.value = "called", .of = op});
    if (first_lines.contains(op)) fact.evidence = {first_lines.at(op)};
    if (items.empty()) continue;
    FactValue::Set sizes;
    for (const auto& [item, line] : items) sizes.push_back({.value = item, .evidence = {line}});
    fact.value = std::move(sizes);
  }
}

void add_iterations(const Job& job, const JobCalls& calls, FactValue::Set& facts) {
  constexpr uint64_t kFew = 3;  // Fewer do not show what is usual.
  const auto found = find_iterations(job, calls, {});
  if (!found || found->count < kFew || found->patterns.empty()) return;
  const IterationPattern& usual = found->patterns[usual_pattern(found->patterns)];
  if (usual.together > 1 || usual.cut_short) return;
  facts.push_back({.value = counts_text(usual.calls), .of = std::string(kIteration)});
  facts.push_back(
      {.value = static_cast<int64_t>(found->count), .of = std::string(kIterations), .minor = true});
}

FactValue::Set calls(const Job& job, const Instance&) {
  FactValue::Set facts;
  const JobCalls all = job_calls(job);
  if (all.processes.empty()) return facts;
  add_operations(job, all, facts);
  add_iterations(job, all, facts);
  return facts;
}

FactValue without_call(const Job& job, const FactValue& other, const Job&) {
  const bool shows_calls = std::ranges::any_of(job.logs, [](const SpeakerLog& log) {
    return log.calls->tape.total() > 0 || log.traces->tape.total() > 0;
  });
  if (!shows_calls) return unknown("its logs show no call (subsystem COLL)");
  if (other.of == kIterations) return unknown();
  if (other.of == kIteration) {
    return unknown("its logs show too few iterations to say which calls are usual");
  }
  return no();
}

FactValue::Set algorithms(const Job& job, const Instance&) {
  std::map<std::string, Shares> by_function;
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [key, use] : log.tuning->all) {
      const std::string function = key.function.empty() ? "all operations" : key.function;
      const std::string protocol = key.protocol.empty() ? "" : "/" + key.protocol;
      by_function[function][key.algorithm + protocol] += static_cast<int64_t>(use.count);
    }
  }
  FactValue::Set facts;
  for (const auto& [function, counts] : by_function) facts.push_back(share_fact(function, counts));
  return facts;
}

FactValue without_algorithm(const Job& job, const FactValue&, const Job&) {
  const bool shows =
      std::ranges::any_of(job.logs, [](const SpeakerLog& log) { return !log.tuning->all.empty(); });
  return shows ? no() : unknown("no line of its logs tells which is used (subsystem TUNING)");
}

// How long do the parts of a run take that print their times?
//
//   Init timings - ncclCommInitRank: rank 3 nranks 4 total 1.09 (kernels 0.27, …)
//   # Avg bus bandwidth    : 3.71538            (nccl-tests)
//
// Two runs never take equally long: diagnose/facts/fact.cc says how large a difference counts.

/// The slowest rank's initialisation: all wait for the last one, so that the time of the largest
/// communicators is that of the job.
void add_inits(const Job& job, FactValue::Set& facts) {
  const InitSection* slowest = nullptr;
  double seconds = -1;
  int largest = -1;
  for (const Communicator& comm : job.communicators) {
    for (const CommRank& rank : comm.ranks) {
      const InitSection* section = init_section(job, rank);
      if (section == nullptr || comm.nranks < largest) continue;
      if (comm.nranks > largest) slowest = nullptr, seconds = -1;
      largest = comm.nranks;
      const double time = parse_decimal(section->timings_total).value_or(-1);
      if (time > seconds) slowest = section, seconds = time;
    }
  }
  if (slowest == nullptr) return;
  facts.push_back({.value = Quantity{seconds, "s"},
                   .what = fmt::format("{:.2f} s ({})", seconds, slowest->timings),
                   .evidence = {{slowest->timings_at, {}}},
                   .of = "initialisation of the largest communicator"});
}

/// The best of each operation that was measured: means over all sizes say little.
void add_bandwidths(const Job& job, FactValue::Set& facts) {
  std::map<std::string_view, const MeasuredPoint*> best;
  for (const Measurement& measurement : measurements(job)) {
    for (const MeasuredPoint& point : measurement.points) {
      const MeasuredPoint*& of_op = best[name_of(measurement.op)];
      if (point.busbw() > (of_op == nullptr ? 0 : of_op->busbw())) of_op = &point;
    }
  }
  for (const auto& [op, point] : best) {
    if (op.empty() || point == nullptr) continue;
    facts.push_back({.value = Quantity{point->busbw(), "GB/s"},
                     .what = fmt::format("{} GB/s at {}", bandwidth_text(point->busbw()),
                                         bytes_text(point->bytes)),
                     .evidence = {{point->where, {}}},
                     .of = fmt::format("bus bandwidth of {}", op)});
  }
}

FactValue::Set timings(const Job& job, const Instance&) {
  FactValue::Set facts;
  add_inits(job, facts);
  add_bandwidths(job, facts);
  return facts;
}

// What does a run warn of, and which lines does it print that no wording fits?
//
//   misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-Kx to 9637892 bytes
//   → "Error: failed to extend # to # bytes"
//
// Lines count by their words: two runs differ if one of them says something that the other never
// says. How often it does, and about whom, makes no difference.

std::string shape_of(const Job& job, std::string_view message) {
  return message_shape(without_names(job, message.substr(0, kMaxShapeBytes)));
}

void add_line(const Evidence& line, std::string shape, Stated& shapes) {
  Evidence& first = shapes.try_emplace(std::move(shape), line).first->second;
  if (line.where < first.where) first = line;
}

void add_warnings(const Job& job, const RecordList& list, Stated& shapes) {
  for (const Record& record : list.kept) {
    const Event event = parse_record(record);
    if (event.header.level != Level::Warn || event.header.torn) continue;
    add_line(evidence_of(record), shape_of(job, event.header.message), shapes);
  }
}

/// Lines that no wording fits: warnings, or the others.
void add_unknown(const Job& job, bool are_warnings, Stated& shapes) {
  for (const auto& [shape, lines] : job.unknown.all) {
    const bool is_warning = (lines.levels >> static_cast<unsigned>(Level::Warn) & 1) != 0;
    if (is_warning != are_warnings) continue;
    const Event event = parse_event(lines.example, all_wordings());
    add_line({lines.first, lines.example}, shape_of(job, event.header.message), shapes);
  }
}

FactValue::Set printed(const Stated& shapes, bool minor) {
  FactValue::Set facts;
  for (const auto& [shape, line] : shapes) {
    facts.push_back({.value = "printed", .evidence = {line}, .of = shape, .minor = minor});
  }
  return facts;
}

FactValue::Set warnings(const Job& job, const Instance&) {
  Stated shapes;
  const std::vector<bool> warns = kinds_with_warnings();
  for (const SpeakerLog& log : job.logs) {
    for (const auto& [kind, list] : log.records) {
      if (warns[kind]) add_warnings(job, list, shapes);
    }
  }
  add_unknown(job, true, shapes);
  return printed(shapes, false);
}

FactValue::Set unknown_lines(const Job& job, const Instance&) {
  Stated shapes;
  add_unknown(job, false, shapes);
  return printed(shapes, true);
}

FactValue without_line(const Job& job, const FactValue&, const Job&) {
  const bool speaks = std::ranges::any_of(job.processes, &Process::has_nccl);
  return speaks ? no() : unknown("its logs hold no line of NCCL");
}

constexpr TopicRow kWorkTopics[] = {
    {Topic::Shape, "shape", "", "none", shape, "", without_shape},
    {Topic::Transport, "transport", "transport", "no connection", transports, "",
     without_transport},
    {Topic::Channels, "channels", "channels:", "none", channel_values, "", without_channels},
    {Topic::Algorithm, "algorithm", "algorithm of", "not called", algorithms, "",
     without_algorithm},
    {Topic::Timing, "timing", "time:", "not printed", timings,
     "no line of its logs tells the time"},
    {Topic::Calls, "calls", "calls:", "not called", calls, "", without_call},
    // What rules find stands in the report; what they could not judge, in the run's own.
    {Topic::Finding, "finding", "finding", "not found", nullptr, "",
     [](const Job&, const FactValue&, const Job&) { return no(); }},
    {Topic::Warning, "warning", "warning", "not printed", warnings, "", without_line},
    {Topic::UnknownLine, "unknown_line", "unknown line", "not printed", unknown_lines, "",
     without_line},
};

}  // namespace

std::span<const TopicRow> work_topics() { return kWorkTopics; }

}  // namespace ncclog
