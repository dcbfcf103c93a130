#include "replay/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "log/nccl_names.h"

namespace ncclog {
std::vector<PlannedCall> calls_in(const PlannedRank& rank, MadeIn mode) {
  std::vector<PlannedCall> calls;
  std::ranges::copy_if(rank.calls, std::back_inserter(calls), [mode](const PlannedCall& call) {
    return call.made_in == MadeIn::Both || call.made_in == mode;
  });
  return calls;
}

int host_group_count(const ReplayPlan& plan) {
  std::set<int> groups;
  for (const PlannedRank& rank : plan.ranks) groups.insert(rank.host_group);
  return static_cast<int>(groups.size());
}

bool has_defect(const ReplayPlan& plan) {
  return any_call(plan, [](const PlannedCall& call) { return call.made_in != MadeIn::Both; });
}

bool is_at(const PlannedCall& call, const FrontLine& front, bool by_message) {
  return call.communicator == front.communicator && call.index == front.index &&
         is_message(call.op) == by_message;
}

bool is_among(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

int rank_in(const PlannedCommunicator& communicator, int rank) {
  const auto& ranks = communicator.ranks;
  const auto found = std::ranges::find(ranks, rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

namespace {

/// How much of a buffer a function uses on a rank.
enum class Extent { None, Count, CountTimesRanks };

/// How busbw follows from algbw.
enum class BusRule { Same, AllButOne, TwiceAllButOne };

struct Function {
  std::string_view op;
  std::string_view test;  ///< The program of nccl-tests that makes it.
  Extent sent;            ///< On the root, where there is one and `only_root_sends`.
  Extent received;        ///< Likewise with `only_root_receives`.
  bool only_root_sends;
  bool only_root_receives;
  bool reduces;
  bool rooted;
  Extent size;  ///< Of the operation, as nccl-tests counts.
  BusRule bus;
};

constexpr Extent kNone = Extent::None;
constexpr Extent kOne = Extent::Count;
constexpr Extent kAll = Extent::CountTimesRanks;

constexpr Function kFunctions[] = {
    // op, test, sent, received, only_root_sends, only_root_receives, reduces, rooted, size, bus
    {"AllReduce", "all_reduce_perf", kOne, kOne, false, false, true, false, kOne,
     BusRule::TwiceAllButOne},
    {"Broadcast", "broadcast_perf", kOne, kOne, true, false, false, true, kOne, BusRule::Same},
    {"Reduce", "reduce_perf", kOne, kOne, false, true, true, true, kOne, BusRule::Same},
    {"AllGather", "all_gather_perf", kOne, kAll, false, false, false, false, kAll,
     BusRule::AllButOne},
    {"ReduceScatter", "reduce_scatter_perf", kAll, kOne, false, false, true, false, kAll,
     BusRule::AllButOne},
    {"AlltoAll", "alltoall_perf", kAll, kAll, false, false, false, false, kAll, BusRule::AllButOne},
    {"Gather", "gather_perf", kOne, kAll, false, true, false, true, kAll, BusRule::AllButOne},
    {"Scatter", "scatter_perf", kAll, kOne, true, false, false, true, kAll, BusRule::AllButOne},
    {"Send", "sendrecv_perf", kOne, kNone, false, false, false, false, kOne, BusRule::Same},
    {"Recv", "sendrecv_perf", kNone, kOne, false, false, false, false, kOne, BusRule::Same},
};

const Function* find_function(std::string_view op) {
  const auto* found =
      std::ranges::find_if(kFunctions, [op](const Function& row) { return row.op == op; });
  return found == std::end(kFunctions) ? nullptr : found;
}

int64_t elements(Extent extent, int64_t count, int nranks) {
  if (extent == Extent::None) return 0;
  return extent == Extent::Count ? count : count * nranks;
}

}  // namespace

bool is_replayable(std::string_view op) { return find_function(op) != nullptr; }

bool is_message(std::string_view op) { return op == "Send" || op == "Recv"; }

bool is_reduction(std::string_view op) {
  const Function* function = find_function(op);
  return function != nullptr && function->reduces;
}

bool has_root(std::string_view op) {
  const Function* function = find_function(op);
  return function != nullptr && function->rooted;
}

CallShape shape_of(const PlannedCall& call, int rank, int nranks) {
  const Function* function = find_function(call.op);
  if (function == nullptr) return {};
  const bool sends = !function->only_root_sends || rank == call.root;
  const bool receives = !function->only_root_receives || rank == call.root;
  return {sends ? elements(function->sent, call.count, nranks) : 0,
          receives ? elements(function->received, call.count, nranks) : 0};
}

int64_t operation_bytes(const PlannedCall& call, int nranks) {
  const Function* function = find_function(call.op);
  if (function == nullptr) return 0;
  return elements(function->size, call.count, nranks) * datatype_bytes(call.datatype).value_or(0);
}

double bus_factor(std::string_view op, int nranks) {
  const Function* function = find_function(op);
  if (function == nullptr || nranks < 1) return 1;
  const double all_but_one = static_cast<double>(nranks - 1) / nranks;
  switch (function->bus) {
    case BusRule::AllButOne:
      return all_but_one;
    case BusRule::TwiceAllButOne:
      return 2 * all_but_one;
    case BusRule::Same:
      break;
  }
  return 1;
}

// A call in words.

std::string words_of(const PlannedCall& call) {
  const std::string_view datatype = datatype_name(call.datatype);
  std::string words = fmt::format("{} of {} {}", printable(call.op), call.count,
                                  datatype.empty() ? "unknown elements" : datatype);
  if (is_reduction(call.op)) words += fmt::format(" ({})", reduction_name(call.redop));
  if (has_root(call.op)) words += fmt::format(" with root {}", call.root);
  if (is_message(call.op)) {
    words += fmt::format(" {} rank {}", call.op == "Send" ? "to" : "from", call.root);
  }
  return words;
}

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;
/// What a process of CUDA 12 or 13 with NCCL's kernels takes before the first communicator.
constexpr int64_t kContext = 600 * kMiB;
/// Of each connection and channel besides NCCL_BUFFSIZE: the buffers of LL (512 KiB) and of LL128
/// (4.7 MiB), by src/include/device.h of NCCL 2.28.
constexpr int64_t kLowLatency = 524288 + 4915200;
constexpr int64_t kDefaultBuffer = 4 * kMiB;  // NCCL_BUFFSIZE.
constexpr int kUsualChannels = 16;
/// A rank receives from one neighbour in a ring, and in a tree from up to three.
constexpr int kMostConnections = 4;
/// Between an abort and the end of the last process, and for the GPUs to answer.
constexpr int64_t kGraceSeconds = 5 + 2 + 10 + 30;

/// Sums that stay at the largest number instead of running over.
int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t bytes_of(const ReplayPlan& plan, const PlannedCall& call, size_t rank) {
  const PlannedCommunicator& comm = plan.communicators[call.communicator];
  const CallShape shape =
      shape_of(call, rank_in(comm, static_cast<int>(rank)), static_cast<int>(comm.ranks.size()));
  const bool is_one_buffer = call.in_place && !is_message(call.op);
  const int64_t elements =
      is_one_buffer ? std::max(shape.sent, shape.received) : add(shape.sent, shape.received);
  return elements * datatype_bytes(call.datatype).value_or(1);
}

/// What the calls of one run need at once: on each stream the largest of its groups.
int64_t buffers_of(const ReplayPlan& plan, size_t rank, MadeIn mode) {
  struct Stream {
    int group = -1;
    int64_t open = 0;  ///< Of the group, or of the call.
    int64_t most = 0;
  };
  std::map<int, Stream> streams;
  for (const PlannedCall& call : plan.ranks[rank].calls) {
    if (call.made_in != MadeIn::Both && call.made_in != mode) continue;
    Stream& stream = streams[call.stream];
    // The calls of a group run at once and need room side by side; others follow each other.
    const bool joins = call.group >= 0 && call.group == stream.group;
    stream.open = add(joins ? stream.open : 0, bytes_of(plan, call, rank));
    stream.group = call.group;
    stream.most = std::max(stream.most, stream.open);
  }
  int64_t sum = 0;
  for (const auto& [number, stream] : streams) sum = add(sum, stream.most);
  return sum;
}

/// NCCL_BUFFSIZE of the plan, where it is one.
int64_t buffer_size(const ReplayPlan& plan) {
  for (const PlannedSetting& setting : plan.settings) {
    if (setting.name != "NCCL_BUFFSIZE" || !setting.left_out.empty()) continue;
    const auto bytes = parse_int(setting.value);
    if (bytes && *bytes > 0 && *bytes <= 1024 * kMiB) return *bytes;
  }
  return kDefaultBuffer;
}

int64_t nccl_bytes(const ReplayPlan& plan, size_t rank) {
  int64_t bytes = kContext;
  for (const PlannedCommunicator& communicator : plan.communicators) {
    const auto& ranks = communicator.ranks;
    if (!is_among(ranks, static_cast<int>(rank))) continue;
    const int channels =
        std::clamp(communicator.channels > 0 ? communicator.channels : kUsualChannels, 1, 64);
    const int connections = std::min(static_cast<int>(ranks.size()), kMostConnections);
    bytes += channels * connections * (buffer_size(plan) + kLowLatency);
  }
  return bytes;
}

}  // namespace

int64_t ReplayCost::bytes() const { return add(buffers, nccl); }

ReplayCost replay_cost(const ReplayPlan& plan) {
  ReplayCost most;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const int64_t buffers =
        std::max(buffers_of(plan, r, MadeIn::Clean), buffers_of(plan, r, MadeIn::Defect));
    const ReplayCost cost{buffers, nccl_bytes(plan, r)};
    if (cost.bytes() > most.bytes()) most = cost;
  }
  return most;
}

ReplayDeadlines with_deadline(ReplayDeadlines planned, int seconds) {
  if (seconds > 0) planned.enqueue = planned.completion = planned.teardown = seconds;
  return planned;
}

int timing_seconds(int time_runs) {
  // Two seconds for each run, five minutes at most.
  constexpr int kMost = 300;
  return std::min(std::max(time_runs, 0), kMost / 2) * 2;
}

int64_t longest_seconds(const ReplayDeadlines& deadlines, int runs) {
  const int64_t phases = int64_t{deadlines.start} + deadlines.init + deadlines.enqueue +
                         deadlines.completion + deadlines.teardown;
  return runs * (phases + kGraceSeconds);
}

int runs_of(const ReplayPlan& plan) { return has_defect(plan) ? 2 : 1; }

std::string cost_words(const ReplayPlan& plan, int runs) {
  const double gib = static_cast<double>(replay_cost(plan).bytes()) / static_cast<double>(kGiB);
  const int64_t seconds = longest_seconds(plan.deadlines, runs);
  return fmt::format("{} GPU{} with about {:.1f} GiB free on each, and at most {} min {} s",
                     plan.ranks.size(), plan.ranks.size() == 1 ? "" : "s", gib, seconds / 60,
                     seconds % 60);
}

namespace {

constexpr size_t kMostShapes = 8;
/// To what nccl-tests rounds the part of a rank.
constexpr int64_t kPartBytes = 16;

/// By ncclDataType_t, as its flag -d wants them.
constexpr std::array<std::string_view, 12> kDatatypes{"int8",   "uint8",    "int32",  "uint32",
                                                      "int64",  "uint64",   "half",   "float",
                                                      "double", "bfloat16", "f8e4m3", "f8e5m2"};

/// A call, and how many ranks make it.
struct Shape {
  const PlannedCall* call;
  int nranks;
};

int nranks_of(const ReplayPlan& plan, const PlannedCall& call) {
  return static_cast<int>(plan.communicators[call.communicator].ranks.size());
}

/// Of a message: the one that the other side owes.
bool is_owed(const PlannedCall& call, const FrontLine& front, const ReplayPlan& plan) {
  const auto& members = plan.communicators[call.communicator].ranks;
  const auto peer = static_cast<size_t>(call.root);
  return call.root >= 0 && peer < members.size() && is_among(front.missing, members[peer]);
}

/// The call at the front as those made it who came so far.
std::optional<Shape> shape_at_front(const ReplayPlan& plan) {
  if (!plan.hypothesis.front) return std::nullopt;
  const FrontLine& front = *plan.hypothesis.front;
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  for (const int rank : front.entered) {
    for (const PlannedCall& call : plan.ranks[rank].calls) {
      const bool is_meant =
          by_message ? is_owed(call, front, plan) : call.made_in != MadeIn::Defect;
      if (is_at(call, front, by_message) && is_meant) return Shape{&call, nranks_of(plan, call)};
    }
  }
  return std::nullopt;
}

std::vector<Shape> shapes_of(const ReplayPlan& plan) {
  if (const auto front = shape_at_front(plan)) return {*front};
  std::vector<Shape> shapes;
  std::set<std::string> seen;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (call.made_in == MadeIn::Defect || call.op == "Recv") continue;
      const Shape shape{&call, nranks_of(plan, call)};
      if (!seen.insert(fmt::format("{} {}", shape.nranks, words_of(call))).second) continue;
      if (shapes.size() == kMostShapes) return shapes;
      shapes.push_back(shape);
    }
  }
  return shapes;
}

/// `value` as a shell takes it for one word.
std::string in_quotes(std::string_view value) {
  const auto is_plain = [](char c) {
    return is_word(c) || std::string_view(",.:/=+-^@%").find(c) != std::string_view::npos;
  };
  if (!value.empty() && std::ranges::all_of(value, is_plain)) {
    return std::string(value);
  }
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

constexpr std::string_view kMulticastOff = "NCCL_NVLS_ENABLE";

/// "NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0 ".
std::string assignments(const ReplayPlan& plan) {
  std::string text;
  for (const PlannedSetting& setting : plan.settings) {
    const bool is_set_anyway = setting.name == kMulticastOff;
    if (is_set_anyway || !setting.left_out.empty() || !setting.ranks.empty()) continue;
    text += fmt::format("{}={} ", printable(setting.name), in_quotes(printable(setting.value)));
  }
  return text + fmt::format("{}=0 ", kMulticastOff);
}

std::string remark(const std::string& text) { return "# " + text + "\n"; }

/// Settings that one command line cannot give to some ranks.
std::string settings_remarks(const ReplayPlan& plan) {
  std::string text;
  for (const PlannedSetting& setting : plan.settings) {
    if (!setting.left_out.empty() || setting.ranks.empty()) continue;
    text += remark(fmt::format("Not set: {}={}, which only ranks[{}] of the plan had.",
                               printable(setting.name), printable(setting.value),
                               ranges_text(setting.ranks)));
  }
  return text;
}

/// What of this call the program does otherwise.
std::string shape_remarks(const Shape& shape, const Function& function) {
  const PlannedCall& call = *shape.call;
  std::string text;
  const int64_t part = call.count * datatype_bytes(call.datatype).value_or(1);
  if (function.size == kAll && part % kPartBytes != 0) {
    text += remark(fmt::format("It rounds the {} bytes of each rank down to {}.", part,
                               part / kPartBytes * kPartBytes));
  }
  if (is_reduction(call.op) && reduction_name(call.redop) == "user") {
    text += remark("The job's own reduction is measured as a sum.");
  }
  if (is_message(call.op)) {
    text += remark("It sends around a ring of all ranks, not from one rank to another.");
  }
  return text;
}

std::string lines_of(const ReplayPlan& plan, const Shape& shape) {
  const PlannedCall& call = *shape.call;
  const Function* function = find_function(call.op);
  std::string text = remark(fmt::format("{}, {} ranks", words_of(call), shape.nranks));
  const auto datatype = static_cast<size_t>(call.datatype);
  const int64_t bytes = operation_bytes(call, shape.nranks);
  if (function == nullptr || call.datatype < 0 || datatype >= kDatatypes.size() || bytes <= 0) {
    return text + remark("nccl-tests cannot make this call.");
  }
  text += shape_remarks(shape, *function);
  text += fmt::format("{0}{1} -b {2} -e {2} -d {3}", assignments(plan), function->test, bytes,
                      kDatatypes[datatype]);
  if (is_reduction(call.op)) {
    const std::string_view redop = reduction_name(call.redop);
    text += fmt::format(" -o {}", redop == "user" ? "sum" : redop);
  }
  if (has_root(call.op)) text += fmt::format(" -r {}", call.root);
  return text + fmt::format(" -g {} -n 20 -w 5 -c 1\n", shape.nranks);
}

/// What no line of them can show.
std::string limits_of(const ReplayPlan& plan) {
  std::string text = remark(
      "One process holds all GPUs, on one host: add -t, or mpirun, as the job was laid out.");
  text += remark("All ranks make this call alone, over and over: its order among others, groups,");
  text += remark("streams and offsets of buffers are not as recorded.");
  if (!has_defect(plan)) return text;
  return text + remark(
                    "No rank of nccl-tests departs from the others: the defect itself cannot be "
                    "shown.");
}

}  // namespace

std::string nccl_tests_lines(const ReplayPlan& plan) {
  std::string text = limits_of(plan) + settings_remarks(plan);
  for (const Shape& shape : shapes_of(plan)) text += "\n" + lines_of(plan, shape);
  return text;
}

}  // namespace ncclog
