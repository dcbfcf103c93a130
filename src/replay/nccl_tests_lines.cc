#include "replay/nccl_tests_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/call_shape.h"
#include "replay/call_words.h"

namespace ncclog {
namespace {

constexpr size_t kMostShapes = 8;
/// To what nccl-tests rounds the part of a rank.
constexpr int64_t kPartBytes = 16;

struct TestProgram {
  std::string_view op;
  std::string_view name;
  bool parts;  ///< Its size is that of all ranks' parts.
};

constexpr TestProgram kPrograms[] = {
    {"AllReduce", "all_reduce_perf", false},
    {"Broadcast", "broadcast_perf", false},
    {"Reduce", "reduce_perf", false},
    {"AllGather", "all_gather_perf", true},
    {"ReduceScatter", "reduce_scatter_perf", true},
    {"AlltoAll", "alltoall_perf", true},
    {"Gather", "gather_perf", true},
    {"Scatter", "scatter_perf", true},
    {"Send", "sendrecv_perf", false},
    {"Recv", "sendrecv_perf", false},
};

/// By ncclDataType_t, as its flag -d wants them.
constexpr std::array<std::string_view, 12> kDatatypes{"int8",   "uint8",    "int32",  "uint32",
                                                      "int64",  "uint64",   "half",   "float",
                                                      "double", "bfloat16", "f8e4m3", "f8e5m2"};

const TestProgram* program_of(std::string_view op) {
  const auto* found = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                   [op](const TestProgram& row) { return row.op == op; });
  return found == std::end(kPrograms) ? nullptr : found;
}

/// A call, and how many ranks make it.
struct Shape {
  const PlannedCall* call;
  int nranks;
};

int nranks_of(const ReplayPlan& plan, const PlannedCall& call) {
  return static_cast<int>(plan.communicators[static_cast<size_t>(call.communicator)].ranks.size());
}

bool names_one_of(const PlannedCall& call, const ReplayPlan& plan, const std::vector<int>& ranks) {
  const auto& members = plan.communicators[static_cast<size_t>(call.communicator)].ranks;
  const auto peer = static_cast<size_t>(call.root);
  return call.root >= 0 && peer < members.size() &&
         std::find(ranks.begin(), ranks.end(), members[peer]) != ranks.end();
}

/// Of a message: the one that the other side owes.
bool is_at(const PlannedCall& call, const FrontLine& front, const ReplayPlan& plan) {
  if (call.communicator != front.communicator || call.index != front.index) return false;
  if (plan.hypothesis.kind != DefectKind::Message) {
    return !is_message(call.op) && call.made_in != MadeIn::Defect;
  }
  return is_message(call.op) && names_one_of(call, plan, front.missing);
}

/// The call at the front as those made it who came so far.
std::optional<Shape> shape_at_front(const ReplayPlan& plan) {
  if (!plan.hypothesis.front) return std::nullopt;
  const FrontLine& front = *plan.hypothesis.front;
  for (const int rank : front.entered) {
    for (const PlannedCall& call : plan.ranks[static_cast<size_t>(rank)].calls) {
      if (is_at(call, front, plan)) return Shape{&call, nranks_of(plan, call)};
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
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_plain)) {
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
std::string shape_remarks(const Shape& shape, const TestProgram& program) {
  const PlannedCall& call = *shape.call;
  std::string text;
  const int64_t part = call.count * datatype_bytes(call.datatype).value_or(1);
  if (program.parts && part % kPartBytes != 0) {
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
  const TestProgram* program = program_of(call.op);
  std::string text = remark(fmt::format("{}, {} ranks", words_of(call), shape.nranks));
  const auto datatype = static_cast<size_t>(call.datatype);
  const int64_t bytes = operation_bytes(call, shape.nranks);
  if (program == nullptr || call.datatype < 0 || datatype >= kDatatypes.size() || bytes <= 0) {
    return text + remark("nccl-tests cannot make this call.");
  }
  text += shape_remarks(shape, *program);
  text += fmt::format("{0}{1} -b {2} -e {2} -d {3}", assignments(plan), program->name, bytes,
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
